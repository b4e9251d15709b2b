"""Read, verify and write the transactions of a log as RDF Patch.

A log has one transaction per tick, whose header carries the log's chain::

    H id <sha256:…> .
    H prev <sha256:…> .
    H tick "3" .
    TX .
    A <urn:s> <urn:p> <urn:o> .
    TC .

A fork's first transaction begins with its descent: ``H parent``, ``H branch``, and ``H descent``, a checksum
of these two. If a log declares its opening, ``H opening`` follows: the number of opening deltas and the
chain's value after them. Format: https://afs.github.io/rdf-delta/rdf-patch.html;
:mod:`.foreign` reads patches of other programs.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain as joined
from itertools import repeat, takewhile
from operator import itemgetter
from typing import BinaryIO, NamedTuple

import pyoxigraph as ox

from substrate.base.errors import LogError
from substrate.base.ntriples import DEEPEST
from substrate.log._chain import Chain
from substrate.sparql.tokens import nests_too_deeply

_DESCENT = re.compile(rb'H parent <([!-;=?-~]*)> \.\nH branch "(\d{1,18})" \.\nH descent <[!-;=?-~]*> \.\n')
_OPENING = re.compile(rb'H opening "(\d{1,18}) (sha256:[0-9a-f]{64})" \.\n')
_AFTER_TICK = '" .\nTX .\n'
_CLOSE = "\nTC .\n"
_BODY, _END = _AFTER_TICK.encode(), _CLOSE.encode()
# A transaction: its digest, the previous digest, the tick, and the lines without the final line feed
_WHOLE = b'H id <sha256:%b> .\nH prev <sha256:%b> .\nH tick "%d' + _BODY + b"%b" + _END
# The place in a transaction at which the digits of the tick begin; two digests of 64 digits precede it
_TICK = _WHOLE.index(b"%d" + _BODY) + 2 * (64 - len("%b"))
# Bytes of a file that are read, verified and parsed at a time
_STRETCH = 1 << 17
# The number of lines that are hashed to find a damaged transaction's tick
_GUESSES = 2_000
_LINES = ("H ", "TX .", "A ", "D ", "TC .")
# The first line of a log in a later format; the present format, version 1, has no version line
_VERSION = re.compile(r'H version "(\d{1,9})" \.\n')
# The beginning of any program's RDF Patch
_FOREIGN = re.compile(r"\ufeff?(?:\s|#[^\n]*+\n)*+(?:H|T[XB]|P[AD])\b[^\n]*\.")
# The lines with which a log's file may begin
_BEGINNINGS = ("H id <sha256:", "H parent <sha256:", 'H opening "')
EDITED = "The file was edited; restore it from a copy"


class Descent(NamedTuple):
    """The origin of a fork: its parent's digest, and the first tick at which fork and parent may differ."""

    parent: str
    branch: int

    @property
    def checksum(self) -> str:
        """A checksum that reveals an edit of the two fields in a file."""
        return f"sha256:{hashlib.sha256(f'{self.parent} {self.branch}'.encode()).hexdigest()}"


class Opening(NamedTuple):
    """The opening that a log declares: the number of its first deltas, and the chain's value after them."""

    deltas: int
    digest: str

    @classmethod
    def of(cls, header: str, name: str) -> Opening:
        """Read the header of a patch.

        Raises:
            LogError: it is not a number and a digest.
        """
        if not (match := _OPENING.fullmatch(f'H opening "{header}" .\n'.encode())):
            raise LogError("its opening deltas are not as written", where=(name,), hint=EDITED)
        return cls(int(match[1]), match[2].decode())


def transactions(
    chain: Chain, descent: Descent | None, ticks: Iterable[tuple[int, list[str]]], opening: Opening | None
) -> Iterator[tuple[str, Chain]]:
    """The text of each tick's transaction, and the chain after it. A log has only this spelling.

    Args:
        chain: the chain before the first tick.
        descent: the log's origin, for the first transaction of a fork.
        ticks: ticks, each with its deltas as lines of RDF Patch.
        opening: the log's opening, for its first transaction.

    >>> for text, _ in transactions(Chain(), None, [(3, ["A <urn:s> <urn:p> <urn:o> ."])], None):
    ...     print(text, end="")
    H id <sha256:...> .
    H prev <sha256:...> .
    H tick "3" .
    TX .
    A <urn:s> <urn:p> <urn:o> .
    TC .
    """
    first = _descent(descent) if descent else ""
    first += f'H opening "{opening.deltas} {opening.digest}" .\n' if opening else ""
    for tick, lines in ticks:
        later, body = chain.after(tick, lines), "\n".join(lines)
        header = f'{first}H id <{later.value}> .\nH prev <{chain.value}> .\nH tick "{tick}'
        yield f"{header}{_AFTER_TICK}{body}{_CLOSE}", later
        chain, first = later, ""


def _descent(descent: Descent) -> str:
    return f'H parent <{descent.parent}> .\nH branch "{descent.branch}" .\nH descent <{descent.checksum}> .\n'


def require_flat(text: str, *where: object) -> None:
    """Refuse lines whose nesting would exhaust a parser's stack.

    Raises:
        LogError: the triple terms of a line nest too deeply; the error says which line.

    >>> require_flat("A <urn:s> <urn:p> " + "<<( <urn:s> <urn:p> " * 70, "a.rdfp")
    Traceback (most recent call last):
    substrate.base.errors.LogError: a.rdfp: its triple terms stand more than 32 deep inside one another...
    """
    if text.count("<<") <= DEEPEST:
        return
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if line.count("<<") > DEEPEST and nests_too_deeply(line):
            what = f"its triple terms stand more than {DEEPEST} deep inside one another"
            hint = "Nest it less deeply: a parser would exhaust its stack"
            raise LogError(what, where=where if len(lines) == 1 else (*where, f"delta {number}"), hint=hint)


class Verified(NamedTuple):
    """Consecutive transactions of a log file that the chain proves to be unchanged.

    Attributes:
        ticks: each delta's tick.
        text: the deltas' lines, each with its line feed.
        end: the place in the file at which the last transaction ends.
        chain: the chain after the last transaction.
        descent: the log's origin, if the file begins with these transactions and names one.
        opening: the log's opening, if these transactions name one.
    """

    ticks: Sequence[int]
    text: bytes
    end: int
    chain: Chain
    descent: Descent | None = None
    opening: Opening | None = None


def verify(file: BinaryIO, name: str, chain: Chain | None = None) -> Iterator[Verified]:
    """Verify a log file byte for byte and give its transactions, a batch at a time.

    A torn end, which is a last transaction that was cut off, is left out.

    Args:
        file: positioned at the first transaction to verify; everything before it is verified already.
        name: the file's name in an error.
        chain: the chain up to that position.

    Raises:
        LogError: a byte was edited; the error names its tick.
    """
    chain = chain or Chain()
    start, rest = file.tell(), b""
    # Each read at least doubles the rest, so that a long transaction takes few reads
    while piece := file.read(max(_STRETCH - len(rest), len(rest))):
        rest, at = rest + piece, 0
        while (batch := _prove(rest, at, start, chain)).ticks:
            yield batch
            at, start, chain = at + batch.end - start, batch.end, batch.chain
        rest = rest[at:]
    if rest:
        _require_cut_off(rest, name, start, chain)


def _prove(data: bytes, at: int, start: int, chain: Chain) -> Verified:
    """The proven transactions from a place on, up to the first that has another spelling.

    Args:
        data: some bytes of a file.
        at: the place in these bytes.
        start: the same place in the file.
        chain: the chain up to the place.
    """
    nothing = Verified((), b"", start, chain)
    descent, first, opening = None, at, None
    if start == 0 and (origin := _DESCENT.match(data, at)):
        descent, first = Descent(origin[1].decode(), int(origin[2])), origin.end()
        if origin[0] != _descent(descent).encode():
            return nothing
    if start == 0 and (header := _OPENING.match(data, first)):
        opening, first = Opening(int(header[1]), header[2].decode()), header.end()
    stop = data.rfind(_END, first, first + _STRETCH)
    if stop < 0:
        stop = data.find(_END, first)
    if stop < 0:
        return nothing
    # After parsing, this is the costliest part of reading, so each step passes over all transactions once
    blocks = data[first:stop].split(_END)
    # Take the transactions whose ticks have as many digits as the first: in all of them, the tick ends and
    # the lines begin at the same place. The next call proves the others.
    tick_end = blocks[0].find(_BODY)
    lines_begin = tick_end + len(_BODY)
    differs = bisect_left(blocks, True, key=lambda block: block[tick_end:lines_begin] != _BODY)
    digits = list(map(itemgetter(slice(_TICK, tick_end)), blocks[:differs]))
    ticks = _whole_ticks(digits)
    bodies = list(map(itemgetter(slice(lines_begin, None)), blocks[: len(ticks)]))
    text = b"\n".join([*bodies, b""])
    deltas = text.count(b"\n")
    digests, after = chain.linked(digits[: len(ticks)], bodies, deltas)
    ids = b"".join(digests).hex(" ", hashlib.sha256().digest_size).encode().split()
    before = [chain.value.removeprefix("sha256:").encode(), *ids]
    # The transactions as this log would write them must be the file's bytes
    fields = joined.from_iterable(zip(ids, before, ticks, bodies, strict=False))
    written = _WHOLE * len(bodies) % tuple(fields)
    if not data.startswith(written, first) or not all(bodies):
        # After a wrong transaction all digests differ, so only the transactions before it are proven
        end = first
        for *header, body in zip(ids, before, ticks, bodies, strict=False):
            transaction = _WHOLE % (*header, body)
            if not body or not data.startswith(transaction, end):
                break
            end += len(transaction)
        return _prove(data[at:end], 0, start, chain) if end > first else nothing
    if deltas > len(ticks):  # some tick has several deltas
        counts = [body.count(b"\n") + 1 for body in bodies]
        ticks = list(joined.from_iterable(map(repeat, ticks, counts)))
    return Verified(ticks, text, start + first - at + len(written), after, descent, opening)


def _whole_ticks(digits: Sequence[bytes]) -> list[int]:
    """Ticks from their digits, up to the first that is not a whole number."""
    try:
        return list(map(int, digits))
    except ValueError:
        return [int(tick) for tick in takewhile(lambda tick: tick.isdigit() and len(tick) < 20, digits)]


def _require_cut_off(rest: bytes, name: str, start: int, chain: Chain) -> None:
    """Raise the error for the rest of a file, unless the rest is only the beginning of a transaction."""
    text = rest.decode("utf-8", "replace")
    if start == 0 and not any(text.startswith(line) or line.startswith(text) for line in _BEGINNINGS):
        _require_ours(text, name)
    # The rest must be the beginning of a transaction: after a TC only its line feed may follow.
    whole, _, partial = text.rpartition("\n")
    cut = partial.startswith(_LINES) or any(line.startswith(partial) for line in _LINES)
    ended = _CLOSE in text or (partial.startswith("TC .") and partial != "TC .")
    if ended or not cut or not all(map(_belongs, whole.split("\n") if whole else ())):
        what = "the chain does not hold: the transaction is not what was appended"
        place = _blame(text, chain.tick if chain.tick >= 0 else None, chain)
        raise LogError(what, where=(name, place), hint=EDITED)


def _require_ours(text: str, name: str) -> None:
    """Raise a clear error for a file that was never our log, as opposed to an edited log."""
    if newer := _VERSION.match(text):
        what = f"it has version {newer[1]} of the format, and this program reads version 1"
        hint = "It was not changed; read it with a newer version of this program"
        raise LogError(what, where=(name,), hint=hint)
    if "sha256:" not in text.partition(_CLOSE)[0] and _FOREIGN.match(text):
        hint = "It was not changed; make a log of it with `substrate log import FILE --out LOG`"
        raise LogError("it is RDF Patch of another program", where=(name,), hint=hint)
    if _CLOSE not in text:
        what = "it does not begin as a log"
        raise LogError(what, where=(name,), hint="It was not changed; give the file of a log, or a new path")


def _belongs(line: str) -> bool:
    """Tell whether a whole line may occur in a transaction before its end."""
    if not line.startswith(("A ", "D ")):
        return line == "TX ." or line.startswith("H ")
    try:
        if nests_too_deeply(line):
            return False
        return [f"{line[:2]}{quad} ." for quad in ox.parse(line[2:], ox.RdfFormat.N_TRIPLES)] == [line]
    except (SyntaxError, UnicodeEncodeError):
        return False


def _blame(text: str, before: int | None, chain: Chain) -> str:
    """The tick, in words, of the damaged transaction that a text begins with.

    The damage may be in the tick that the header names. So the first choice is the tick for which the chain
    holds, then the header's tick, then "after" the previous tick.

    Args:
        text: the text from the damaged transaction on.
        before: the tick of the last whole transaction; ``None`` if there is none.
        chain: the chain up to the text.
    """
    end = text.find("\nTC .")
    block = text[: end if end >= 0 else len(text)]
    lines = [line for line in block.split("\n") if line[:2] in ("A ", "D ")]
    header = re.search(r"^H id <(sha256:[0-9a-f]{64})> \.$", block, re.MULTILINE)
    first = 0 if before is None else before
    for tick in range(first, first + _GUESSES // (len(lines) + 1)):
        if header and chain.after(tick, lines).value == header[1]:
            return f"tick {tick}"
    named = re.search(r'^H tick "(\d{1,18})" \.$', block, re.MULTILINE)
    if named:
        return f"tick {named[1]}"
    return "first transaction" if before is None else f"after tick {before}"
