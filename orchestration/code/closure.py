"""The reach of a stage: the statements and data files that some functions reach, as a hash for each file.

docs/design/code.md has an example. ``test_code.py`` changes statements one by one, and traces that workers
execute only reached ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from operator import attrgetter
from types import CodeType
from typing import Any

from orchestration.code import steps
from orchestration.code.checkout import file_of, is_ours
from orchestration.code.data_files import data_files
from orchestration.code.modules import module_of, save_parsed
from orchestration.code.statements import short_hash
from orchestration.code.steps import Place, binding, declared_by, statements_of, types_of
from orchestration.code.values import Declared, describe, nested, plain_data, unpacked

_WORD = re.compile(r"\w+")


def code_of(*functions: Callable[..., Any]) -> dict[str, str]:
    """The project's files that some functions depend on, sorted by path, each with a short hash of the
    reached statements.

    Args:
        functions: functions or classes of this project, or partials of them.

    >>> from substrate.domains.rows import encode
    >>> [file for file in code_of(encode) if file.endswith("rows.py")]
    ['substrate/domains/rows.py']
    """
    lines = Closure(functions).lines()
    save_parsed()
    return {file: short_hash("\n".join(lines[file]).encode()) for file in sorted(lines)}


class Closure:
    """All statements and data files that some functions reach.

    Attributes:
        data: by module, the lines to hash besides statements: plain data, and lambdas.
    """

    def __init__(self, functions: Iterable[Any]) -> None:
        self.data: dict[str, set[str]] = {}
        start = set[Place]()
        # Plain arguments of a partial count in the file of its function; of a foreign function, in this file.
        owner = __name__
        for part in _parts(functions):
            module = getattr(part, "__module__", None) or ""
            if not is_ours(module):
                self._add_data(owner, plain_data(part))
            elif getattr(part, "__qualname__", "") == "<lambda>":
                self._add_data(module, module_of(module).lambdas[part.__code__.co_firstlineno])
                start.update(place for name in _in_bytecode(part.__code__) for place in binding(module, name))
            elif hasattr(part, "__qualname__"):
                owner = module
                start.update(_in_signature(part))
            else:
                start.update(types_of(part))
                self._add_data(type(part).__module__, describe(part).data)
        self._reached = _reached_from(start)

    def _add_data(self, module: str, text: str) -> None:
        self.data.setdefault(module, set()).add(text)

    @property
    def definitions(self) -> set[tuple[str, str]]:
        """The names that the reached statements bind, each with its file."""
        return {(file_of(place.module), name) for place in self._reached for name in place.statement.binds}

    def lines(self) -> dict[str, list[str]]:
        """The lines to hash for each file: of its reached statements in order, then its data; of a data file,
        the hash of its content.
        """
        lines: dict[str, list[str]] = {}
        for module in {place.module for place in self._reached}:
            places = self._reached.intersection(statements_of(module))
            lines[file_of(module)] = [*_lines_of(places)]
            lines |= {file: [content] for file, content in _files_beside(places).items()}
        for module, texts in self.data.items():
            lines.setdefault(file_of(module), []).extend(sorted(texts))
        return lines


def _parts(functions: Iterable[Any]) -> Iterator[Any]:
    """Yield functions and the arguments of partials, each argument with the functions inside it; the
    functions inside a declared value do not count.
    """
    for part in unpacked(functions):
        yield part
        of_value = is_ours(getattr(part, "__module__", None) or "") and not hasattr(part, "__qualname__")
        if of_value and not isinstance(part, Declared):
            yield from _parts(filter(callable, nested(part)))


@cache
def _in_signature(function: Any) -> tuple[Place, ...]:
    """The statements of a function's or class's own name, and of the names in its parameters' annotations.

    The arguments of a stage's function come from elsewhere, and only an annotation names their classes.
    """
    handed = (annotation for name, annotation in function.__annotations__.items() if name != "return")
    names = {word for annotation in handed for word in _WORD.findall(str(annotation))}
    names.add(function.__qualname__.partition(".")[0])
    return tuple(place for name in names for place in binding(function.__module__, name))


def _in_bytecode(code: CodeType) -> set[str]:
    """The names in the code of a lambda, which no statement binds: their statements are looked up here."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_in_bytecode, inner))


def _reached_from(start: set[Place]) -> frozenset[Place]:
    """Some statements and all that they lead to, found step by step."""
    reached, fresh = set[Place](), start
    while fresh:
        reached |= fresh
        run = map(steps.run_by_importing, {place.module for place in fresh})
        fresh = set[Place]().union(*map(steps.leads_to, fresh), *run) - reached
    return frozenset(reached)


@cache
def _lines_of(places: frozenset[Place]) -> tuple[str, ...]:
    """The hashes of some statements of a module in order; of declared values, their plain data instead."""
    lines: list[str] = []
    for place in sorted(places, key=attrgetter("number")):
        lines += [describe(value).data for value in declared_by(place)] or [place.statement.hash]
    return tuple(lines)


@cache
def _files_beside(places: frozenset[Place]) -> dict[str, str]:
    """The data files that some statements name, each with the hash of its content."""
    return {file: content for place in places for file, content in data_files(place).items()}
