"""The modules of the package lie in floors: none imports itself by way of others."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import substrate

ROOT = Path(substrate.__path__[0])
FILES = {
    ".".join(("substrate", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}
"""The file of each module; none is imported, since some need what an extra brings."""
MODULES = list(FILES)


def imported(name: str) -> Iterator[str]:
    """Every module of the package that one imports, in functions and for type checkers too."""
    whole_package = FILES[name].name == "__init__.py"
    for node in ast.walk(ast.parse(FILES[name].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            package = name.split(".") if whole_package else name.split(".")[:-1]
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            for alias in node.names:
                whole = f"{source}.{alias.name}"
                yield from (
                    module for module in (whole if whole in MODULES else source,) if module in MODULES
                )


def floors() -> list[str]:
    """The modules, each after what it imports."""
    graph = {name: set(imported(name)) - {name} for name in MODULES}
    return list(graphlib.TopologicalSorter(graph).static_order())


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        assert set(floors()) == set(MODULES)
    except graphlib.CycleError as error:
        pytest.fail(f"a circle of imports: {' < '.join(error.args[1])}")


def test_lazy_imports_are_seen() -> None:
    assert "substrate.domains.clevrer.motion.bullet" in set(imported("substrate.domains.clevrer.emitter"))
