"""The statements that some functions reach, as a hash for each file.

A function reaches the statements of its module that bind the names in its text, and what these statements
use in turn, also through imports. From a module that is only imported, it reaches the statements that do more
than bind names. A class counts as a whole, and so does a module that is used as a value. A data file counts
if it lies next to a module in which a reached statement names it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from orchestration.code.modules import ROOT, Statement, is_ours, keep, module_of, paths, short_of

_ITSELF = __package__ or ""
"""This room, which hashes code but is no part of what a stage computes."""
_WORD = re.compile(r"\w+")
Place = tuple[str, int]
"""A statement: its module and its number in the module."""


class Declared:
    """A value that declares something, such as a benchmark: its class and its plain data count.

    Of its functions, only those count that a stage lists as called.
    """


def code_of(*functions: Callable[..., Any]) -> dict[str, str]:
    """The project's files that some functions depend on, sorted by path, each with a short hash of the
    reached statements.

    Args:
        functions: functions or classes of this project, or partials of them.

    >>> from substrate.domains.rows import encode
    >>> [file for file in code_of(encode) if file.endswith("rows.py")]
    ['substrate/domains/rows.py']
    """
    by_file = Closure(functions).lines()
    keep()
    texts = {file: "\n".join(lines).encode() for file, lines in sorted(by_file.items())}
    return {file: hashlib.sha256(text).hexdigest()[:16] for file, text in texts.items()}


class Closure:
    """All statements and data files that some functions reach."""

    def __init__(self, functions: Iterable[Any]) -> None:
        self.reached: set[Place] = set()
        self._run: set[str] = set()
        """The modules whose statements that run when they are imported are reached."""
        self.said: dict[str, set[str]] = {}
        """By module, what counts besides statements: plain data, and lambdas."""
        self._last = __name__
        for part in _parts(functions):
            self._take(part)

    def _say(self, module: str, text: str) -> None:
        self.said.setdefault(module, set()).add(text)

    def _take(self, part: Any) -> None:
        """Add a function, or an argument of a partial."""
        module = getattr(part, "__module__", None) or ""
        if not is_ours(module):
            self._say(self._last, _plain(part))
        elif getattr(part, "__qualname__", "") == "<lambda>":
            self._say(module, module_of(module).lambdas[part.__code__.co_firstlineno])
            self._walk(place for name in _named_in(part.__code__) for place in _binding(module, name))
        elif hasattr(part, "__qualname__"):
            self._last = module
            handed = (annotation for name, annotation in part.__annotations__.items() if name != "return")
            names = {word for annotation in handed for word in _WORD.findall(str(annotation))}
            names.add(part.__qualname__.partition(".")[0])
            self._walk(place for name in names for place in _binding(module, name))
        else:
            about = _about(part)
            self._walk(about.kinds)
            if not isinstance(part, Declared):
                for inner in filter(callable, _inside(part)):
                    self._take(inner)
            self._say(type(part).__module__, about.said)

    def _walk(self, start: Iterable[Place]) -> None:
        todo = list(start)
        while todo:
            place = todo.pop()
            if place not in self.reached and not place[0].startswith(_ITSELF):
                self.reached.add(place)
                todo += _led_to(place)
                if place[0] not in self._run:
                    self._run.add(place[0])
                    todo += _run_with(place[0])

    @property
    def definitions(self) -> set[tuple[str, str]]:
        """The name of everything that is reached, each with its file."""
        return {(_file(place[0]), name) for place in self.reached for name in _at(place).binds}

    def lines(self) -> dict[str, list[str]]:
        """The lines to hash for each file, one per part that counts."""
        lines: dict[str, list[str]] = {}
        for place in sorted(self.reached):
            parts, beside = _lines(place)
            lines.setdefault(_file(place[0]), []).extend(parts)
            lines |= beside
        for module, parts in self.said.items():
            lines.setdefault(_file(module), []).extend(sorted(parts))
        return lines


def _parts(given: Iterable[Any]) -> Iterator[Any]:
    """Unpack partials and sequences into functions and values."""
    for part in given:
        if isinstance(part, partial):
            yield from _parts((part.func, *part.args, *part.keywords.values()))
        elif isinstance(part, tuple | list) and not hasattr(part, "_fields"):
            yield from _parts(part)
        else:
            yield part


def _named_in(code: CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_named_in, inner))


def _at(place: Place) -> Statement:
    return module_of(place[0]).statements[place[1]]


@cache
def _names(module: str) -> dict[str, tuple[Place, ...]]:
    """A module's statements, by the names that they bind."""
    places: dict[str, tuple[Place, ...]] = {}
    for number, statement in enumerate(module_of(module).statements):
        for name in statement.binds:
            places[name] = (*places.get(name, ()), (module, number))
    return places


def _binding(module: str, name: str) -> tuple[Place, ...]:
    return _names(module).get(name, ())


@cache
def _led_to(place: Place) -> tuple[Place, ...]:
    """The statements that a statement uses or imports."""
    statement = _at(place)
    if values := _declared(place):
        return tuple(dict.fromkeys(kind for value in values for kind in _about(value).kinds))
    used = (reached for use in statement.uses for reached in _used(place[0], use))
    # An imported module counts only by the attributes that are used.
    sources = (source for source in statement.imports if not (statement.importing and _module(source)))
    imported = (reached for source in sources for reached in _imported(source))
    return tuple(dict.fromkeys([*used, *imported]))


@cache
def _declared(place: Place) -> tuple[Declared, ...]:
    """The values that a statement of the platform binds, if they only declare: these values are hashed
    instead of its text.
    """
    if not (place[0].startswith(("orchestration.", "research.")) and _at(place).uses):
        return ()
    module = importlib.import_module(place[0])
    values = [getattr(module, name, None) for name in _at(place).binds]
    parts = [*_parts(value.values() if isinstance(value, Mapping) else value for value in values)]
    return tuple(parts) if all(isinstance(value, Declared) for value in parts) else ()


class _Value(NamedTuple):
    """A hashed value; the reference keeps its id from being reused."""

    value: Any
    kinds: tuple[Place, ...]
    """The statements of its class and of the types that it holds."""
    said: str
    """Its plain data."""


_values: dict[int, _Value] = {}
"""Hashed values by id; stages share most of them."""


def _about(value: Any) -> _Value:
    if id(value) not in _values:
        types = dict.fromkeys([type(value), *(part for part in _inside(value) if isinstance(part, type))])
        kinds = (place for kind in types for place in _binding(kind.__module__, kind.__qualname__))
        _values[id(value)] = _Value(value, tuple(kinds), _plain(value))
    return _values[id(value)]


def _used(module: str, use: str) -> Iterator[Place]:
    """The statements behind a module's name, or behind the used attribute if the name is a module."""
    name, _, attribute = use.partition(".")
    for place in _binding(module, name):
        yield place
        if _at(place).importing and (whole := _module(_at(place).imports[0])):
            yield from _imported(f"{whole}:{attribute}")


def _module(source: str) -> str:
    """The module that an import means; empty if it means a name in a module, or a foreign module."""
    module, _, name = source.partition(":")
    if any(source not in _at(place).imports for place in _binding(module, name)):
        return ""
    whole = f"{module}.{name}" if name else module
    return whole if whole in paths() else ""


def _imported(source: str) -> tuple[Place, ...]:
    """The statements behind an import: the statements that bind the name, or all of a module."""
    if whole := _module(source):
        return tuple((whole, number) for number in range(len(module_of(whole).statements)))
    module, _, name = source.partition(":")
    if not (places := _binding(module, name)) and (places := _binding(module, "__getattr__")):
        value = getattr(importlib.import_module(module), name)
        places += _binding(value.__module__, value.__qualname__)
    return places


@cache
def _run_with(module: str) -> tuple[Place, ...]:
    """The statements that have an effect when a module is imported, with all that it imports."""
    places, seen, waiting = list[Place](), set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            running, imported = _runs(name)
            places += running
            waiting += imported
    return tuple(places)


@cache
def _runs(module: str) -> tuple[list[Place], list[str]]:
    """The statements of a module that have an effect when it is imported, and the modules imported then."""
    if module not in paths():
        return [], []
    statements = module_of(module).statements
    # An import inside a function runs when the function does.
    run = (statement for statement in statements if not statement.uses or statement.runs)
    sources = (source for statement in run for source in statement.imports)
    whole = (name for source in sources for name in (source.partition(":")[0], source.replace(":", ".")))
    imported = dict.fromkeys([*filter(paths().__contains__, whole), module.rpartition(".")[0]])
    return [(module, at) for at, statement in enumerate(statements) if statement.runs], [*imported]


@cache
def _file(module: str) -> str:
    return paths()[module].relative_to(ROOT).as_posix()


@cache
def _lines(place: Place) -> tuple[list[str], dict[str, list[str]]]:
    """The lines to hash for a statement, and those for each data file that it names."""
    parts = [_about(value).said for value in _declared(place)] or [_at(place).short]
    return parts, {path.relative_to(ROOT).as_posix(): [short_of(path)] for path in _data_files(place)}


@cache
def _boxes() -> dict[str, Path]:
    return {path.stem: path for path in (ROOT / "tboxes").glob("*.ttl")}


@cache
def _loads_boxes(module: str) -> bool:
    sources = (source for statement in module_of(module).statements for source in statement.imports)
    return any(source.endswith(":TBox") for source in sources)


@cache
def _data_files(place: Place) -> tuple[Path, ...]:
    """The TBoxes and the files next to a module that a statement names."""
    texts, folder = _at(place).texts, paths()[place[0]].parent
    beside = (folder / text for text in texts if "." in text and not text.endswith(".py"))
    boxes = (_boxes()[text] for text in texts if text in _boxes() and _loads_boxes(place[0]))
    return *(path for path in beside if path.is_file()), *boxes


def _inside(value: Any) -> Iterator[Any]:
    """Yield a value and everything inside it."""
    yield value
    for part in value if isinstance(value, tuple | list) else _fields(value).values():
        yield from _inside(part)


def _fields(value: Any) -> Mapping[str, Any]:
    """The fields of a struct or dataclass; none for other values."""
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    ours = is_ours(type(value).__module__)
    return vars(value) if ours and hasattr(value, "__dict__") else {}


def _plain(value: Any) -> str:
    """The plain data of a value as text, without its functions."""
    if value is None or isinstance(value, str | int | float | bytes):
        return repr(value)
    if isinstance(value, tuple | list | set | frozenset):
        texts = map(_plain, value)
        return f"[{','.join(texts if isinstance(value, tuple | list) else sorted(texts))}]"
    if isinstance(value, type):
        return value.__qualname__
    fields = ",".join(f"{_plain(key)}:{_plain(item)}" for key, item in _fields(value).items())
    return f"{type(value).__qualname__}({fields})" if fields else ""
