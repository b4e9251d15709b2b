"""The reach of a stage: the statements and data files that some functions reach, as a hash for each file.

In the room's example, ``code_of(answer)`` gives a hash of all three statements of `exam`, and a hash of
``grade`` alone for `marks`: an edit of ``draw`` there makes no stage stale.
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
from orchestration.code.statements import Statement, short_hash
from orchestration.code.steps import binding, declared_by, statements_of, types_of
from orchestration.code.values import Declared, nested, plain_data, unpacked

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
        data: by module, the lines to hash besides statements: plain data of values, and lambdas.
    """

    def __init__(self, functions: Iterable[Any]) -> None:
        self.data: dict[str, set[str]] = {}
        start = set[Statement]()
        # Plain arguments of a partial count in the file of its function; of a foreign function, in this file.
        owner = __name__
        for part in _parts(functions):
            module = getattr(part, "__module__", None) or ""
            if not is_ours(module):
                # A plain value, or a function of another project.
                self._add_data(owner, plain_data(part))
            elif getattr(part, "__qualname__", "") == "<lambda>":
                # No statement binds it: it counts by its text, and leads to the names in its bytecode.
                self._add_data(module, module_of(module).lambdas[part.__code__.co_firstlineno])
                start.update(bound for name in _in_bytecode(part.__code__) for bound in binding(module, name))
            elif hasattr(part, "__qualname__"):
                # A function or a class.
                owner = module
                start.update(_in_signature(part))
            else:
                # A value of one of the project's classes, such as a benchmark.
                start.update(types_of(part))
                self._add_data(type(part).__module__, plain_data(part))
        self._reached = _reached_from(start)

    def _add_data(self, module: str, text: str) -> None:
        self.data.setdefault(module, set()).add(text)

    @property
    def definitions(self) -> set[tuple[str, str]]:
        """The names that the reached statements bind, each with its file."""
        return {(file_of(statement.module), name) for statement in self._reached for name in statement.binds}

    def lines(self) -> dict[str, list[str]]:
        """The lines to hash for each file: of its reached statements in order, then its data; of a data file,
        the hash of its content.
        """
        lines: dict[str, list[str]] = {}
        for module in {statement.module for statement in self._reached}:
            reached = self._reached.intersection(statements_of(module))
            lines[file_of(module)] = [*_lines_of(reached)]
            lines |= {file: [content] for file, content in _files_beside(reached).items()}
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
def _in_signature(function: Any) -> tuple[Statement, ...]:
    """The statements of a function's or class's own name, and of the names in its parameters' annotations.

    The arguments of a stage's function come from elsewhere, and only an annotation names their classes.
    """
    handed = (annotation for name, annotation in function.__annotations__.items() if name != "return")
    names = {word for annotation in handed for word in _WORD.findall(str(annotation))}
    names.add(function.__qualname__.partition(".")[0])
    return tuple(bound for name in names for bound in binding(function.__module__, name))


def _in_bytecode(code: CodeType) -> set[str]:
    """The names in the code of a lambda, which no statement binds: their statements are looked up here."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_in_bytecode, inner))


def _reached_from(start: set[Statement]) -> frozenset[Statement]:
    """Some statements and all that they lead to, found step by step."""
    reached, fresh = set[Statement](), start
    while fresh:
        reached |= fresh
        run = map(steps.run_by_importing, {statement.module for statement in fresh})
        fresh = set[Statement]().union(*map(steps.leads_to, fresh), *run) - reached
    return frozenset(reached)


@cache
def _lines_of(reached: frozenset[Statement]) -> tuple[str, ...]:
    """The hashes of some statements of a module in order; of declared values, their plain data instead."""
    lines: list[str] = []
    for statement in sorted(reached, key=attrgetter("number")):
        lines += [plain_data(value) for value in declared_by(statement)] or [statement.hash]
    return tuple(lines)


@cache
def _files_beside(reached: frozenset[Statement]) -> dict[str, str]:
    """The data files that some statements name, each with the hash of its content."""
    return {file: content for statement in reached for file, content in data_files(statement).items()}
