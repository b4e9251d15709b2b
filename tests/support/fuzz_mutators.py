"""Inputs somewhat like those that a door accepts: bytes, words, lines, or values of records are changed."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

WORDS = [
    *rb"""{ } [ ] ( ) <<( )>> " ' \ \u0000 \ud800 : , . ; # < > null true NaN -Infinity 1e308 1e999 -1 .nan
    9223372036854775808 &a *a !!python/none <<: A D @prefix ../ ?tick $this _:b core:""".split(),
    *(b"\n", b"\r", b"\t", b"\xff", b"\x00", b"\xef\xbb\xbf", b"\x1f\x8b", b"\xe2\x80\xa8", b"\xc5\xbf"),
    *(b"9" * 400, b"9" * 5000, b"[" * 1500, b"{" * 200, b"\x1b[2J", b"\xc2\x9b", b"TX .\n", b"TC .\n"),
    *(b"SERVICE <http://127.0.0.1:1/> {}", b"H id <sha256:00> .\n", b"<script>alert(1)</script>"),
    *(b'" onload="x', b"](javascript:x)"),
]
# Values in the place of others in a record.
STRANGE: list[Any] = [
    *(None, True, -1, 0, 1, 2**31, 2**53, 2**63, 10**400, 0.1, 1e9, 1e308, -1e308, math.nan, math.inf),
    *("", " ", "x" * 3000, "\ud800", "\x00", "\x1b[2J", "\x9b", "\u202e", "\u2028", "../../x", "/dev/zero"),
    *("<script>alert(1)</script>", '" onload="x', "a|b", "](javascript:x)", "\\input{x}", "${x}", "{{ x }}"),
    *("=1+1", [], {}, [[]], {"a": None}, [0] * 300),
]


@cache
def _tokens(data: bytes) -> list[bytes]:
    """The words of a text and the separators between them."""
    return re.split(rb"(\s+|[\"{}()<>\[\].,;:|@^])", data)


@cache
def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _by_parts(data: bytes, seeds: list[bytes], source: random.Random) -> bytes:
    """Change some bytes, words or lines for others, or leave them out, repeat or move them."""
    cut: Callable[[bytes], Any] = source.choice((bytearray, _tokens, _lines))
    parts: Any = bytearray(data) if cut is bytearray else list(cut(data))
    for _ in range(source.randint(1, 5)):
        here, there = source.randint(0, len(parts)), source.randint(0, len(parts))
        stop = here + source.choice((0, 1, 1, 2, 8, 64))
        how = source.randrange(6)
        if how == 0:
            del parts[here:stop]
        elif how == 1:
            parts[here:here] = parts[here:stop] * source.choice((1, 2, 40))
        elif how == 2:
            moved = parts[here:stop]
            del parts[here:stop]
            parts[there:there] = moved
        elif how == 3:
            others = cut(source.choice(seeds))
            at = source.randint(0, len(others))
            parts[here:stop] = others[at : at + source.choice((1, 8, 64))]
        elif how == 4:
            word = source.choice(WORDS)
            parts[here:stop] = word if cut is bytearray else [word]
        elif cut is bytearray and here < len(parts):
            parts[here] ^= 1 << source.randrange(8)
    return bytes(parts) if cut is bytearray else b"".join(parts)


def _places(value: Any, places: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The places of the values inside of a record: each a container, and a key or index in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        places.append((value, key))
        _places(inner, places)
    return places


def _by_values(data: bytes, source: random.Random) -> bytes:
    """Change some values of a JSON record, or of a record in one of several lines; other lines stay."""
    lines = data.split(b"\n")
    at = source.randrange(len(lines))
    try:
        # A list of one, which holds the record like any value inside of it.
        record = [json.loads(lines[at] if len(lines) > 1 else data)]
    except (ValueError, RecursionError):
        return data
    for _ in range(source.randint(1, 3)):
        places = _places(record, [])
        if not places:
            break
        holder, key = source.choice(places)
        how = source.randrange(8)
        if how < 3:
            holder[key] = deepcopy(source.choice(STRANGE))
        elif how == 3:
            other, there = source.choice(places)
            # Only what holds nothing: a record that holds itself has no end.
            holder[key] = other[there] if not isinstance(other[there], dict | list) else None
        elif how == 4 and holder is not record:
            del holder[key]
        elif how == 5 and isinstance(holder, list) and holder is not record:
            holder[key:key] = [deepcopy(holder[key]) for _ in range(source.choice((1, 2, 40)))]
        elif isinstance(holder[key], str):
            holder[key] += str(source.choice(STRANGE))
        elif isinstance(holder[key], int | float):
            holder[key] = source.choice((holder[key] + 1, holder[key] - 1, -holder[key], 7 * holder[key]))
        elif isinstance(holder, dict):
            holder[str(source.choice(STRANGE))] = deepcopy(holder[key])
    text = json.dumps(record[0]).encode()
    if len(lines) == 1:
        return text
    return b"\n".join([*lines[:at], text, *lines[at + 1 :]])


def mutated(seeds: list[bytes], source: random.Random, wrap: Callable[[bytes], bytes] = bytes) -> bytes:
    """An input somewhat like those that a door accepts."""
    data = source.choice(seeds)
    changed = _by_values(data, source) if source.random() < 0.5 else data
    if changed == data or source.random() < 0.1:
        changed = _by_parts(changed, seeds, source)
    return wrap(changed)


def grown(seeds: list[bytes], source: random.Random) -> Callable[[int], bytes]:
    """A function that gives an input in which a part is repeated up to a number of bytes."""
    data = source.choice(seeds)
    if source.random() < 0.5:
        data = mutated([data], source)
    start = source.randrange(len(data) + 1)
    part = data[start : start + source.choice((1, 2, 7, 40, 300))] if source.random() < 0.7 else b""
    part = part or source.choice(WORDS)
    return lambda count: data[:start] + part * (count // len(part)) + data[start:]
