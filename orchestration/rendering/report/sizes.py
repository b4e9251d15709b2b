"""The sizes that the paper prints of its code, next to the sizes of this code."""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

from orchestration.code import ROOT, code_of
from orchestration.registry import INTERPRETED
from orchestration.scoring.published import Size, published

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def sizes() -> Iterator[tuple[Size, str]]:
    """Yield every size of :attr:`orchestration.scoring.published.Published.sizes` with the count here."""
    for size in published().sizes:
        if size.opcodes:
            table: dict[str, Any] = pkgutil.resolve_name(size.opcodes)
            yield size, f"{len({*map(id, table.values())})} opcodes, under {len(table)} names"
        else:
            files = {file for name in size.benchmarks for file in _answering(name)}
            yield size, f"{_lines(files):,} lines in {len(files)} modules"


def _answering(name: str) -> Iterator[str]:
    """The modules of a benchmark's domain that make its logs and answers."""
    benchmark, folder = INTERPRETED[name], f"substrate/domains/{name}/"
    return (file for file in code_of(benchmark.rows, benchmark.logger.logs) if file.startswith(folder))


def lines_reached(*functions: Callable[..., Any]) -> int:
    """The lines of code of all modules that some functions reach."""
    return _lines(set(code_of(*functions)))


def _lines(files: set[str]) -> int:
    texts = ((ROOT / file).read_text("utf-8") for file in files if file.endswith(".py"))
    return sum(code_lines(text, ast.parse(text)) for text in texts)


def code_lines(text: str, tree: ast.Module) -> int:
    """The lines of a module without docstrings, comments and blank lines."""
    told: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            told.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    stripped = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    return sum(number not in told and bool(line) and line[0] != "#" for number, line in stripped)
