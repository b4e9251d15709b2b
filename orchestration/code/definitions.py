"""A module's text as definitions: what each binds, what it uses, and the hash of its syntax tree.

Comments and docstrings leave no trace in the hash. What an annotation names is reached where it is one of a
class's attributes, since a library may read it: in a dataclass, a named tuple, a typed record.
"""

from __future__ import annotations
import __future__

import ast
import dis
import hashlib
import re
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

import msgspec

_HARMLESS = frozenset(
    {"asynccontextmanager", "cache", "cached_property", "classmethod", "contextmanager", "dataclass", "final"}
    | {"lru_cache", "overload", "override", "property", "runtime_checkable", "setter", "staticmethod"}
    | {"total_ordering", "wraps"}
)
"""Decorators that keep what they decorate nowhere."""
_FILE = re.compile(r"[\w./-]*\w\.\w{1,8}")
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTING = (ast.Import, ast.ImportFrom)
_SILENT = frozenset({"ctx", "kind", "type_comment"})
"""Fields of a tree that say nothing of what it does."""
_TAKING = ("_GLOBAL", "_GLOBALS", "_NAME", "_CLASSDEREF")
"""The endings of instructions that take or bind a name of the module."""


class Definition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A statement at the top of a module, as far as it matters to what uses it."""

    names: tuple[str, ...]
    """The names that it binds or changes."""
    short: str
    """The first digits of the SHA-256 of its tree."""
    uses: tuple[str, ...] = ()
    """The names of the module that it refers to, each with the attributes asked of it."""
    imports: dict[str, str] = {}
    """The names that imports inside it bind, each with ``module:name`` or ``module``."""
    attributes: tuple[str, ...] = ()
    """The names of attributes that it asks of anything."""
    strings: tuple[str, ...] = ()
    """Its texts that may name a file or a TBox."""
    assigns: bool = False
    """It binds values, and defines no function or class."""
    runs: bool = False
    """It does more, when the module is imported, than to bind its names."""


class Source(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A module: its definitions, what its imports bind, and the modules that its imports run."""

    definitions: tuple[Definition, ...] = ()
    imports: dict[str, str] = {}
    stars: tuple[str, ...] = ()
    """The modules of which everything is imported."""
    loads: tuple[str, ...] = ()
    """The imports that run whenever the module does, each ``module:name`` or ``module``."""
    boxes: bool = False
    """It names the class of TBoxes, and so may load one."""
    lambdas: dict[int, str] = {}
    """By line, the first digits of the SHA-256 of the functions without a name that begin there."""


def parse(text: bytes, module: str, *, package: bool) -> Source:
    """The definitions of a module's text.

    Args:
        text: the text.
        module: its dotted name, to which relative imports are relative.
        package: whether it is the ``__init__`` of a package.

    >>> found = parse(b"from math import pi\\ndef area(r):\\n    return pi * r * r", "m", package=False)
    >>> found.definitions[0].names, found.definitions[0].uses, found.imports
    (('area',), ('pi',), {'pi': 'math:pi'})
    """
    tree = ast.parse(text)
    home = module if package else module.rpartition(".")[0]
    imports: dict[str, str] = {}
    loads: list[str] = []
    body: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, _IMPORTING):
            imports |= _imported(statement, home)
            loads += _loaded(statement, home)
        elif not _only_for_readers(statement):
            body.append(statement)
            if not isinstance(statement, _DEFINING):
                loads += (load for one in _import_statements(statement) for load in _loaded(one, home))
    own = {name for statement in body for name in _bound(statement)[0]}
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    at = {line: [one for one in lambdas if one.lineno == line] for line in {one.lineno for one in lambdas}}
    hashes = {line: _hash(there) for line, there in sorted(at.items())}
    return Source(
        tuple(_definition(statement, own, imports, home) for statement in body),
        {name: source for name, source in imports.items() if name != "*"},
        tuple(dict.fromkeys(load.removesuffix(":*") for load in loads if load.endswith(":*"))),
        tuple(dict.fromkeys(loads)),
        any("TBox" in (getattr(node, "name", ""), getattr(node, "attr", "")) for node in ast.walk(tree)),
        hashes,
    )


def _only_for_readers(statement: ast.stmt) -> bool:
    """Tell whether a statement is a docstring, or runs for a type checker or for a command alone."""
    if isinstance(statement, ast.If):
        test = ast.unparse(statement.test)
        return test.endswith("TYPE_CHECKING") or test == "__name__ == '__main__'"
    return _is_text(statement)


def _is_text(statement: ast.AST) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _import_statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    return (inner for inner in ast.walk(node) if isinstance(inner, _IMPORTING))


def _absolute(statement: ast.ImportFrom, home: str) -> str:
    base = home.rsplit(".", statement.level - 1)[0] if statement.level else ""
    return ".".join(filter(None, (base, statement.module)))


def _imported(statement: ast.Import | ast.ImportFrom, home: str) -> dict[str, str]:
    """The names that an import binds, each with where it comes from."""
    if isinstance(statement, ast.ImportFrom):
        source = _absolute(statement, home)
        return {alias.asname or alias.name: f"{source}:{alias.name}" for alias in statement.names}
    whole = [alias.name if alias.asname else alias.name.partition(".")[0] for alias in statement.names]
    return {alias.asname or name: name for alias, name in zip(statement.names, whole, strict=True)}


def _loaded(statement: ast.Import | ast.ImportFrom, home: str) -> list[str]:
    """The modules that an import runs: ``module:name`` where the name may be a module too."""
    if isinstance(statement, ast.ImportFrom):
        source = _absolute(statement, home)
        return [f"{source}:{alias.name}" for alias in statement.names]
    return [alias.name for alias in statement.names]


def _bound(statement: ast.stmt) -> tuple[list[str], list[str]]:
    """The names that a statement at the top of a module binds, and those whose values it may change."""
    bound: list[str] = []
    changed: list[str] = []
    for node in _at_once(statement):
        if isinstance(node, _DEFINING):
            bound.append(node.name)
        elif isinstance(node, _IMPORTING):
            bound += [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.append(node.id)
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed += _root(node)
        elif isinstance(node, ast.Expr):
            changed += _called(node)
    return bound, changed


def _at_once(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run with a statement, without what lies in a function, a class or a comprehension."""
    yield node
    if not isinstance(node, (*_DEFINING, ast.Lambda, ast.comprehension)):
        for child in ast.iter_child_nodes(node):
            yield from _at_once(child)


def _root(node: ast.AST, *, whole: bool = False) -> list[str]:
    """The name at which a chain of attributes, items and calls begins; one that is the whole where asked."""
    deep = whole
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node, deep = node.func if isinstance(node, ast.Call) else node.value, True
    return [node.id] if deep and isinstance(node, ast.Name) else []


def _called(statement: ast.Expr) -> list[str]:
    """The name of which a statement calls a method."""
    return _root(statement.value.func) if isinstance(statement.value, ast.Call) else []


def _definition(statement: ast.stmt, own: set[str], imported: dict[str, str], home: str) -> Definition:
    bound, changed = _bound(statement)
    names = tuple(dict.fromkeys([*bound, *changed]))
    runs = _runs(statement, names, own, imported)
    inner: dict[str, str] = {}
    for one in _import_statements(statement):
        inner |= _imported(one, home)
    bare = _Bare()
    tree = ast.fix_missing_locations(bare.visit(statement))
    code = compile(ast.Module([tree], []), "", "exec", __future__.annotations.compiler_flag)
    known = _globals(code) | inner.keys() | set(names)
    chains, attributes = _chains([tree], known)
    fields, _ = _chains(bare.fields, known | own | imported.keys())
    if not isinstance(tree, _DEFINING):
        chains |= inner.keys()
    itself = set(names) - inner.keys()
    values = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return Definition(
        names,
        _hash(tree),
        tuple(sorted((chains | fields) - itself)),
        inner,
        tuple(sorted(attributes)),
        tuple(sorted({value for value in values if isinstance(value, str) and _may_name(value)})),
        not isinstance(tree, _DEFINING),
        runs,
    )


def _may_name(text: str) -> bool:
    """Tell whether a text may be the name of a file or of a TBox."""
    return text.isidentifier() or (len(text) < 100 and _FILE.fullmatch(text) is not None)


def _runs(statement: ast.stmt, names: tuple[str, ...], own: set[str], imported: dict[str, str]) -> bool:
    """Tell whether a statement does more than to bind or change names of its module."""
    if isinstance(statement, _DEFINING):
        # A decorator of the project may keep what it decorates in a table, by which any function finds it.
        roots = {name for one in statement.decorator_list for name in _root(one, whole=True)}
        return bool((roots - _HARMLESS) & (own | imported.keys()))
    if not names or set(names) - own:
        return True
    said = (node for node in _at_once(statement) if isinstance(node, ast.Expr) and not _is_text(node))
    return any(not set(_called(node)) & own for node in said)


def bare(source: bytes) -> str:
    """The text of a module's tree without comments and docstrings.

    >>> bare(b"one = 1  # a remark") == bare(b"one = 1")
    True
    """
    return ast.dump(_Bare().visit(ast.parse(source)))


class _Bare(ast.NodeTransformer):
    """Takes docstrings out of a statement's tree, and collects the annotations of classes' attributes."""

    def __init__(self) -> None:
        self.fields: list[ast.expr] = []

    def visit(self, node: ast.AST) -> Any:
        """The node without them; nothing, where it is nothing else."""
        if _is_text(node):
            return None
        if isinstance(node, ast.ClassDef):
            self.fields += (one.annotation for one in node.body if isinstance(one, ast.AnnAssign))
        self.generic_visit(node)
        if isinstance(node, ast.stmt | ast.ExceptHandler) and getattr(node, "body", None) == []:
            vars(node)["body"] = [ast.Pass()]
        return node


def _globals(code: CodeType) -> set[str]:
    """The names that compiled code takes from its module."""
    found = {one.argval for one in dis.get_instructions(code) if one.opname.endswith(_TAKING)}
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return found.union(*map(_globals, inner))


def _chains(trees: Iterable[ast.AST], known: Iterable[str]) -> tuple[set[str], set[str]]:
    """The names among some that trees use, each with the attributes asked of it; and all attributes."""
    names, chains, attributes = set(known), set[str](), set[str]()
    todo = list(trees)
    rebound = {
        name for tree in todo for one in ast.walk(tree) if isinstance(one, ast.Global) for name in one.names
    }
    while todo:
        node = todo.pop()
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        attributes.update(parts)
        taken = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
        if isinstance(node, ast.Name) and node.id in names and (taken or node.id in rebound):
            chains.add(".".join([node.id, *parts[::-1]]))
        todo += ast.iter_child_nodes(node)
    return chains, attributes


def _hash(tree: Any) -> str:
    return hashlib.sha256(_written(tree).encode()).hexdigest()[:16]


def _written(node: Any) -> str:
    """A tree as text, the same in each version of Python: without places, empty fields and what is absent."""
    if isinstance(node, ast.AST):
        there = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
        said = ",".join(f"{name}={_written(value)}" for name, value in there if name not in _SILENT)
        return f"{type(node).__name__}({said})"
    if isinstance(node, list):
        return f"[{','.join(map(_written, node))}]"
    return repr(node)
