"""The platform, where it is: a checkout has it beside this package, the wheel does not.

The library never imports it: what a command needs of it is asked for here, by the name of its module.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

NAME = "orchestration"
"""The package of the platform."""


def is_here() -> bool:
    """Tell whether the platform can be imported.

    >>> is_here() in (True, False)
    True
    """
    return find_spec(NAME) is not None


def module(name: str) -> ModuleType | None:
    """A module of the platform by its name in it; ``None`` without the platform."""
    return import_module(f"{NAME}.{name}") if is_here() else None
