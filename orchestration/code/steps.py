"""The steps from a statement to the statements that it depends on.

:func:`leads_to` follows the names in a statement's text, in its module (:func:`_behind_name`) or through an
import (:func:`_behind_import`). :func:`run_by_importing` adds the statements that run when a module is
imported. The steps of a statement, and of a module, are computed once for all stages. In the room's example,
``answer`` leads to ``LIMIT`` and the import in `exam`, and the import leads to ``grade`` in `marks`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache

from orchestration.code.checkout import paths
from orchestration.code.modules import module_of
from orchestration.code.statements import Import, Statement, Use
from orchestration.code.values import Declared, types_in, unpacked


def statements_of(module: str) -> tuple[Statement, ...]:
    """The statements of a module, in order; none of this room, which is no part of what a stage computes."""
    return () if module.startswith(__package__ or "") else module_of(module).statements


@cache
def _by_name(module: str) -> dict[str, tuple[Statement, ...]]:
    statements: dict[str, tuple[Statement, ...]] = {}
    for statement in statements_of(module):
        for name in statement.binds:
            statements[name] = (*statements.get(name, ()), statement)
    return statements


def binding(module: str, name: str) -> tuple[Statement, ...]:
    """The statements of a module that bind a name."""
    return _by_name(module).get(name, ())


@cache
def leads_to(statement: Statement) -> frozenset[Statement]:
    """The statements that a statement uses or imports."""
    if values := declared_by(statement):
        return frozenset().union(*map(types_of, values))
    used = (reached for use in statement.uses for reached in _behind_name(statement.module, use))
    # Of an imported module only those attributes count that other statements use: `_behind_name` finds them.
    if _module_bound_by(statement):
        return frozenset(used)
    return frozenset(used).union(*map(_behind_import, statement.imports))


@cache
def declared_by(statement: Statement) -> tuple[Declared, ...]:
    """The values that a statement binds, if all of them are declared; they count instead of its text."""
    if not (statement.module.startswith(("orchestration.", "research.")) and statement.uses):
        return ()
    module = importlib.import_module(statement.module)
    values = [getattr(module, name, None) for name in statement.binds]
    parts = [*unpacked(value.values() if isinstance(value, Mapping) else value for value in values)]
    return tuple(parts) if all(isinstance(value, Declared) for value in parts) else ()


def types_of(value: object) -> Iterator[Statement]:
    """The statements of a value's class, and of the types that it holds."""
    return (bound for kind in types_in(value) for bound in binding(kind.__module__, kind.__qualname__))


def _behind_name(module: str, use: Use) -> Iterator[Statement]:
    """The statements behind a module's name and, if it is an imported module, behind the used attribute."""
    for statement in binding(module, use.name):
        yield statement
        if whole := _module_bound_by(statement):
            yield from _behind_import(Import(whole, use.attribute))


def _module_bound_by(statement: Statement) -> str:
    """The module of the project that ``from package import module`` binds; empty for another statement."""
    return _whole_module(statement.imports[0]) if statement.from_import else ""


def _behind_import(source: Import) -> tuple[Statement, ...]:
    """The statements behind an import: all of a module, or the statements that bind the imported name."""
    if whole := _whole_module(source):
        return statements_of(whole)
    bound = binding(source.module, source.name)
    # A module may find a name only when it is asked for it.
    if not bound and (bound := binding(source.module, "__getattr__")):
        value = getattr(importlib.import_module(source.module), source.name)
        bound += binding(value.__module__, value.__qualname__)
    return bound


def _whole_module(source: Import) -> str:
    """The module of the project that an import takes as a whole; empty if it takes a name in a module."""
    # A package may bind the name of one of its modules to something else, such as a function in that module.
    if any(source not in statement.imports for statement in binding(source.module, source.name)):
        return ""
    return source.dotted if source.dotted in paths() else ""


@cache
def run_by_importing(module: str) -> frozenset[Statement]:
    """The statements that run when a module is imported, with all that it imports."""
    statements, imported, waiting = set[Statement](), set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in imported and name in paths():
            imported.add(name)
            statements.update(statement for statement in statements_of(name) if statement.runs)
            waiting += _imported_with(name)
    return frozenset(statements)


@cache
def _imported_with(module: str) -> tuple[str, ...]:
    """The modules that are imported when a module is: its package, and the modules that it imports."""
    # A statement with uses that does not run is a definition; the imports inside it run when it is called.
    run = (statement for statement in module_of(module).statements if not statement.uses or statement.runs)
    sources = (source for statement in run for source in statement.imports)
    names = (name for source in sources for name in (source.module, source.dotted))
    return tuple(dict.fromkeys([*names, module.rpartition(".")[0]]))
