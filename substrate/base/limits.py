"""The limits of all input: bytes, depth, time and memory."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec

from substrate.base.errors import ParameterError

_Count = Annotated[int, msgspec.Meta(ge=1)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bounds on the size of input and on the cost of processing it.

    The largest official file, GQA's full set of questions, unpacks to under 2 GiB. ``SUBSTRATE_LIMITS`` in
    the environment sets other limits: ``unpacked=8589934592,members=1000000``.

    >>> Limits().members
    200000
    """

    bytes: _Count = 8 << 30
    """Bytes of a file."""
    unpacked: _Count = 4 << 30
    """Bytes of a file or of an archive's member, unpacked."""
    ratio: _Count = 200
    """The ratio of unpacked to packed size, for a file that unpacks to more than :data:`SMALL`."""
    members: _Count = 200_000
    """Members of an archive."""
    steps: _Count = 10_000
    """Steps of a question's program."""
    text: _Count = 1 << 20
    """Characters of a query or of a tool's argument, and bytes of a file of parameters."""
    pieces: _Count = 1_000
    """Keywords and operators of a query; a chain of operators parses to a tree as deep as its length."""
    depth: Annotated[int, msgspec.Meta(ge=1, le=256)] = 64
    """Nested brackets in a query, a TBox or a triple, and levels of parameters; a parser exhausts its stack
    at a few thousand."""
    rounds: _Count = 1_000
    """Rounds of rules; if the rules still change the state after that many, they are refused."""
    seconds: _Count = 30
    """Seconds for a user's query, or for the rules of a user's TBox."""
    rows: _Count = 10_000
    """Rows of a query's answer."""
    memory: _Count = 4 << 30
    """Bytes of a query process's address space."""


SMALL = 64 << 20
"""Bytes up to which no file is called a compression bomb."""


def limits_of(text: str) -> Limits:
    """The limits that ``NAME=NUMBER,…`` sets, and the defaults of all others.

    >>> limits_of("members=3").members
    3

    Raises:
        ParameterError: a name is unknown, or a value is not a number or out of range.
    """
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    try:
        return msgspec.convert({name.strip(): int(value) for name, _, value in pairs}, Limits)
    except (ValueError, msgspec.ValidationError) as error:
        what = f"not limits: {text[:80]!r} ({error})"
        hint = f"Write NAME=NUMBER,… with names of {', '.join(Limits.__struct_fields__)}"
        raise ParameterError(what, where=("SUBSTRATE_LIMITS",), hint=hint) from error


LIMITS = limits_of(os.environ.get("SUBSTRATE_LIMITS", ""))
"""The limits in force."""
