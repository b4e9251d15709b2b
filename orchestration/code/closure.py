"""The statements that some functions reach, as a hash for each file.

A function reaches the statements of its module that bind the names in its text, and what these statements
use in turn, also through imports. From a module that is only imported, it reaches the statements that do more
than bind names. A class counts as a whole, and so does a module that is used as a value. A data file counts
if it lies next to a module in which a reached statement names it.

Three steps follow each other in this module:

1. *Start*: :class:`Closure` takes the functions of a stage apart into the statements that they name, and the
   plain data of their arguments (``Closure._add``).
2. *Follow*: ``_reached_from`` repeats ``_leads_to``, from a statement to those that bind the names it uses,
   here (``_behind_name``) or in another module (``_behind_import``), and adds what importing a module runs.
3. *Hash*: ``_lines_of`` gives a line for each reached statement and data file, and for each declared value
   (``_hashed``); :func:`code_of` hashes the lines of a file.

docs/design/code.md has an example. ``test_code.py`` changes statements one by one, and traces that workers
execute only reached ones.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import msgspec

from orchestration.code.modules import ROOT, Statement, is_ours, keep, module_of, paths, short_of

_WORD = re.compile(r"\w+")
_LEAVES, _SEQUENCES = (str, int, float, bytes, type(None)), (tuple, list)


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A statement in its module, with its number there; equal only to itself, so that a set finds it fast."""

    module: str
    number: int
    statement: Statement


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
        self._start = set[Place]()
        """The statements that the functions and their arguments name."""
        self.data: dict[str, set[str]] = {}
        """By module, what counts besides statements: plain data, and lambdas."""
        self._owner = __name__
        """The module of the last function, to which the plain arguments of a partial after it count; at first
        this module, for arguments of a library's function."""
        for part in _unpacked(functions):
            self._add(part)
        self._reached = _reached_from(self._start)

    def _add_data(self, module: str, text: str) -> None:
        self.data.setdefault(module, set()).add(text)

    def _add(self, part: Any) -> None:
        """Add a function, or an argument of a partial."""
        module = getattr(part, "__module__", None) or ""
        if not is_ours(module):
            self._add_data(self._owner, _data_of(part))
        elif getattr(part, "__qualname__", "") == "<lambda>":
            self._add_data(module, module_of(module).lambdas[part.__code__.co_firstlineno])
            names = _in_bytecode(part.__code__)
            self._start.update(place for name in names for place in _binding(module, name))
        elif hasattr(part, "__qualname__"):
            self._owner = module
            self._start.update(_in_signature(part))
        else:
            about = _hashed(part)
            self._start.update(about.kinds)
            if not isinstance(part, Declared):
                for inner in filter(callable, _nested(part)):
                    self._add(inner)
            self._add_data(type(part).__module__, about.data)

    @property
    def definitions(self) -> set[tuple[str, str]]:
        """The name of everything that is reached, each with its file."""
        return {(_file(place.module), name) for place in self._reached for name in place.statement.binds}

    def lines(self) -> dict[str, list[str]]:
        """The lines to hash for each file, one per part that counts."""
        lines: dict[str, list[str]] = {}
        for module in {place.module for place in self._reached}:
            parts, beside = _lines_of(self._reached.intersection(_statements_of(module)))
            lines |= {_file(module): [*parts], **beside}
        for module, parts in self.data.items():
            lines.setdefault(_file(module), []).extend(sorted(parts))
        return lines


def _unpacked(given: Iterable[Any]) -> Iterator[Any]:
    """Unpack partials and sequences into functions and values."""
    for part in given:
        if isinstance(part, partial):
            yield from _unpacked((part.func, *part.args, *part.keywords.values()))
        elif isinstance(part, _SEQUENCES) and not hasattr(part, "_fields"):
            yield from _unpacked(part)
        else:
            yield part


@cache
def _in_signature(function: Any) -> tuple[Place, ...]:
    """The statements of a function's or class's own name, and of the names in its parameters' annotations."""
    handed = (annotation for name, annotation in function.__annotations__.items() if name != "return")
    names = {word for annotation in handed for word in _WORD.findall(str(annotation))}
    names.add(function.__qualname__.partition(".")[0])
    return tuple(place for name in names for place in _binding(function.__module__, name))


def _in_bytecode(code: CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_in_bytecode, inner))


def _reached_from(first: Iterable[Place]) -> frozenset[Place]:
    """Some statements and all that they lead to, found step by step."""
    reached, fresh = set[Place](), set(first)
    while fresh:
        reached |= fresh
        modules = {place.module for place in fresh}
        fresh = set[Place]().union(*map(_leads_to, fresh), *map(_run_by_importing, modules)) - reached
    return frozenset(reached)


@cache
def _leads_to(place: Place) -> frozenset[Place]:
    """The statements that a statement uses or imports."""
    statement = place.statement
    if values := _declarations(place):
        return frozenset(kind for value in values for kind in _hashed(value).kinds)
    used = (reached for use in statement.uses for reached in _behind_name(place.module, use))
    # An imported module counts only by the attributes that are used.
    sources = (source for source in statement.imports if not (statement.importing and _whole_module(source)))
    return frozenset(used).union(*map(_behind_import, sources))


@cache
def _statements_of(module: str) -> tuple[Place, ...]:
    """The statements of a module, in order; none of this room, which is no part of what a stage computes."""
    statements = () if module.startswith(__package__ or "") else module_of(module).statements
    return tuple(Place(module, number, statement) for number, statement in enumerate(statements))


@cache
def _by_name(module: str) -> dict[str, tuple[Place, ...]]:
    """A module's statements, by the names that they bind."""
    places: dict[str, tuple[Place, ...]] = {}
    for place in _statements_of(module):
        for name in place.statement.binds:
            places[name] = (*places.get(name, ()), place)
    return places


def _binding(module: str, name: str) -> tuple[Place, ...]:
    return _by_name(module).get(name, ())


@cache
def _declarations(place: Place) -> tuple[Declared, ...]:
    """The values that a statement of the platform binds, if they only declare: these values are hashed
    instead of its text.
    """
    if not (place.module.startswith(("orchestration.", "research.")) and place.statement.uses):
        return ()
    module = importlib.import_module(place.module)
    values = [getattr(module, name, None) for name in place.statement.binds]
    parts = [*_unpacked(value.values() if isinstance(value, Mapping) else value for value in values)]
    return tuple(parts) if all(isinstance(value, Declared) for value in parts) else ()


class _Value(NamedTuple):
    """A hashed value; the reference keeps its id from being reused."""

    value: Any
    kinds: tuple[Place, ...]
    """The statements of its class and of the types that it holds."""
    data: str
    """Its plain data."""


_values: dict[int, _Value] = {}
"""Hashed values by id; stages share most of them."""


def _hashed(value: Any) -> _Value:
    if id(value) not in _values:
        types = dict.fromkeys([type(value), *(part for part in _nested(value) if isinstance(part, type))])
        kinds = (place for kind in types for place in _binding(kind.__module__, kind.__qualname__))
        _values[id(value)] = _Value(value, tuple(kinds), _data_of(value))
    return _values[id(value)]


def _behind_name(module: str, use: str) -> Iterator[Place]:
    """The statements behind a module's name, or behind the used attribute if the name is a module."""
    name, _, attribute = use.partition(".")
    for place in _binding(module, name):
        yield place
        if place.statement.importing and (whole := _whole_module(place.statement.imports[0])):
            yield from _behind_import(f"{whole}:{attribute}")


def _whole_module(source: str) -> str:
    """The module that an import means; empty if it means a name in a module, or a foreign module."""
    module, _, name = source.partition(":")
    if any(source not in place.statement.imports for place in _binding(module, name)):
        return ""
    whole = f"{module}.{name}" if name else module
    return whole if whole in paths() else ""


def _behind_import(source: str) -> tuple[Place, ...]:
    """The statements behind an import: the statements that bind the name, or all of a module."""
    if whole := _whole_module(source):
        return _statements_of(whole)
    module, _, name = source.partition(":")
    if not (places := _binding(module, name)) and (places := _binding(module, "__getattr__")):
        value = getattr(importlib.import_module(module), name)
        places += _binding(value.__module__, value.__qualname__)
    return places


@cache
def _run_by_importing(module: str) -> frozenset[Place]:
    """The statements that have an effect when a module is imported, with all that it imports."""
    places, seen, waiting = set[Place](), set[str](), [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            running, imported = _effects_of(name)
            places |= running
            waiting += imported
    return frozenset(places)


@cache
def _effects_of(module: str) -> tuple[set[Place], list[str]]:
    """The statements of a module that have an effect when it is imported, and the modules imported then."""
    if module not in paths():
        return set(), []
    # An import inside a function runs when the function does.
    run = (statement for statement in module_of(module).statements if not statement.uses or statement.runs)
    sources = (source for statement in run for source in statement.imports)
    whole = (name for source in sources for name in (source.partition(":")[0], source.replace(":", ".")))
    imported = dict.fromkeys([*filter(paths().__contains__, whole), module.rpartition(".")[0]])
    return {place for place in _statements_of(module) if place.statement.runs}, [*imported]


@cache
def _file(module: str) -> str:
    return paths()[module].relative_to(ROOT).as_posix()


@cache
def _lines_of(places: frozenset[Place]) -> tuple[list[str], dict[str, list[str]]]:
    """The lines to hash for some statements of a module, and those for each data file that they name."""
    lines, beside = list[str](), dict[str, list[str]]()
    for place in sorted(places, key=attrgetter("number")):
        lines += [_hashed(value).data for value in _declarations(place)] or [place.statement.short]
        beside |= {path.relative_to(ROOT).as_posix(): [short_of(path)] for path in _data_files(place)}
    return lines, beside


@cache
def _loads_boxes(module: str) -> bool:
    sources = (source for statement in module_of(module).statements for source in statement.imports)
    return any(source.endswith(":TBox") for source in sources)


@cache
def _data_files(place: Place) -> tuple[Path, ...]:
    """The TBoxes and the files next to a module that a statement names."""
    texts, folder = place.statement.texts, paths()[place.module].parent
    named = [folder / text for text in texts if "." in text and not text.endswith(".py")]
    if _loads_boxes(place.module):
        named += [ROOT / "tboxes" / f"{text}.ttl" for text in texts]
    return tuple(filter(Path.is_file, named))


def _nested(value: Any) -> Iterator[Any]:
    """Yield a value and everything inside it."""
    yield value
    if not isinstance(value, _LEAVES):
        for part in value if isinstance(value, _SEQUENCES) else _fields(value).values():
            yield from _nested(part)


def _fields(value: Any) -> Mapping[str, Any]:
    """The items of a mapping, the fields of a struct, a dataclass or another object of this project; none for
    other values.
    """
    if isinstance(value, Mapping):
        return value
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    ours = is_ours(type(value).__module__)
    return vars(value) if ours and hasattr(value, "__dict__") else {}


def _data_of(value: Any) -> str:
    """The plain data of a value as text, without its functions."""
    if isinstance(value, _LEAVES):
        return repr(value)
    if isinstance(value, (*_SEQUENCES, set, frozenset)):
        texts = map(_data_of, value)
        return f"[{','.join(texts if isinstance(value, _SEQUENCES) else sorted(texts))}]"
    if isinstance(value, type):
        return value.__qualname__
    fields = ",".join(f"{_data_of(key)}:{_data_of(item)}" for key, item in _fields(value).items())
    return f"{type(value).__qualname__}({fields})" if fields else ""
