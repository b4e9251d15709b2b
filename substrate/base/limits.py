"""The limits of what comes in, one set for every door: bytes, depth, time and memory."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec

from substrate.base.errors import ParameterError

_Count = Annotated[int, msgspec.Meta(ge=1)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds of what may be read, and of what it may cost. The largest official file, GQA's full set of
    questions, unpacks to under 2 GiB.

    ``SUBSTRATE_LIMITS`` in the environment sets others: ``unpacked=8589934592,members=1000000``.

    >>> Limits().members
    200000
    """

    bytes: _Count = 8 << 30
    """Bytes of a file."""
    unpacked: _Count = 4 << 30
    """Bytes of a file or of a member of an archive, unpacked."""
    ratio: _Count = 200
    """The ratio of unpacked to packed size that a file may have where it unpacks to more than :data:`SMALL`.
    """
    members: _Count = 200_000
    """Members of an archive."""
    steps: _Count = 10_000
    """Steps of a question's program."""
    text: _Count = 1 << 20
    """Characters of a query or of a text that a tool is given, and bytes of a file of parameters."""
    pieces: _Count = 1_000
    """Keywords and operators of a query: a chain of them is a tree as deep as it is long."""
    depth: Annotated[int, msgspec.Meta(ge=1, le=256)] = 64
    """Brackets inside one another, in a query, a TBox or a triple, and levels of parameters; a parser runs
    out of its stack at some thousands."""
    rounds: _Count = 1_000
    """Rounds after which rules that still change the state count as never settling."""
    seconds: _Count = 30
    """Seconds of a user's query, or of the rules of their TBox."""
    rows: _Count = 10_000
    """Rows of a query's answer."""
    memory: _Count = 4 << 30
    """Bytes of address space of a query's process."""


SMALL = 64 << 20
"""Bytes up to which nothing is called a compression bomb."""


def limits_of(text: str) -> Limits:
    """The limits that ``NAME=NUMBER,…`` sets, the others as they are.

    >>> limits_of("members=3").members
    3

    Raises:
        ParameterError: a name is unknown, or a number is none or out of range.
    """
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    try:
        return msgspec.convert({name.strip(): int(value) for name, _, value in pairs}, Limits)
    except (ValueError, msgspec.ValidationError) as error:
        raise ParameterError(
            f"not limits: {text[:80]!r} ({error})",
            where=("SUBSTRATE_LIMITS",),
            hint=f"Write NAME=NUMBER,… with names of {', '.join(Limits.__struct_fields__)}",
        ) from error


LIMITS = limits_of(os.environ.get("SUBSTRATE_LIMITS", ""))
"""The limits in force."""
