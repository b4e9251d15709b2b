"""The names that the library offers: few at the top, a room's in its room, nothing loaded before use."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

# Its stub tells type checkers the names alone, and not the table that they come from.
substrate: Any = import_module("substrate")
ROOMS = ("base", "sparql", "log", "rules", "branch", "cause", "ask", "memory")


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_the_top_has_at_most_forty_names_and_each_is_that_of_its_room() -> None:
    assert len(substrate.__all__) <= 40
    assert {"Assert", "Delta", "EventLog", "Memory", "Op", "Retract", "fork"} <= set(substrate.__all__)
    for name, room in substrate._PLACES.items():
        assert name in import_module(f"substrate.{room}").__all__
    # In an interpreter of its own: an imported folder would take the place of a name of the top.
    program = """
import substrate
from importlib import import_module
for name, room in substrate._PLACES.items():
    assert getattr(substrate, name) is getattr(import_module(f"substrate.{room}"), name), name
print(sorted(substrate._PLACES) == sorted(substrate.__all__))
"""
    assert run(program).split() == ["True"]


def test_type_checkers_see_the_names_that_there_are() -> None:
    tree = ast.parse(Path(substrate.__file__ or "").with_suffix(".pyi").read_text("utf-8"))
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("substrate.")
        for alias in node.names
    }
    assert seen == {name: f"substrate.{substrate._PLACES[name]}" for name in substrate.__all__}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_offers(room: str) -> None:
    offered = import_module(f"substrate.{room}")
    assert all(hasattr(offered, name) for name in offered.__all__)
    assert not [name for name in offered.__all__ if name.startswith("_")]


def test_no_name_of_the_top_is_also_a_folder() -> None:
    """Importing a folder would put it in the place of the name."""
    folders = {path.name for path in Path(substrate.__path__[0]).iterdir() if path.is_dir()}
    assert not folders.intersection(substrate.__all__)


def test_importing_the_package_loads_no_room() -> None:
    program = "import sys, substrate; print(*(name for name in sys.modules if name.startswith('substrate.')))"
    assert run(program).split() == []
    assert "pyoxigraph" not in run("import sys, substrate; print(*sys.modules)").split()


def test_a_name_that_is_not_there_is_an_error_as_elsewhere() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = substrate.no_such_name  # pyright: ignore[reportAttributeAccessIssue]
    assert set(substrate.__all__) <= set(dir(substrate))
