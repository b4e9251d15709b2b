"""Checks of a caller's arguments, made before anything uses them."""

from __future__ import annotations

import os
from pathlib import Path
from types import UnionType
from typing import Any, SupportsIndex

from substrate.base.errors import ParameterError
from substrate.base.limits import LIMITS


def require(value: Any, kind: type | UnionType, wanted: str, where: str) -> None:
    """Refuse an argument of another type.

    Args:
        value: the argument.
        kind: the type that the argument must have.
        wanted: the type in words.
        where: the argument's name.

    Raises:
        ParameterError: the argument has another type; the message shows the argument.

    >>> require(3, str, "a text", "name")
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: name: 3 is not a text. Give a text.
    """
    if not isinstance(value, kind):
        raise ParameterError(f"{_shown(value)} is not {wanted}", where=(where,), hint=f"Give {wanted}")


def require_methods(value: Any, names: tuple[str, ...], wanted: str, where: str) -> None:
    """Refuse an argument that lacks a method; errors as :func:`require`.

    >>> require_methods("a", ("emit",), "an emitter", "emitter")
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: emitter: 'a' is not an emitter: it has no emit(). Give an emitter.
    """
    for name in names:
        if not callable(getattr(value, name, None)):
            what = f"{_shown(value)} is not {wanted}: it has no {name}()"
            raise ParameterError(what, where=(where,), hint=f"Give {wanted}")


def require_tick(value: Any, where: str) -> None:
    """Require a whole number, not a truth value; errors as :func:`require`.

    >>> require_tick("3", "at")
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: at: '3' is not a tick. Give a whole number.
    """
    if type(value) is int:
        return
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise ParameterError(f"{_shown(value)} is not a tick", where=(where,), hint="Give a whole number")


def require_count(value: Any, where: str) -> None:
    """Require a whole number of things, not a fraction or a truth value; errors as :func:`require`.

    >>> require_count(10.5, "rows")
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: rows: 10.5 is not a count. Give a whole number.
    """
    if type(value) is not int:
        raise ParameterError(f"{_shown(value)} is not a count", where=(where,), hint="Give a whole number")


def require_text(value: Any, where: str) -> None:
    """Require a text of whole characters, no longer than the limits allow; errors as :func:`require`.

    >>> require_text("a" * (LIMITS.text + 1), "object")
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: object: has more than 1048576 characters. Give a shorter text, or
    raise text in SUBSTRATE_LIMITS.
    """
    require(value, str, "a text", where)
    if len(value) > LIMITS.text:
        hint = "Give a shorter text, or raise text in SUBSTRATE_LIMITS"
        raise ParameterError(f"has more than {LIMITS.text} characters", where=(where,), hint=hint)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ParameterError("has half a character", where=(where,), hint="Give Unicode text") from None


def path_of(value: Any) -> Path:
    """The argument as a ``Path``; errors as :func:`require`.

    >>> path_of("log.rdfp").suffix
    '.rdfp'
    """
    require(value, str | os.PathLike, "a path", "path")
    return Path(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
