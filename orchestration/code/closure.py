"""The closure over definitions: all that some functions reach, by file, with a hash of what counts of each.

A function reaches the functions, classes and constants that its text names, also through modules that hand
names on; of a module that is only imported, the statements that do more than to bind names. A class counts
whole. A data file counts where a definition that is reached names it and lies beside it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from orchestration.code.sources import ROOT, is_ours, keep, path_of, short_of, source_of

_ITSELF = "orchestration.code."
"""This room: it says what counts of a file, and is no part of what a stage computes."""
_PLAIN = (str, int, float, bytes)
_WORD = re.compile(r"[A-Za-z_][\w.]*")


class Declared:
    """A value that declares something, such as a benchmark: it counts by its plain data.

    Of the functions in it those count that a stage names as called. Of its data count the attributes that the
    reached code asks of anything.
    """


class Node(NamedTuple):
    """A definition by its module and its place in it."""

    module: str
    place: int


class _Step(NamedTuple):
    """The places that a definition leads to."""

    nodes: tuple[Node, ...]
    modules: tuple[str, ...]
    """The modules that it runs by importing them."""
    named: tuple[str, ...]
    """The names it takes from other modules, each with where it is defined."""


def code_of(*functions: Callable[..., Any]) -> dict[str, str]:
    """The files that some functions depend on, by path in the project, sorted, with a short hash of what they
    reach in each.

    Args:
        functions: functions or classes of this project, or partials of them with what they are given.

    >>> from substrate.domains.rows import encode
    >>> [file for file in code_of(encode) if file.endswith("rows.py")]
    ['substrate/domains/rows.py']
    """
    closure = Closure(functions)
    texts = {file: "\n".join(lines).encode() for file, lines in sorted(closure.lines().items())}
    keep()
    return {file: hashlib.sha256(text).hexdigest()[:16] for file, text in texts.items()}


class Closure:
    """All that some functions reach."""

    def __init__(self, functions: Iterable[Any]) -> None:
        self.nodes: set[Node] = set()
        self._ran: set[str] = set()
        self._declared: dict[int, Any] = {}
        self._given: dict[str, list[str]] = {}
        self.nameless: set[str] = set()
        """The files of the functions without a name among those that were given."""
        for part, where in _parts(functions, ""):
            self._take(part, where)

    def _take(self, part: Any, where: str) -> None:
        """Add a function, or a value that a partial is given."""
        module = getattr(part, "__module__", None) or ""
        if isinstance(part, Declared):
            self._declare([part])
        elif hasattr(part, "__qualname__") and is_ours(module):
            self._walk([*_of_function(part), *_handed(part)])
            if part.__qualname__ == "<lambda>":
                short = source_of(module).lambdas.get(part.__code__.co_firstlineno, "")
                self._given.setdefault(module, []).append(short)
                self.nameless.add(_file(module))
        elif is_ours(module):
            named = _naming(part)
            self._walk(named or _of_function(type(part)))
            if not named:
                self._given.setdefault(type(part).__module__, []).append(_plain(part, frozenset()))
        elif not callable(part):
            self._given.setdefault(where, []).append(_plain(part, frozenset()))

    def _walk(self, start: Iterable[Node]) -> None:
        todo = list(start)
        while todo:
            node = todo.pop()
            if node in self.nodes or node.module.startswith(_ITSELF):
                continue
            self.nodes.add(node)
            nodes, modules, values = _led_to(node)
            if not modules <= self._ran:
                for module in modules - self._ran:
                    self._ran.add(module)
                    todo += _run_with(module)
            todo += nodes
            if values:
                self._declare(values)

    def _declare(self, values: Iterable[Declared]) -> None:
        """Add values: their classes, and what their data are."""
        for value in values:
            if id(value) not in self._declared:
                self._declared[id(value)] = value
                self._walk(_kinds(value))

    @property
    def definitions(self) -> set[tuple[str, str]]:
        """The names of all that is reached, each with its file."""
        return {
            (_file(node.module), name)
            for node in self.nodes
            for name in source_of(node.module).definitions[node.place].names
        }

    def lines(self) -> dict[str, list[str]]:
        """The lines that stand for each file: a hash for each part of it that counts."""
        by_module: dict[str, list[int]] = {}
        for node in self.nodes:
            by_module.setdefault(node.module, []).append(node.place)
        parts = {module: _part(module, frozenset(places)) for module, places in by_module.items()}
        found = {_file(module): [*part.lines] for module, part in parts.items()}
        for module, given in self._given.items():
            found.setdefault(_file(module), []).extend(given)
        for path in {path for part in parts.values() for path in part.files}:
            found[path.relative_to(ROOT).as_posix()] = [short_of(path)]
        attributes = frozenset[str]().union(*(part.attributes for part in parts.values()))
        for module, line in sorted(_plain_lines(self._declared.values(), attributes)):
            found.setdefault(_file(module), []).append(line)
        return found


class _Part(NamedTuple):
    """Some definitions of a module: the lines that stand for them, and what they ask for."""

    lines: tuple[str, ...]
    attributes: frozenset[str]
    files: frozenset[Path]


@cache
def _part(module: str, places: frozenset[int]) -> _Part:
    there = [source_of(module).definitions[place] for place in sorted(places)]
    names = {name for place in places for name in _step(Node(module, place)).named}
    attributes = frozenset[str]().union(*(one.attributes for one in there))
    strings = {text for one in there for text in one.strings}
    lines = (*(one.short for one in there), *sorted(names))
    return _Part(lines, attributes, frozenset(_data_files(module, strings)))


def _parts(given: Iterable[Any], where: str) -> Iterator[tuple[Any, str]]:
    """The functions and values themselves, of partials and sequences; each with the module that takes it."""
    for part in given:
        if isinstance(part, partial):
            taker = getattr(part.func, "__module__", where)
            yield from _parts((part.func, *part.args, *part.keywords.values()), taker)
        elif isinstance(part, tuple | list) and not hasattr(part, "_fields"):
            yield from _parts(part, where)
        else:
            yield part, where


def _of_function(function: Any) -> Iterator[Node]:
    """The definition of a function or class; of a function without a name, what its code names."""
    module, name = function.__module__, function.__qualname__.partition(".")[0]
    if name != "<lambda>":
        yield from _bound(module, name)
        return
    for used in sorted(_named_in(function.__code__)):
        yield from _resolved(module, used, {}).nodes


def _handed(function: Any) -> Iterator[Node]:
    """The classes of what a function is handed when it is called, as its parameters are annotated."""
    for name, said in getattr(function, "__annotations__", {}).items():
        for chain in _WORD.findall(said) if isinstance(said, str) and name != "return" else ():
            yield from _resolved(function.__module__, chain, {}).nodes


def _named_in(code: CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_named_in, inner))


def _naming(value: object) -> list[Node]:
    """The definitions that bind names to a value of a class of this project, without those that only take it
    from another: which of these were loaded by now must make no difference.
    """
    found = sorted(set(_values(len(sys.modules)).get(id(value), [])))
    return [node for node in found if not set(_step(node).nodes) & set(found) - {node}]


@cache
def _values(_: int) -> dict[int, list[Node]]:
    """The definitions that bind names to values, by identity; found anew where more modules are there."""
    found: dict[int, list[Node]] = {}
    # Copied first: a list of pairs is allocated as it grows, and another thread may import meanwhile.
    for name, module in sys.modules.copy().items():
        for key, value in vars(module).copy().items() if is_ours(name) else ():
            if is_ours(type(value).__module__):
                found.setdefault(id(value), []).extend(_bound(name, key))
    return found


@cache
def _names(module: str) -> dict[str, tuple[Node, ...]]:
    """The definitions of a module by the names that they bind or change."""
    found: dict[str, tuple[Node, ...]] = {}
    for place, one in enumerate(source_of(module).definitions):
        for name in one.names:
            found[name] = (*found.get(name, ()), Node(module, place))
    return found


def _bound(module: str, name: str) -> tuple[Node, ...]:
    return _names(module).get(name, ())


@cache
def _step(node: Node) -> _Step:
    one = source_of(node.module).definitions[node.place]
    found = _Step((), (), ())
    for chain in one.uses:
        found = _Step(*map(tuple.__add__, found, _resolved(node.module, chain, one.imports)))
    inner = tuple(module for source in one.imports.values() for module in _run_by(source))
    return found._replace(modules=found.modules + inner)


def _resolved(module: str, chain: str, inner: Mapping[str, str]) -> _Step:
    """The meaning of a name with its attributes in a module.

    Args:
        inner: what imports inside the definition bind.
    """
    root, *rest = chain.split(".")
    source = inner.get(root)
    if source is None:
        return _attribute(module, root, rest, root)
    return _imported(source, rest, root)


def _attribute(module: str, name: str, rest: list[str], root: str) -> _Step:
    """The definitions behind a name of a module."""
    source = source_of(module)
    if nodes := _bound(module, name):
        return _Step(nodes, (module,), (f"{root}={module}:{name}",))
    if source.imports.get(name, f"{module}:{name}") != f"{module}:{name}":
        return _imported(source.imports[name], rest, root)
    for star in source.stars:
        if is_ours(star) and (name in _names(star) or name in source_of(star).imports):
            return _attribute(star, name, rest, root)
    if path_of(f"{module}.{name}"):
        return _module(f"{module}.{name}", rest, root)
    if giving := _bound(module, "__getattr__"):
        value = getattr(importlib.import_module(module), name, None)
        nodes = tuple(_of_function(value)) if hasattr(value, "__qualname__") else ()
        return _Step(
            (*giving, *nodes), (module, *(node.module for node in nodes)), (f"{root}={module}:{name}",)
        )
    return _Step((), (), ())


def _imported(source: str, rest: list[str], root: str) -> _Step:
    """The meaning of an import: a module, or a name of one."""
    module, _, name = source.partition(":")
    if not is_ours(module):
        return _Step((), (), (f"{root}={source}",))
    return _attribute(module, name, rest, root) if name else _module(module, rest, root)


def _module(module: str, rest: list[str], root: str) -> _Step:
    """The definitions asked of a module; all of them, where it is handed on as it stands."""
    if rest:
        found = _attribute(module, rest[0], rest[1:], root)
        if any(found) or rest[0].startswith("__"):
            return found
    nodes = tuple(Node(module, place) for place in range(len(source_of(module).definitions)))
    return _Step(nodes, (module,), (f"{root}={module}",))


@cache
def _run_with(module: str) -> tuple[Node, ...]:
    """The statements that do something when a module is imported, with all that it imports."""
    found: dict[Node, None] = {}
    seen, waiting = set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            found |= dict.fromkeys(_running(name))
            waiting += _imported_by(name)
    return tuple(found)


@cache
def _running(module: str) -> tuple[Node, ...]:
    """The statements of a module that do more than to bind names."""
    return tuple(Node(module, place) for place, one in enumerate(source_of(module).definitions) if one.runs)


@cache
def _imported_by(module: str) -> tuple[str, ...]:
    """The modules that run when a module does."""
    return tuple(
        dict.fromkeys([*_run_by(module), *(m for load in source_of(module).loads for m in _run_by(load))])
    )


def _run_by(source: str) -> Iterator[str]:
    """The modules that run with an import of a module, or of a name that may be a module too."""
    module, _, name = source.partition(":")
    if not is_ours(module):
        return
    if name and path_of(f"{module}.{name}"):
        yield f"{module}.{name}"
    while module:
        yield module
        module = module.rpartition(".")[0]


@cache
def _file(module: str) -> str:
    path = path_of(module)
    assert path
    return path.relative_to(ROOT).as_posix()


@cache
def _boxes() -> dict[str, Path]:
    return {path.stem: path for path in (ROOT / "tboxes").glob("*.ttl")}


def _data_files(module: str, texts: Iterable[str]) -> set[Path]:
    """The files beside a module that texts name, and the TBoxes where it may load some."""
    path, boxes = path_of(module), _boxes() if source_of(module).boxes else {}
    assert path
    named = {path.parent / text for text in texts if "." in text and not text.endswith(".py")}
    return {file for file in named if file.is_file()} | {boxes[text] for text in texts if text in boxes}


@cache
def _led_to(node: Node) -> tuple[tuple[Node, ...], frozenset[str], tuple[Declared, ...]]:
    """The definitions that one leads to, the modules that it runs, and the values that it declares: these
    are looked at instead of its text.
    """
    step, values = _step(node), _declared_in(node)
    if values:
        return (), frozenset({node.module}), values
    return step.nodes, frozenset({node.module, *step.modules}), ()


def _declared_in(node: Node) -> tuple[Declared, ...]:
    """The values that a statement of the platform binds, where they only declare."""
    one = source_of(node.module).definitions[node.place]
    if not (one.assigns and node.module.startswith(("orchestration.", "research.")) and _step(node).nodes):
        return ()
    module = sys.modules.get(node.module) or importlib.import_module(node.module)
    found: list[Any] = []
    for name in one.names:
        value = getattr(module, name, None)
        found += (
            value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else [value]
        )
    return tuple(found) if all(isinstance(value, Declared) for value in found) else ()


def _plain_lines(values: Iterable[Declared], attributes: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The plain data of values as far as some attributes ask for them, each with its module: of a value that
    nothing keeps under a name that of its class.
    """
    for value in values:
        named = _naming(value)
        yield named[0].module if named else type(value).__module__, _plain(value, attributes)


def _kinds(value: Declared) -> tuple[Node, ...]:
    """The definitions of a value's class, and of the types that it holds: what it says is made of them."""
    if id(value) not in _KINDS:
        types = (part for part in _inside(value) if isinstance(part, type) and is_ours(part.__module__))
        found = dict.fromkeys(node for kind in (type(value), *types) for node in _of_function(kind))
        _KINDS[id(value)] = value, tuple(found)
    return _KINDS[id(value)][1]


_KINDS: dict[int, tuple[Declared, tuple[Node, ...]]] = {}
"""By a value's identity, the value, so that no other gets it, and its kinds: stages share most values."""


@cache
def _fields(class_: type) -> list[str]:
    return sorted(field.name for field in dataclasses.fields(class_))


def _inside(value: Any) -> Iterator[Any]:
    """A value, and all that it holds."""
    todo = [value]
    while todo:
        yield (part := todo.pop())
        if isinstance(part, tuple | list):
            todo += part
        elif dataclasses.is_dataclass(part) and not isinstance(part, type):
            todo += (getattr(part, name) for name in _fields(type(part)))
        elif isinstance(part, Mapping):
            todo += (*part.keys(), *part.values())


def _plain(value: Any, attributes: frozenset[str]) -> str:
    if value is None or isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"[{','.join(_plain(one, attributes) for one in value)}]"
    if isinstance(value, type):
        return value.__qualname__
    if dataclasses.is_dataclass(value):
        fields = _fields(type(value))
        asked = fields if not isinstance(value, Declared) else [name for name in fields if name in attributes]
        said = ",".join(f"{name}={_plain(getattr(value, name), attributes)}" for name in asked)
        return f"{type(value).__qualname__}({said})"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{_plain(k, attributes)}:{_plain(v, attributes)}' for k, v in value.items())}}}"
    if is_ours(type(value).__module__) and hasattr(value, "__dict__"):
        return f"{type(value).__qualname__}{_plain(vars(value), attributes)}"
    return ""
