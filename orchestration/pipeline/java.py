"""The environment of Spark on this machine, and what is wrong with its Java where no session begins."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
from pathlib import Path

from substrate.base.errors import SubstrateError

OLDEST = 17
"""The oldest Java that Spark runs on."""
_OF_OTHERS = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS")
"""The environment's names of another Spark, and of how that one is started."""
_FILES = 4096
"""The number of files that Spark and its workers may have open at once."""


def own_environment() -> None:
    """Let a session on this machine be of this environment's Spark, with the open files that it needs."""
    for name in _OF_OTHERS:
        os.environ.pop(name, None)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _FILES and soft != resource.RLIM_INFINITY:
        most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def java_fault() -> SubstrateError | None:
    """The fault that keeps this machine's Java from running Spark; ``None`` where it runs and is not too old.

    Spark takes the Java of ``JAVA_HOME``, else the one on the path.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin/java")) if home else shutil.which("java")
    where = ("JAVA_HOME", java) if home else ("java",)
    hint = f"Install Java {OLDEST} or newer, and let JAVA_HOME name it; `sh scripts/java.sh` says how"
    if not java or not os.access(java, os.X_OK):
        return SubstrateError("there is no Java", where=where, hint=hint)
    try:
        started = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return SubstrateError(f"Java does not start ({error})", where=where, hint=hint)
    lines = (started.stdout + started.stderr).splitlines()
    if started.returncode:
        reason = next((line for line in lines if "Error" in line), lines[0] if lines else "no word")
        return SubstrateError(f"Java does not start: {reason}", where=where, hint="Mend what Java names")
    version = next(filter(None, (re.search(r'version "(?:1\.)?(\d+)', line) for line in lines)), None)
    if version and int(version[1]) < OLDEST:
        return SubstrateError(f"Java {version[1]} is too old", where=where, hint=hint)
    return None
