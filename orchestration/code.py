"""The code a stage depends on, found: the import closure of its functions, with the files that code loads.

Of the module that defines a function only what the function reaches counts; of a module that it imports,
everything. So the code of one step of a benchmark is not that of another which stands in the same file.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import grimp

ROOT = Path(__file__).resolve().parents[1]
"""The checkout that the code runs from."""
PACKAGES = ("orchestration", "substrate")


@cache
def code_of(*functions: Callable[..., Any]) -> dict[str, str]:
    """The files that some functions depend on, by path in the project, sorted, with a short hash of each.

    Args:
        functions: functions or classes of this project, or partials of them. A value that a partial is given,
            such as a benchmark, counts by the file that declares it, for its names and titles; not by what
            its own functions reach.

    >>> from substrate.domains.rows import encode
    >>> [file for file in code_of(encode) if file.endswith("rows.py")]
    ['substrate/domains/rows.py']
    """
    own: dict[str, set[str]] = {}
    values: list[object] = []
    for part in _parts(functions):
        if hasattr(part, "__qualname__"):
            own.setdefault(part.__module__, set()).update(_names(part))
        else:
            values.append(part)
    modules = set(own)
    for module, names in own.items():
        for name in _source(module).reached(names):
            modules |= _closure(name)
    files = {file for module in modules | _declaring(values) for file in _files(module)}
    return {file: short_hash(file) for file in sorted(file.relative_to(ROOT).as_posix() for file in files)}


@cache
def short_hash(file: str) -> str:
    """The first digits of the SHA-256 of a file of the project; empty where it is not there."""
    path = ROOT / file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""


def _parts(given: Iterable[Any]) -> Iterator[Any]:
    """The functions and values of this project themselves: what partials and tuples hold."""
    for part in given:
        if isinstance(part, partial):
            yield from _parts((part.func, *part.args, *part.keywords.values()))
        elif isinstance(part, tuple | list):
            yield from _parts(part)
        elif getattr(part, "__module__", "").split(".")[0] in PACKAGES:
            yield part


def _names(function: Any) -> set[str]:
    """The name by which a module's text has a function; of one without a name, all that its code names."""
    name = function.__qualname__.partition(".")[0]
    return _named_in(function.__code__) if name == "<lambda>" else {name}


def _named_in(code: CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_named_in, inner))


def _declaring(values: Sequence[object]) -> set[str]:
    """The modules that assign some values to names."""
    wanted = {id(value) for value in values}
    found: set[str] = set()
    for name, module in list(sys.modules.items()):
        if wanted and name.split(".")[0] in PACKAGES:
            here = {key for key, value in vars(module).items() if id(value) in wanted}
            if here and here & _source(name).references.keys():
                found.add(name)
    return found


class _Source(NamedTuple):
    """A module's text: its top-level names with what each refers to, and where imported names come from."""

    references: dict[str, set[str]]
    imported: dict[str, set[str]]
    always: set[str]
    """The names that statements without a binding refer to: they run whenever the module is imported."""
    strings: set[str]
    loads_tboxes: bool

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
    decorated: dict[str, set[str]] = {}
    for statement in tree.body:
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        names = _bound(statement)
        # An import inside a function is one of what that function refers to.
        for name, source in _imports(statement, module):
            imported.setdefault(name, set()).add(source)
            used.add(name)
        if "*" in used:
            always.add("*")
        for name in names:
            references.setdefault(name, set()).update(used)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            nodes = (node for decorator in statement.decorator_list for node in ast.walk(decorator))
            decorated[statement.name] = {node.id for node in nodes if isinstance(node, ast.Name)}
        if not (names or isinstance(statement, ast.Import | ast.ImportFrom) or _is_docstring(statement)):
            always |= used or {"<statement>"}
    # A decorator of the project may keep what it decorates in a table, by which any function finds it.
    always |= {name for name, words in decorated.items() if words & (references.keys() | imported.keys())}
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    strings = {value for value in constants if isinstance(value, str)}
    return _Source(references, imported, always, strings, _loads_tboxes(tree))


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return set()


def _imports(statement: ast.stmt, module: str) -> Iterator[tuple[str, str]]:
    """The names that imports in a statement bind, each with the module of this project that it is of."""
    package = module if _path(module).name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(statement):
        if isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), package)
            if source.split(".")[0] in PACKAGES:
                for alias in node.names:
                    inner = f"{source}.{alias.name}"
                    yield alias.asname or alias.name, inner if inner in _graph().modules else source
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in PACKAGES:
                    yield alias.asname or alias.name.split(".")[0], alias.name


def _is_docstring(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _loads_tboxes(tree: ast.AST) -> bool:
    """Tell whether a module names the class of TBoxes, and so may load those that its text names."""
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
    return "TBox" in names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


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
    """A module's file, the files beside it that its text names, and the TBoxes that it names and may load.

    A package that only hands on names of its modules has no file of its own: who takes one gets its module.
    """
    path, source = _path(module), _source(module)
    if path.name == "__init__.py" and not source.always and source.references.keys() <= {"__all__"}:
        return frozenset()
    beside = {path.parent / name for name in source.strings if name.find(".") > 0 and "\n" not in name}
    named = {file for file in beside if file.suffix != ".py" and len(file.name) < 100 and file.is_file()}
    boxes = (
        {tbox_file(name) for name in source.strings if name.isidentifier()} if source.loads_tboxes else set()
    )
    return frozenset({path, *named, *(box for box in boxes if box.is_file())})


def tbox_file(name: str) -> Path:
    """The file of a TBox that ships with the package.

    >>> tbox_file("village").name
    'village.ttl'
    """
    return ROOT / "tboxes" / f"{name}.ttl"
