"""Access to the optional package `research`, which goes beyond the paper."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

# True if the package lies next to the platform; stages then run its code.
_HERE = (Path(__file__).resolve().parents[2] / "research").is_dir()


def beyond(name: str) -> Any | None:
    """Import the object of a dotted name in the package; ``None`` if the package is absent.

    >>> _HERE or beyond("research.cli:COMMANDS") is None
    True
    """
    return resolve_name(name) if _HERE else None
