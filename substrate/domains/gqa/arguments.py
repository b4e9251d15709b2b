"""The arguments of a program's operations: their types, and the parser of each form.

A parser raises a ``ValueError`` that continues the words "the argument '…'".
"""

from __future__ import annotations

import re
from typing import NamedTuple

SCENE = "scene"
ANYTHING = "_"


class Named(NamedTuple):
    """An object by class name, and by any ids in the program.

    ``ids`` is ``None`` without ids, and empty if the program says that no such object exists (``-``).
    """

    name: str
    ids: tuple[str, ...] | None


class Related(NamedTuple):
    """An object in one of some relations; ``subject`` says whether it is the relation's subject.

    A program's direction ``s`` or ``_`` makes it the subject; ``o`` makes it the relation's object.
    """

    target: Named
    relations: tuple[str, ...]
    subject: bool


class Value(NamedTuple):
    """An attribute value, or its absence."""

    value: str
    negated: bool


_IDS = re.compile(r"\s*\(([^()]*)\)\s*$")
_NEGATED = re.compile(r"not\s*\((.*)\)")


def named(text: str) -> Named:
    """Parse ``name (ids)``; the ids may be absent.

    >>> named("man (3)"), named("dog (-) ")
    (Named(name='man', ids=('3',)), Named(name='dog', ids=()))
    """
    match = _IDS.search(text)
    name = text[: match.start()].strip() if match else text.strip()
    if not name:
        raise ValueError("names no object")
    ids = (part.strip() for part in match[1].split(",")) if match else None
    return Named(name, ids if ids is None else tuple(part for part in ids if part not in ("", "-")))


def related(text: str) -> Related:
    """Parse ``name,relation,s|o (ids)``; a choice has several relations, separated by ``|``.

    >>> related("chair,to the left of,o (7)").subject
    False
    """
    match = _IDS.search(text)
    parts = [part.strip() for part in (text[: match.start()] if match else text).split(",")]
    if len(parts) < 3 or not all(parts):
        raise ValueError("is not `name,relation,s|o`")
    name, *relations, direction = parts
    if direction not in ("s", "o", ANYTHING):
        raise ValueError(f"ends in {direction!r}, not in s, o or _")
    words = _words(",".join(relations))
    if not all(words):
        raise ValueError("has a blank relation")
    return Related(named(name + (match[0] if match else "")), words, direction != "o")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split("|"))


def value_of(text: str) -> Value:
    """Parse ``value`` or ``not(value)``."""
    match = _NEGATED.fullmatch(text.strip())
    value = (match[1] if match else text).strip()
    if not value:
        raise ValueError("has no value")
    return Value(value, match is not None)


def options(text: str) -> tuple[str, ...]:
    """The words of a choice."""
    words = _words(text)
    if len(words) < 2 or not all(words):
        raise ValueError("is not a choice of words separated by |")
    return words


def word(text: str) -> str:
    """The object of a question: ``name``, an attribute family, or a class."""
    if not text.strip():
        raise ValueError("asks for nothing")
    return text.strip()


def family(text: str) -> str | None:
    """The attribute family of a comparison whose operation does not name it."""
    return text.strip() or None


def nothing(_: str) -> None:
    """Parse the argument of an operation that has none."""
