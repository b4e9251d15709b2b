"""A module's text as statements: the names that each binds and uses, and the hash of its syntax tree.

Everything here is computed from the text alone: nothing is imported, and no other module is read. In the
room's example, `exam` has three statements; the last one binds ``answer``, and uses ``grade`` and ``LIMIT``.
"""

from __future__ import annotations
import __future__

import ast
import dis
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import partial
from types import CodeType
from typing import Any, NamedTuple

import msgspec

from orchestration.code.checkout import is_ours

# The form of a file's name, or of a TBox's, which has no ending.
_MAY_NAME_A_FILE = re.compile(r"[\w./-]{0,80}\w\.\w{1,8}|[a-z_]\w*")
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTING = (ast.Import, ast.ImportFrom)
# Fields of a syntax tree that do not affect what the code does.
_WITHOUT_EFFECT = frozenset({"ctx", "kind", "type_comment"})
# The bytecode instructions that read or write a global name.
_NAMING = {"LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
_NAMING |= {"LOAD_NAME", "LOAD_CLASSDEREF"}


class Use(NamedTuple):
    """A global name that a statement uses; with an attribute, if it uses only this attribute of the name."""

    name: str
    attribute: str = ""


class Import(NamedTuple):
    """An imported name and its module; without a name, a module that is imported as a whole."""

    module: str
    name: str = ""

    @property
    def dotted(self) -> str:
        """The module and the name, joined by a dot."""
        return f"{self.module}.{self.name}" if self.name else self.module


class Statement(msgspec.Struct, frozen=True, eq=False, array_like=True, gc=False, kw_only=True):
    """A statement at the top level of a module; each name of an import is a statement.

    A statement is equal only to itself, so that a set finds it fast: the closure spends its time in sets.

    Attributes:
        module: the dotted name of its module.
        number: its position in the module; from 0.
        binds: the names that it binds.
        hash: the short hash of its syntax tree.
        uses: the global names that its compiled code uses, and the names in annotations of class attributes,
            which a library may read.
        imports: the imports in it, also those inside its functions.
        texts: its string literals that may name a file or a TBox.
        runs: true if it does more than bind names when the module is imported.
        from_import: true if it is ``from module import name``, and so has exactly one import.
    """

    module: str
    number: int
    binds: tuple[str, ...]
    hash: str
    uses: tuple[Use, ...] = ()
    imports: tuple[Import, ...] = ()
    texts: tuple[str, ...] = ()
    runs: bool = False
    from_import: bool = False


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

    >>> text = b"from marks import grade\\nLIMIT = 3\\ndef answer(n):\\n    return grade(n, LIMIT)"
    >>> exam = parse(text, "exam", package=False)
    >>> [statement.binds for statement in exam.statements]
    [('grade',), ('LIMIT',), ('answer',)]
    >>> [use.name for use in exam.statements[2].uses], exam.statements[0].imports
    (['LIMIT', 'grade'], (Import(module='marks', name='grade'),))
    """
    nodes = [*ast.walk(ast.parse(text))]
    tree = _without_docstrings(nodes)
    home = module if package else module.rpartition(".")[0]
    lambdas: dict[int, str] = {}
    for node in nodes:
        if isinstance(node, ast.Lambda):
            lambdas[node.lineno] = lambdas.get(node.lineno, "") + _hash(node)
    body = [part for statement in tree.body if not _never_imported(statement) for part in _split(statement)]
    globals_ = {name for statement in body for name in _bound(statement)}
    foreign = [_bound(node) for node in body if isinstance(node, _IMPORTING) and _is_foreign(node, home)]
    ours = globals_.difference(*foreign)
    describe = partial(_statement, globals_=globals_, ours=ours, home=home, module=module)
    return Module(tuple(describe(node, number=number) for number, node in enumerate(body)), lambdas)


def _never_imported(statement: ast.stmt) -> bool:
    """Tell whether a statement runs only for a type checker or as a script, and so on no import."""
    test = ast.unparse(statement.test) if isinstance(statement, ast.If) else ""
    return test.endswith("TYPE_CHECKING") or test == "__name__ == '__main__'"


def _split(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Split a from-import into one statement for each of its names."""
    if isinstance(statement, ast.ImportFrom):
        for alias in statement.names:
            yield ast.ImportFrom(statement.module, [alias], statement.level, lineno=1, col_offset=0)
    else:
        yield statement


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement at the top level of a module binds."""
    if isinstance(statement, _DEFINING):
        return {statement.name}
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, _IMPORTING):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _is_foreign(node: ast.Import | ast.ImportFrom, home: str) -> bool:
    return not is_ours(next(_imports(node, home)).module)


def _imports(node: ast.Import | ast.ImportFrom, home: str) -> Iterator[Import]:
    """Yield the imports of a node; ``home`` is the package that a relative import starts from."""
    if isinstance(node, ast.ImportFrom):
        base = home.rsplit(".", node.level - 1)[0] if node.level else ""
        module = ".".join(filter(None, (base, node.module)))
        yield from (Import(module, alias.name) for alias in node.names)
    else:
        yield from (Import(alias.name) for alias in node.names)


def _statement(node: ast.stmt, *, globals_: set[str], ours: set[str], home: str, **place: Any) -> Statement:
    """Describe a statement.

    Args:
        globals_: all names that the module binds.
        ours: these names without the ones that are imported from other projects.
        home: the package that a relative import starts from.
        place: the statement's module and number.
    """
    inside, bound = [*ast.walk(node)], _bound(node)
    constants = (inner.value for inner in inside if isinstance(inner, ast.Constant))
    texts = {value for value in constants if isinstance(value, str)}
    imports = (_imports(inner, home) for inner in inside if isinstance(inner, _IMPORTING))
    return Statement(
        **place,
        binds=tuple(sorted(bound)),
        hash=_hash(node),
        uses=tuple(_uses(node, inside, globals_ - bound)),
        imports=tuple(source for sources in imports for source in sources),
        texts=tuple(sorted(filter(_MAY_NAME_A_FILE.fullmatch, texts))),
        runs=_runs(node, ours),
        from_import=isinstance(node, ast.ImportFrom),
    )


def _uses(node: ast.stmt, inside: Iterable[ast.AST], globals_: set[str]) -> list[Use]:
    """The uses of a module's global names in a statement, given all nodes inside it.

    The compiled code tells which names are global: in the syntax tree, a local name looks the same. The tree
    tells which attributes of a name are read: the code does not say whose attribute it reads.
    """
    code = compile(ast.Module([node], []), "", "exec", __future__.annotations.compiler_flag)
    hinted, read, within = set[str](), set[Use](), set[ast.AST]()
    for inner in inside:
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            read.add(Use(inner.value.id, inner.attr))
            within.add(inner.value)
        elif isinstance(inner, ast.Name) and inner not in within:
            read.add(Use(inner.id))
        elif isinstance(inner, ast.ClassDef):
            hints = [part.annotation for part in inner.body if isinstance(part, ast.AnnAssign)]
            hinted |= {part.id for hint in hints for part in ast.walk(hint) if isinstance(part, ast.Name)}
    used = (hinted | _globals(code, globals_)) & globals_
    return sorted({*map(Use, hinted & used), *(use for use in read if use.name in used)})


def _globals(code: CodeType, wanted: set[str]) -> set[str]:
    """The global names that compiled code uses: all of ``wanted`` among them, and perhaps not all others."""
    # Most code names none of them, and a look at its instructions takes long.
    ops = () if wanted.isdisjoint(code.co_names) else dis.get_instructions(code)
    names = {op.argval for op in ops if op.opname in _NAMING}
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return names.union(*(_globals(part, wanted) for part in inner))


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


def short_hash(data: bytes) -> str:
    """The first digits of the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def short_of_python(text: bytes) -> str:
    """The short hash of a Python file's syntax tree.

    >>> short_of_python(b"x = 1  # why"), short_of_python(b"x = 1")
    ('390bc1c684c16641', '390bc1c684c16641')
    """
    return _hash(_without_docstrings([*ast.walk(ast.parse(text))]))


def _hash(tree: ast.AST) -> str:
    return short_hash(_written(tree).encode())


def _written(node: Any) -> str:
    """A syntax tree as text, the same in each version of Python: without positions and empty fields."""
    if isinstance(node, ast.AST):
        named = [(name, getattr(node, name, None)) for name in node._fields if name not in _WITHOUT_EFFECT]
        fields = [f"{name}={_written(value)}" for name, value in named if value is not None and value != []]
        return f"{type(node).__name__}({','.join(fields)})"
    return f"[{','.join(map(_written, node))}]" if isinstance(node, list) else repr(node)


def _without_docstrings(nodes: list[ast.AST]) -> Any:
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
