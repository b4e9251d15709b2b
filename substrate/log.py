"""The append-only log of typed deltas (paper, section 2).

A delta is ``(tick, op, triple)``. A log's digest is a SHA-256 chain over its ticks: the value after a
tick is the hash of the value before it and of the tick's deltas as RDF Patch lines. Equal logs have
equal digests, however their deltas were batched.
"""

from __future__ import annotations

import enum
import hashlib
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import pyoxigraph as ox

from substrate.errors import LogError
from substrate.journal import Journal, TornTail, read_text, write_atomically
from substrate.patch import Transaction, parse, render

if TYPE_CHECKING:
    from substrate.replay import State

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Triple = tuple[ox.NamedNode | ox.BlankNode, ox.NamedNode, Term]
"""Subject, predicate, object; RDF 1.2, so an object may be a triple term."""


class Op(enum.Enum):
    """What a delta does with its triple; the value is its letter in RDF Patch."""

    INSERT = "A"
    RETRACT = "D"


_OPS = {"A ": Op.INSERT, "D ": Op.RETRACT}


class Delta(NamedTuple):
    """One typed change of the state: at ``tick``, insert or retract ``triple``.

    >>> from pyoxigraph import NamedNode
    >>> Delta(tick=3, op=Op.INSERT, triple=(NamedNode("urn:ann"), NamedNode("urn:likes"), NamedNode("urn:bo"))).op.value
    'A'
    """

    tick: int
    op: Op
    triple: Triple


class TornTailWarning(UserWarning):
    """A log's last append was cut off; what was whole has been read."""


class _Chain:
    """The digest after each tick hashes the digest before it: what lies behind cannot be changed unseen."""

    def __init__(self) -> None:
        self.fed = 0
        self._tick = -1
        self._hasher = hashlib.sha256()

    def feed(self, tick: int, lines: list[str]) -> None:
        if tick != self._tick:
            self._hasher = hashlib.sha256(b"%s tick %d\n" % (self._hasher.digest(), tick))
            self._tick = tick
        self._hasher.update(("\n".join(lines) + "\n").encode())
        self.fed += len(lines)

    def value(self) -> str:
        return f"sha256:{self._hasher.hexdigest()}"

    def copy(self) -> _Chain:
        twin = _Chain()
        twin.fed, twin._tick, twin._hasher = self.fed, self._tick, self._hasher.copy()
        return twin


class EventLog:
    """An ordered, append-only log of deltas whose ticks never go back.

    The initial ABox of the paper's tuple is what the log inserts at its first tick. Ticks are whole
    numbers from 0. A log lives in memory; :meth:`open` gives one that is on disk as well.

    >>> from pyoxigraph import NamedNode
    >>> fact = (NamedNode("urn:ann"), NamedNode("urn:in"), NamedNode("urn:cafe"))
    >>> log = EventLog([Delta(0, Op.INSERT, fact), Delta(4, Op.RETRACT, fact)])
    >>> len(log), log.last_tick, len(log.state(3)), len(log.state(4))
    (2, 4, 1, 0)
    """

    parent_digest: str | None = None
    """Digest of the log this one was forked from; ``None`` for a log of its own."""
    branch_tick: int | None = None
    """First tick at which a fork may differ from its parent."""
    torn: TornTail | None = None
    """What had to be dropped at the file's end when it was read; ``None`` where it was whole."""

    def __init__(self, deltas: Iterable[Delta] = ()) -> None:
        self._ticks: list[int] = []
        self._ops: list[Op] = []
        self._quads: list[ox.Quad] = []
        self._chain = _Chain()
        self._journal: Journal | None = None
        self.extend(deltas)

    # Growing

    def append(self, delta: Delta) -> None:
        """Add one delta; errors as :meth:`extend`."""
        self.extend((delta,))

    def extend(self, deltas: Iterable[Delta]) -> None:
        """Add deltas as one step: all of them, or none where one is refused.

        Raises:
            LogError: a tick lies before the log's last one or below 0, a triple is not one of RDF,
                or the file behind the log cannot be written.
        """
        ticks: list[int] = []
        ops: list[Op] = []
        quads: list[ox.Quad] = []
        for tick, op, triple in deltas:
            try:
                quads.append(ox.Quad(*triple))
            except TypeError as error:
                raise LogError(f"not a triple of RDF terms ({error})", where=(f"tick {tick}",), hint="Give pyoxigraph terms: subject, predicate, object") from error
            ticks.append(tick)
            ops.append(op)
        self._grow(ticks, ops, quads)

    def extend_lines(self, lines: Iterable[tuple[int, str]]) -> None:
        """Add deltas given as ``(tick, RDF Patch line)``, as one step.

        For converters that write many deltas: about three times as fast as building the terms.

        >>> log = EventLog()
        >>> log.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> ."), (4, "D <urn:ann> <urn:in> <urn:cafe> .")])
        >>> len(log.state(4))
        0

        Raises:
            LogError: as :meth:`extend`, and where a line is not ``A`` or ``D`` and one N-Triples statement.
        """
        pairs = list(lines)
        try:
            ops = [_OPS[line[:2]] for _, line in pairs]
            quads = list(ox.parse("\n".join([line[2:] for _, line in pairs]), ox.RdfFormat.N_TRIPLES))
        except (KeyError, SyntaxError) as error:
            raise LogError(f"not a line of RDF Patch ({error})", hint="Write `A` or `D`, then one N-Triples statement") from error
        if len(quads) != len(ops):
            raise LogError(f"{len(ops)} lines hold {len(quads)} statements", hint="Write one statement a line")
        self._grow([tick for tick, _ in pairs], ops, quads)

    def extend_from(self, other: EventLog, start: int = 0, stop: int | None = None) -> None:
        """Add another log's deltas, from position ``start`` to ``stop``; errors as :meth:`extend`."""
        self._grow(other._ticks[start:stop], other._ops[start:stop], other._quads[start:stop])

    def _grow(self, ticks: list[int], ops: list[Op], quads: list[ox.Quad]) -> None:
        last = self.last_tick
        for tick in ticks:
            if tick < last:
                what = f"tick {tick} lies before tick {last}, the log's last" if tick >= 0 else f"tick {tick} is negative"
                raise LogError(what, hint="A log only grows: append in tick order, or fork it")
            last = tick
        if self._journal:
            self._journal.append("".join(map(render, _transactions(self._fed_chain().copy(), ticks, ops, quads))))
        self._ticks += ticks
        self._ops += ops
        self._quads += quads

    # Reading

    def __len__(self) -> int:
        return len(self._ticks)

    def __getitem__(self, index: int) -> Delta:
        quad = self._quads[index]
        return Delta(self._ticks[index], self._ops[index], (quad.subject, quad.predicate, quad.object))

    def __iter__(self) -> Iterator[Delta]:
        return (self[index] for index in range(len(self)))

    @property
    def last_tick(self) -> int:
        """Tick of the newest delta; 0 for an empty log."""
        return self._ticks[-1] if self._ticks else 0

    @property
    def ticks(self) -> list[int]:
        """The ticks that have a delta, ascending."""
        return sorted(set(self._ticks))

    def position(self, tick: int) -> int:
        """How many deltas have a tick <= ``tick``."""
        return bisect_right(self._ticks, tick)

    def changes(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[Op, ox.Quad]]:
        """Operation and quad of the deltas from position ``start`` to ``stop``, as a store takes them."""
        return zip(self._ops[start:stop], self._quads[start:stop], strict=True)

    def state(self, tick: int | None = None) -> State:
        """The ABox after every delta with tick <= ``tick``; after all of them where it is ``None``."""
        from substrate.replay import State

        return State.of(self, self.last_tick if tick is None else tick)

    @property
    def digest(self) -> str:
        """``sha256:…``, the chain's value after the last delta."""
        return self._fed_chain().value()

    def digest_at(self, tick: int) -> str:
        """The chain's value after every delta with tick <= ``tick``, in O(deltas)."""
        stop = self.position(tick)
        chain = _Chain()
        for _ in _transactions(chain, self._ticks[:stop], self._ops[:stop], self._quads[:stop]):
            pass
        return chain.value()

    def _fed_chain(self) -> _Chain:
        start = self._chain.fed
        for _ in _transactions(self._chain, self._ticks[start:], self._ops[start:], self._quads[start:]):
            pass
        return self._chain

    # Files

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """A log on disk, created where it is absent, locked for this writer until :meth:`close`.

        Every append is durable when the call returns. An append that was cut off by a crash is
        dropped, reported by :class:`TornTailWarning` and kept in :attr:`torn`.

        Raises:
            LogError: another writer has it open, or its chain does not hold (names the tick).
        """
        journal = Journal(Path(path))
        try:
            log = cls.read(path)
            if log.torn:
                journal.cut(log.torn.offset)
        except BaseException:
            journal.close()
            raise
        log._journal = journal
        return log

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """A log from its file, into memory; the file is left alone. Errors as :meth:`open`."""
        path = Path(path)
        text, members, size = read_text(path)
        log, whole = cls._from_patch(text, str(path), sealed=True)
        offset = max((end for characters, end in members if characters <= whole), default=0) if path.suffix == ".gz" else len(text[:whole].encode())
        if offset < size:
            log.torn = TornTail(offset, size - offset)
            warnings.warn(f"{path}: the last append was cut off; {size - offset} bytes after tick {log.last_tick} are dropped", TornTailWarning, stacklevel=2)
        return log

    @classmethod
    def from_patch(cls, text: str, name: str = "patch") -> Self:
        """A log from RDF Patch text, also of another program's; a chain that is present is checked.

        Raises:
            LogError: the text is not RDF Patch, is cut off, or its chain does not hold.
        """
        log, whole = cls._from_patch(text, name, sealed=False)
        if text[whole:].strip():
            raise LogError("the last transaction is cut off", where=(name, f"after tick {log.last_tick}"), hint="Fetch the patch again")
        return log

    @classmethod
    def _from_patch(cls, text: str, name: str, *, sealed: bool) -> tuple[Self, int]:
        """The log and how much of the text it took; ``sealed`` demands our own spelling, byte for byte."""
        log, whole, read = cls(), 0, list(parse(text, name))
        try:
            log.extend_lines((transaction.tick, line) for transaction, _ in read for line in transaction.lines)
        except LogError as error:
            raise error.within(name) from error
        chain, start = _Chain(), 0
        for transaction, end in read:
            stop = start + len(transaction.lines)
            previous = chain.value()
            lines = [f"{op.value} {quad} ." for op, quad in log.changes(start, stop)]
            chain.feed(transaction.tick, lines)
            true = Transaction(transaction.tick, previous, chain.value(), lines)
            broken = text[whole:end] != render(true) if sealed else (transaction.id or true.id) != true.id or (transaction.previous or previous) != previous
            if broken:
                raise LogError("the chain does not hold: the transaction is not what was appended", where=(name, f"tick {transaction.tick}"), hint="The file was edited; restore it from a copy")
            start, whole = stop, end
        return log, whole

    def to_patch(self) -> str:
        """The log as RDF Patch text, one transaction a tick."""
        return "".join(map(render, _transactions(_Chain(), self._ticks, self._ops, self._quads)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole log to a file at once; gzip where the name ends in ``.gz``."""
        write_atomically(Path(path), self.to_patch())

    def close(self) -> None:
        """Let another writer open the file; the log can be read on."""
        if self._journal:
            self._journal.close()
            self._journal = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _transactions(chain: _Chain, ticks: list[int], ops: list[Op], quads: list[ox.Quad]) -> Iterator[Transaction]:
    """The deltas as one transaction a tick, the chain fed with each as it is yielded."""
    start = 0
    while start < len(ticks):
        tick = ticks[start]
        stop = bisect_right(ticks, tick, lo=start)
        lines = [f"{op.value} {quad} ." for op, quad in zip(ops[start:stop], quads[start:stop], strict=True)]
        previous = chain.value()
        chain.feed(tick, lines)
        yield Transaction(tick, previous, chain.value(), lines)
        start = stop
