"""The package `research`, which goes beyond the paper: it may be absent, and is asked for by name here."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import Any

_HERE = (Path(__file__).resolve().parents[2] / "research").is_dir()
"""True where it lies beside the platform, whose stages then run its code."""


def beyond(name: str) -> Any | None:
    """The value of a dotted name of the package; ``None`` where the package is not there.

    >>> _HERE or beyond("research.cli:COMMANDS") is None
    True
    """
    return resolve_name(name) if _HERE else None
