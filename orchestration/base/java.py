"""The Java that Spark starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def java_program() -> tuple[tuple[str, ...], str]:
    """Return the path of Spark's Java, after what names it in messages: ``JAVA_HOME``, or else the PATH.

    The path is empty if there is none. `scripts/java.sh` follows this rule before Python's packages exist.
    """
    if home := os.environ.get("JAVA_HOME"):
        java = str(Path(home, "bin/java"))
        return ("JAVA_HOME", java), java
    return ("java",), shutil.which("java") or ""
