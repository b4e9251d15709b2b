"""A folder a world: data with truth of its own; it knows a domain's format, nothing that answers.

The top's :func:`substrate.branch.worlds.worlds` has this room's name. Loading the room puts it in the
function's place, and therefore it can be called as the function.
"""

import sys
from importlib import import_module
from types import ModuleType


class _Room(ModuleType):
    def __call__(self, *arguments: object, **named: object) -> object:
        return import_module("substrate.branch").worlds(*arguments, **named)


sys.modules[__name__].__class__ = _Room
