"""The steps from a statement to those that it depends on.

:func:`leads_to` follows the names in a statement's text, in its module (:func:`_behind_name`) or through an
import (:func:`_behind_import`). :func:`run_by_importing` adds the statements that run when a module is
imported. The steps of a statement, and of a module, are computed once for all stages.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from orchestration.code.checkout import paths
from orchestration.code.modules import module_of
from orchestration.code.statements import Import, Statement, Use
from orchestration.code.values import Declared, describe, unpacked


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A statement in its module, with its number there; equal only to itself, so that a set finds it fast."""

    module: str
    number: int
    statement: Statement


@cache
def statements_of(module: str) -> tuple[Place, ...]:
    """The statements of a module, in order; none of this room, which is no part of what a stage computes."""
    statements = () if module.startswith(__package__ or "") else module_of(module).statements
    return tuple(Place(module, number, statement) for number, statement in enumerate(statements))


@cache
def _by_name(module: str) -> dict[str, tuple[Place, ...]]:
    places: dict[str, tuple[Place, ...]] = {}
    for place in statements_of(module):
        for name in place.statement.binds:
            places[name] = (*places.get(name, ()), place)
    return places


def binding(module: str, name: str) -> tuple[Place, ...]:
    """The statements of a module that bind a name."""
    return _by_name(module).get(name, ())


@cache
def leads_to(place: Place) -> frozenset[Place]:
    """The statements that a statement uses or imports."""
    statement = place.statement
    if values := declared_by(place):
        return frozenset().union(*map(types_of, values))
    used = (reached for use in statement.uses for reached in _behind_name(place.module, use))
    # Of an imported module only those attributes count that other statements use: `_behind_name` finds them.
    if statement.from_import and _whole_module(statement.imports[0]):
        return frozenset(used)
    return frozenset(used).union(*map(_behind_import, statement.imports))


@cache
def declared_by(place: Place) -> tuple[Declared, ...]:
    """The values that a statement binds, if all of them are declared; they count instead of its text."""
    if not (place.module.startswith(("orchestration.", "research.")) and place.statement.uses):
        return ()
    module = importlib.import_module(place.module)
    values = [getattr(module, name, None) for name in place.statement.binds]
    parts = [*unpacked(value.values() if isinstance(value, Mapping) else value for value in values)]
    return tuple(parts) if all(isinstance(value, Declared) for value in parts) else ()


def types_of(value: object) -> Iterator[Place]:
    """The statements of a value's class, and of the types that it holds."""
    return (place for kind in describe(value).types for place in binding(kind.__module__, kind.__qualname__))


def _behind_name(module: str, use: Use) -> Iterator[Place]:
    """The statements behind a module's name and, if it is an imported module, behind the used attribute."""
    for place in binding(module, use.name):
        yield place
        if place.statement.from_import and (whole := _whole_module(place.statement.imports[0])):
            yield from _behind_import(Import(whole, use.attribute))


def _behind_import(source: Import) -> tuple[Place, ...]:
    """The statements behind an import: all of a module, or the statements that bind the imported name."""
    if whole := _whole_module(source):
        return statements_of(whole)
    places = binding(source.module, source.name)
    # A module may find a name only when it is asked for it.
    if not places and (places := binding(source.module, "__getattr__")):
        value = getattr(importlib.import_module(source.module), source.name)
        places += binding(value.__module__, value.__qualname__)
    return places


def _whole_module(source: Import) -> str:
    """The module of the project that an import takes as a whole; empty if it takes a name in a module."""
    # A package may bind the name of one of its modules to something else, such as a function in that module.
    if any(source not in place.statement.imports for place in binding(source.module, source.name)):
        return ""
    return source.dotted if source.dotted in paths() else ""


@cache
def run_by_importing(module: str) -> frozenset[Place]:
    """The statements that run when a module is imported, with all that it imports."""
    places, imported, waiting = set[Place](), set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in imported and name in paths():
            imported.add(name)
            places.update(place for place in statements_of(name) if place.statement.runs)
            waiting += _imported_with(name)
    return frozenset(places)


@cache
def _imported_with(module: str) -> tuple[str, ...]:
    """The modules that are imported when a module is: its package, and the modules that it imports."""
    # A statement with uses that does not run is a definition; the imports inside it run when it is called.
    run = (statement for statement in module_of(module).statements if not statement.uses or statement.runs)
    sources = (source for statement in run for source in statement.imports)
    names = (name for source in sources for name in (source.module, source.dotted))
    return tuple(dict.fromkeys([*names, module.rpartition(".")[0]]))
