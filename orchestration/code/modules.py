"""The project's modules as statements: the names each binds and uses, and the hash of its syntax tree.

Comments, docstrings and layout do not affect the hash. Parsed modules are cached in `.dagster/`, outside git,
by the hash of their files; a damaged or outdated cache is rebuilt.
"""

from __future__ import annotations
import __future__

import ast
import dis
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec
import pyoxigraph as ox
import yaml

from substrate.base.inputs import NOT_JSON

ROOT = Path(__file__).resolve().parents[2]
"""The checkout that the code runs from."""
PACKAGES = ("orchestration", "research", "substrate")
CACHE = Path(".dagster", "modules.msgpack")
_MOST = 5000
"""The most parsed files to cache; beyond it the cache is emptied, since most of its files are gone."""
_FILE = re.compile(r"[\w./-]{0,80}\w\.\w{1,8}|[a-z_]\w*")
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTING = (ast.Import, ast.ImportFrom)
_SILENT = frozenset({"ctx", "kind", "type_comment"})
"""Fields of a syntax tree that do not affect what the code does."""
_TAKING = {"LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
_TAKING |= {"LOAD_NAME", "LOAD_CLASSDEREF"}
"""The bytecode instructions that read or write a global name."""


class Statement(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A statement at the top of a module; each name of an import is a statement."""

    binds: tuple[str, ...]
    short: str
    """The first digits of the SHA-256 of its tree."""
    uses: tuple[str, ...] = ()
    """The global names that it reads, as ``name.attribute`` where it reads an attribute. They include the
    names in annotations of class attributes, which a library may read.
    """
    imports: tuple[str, ...] = ()
    """The imports in it, each ``module:name`` or ``module``."""
    texts: tuple[str, ...] = ()
    """Its string literals that may name a file or a TBox."""
    runs: bool = False
    """True if it does more than bind names when the module is imported."""
    importing: bool = False
    """True if it imports a name from a module."""


class Module(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A module: its statements, and the hashes of its lambdas by the line where they begin."""

    statements: tuple[Statement, ...] = ()
    lambdas: dict[int, str] = {}


def parse(text: bytes, module: str, *, package: bool) -> Module:
    """Parse a module's text into statements.

    Args:
        text: the text.
        module: its dotted name, which resolves relative imports.
        package: true if it is the ``__init__`` of a package.

    >>> found = parse(b"from math import pi\\ndef area(r):\\n    return pi * r * r", "m", package=False)
    >>> [(one.binds, one.uses, one.imports) for one in found.statements]
    [(('pi',), (), ('math:pi',)), (('area',), ('pi',), ())]
    """
    nodes = [*ast.walk(ast.parse(text))]
    tree = _bare(nodes)
    home = module if package else module.rpartition(".")[0]
    lambdas: dict[int, str] = {}
    for node in nodes:
        if isinstance(node, ast.Lambda):
            lambdas[node.lineno] = lambdas.get(node.lineno, "") + _hash(node)
    body = [statement for statement in tree.body if not _not_on_import(statement)]
    parted = [part for statement in body for part in _parted(statement)]
    own = {name for statement in parted for name in _bound(statement)}
    imports = [part for part in parted if isinstance(part, _IMPORTING)]
    foreign = [_bound(part) for part in imports if not is_ours(next(_sources(part, home)))]
    ours = own.difference(*foreign)
    return Module(tuple(_statement(part, own, ours, home) for part in parted), lambdas)


def _not_on_import(statement: ast.stmt) -> bool:
    """Tell whether a statement runs only for a type checker or as a script, and so on no import."""
    test = ast.unparse(statement.test) if isinstance(statement, ast.If) else ""
    return test.endswith("TYPE_CHECKING") or test == "__name__ == '__main__'"


def _parted(statement: ast.stmt) -> Iterator[ast.stmt]:
    if isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            yield ast.ImportFrom(statement.module, [alias], statement.level, lineno=1, col_offset=0)
    else:
        yield statement


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module binds."""
    if isinstance(statement, _DEFINING):
        return {statement.name}
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, _IMPORTING):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _sources(node: ast.Import | ast.ImportFrom, home: str) -> Iterator[str]:
    """Yield the names that an import takes, each ``module:name``, or its modules."""
    if isinstance(node, ast.ImportFrom):
        base = home.rsplit(".", node.level - 1)[0] if node.level else ""
        source = ".".join(filter(None, (base, node.module)))
        yield from (f"{source}:{alias.name}" for alias in node.names)
    else:
        yield from (alias.name for alias in node.names)


def _statement(statement: ast.stmt, own: set[str], ours: set[str], home: str) -> Statement:
    bound, uses, imports, texts = _bound(statement), set[str](), list[str](), set[str]()
    chains, within = set[str](), set[ast.AST]()
    for node in ast.walk(statement):
        if isinstance(node, _IMPORTING):
            imports += _sources(node, home)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _FILE.fullmatch(node.value):
            texts.add(node.value)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            chains.add(f"{node.value.id}.{node.attr}")
            within.add(node.value)
        elif isinstance(node, ast.Name) and node not in within:
            chains.add(node.id)
        elif isinstance(node, ast.ClassDef):
            hints = [inner.annotation for inner in node.body if isinstance(inner, ast.AnnAssign)]
            uses |= {inner.id for hint in hints for inner in ast.walk(hint) if isinstance(inner, ast.Name)}
    code = compile(ast.Module([statement], []), "", "exec", __future__.annotations.compiler_flag)
    used = (uses | _globals(code, own)) & own - bound
    used = sorted(uses & used | {chain for chain in chains if chain.partition(".")[0] in used})
    return Statement(
        tuple(sorted(bound)),
        _hash(statement),
        tuple(used),
        tuple(imports),
        tuple(sorted(texts)),
        _runs(statement, ours),
        isinstance(statement, ast.ImportFrom),
    )


def _globals(code: CodeType, own: set[str]) -> set[str]:
    """The global names that compiled code uses: all of ``own`` among them, and perhaps not all others."""
    # Most code names none of them, and a look at its instructions takes long.
    ops = () if own.isdisjoint(code.co_names) else dis.get_instructions(code)
    names = {op.argval for op in ops if op.opname in _TAKING}
    return names.union(*(_globals(inner, own) for inner in code.co_consts if isinstance(inner, CodeType)))


def _runs(statement: ast.stmt, ours: set[str]) -> bool:
    """Tell whether a statement does more than bind names: it has a bare expression, such as a call, or stores
    into an attribute or an item.

    A decorator of the project may register what it decorates, so that any function can find it.
    """
    if isinstance(statement, _DEFINING):
        words = (node for word in statement.decorator_list for node in ast.walk(word))
        return any(isinstance(node, ast.Name) and node.id in ours for node in words)
    return any(
        isinstance(node, ast.Expr)
        or (isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store))
        for node in ast.walk(statement)
    )


def _bare(nodes: list[ast.AST]) -> Any:
    """Remove the docstrings from a syntax tree, given as its nodes, and return its root; a body that was only
    a docstring becomes ``pass``.
    """
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            if isinstance(body := getattr(node, name, None), list):
                body[:] = [statement for statement in body if not _is_text(statement)]
        if isinstance(node, ast.stmt | ast.ExceptHandler) and getattr(node, "body", None) == []:
            vars(node)["body"] = [ast.Pass(lineno=1, col_offset=0)]
    return nodes[0]


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _hash(tree: ast.AST) -> str:
    return hashlib.sha256(_written(tree).encode()).hexdigest()[:16]


def _written(node: Any) -> str:
    """A syntax tree as text, the same in each version of Python: without positions and empty fields."""
    if isinstance(node, ast.AST):
        named = [(name, getattr(node, name, None)) for name in node._fields if name not in _SILENT]
        fields = [f"{name}={_written(value)}" for name, value in named if value is not None and value != []]
        return f"{type(node).__name__}({','.join(fields)})"
    return f"[{','.join(map(_written, node))}]" if isinstance(node, list) else repr(node)


def short_of_python(text: bytes) -> str:
    """The first digits of a hash of a Python file's syntax tree.

    >>> short_of_python(b"x = 1  # why") == short_of_python(b"x = 1")
    True
    """
    return _hash(_bare([*ast.walk(ast.parse(text))]))


def is_ours(module: str) -> bool:
    """Tell whether a module, or a name in a module, belongs to this project."""
    return module.partition(":")[0].partition(".")[0] in PACKAGES


@cache
def paths() -> dict[str, Path]:
    """The file of each module of the project; for a package, its ``__init__``."""
    files: dict[str, Path] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            files[name.removesuffix(".__init__")] = path
    return files


@cache
def module_of(name: str) -> Module:
    """Parse a module of the project; a module without a file has no statements."""
    if (path := paths().get(name)) is None:
        return Module()
    data, parsed = path.read_bytes(), _cache()
    # Relative imports depend on the module's name, so the key includes it.
    key = hashlib.sha256(name.encode() + b"\n" + data).hexdigest()
    if key not in parsed.modules:
        parsed.modules[key] = parse(data, name, package=path.name == "__init__.py")
    return parsed.modules[key]


@cache
def short_of(path: Path) -> str:
    """The first digits of a hash of a data file's content."""
    return hashlib.sha256(_content(path.suffix, path.read_bytes())).hexdigest()[:16]


def _content(suffix: str, data: bytes) -> bytes:
    """The content of a file: for YAML and Turtle the parsed data in order, for other formats the bytes.

    >>> _content(".yaml", b"a: [1, 2]  # a remark") == _content(".yaml", b"a:\\n- 1\\n- 2\\n")
    True
    """
    read = _READ.get(suffix)
    try:
        return "\n".join(read(data.decode())).encode() if read else data
    except (ValueError, SyntaxError, yaml.YAMLError):
        return data


def _yaml(text: str) -> Iterator[str]:
    yield repr(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def _turtle(text: str) -> Iterator[str]:
    names: dict[str, str] = {}
    parser = ox.parse(text, ox.RdfFormat.TURTLE)
    for quad in parser:
        # A blank node gets a new name each time the file is read.
        parts = (
            names.setdefault(str(part), f"_:{len(names)}") if isinstance(part, ox.BlankNode) else str(part)
            for part in quad.triple
        )
        yield " ".join(parts)
    yield from (f"{name}: {iri}" for name, iri in sorted(parser.prefixes.items()))


_READ = {".yaml": _yaml, ".yml": _yaml, ".ttl": _turtle}


def packages_of(files: Iterable[str]) -> set[str]:
    """The third-party packages that some files of the project import, by import name."""
    return set[str]().union(*map(_packages, files))


@cache
def _packages(file: str) -> set[str]:
    module = module_of(f"{file.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}")
    imports = (source for statement in module.statements for source in statement.imports)
    return {re.split("[.:]", source)[0] for source in imports} - sys.stdlib_module_names - set(PACKAGES)


class _Cache(msgspec.Struct):
    """The cache of parsed modules, by the hash of the bytes."""

    form: str
    modules: dict[str, Module] = {}
    written: int = 0
    """The number of entries that the cache file has."""


@cache
def _cache() -> _Cache:
    form = f"{hashlib.sha256(Path(__file__).read_bytes()).hexdigest()} {sys.version_info[:2]}"
    with suppress(OSError, *NOT_JSON):
        parsed = msgspec.msgpack.decode((ROOT / CACHE).read_bytes(), type=_Cache)
        if parsed.form == form and len(parsed.modules) < _MOST:
            return parsed
    return _Cache(form)


def keep() -> None:
    """Save newly parsed modules; if that fails, the next process parses them again."""
    parsed, path = _cache(), ROOT / CACHE
    if parsed.written == len(parsed.modules):
        return
    parsed.written = len(parsed.modules)
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_bytes(msgspec.msgpack.encode(parsed))
        fresh.replace(path)
