"""The code a stage depends on, found: the import closure of its functions, with the files that code loads.

Of the module that defines a function only what the function reaches counts; of a module that it imports,
everything. So the code of one step of a benchmark is not that of another which stands in the same file.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import grimp

ROOT = Path(__file__).resolve().parents[1]
"""The checkout that the code runs from."""
PACKAGES = ("orchestration", "substrate")


@cache
def code_of(*functions: Callable[..., Any]) -> tuple[str, ...]:
    """The files that some functions depend on, by path in the project, sorted.

    Args:
        functions: functions or classes of this project at the top of their modules, or partials of them.

    >>> from substrate.rows import encode
    >>> [file for file in code_of(encode) if file.endswith("rows.py")]
    ['substrate/rows.py']
    """
    own = {(function.__module__, function.__qualname__.partition(".")[0]) for function in _plain(functions)}
    modules = {module for module, _ in own}
    for module in sorted(modules):
        found = _source(module).reached({name for where, name in own if where == module})
        modules |= {upstream for name in found for upstream in _closure(name)}
    files = {file for module in modules for file in _files(module)}
    return tuple(sorted(file.relative_to(ROOT).as_posix() for file in files))


@cache
def short_hash(file: str) -> str:
    """The first digits of the SHA-256 of a file of the project; empty where it is not there."""
    path = ROOT / file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""


def hashes(files: Iterable[str]) -> dict[str, str]:
    """A short hash of each file of the project."""
    return {file: short_hash(file) for file in sorted(files)}


def _plain(functions: Iterable[Any]) -> Iterator[Any]:
    """The functions themselves: those that a partial holds, and that it is given."""
    for function in functions:
        if isinstance(function, partial):
            given = (*function.args, *function.keywords.values())
            yield from _plain((function.func, *(value for value in given if hasattr(value, "__qualname__"))))
        else:
            yield function


class _Source(NamedTuple):
    """A module's text: its top-level names with what each refers to, and where imported names come from."""

    references: dict[str, set[str]]
    imported: dict[str, set[str]]
    always: set[str]
    """What statements that bind no name refer to: they run whenever the module is imported."""
    strings: set[str]
    tboxes: set[str]

    def reached(self, names: set[str]) -> set[str]:
        """The modules that the definitions of some names refer to, through others of the same module too."""
        todo, seen = [*names, *self.always], set[str]()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += self.references.get(name, ())
        return {module for name in seen for module in self.imported.get(name, ())}


@cache
def _source(module: str) -> _Source:
    tree = ast.parse(_path(module).read_text("utf-8"))
    references: dict[str, set[str]] = {}
    imported: dict[str, set[str]] = {}
    always: set[str] = set()
    for statement in tree.body:
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        names = _bound(statement)
        # An import inside a function is one of what that function refers to.
        for name, modules in _imports(statement):
            imported.setdefault(name, set()).update(modules)
            used.add(name)
        for name in names:
            references.setdefault(name, set()).update(used)
        if not (names or isinstance(statement, ast.Import | ast.ImportFrom) or _is_docstring(statement)):
            always |= used or {"<statement>"}
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    strings = {value for value in constants if isinstance(value, str)}
    return _Source(references, imported, always, strings, set(_tboxes(tree)))


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return set()


def _imports(statement: ast.stmt) -> Iterator[tuple[str, set[str]]]:
    """The names that imports in a statement bind, with the modules of this project that each may come from."""
    for node in ast.walk(statement):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield alias.asname or alias.name, {inner if inner in _graph().modules else node.module}
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in PACKAGES:
                    yield alias.asname or alias.name.split(".")[0], {alias.name}


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and _is_string(statement.value)


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _tboxes(tree: ast.AST) -> Iterator[str]:
    """The names in calls of ``TBox.load("name")``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "TBox.load" and _is_string(node.args[0]):
            yield ast.literal_eval(node.args[0])


@cache
def _graph() -> grimp.ImportGraph:
    """Every import of the project, those inside functions too."""
    return grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)


@cache
def _closure(module: str) -> frozenset[str]:
    """A module, all that it imports, directly or not, and the packages they lie in."""
    found = {module, *_graph().find_upstream_modules(module)}
    return frozenset(found | {parent for name in found for parent in _parents(name)})


def _parents(module: str) -> Iterator[str]:
    while "." in module:
        module = module.rpartition(".")[0]
        yield module


@cache
def _path(module: str) -> Path:
    path = ROOT / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def _files(module: str) -> frozenset[Path]:
    """A module's file, the files beside it that its text names, and the TBoxes it loads.

    A package that only hands on names of its modules has no file of its own: who takes one gets its module.
    """
    path, source = _path(module), _source(module)
    if path.name == "__init__.py" and not source.always and source.references.keys() <= {"__all__"}:
        return frozenset()
    beside = {path.parent / name for name in source.strings if name.find(".") > 0 and "\n" not in name}
    named = {file for file in beside if file.suffix != ".py" and len(file.name) < 100 and file.is_file()}
    return frozenset({path, *named, *(tbox_file(name) for name in source.tboxes)})


def tbox_file(name: str) -> Path:
    """The file of a TBox that ships with the package.

    >>> tbox_file("gqa").name
    'gqa.ttl'
    """
    return ROOT / "substrate" / "tboxes" / f"{name}.ttl"
