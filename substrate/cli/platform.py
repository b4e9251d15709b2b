"""Access to the platform, which a checkout has next to this package and the wheel lacks.

The library never imports the platform directly: a command requests its modules here by name.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

NAME = "orchestration"
"""The name of the platform's package."""


def is_here() -> bool:
    """Tell whether the platform can be imported.

    >>> is_here() in (True, False)
    True
    """
    return find_spec(NAME) is not None


def module(name: str) -> ModuleType | None:
    """Import a module of the platform by its name there; ``None`` without the platform."""
    return import_module(f"{NAME}.{name}") if is_here() else None
