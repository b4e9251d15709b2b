"""RDF Patch text: transactions of a log, read and written.

One transaction a tick; its header carries the log's chain::

    H id <sha256:…> .
    H prev <sha256:…> .
    H tick "3" .
    TX .
    A <urn:s> <urn:p> <urn:o> .
    TC .

Format: https://afs.github.io/rdf-delta/rdf-patch.html. Patches of other programs are read too: where
``H tick`` is absent a transaction takes the tick after the one before it, and a chain that is absent
is not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from substrate.errors import LogError

_HEADER = re.compile(r'H (id|prev|tick) (?:<([^<>]*)>|"(\d+)"(?:\^\^<[^<>]*>)?) \.')


class Transaction(NamedTuple):
    """The deltas of one tick as RDF Patch lines, and the chain's value before and after them."""

    tick: int
    previous: str
    id: str
    lines: list[str]


def render(transaction: Transaction) -> str:
    """The one spelling of a transaction in a log file.

    >>> print(render(Transaction(3, "sha256:aa", "sha256:bb", ["A <urn:s> <urn:p> <urn:o> ."])), end="")
    H id <sha256:bb> .
    H prev <sha256:aa> .
    H tick "3" .
    TX .
    A <urn:s> <urn:p> <urn:o> .
    TC .
    """
    body = "\n".join(transaction.lines)
    return f'H id <{transaction.id}> .\nH prev <{transaction.previous}> .\nH tick "{transaction.tick}" .\nTX .\n{body}\nTC .\n'


def parse(text: str, name: str) -> Iterator[tuple[Transaction, int]]:
    """The transactions of a patch, each with the number of characters that were read up to its end.

    A last transaction without its ``TC`` is not yielded; what is read of the text then ends before it.

    Raises:
        LogError: a line that RDF Patch does not have, named with its number.
    """
    header: dict[str, str] = {}
    body: list[str] | None = None
    tick = -1
    read = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        read += len(line)
        statement = line.strip()
        if not line.endswith("\n"):
            return
        if body is not None and statement[:2] in ("A ", "D "):
            body.append(statement)
        elif body is not None and statement == "TC .":
            tick = int(header.get("tick", tick + 1))
            yield Transaction(tick, header.get("prev", ""), header.get("id", ""), body), read
            header, body = {}, None
        elif body is None and statement == "TX .":
            body = []
        elif body is None and (match := _HEADER.fullmatch(statement)):
            header[match[1]] = match[2] if match[3] is None else match[3]
        elif statement and not statement.startswith("#"):
            place = f"tick {header['tick']}" if "tick" in header else f"after tick {tick}" if tick >= 0 else "first transaction"
            raise LogError(f"not a line of RDF Patch here: {statement[:80]!r}", where=(name, f"line {number}", place), hint="The file was edited; restore it from a copy")


