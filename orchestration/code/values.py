"""The values that a stage's functions carry: their plain data as text, and the types that they hold.

Were the function of the room's example ``partial(answer, 7)``, its plain data would be the text ``7``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from orchestration.code.checkout import is_ours

_PLAIN, _SEQUENCES = (str, int, float, bytes, type(None)), (tuple, list)


class Declared:
    """A value that declares something, such as a benchmark: its class and its plain data count.

    Of its functions, only those count that a stage lists as called.
    """


def types_in(value: Any) -> set[type]:
    """The class of a value and the types that it holds."""
    return {type(value), *(part for part in nested(value) if isinstance(part, type))}


def unpacked(given: Iterable[Any]) -> Iterator[Any]:
    """Unpack partials and sequences into functions and values."""
    for part in given:
        if isinstance(part, partial):
            yield from unpacked((part.func, *part.args, *part.keywords.values()))
        elif isinstance(part, _SEQUENCES) and not hasattr(part, "_fields"):
            yield from unpacked(part)
        else:
            yield part


def nested(value: Any) -> Iterator[Any]:
    """Yield a value and everything inside it."""
    yield value
    if not isinstance(value, _PLAIN):
        for part in value if isinstance(value, _SEQUENCES) else _fields(value).values():
            yield from nested(part)


def plain_data(value: Any) -> str:
    """The plain data of a value as text, without its functions.

    >>> plain_data({"limit": 3, "grade": len, "names": ("a", "b")})
    "dict('limit':3,'grade':,'names':['a','b'])"
    """
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, (*_SEQUENCES, set, frozenset)):
        texts = map(plain_data, value)
        return f"[{','.join(texts if isinstance(value, _SEQUENCES) else sorted(texts))}]"
    if isinstance(value, type):
        return value.__qualname__
    fields = ",".join(f"{plain_data(key)}:{plain_data(item)}" for key, item in _fields(value).items())
    return f"{type(value).__qualname__}({fields})" if fields else ""


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
