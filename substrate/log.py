"""The append-only log of typed deltas (paper, section 2).

A delta is ``(tick, op, triple)``. A log's digest is a SHA-256 chain over its ticks: the value after a
tick is the hash of the value before it and of the tick's deltas as RDF Patch lines. Equal logs have
equal digests, however their deltas were batched.
"""

from __future__ import annotations

import enum
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import index
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import pyoxigraph as ox

from substrate.chain import Chain
from substrate.errors import LogError
from substrate.journal import MEMBER, Damage, Journal, TornTail, read_contents, write_atomically
from substrate.patch import EDITED, Descent, Transaction, parse, render, verify

if TYPE_CHECKING:
    from substrate.history import Difference, History
    from substrate.replay import Checkpoints, State

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Triple = tuple[ox.NamedNode | ox.BlankNode, ox.NamedNode, Term]
"""Subject, predicate, object; RDF 1.2, so an object may be a triple term.

>>> import pyoxigraph as ox
>>> said = ox.Triple(ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
>>> str(ox.Quad(ox.NamedNode("urn:bo"), ox.NamedNode("urn:knows"), said))
'<urn:bo> <urn:knows> <<( <urn:ann> <urn:at> <urn:cafe> )>>'
"""


def triple_of(quad: ox.Quad) -> Triple:
    """A quad of the default graph as a triple.

    >>> triple_of(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal(1)))[2].value
    '1'
    """
    # No parser gives a triple as a subject
    return (quad.subject, quad.predicate, quad.object)  # pyright: ignore[reportReturnType]


class Op(enum.Enum):
    """What a delta does with its triple (paper, section 2); the value is its letter in RDF Patch.

    >>> Op("A") is Op.INSERT, Op("D") is Op.RETRACT
    (True, True)
    """

    INSERT = "A"
    RETRACT = "D"


_OPS = {"A ": Op.INSERT, "D ": Op.RETRACT}


class Delta(NamedTuple):
    """One typed change of the state (paper, section 2): at ``tick``, insert or retract ``triple``.

    >>> from pyoxigraph import NamedNode
    >>> Delta(tick=3, op=Op.INSERT, triple=(NamedNode("urn:ann"), NamedNode("urn:likes"), NamedNode("urn:bo"))).op.value
    'A'
    """

    tick: int
    op: Op
    triple: Triple


class TornTailWarning(UserWarning):
    """A log's last append was cut off; what was whole has been read.

    >>> issubclass(TornTailWarning, UserWarning)
    True
    """


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

    descent: Descent | None = None
    """Where a fork comes from; ``None`` for a log of its own. It is kept in the log's file."""
    torn: TornTail | None = None
    """What had to be dropped at the file's end when it was read; ``None`` where it was whole."""

    def __init__(self, deltas: Iterable[Delta] = ()) -> None:
        self._ticks: list[int] = []
        self._ops: list[Op] = []
        self._quads: list[ox.Quad] = []
        self._chain = Chain()
        self._journal: Journal | None = None
        self._checkpoints: Checkpoints | None = None
        if deltas != ():
            self.extend(deltas)

    @property
    def parent_digest(self) -> str | None:
        """Digest of the log this one was forked from; ``None`` for a log of its own."""
        return self.descent.parent if self.descent else None

    @property
    def branch_tick(self) -> int | None:
        """First tick at which a fork may differ from its parent; ``None`` for a log of its own."""
        return self.descent.branch if self.descent else None

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
                subject, predicate, object_ = triple
                quads.append(ox.Quad(subject, predicate, object_))
                ops.append(Op(op))
            except (TypeError, ValueError) as error:
                raise LogError(
                    f"not a delta ({error})",
                    where=(f"tick {tick}",),
                    hint="Give an Op and pyoxigraph terms: subject, predicate, object",
                ) from error
            ticks.append(tick)
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
            text = "\n".join([line[2:] for _, line in pairs])
            quads = list(ox.parse(text, ox.RdfFormat.N_TRIPLES))
        except (KeyError, SyntaxError, UnicodeEncodeError) as error:
            raise LogError(
                f"not a line of RDF Patch ({error})", hint="Write `A` or `D`, then one N-Triples statement"
            ) from error
        if len(quads) != len(ops) or text.count("\n") >= max(1, len(ops)) or "\r" in text:
            raise LogError(
                f"{len(ops)} lines hold {len(quads)} statements, or a line's end",
                hint="Write one statement a line",
            )
        self._grow([tick for tick, _ in pairs], ops, quads)

    def extend_from(self, other: EventLog, start: int = 0, stop: int | None = None) -> None:
        """Add another log's deltas, from position ``start`` to ``stop``; errors as :meth:`extend`."""
        self._grow(other._ticks[start:stop], other._ops[start:stop], other._quads[start:stop])

    def _grow(self, ticks: list[int], ops: list[Op], quads: list[ox.Quad]) -> None:
        last = self.last_tick
        try:
            ticks = list(map(index, ticks))
        except TypeError as error:
            raise LogError(
                f"a tick is not a whole number ({error})", hint="Ticks are whole numbers from 0"
            ) from error
        for tick in ticks:
            if tick < last:
                what = (
                    f"tick {tick} lies before tick {last}, the log's last"
                    if tick >= 0
                    else f"tick {tick} is negative"
                )
                raise LogError(what, hint="A log only grows: append in tick order, or fork it")
            last = tick
        if self._journal:
            new = _transactions(
                self._fed_chain().copy(), ticks, ops, quads, None if self._ticks else self.descent
            )
            if text := "".join(map(render, new)):
                self._journal.append(text)
        self._ticks += ticks
        self._ops += ops
        self._quads += quads

    # Reading

    def __len__(self) -> int:
        return len(self._ticks)

    def __getitem__(self, position: int) -> Delta:
        return Delta(self._ticks[position], self._ops[position], triple_of(self._quads[position]))

    def __iter__(self) -> Iterator[Delta]:
        return (self[position] for position in range(len(self)))

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

    @property
    def checkpoints(self) -> Checkpoints:
        """States kept along the log, from which the others are reached."""
        if self._checkpoints is None:
            from substrate.replay import Checkpoints

            self._checkpoints = Checkpoints(self)
        return self._checkpoints

    def state(self, tick: int | None = None) -> State:
        """The ABox after every delta with tick <= ``tick``; after all of them where it is ``None``.

        Starts from the nearest checkpoint: O(triples + deltas since it), whatever the tick.
        """
        from substrate.replay import State

        return State.of(self, self.last_tick if tick is None else tick)

    def states(self, start: int = 0, stop: int | None = None) -> Iterator[State]:
        """The one state of a replay moved along the ticks that have a delta, from ``start`` to ``stop``, both
        included.

        >>> from pyoxigraph import NamedNode
        >>> fact = (NamedNode("urn:ann"), NamedNode("urn:in"), NamedNode("urn:cafe"))
        >>> [(state.tick, len(state)) for state in EventLog([Delta(0, Op.INSERT, fact), Delta(4, Op.RETRACT, fact)]).states()]
        [(0, 1), (4, 0)]
        """
        from substrate.replay import Replay

        replay = Replay(self)
        return (replay.seek(tick) for tick in self.ticks if start <= tick and (stop is None or tick <= stop))

    def history(self, triple: Triple) -> History:
        """When a triple was true, and which deltas changed that; see :class:`substrate.history.History`."""
        from substrate.history import history

        return history(self, triple)

    def diff(self, a: int, b: int) -> Difference:
        """What must be inserted and retracted to come from the state at tick ``a`` to that at tick ``b``."""
        from substrate.history import diff

        return diff(self, a, b)

    @property
    def digest(self) -> str:
        """``sha256:…``, the chain's value after the last delta."""
        return self._fed_chain().value()

    def digest_at(self, tick: int) -> str:
        """The chain's value after every delta with tick <= ``tick``, in O(deltas)."""
        stop = self.position(tick)
        chain = Chain()
        for _ in _transactions(chain, self._ticks[:stop], self._ops[:stop], self._quads[:stop]):
            pass
        return chain.value()

    def _fed_chain(self) -> Chain:
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
        """A log from its file, into memory; the file is left alone.

        Raises:
            LogError: the file cannot be read, or a byte of it was edited (names the tick).
        """
        path = Path(path)
        text, ends, size, damage = read_contents(path)
        found = verify(text, str(path))
        if damage:
            raise _damaged(path, text, damage)
        log = cls._from_transactions((transaction for transaction, _ in found), str(path), hint=EDITED)
        if found and log.digest != found[-1][0].id:
            raise LogError(
                "its statements are not in their one spelling",
                where=(path,),
                hint="Read it with EventLog.from_patch and save it",
            )
        whole = found[-1][1] if found else 0
        offset = (
            max((end for characters, end in ends if characters <= whole), default=0)
            if path.suffix == ".gz"
            else len(text[:whole].encode())
        )
        if offset < size:
            log.torn = TornTail(offset, size - offset)
            warnings.warn(
                f"{path}: the last append was cut off; {size - offset} bytes after tick {log.last_tick} are dropped",
                TornTailWarning,
                stacklevel=2,
            )
        return log

    @classmethod
    def from_patch(cls, text: str, name: str = "patch") -> Self:
        """A log from RDF Patch text, also of another program's; a chain that is present is checked.

        Raises:
            LogError: the text is not RDF Patch, is cut off, or its chain does not hold.
        """
        text = text if text.endswith("\n") else f"{text}\n"
        read = list(parse(text, name))
        rest = text[read[-1][1] if read else 0 :]
        if rest.rfind("TX .") > rest.rfind("TA ."):
            after = f"after tick {read[-1][0].tick}" if read else "first transaction"
            raise LogError(
                "the last transaction is cut off", where=(name, after), hint="Fetch the patch again"
            )
        log = cls._from_transactions(
            (transaction for transaction, _ in read), name, hint="Write RDF Patch of triples"
        )
        chain, start, chained = (
            Chain(),
            0,
            any(transaction.id.startswith("sha256:") for transaction, _ in read),
        )
        for transaction, _ in read:
            stop = start + len(transaction.lines)
            previous = chain.value()
            chain.feed(transaction.tick, [f"{op.value} {quad} ." for op, quad in log.changes(start, stop)])
            if chained and (
                (transaction.id or chain.value()) != chain.value()
                or (transaction.previous or previous) != previous
            ):
                raise LogError(
                    "the chain does not hold: the transaction is not what was appended",
                    where=(name, f"tick {transaction.tick}"),
                    hint=EDITED,
                )
            start = stop
        return log

    @classmethod
    def _from_transactions(cls, transactions: Iterable[Transaction], name: str, *, hint: str) -> Self:
        log, read = cls(), list(transactions)
        log.descent = read[0].descent if read else None
        try:
            log.extend_lines((transaction.tick, line) for transaction in read for line in transaction.lines)
        except LogError as error:
            raise LogError(error.what, where=(name, *error.where), hint=hint) from error
        return log

    def to_patch(self) -> str:
        """The log as RDF Patch text, one transaction a tick."""
        return "".join(map(render, _transactions(Chain(), self._ticks, self._ops, self._quads, self.descent)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole log to a file at once; gzip where the name ends in ``.gz``.

        Raises:
            LogError: the file is open as a log's journal, here or elsewhere.
        """
        members: list[str] = []
        room = 0
        for transaction in map(
            render, _transactions(Chain(), self._ticks, self._ops, self._quads, self.descent)
        ):
            if room <= 0:
                members.append("")
                room = MEMBER
            members[-1] += transaction
            room -= len(transaction)
        write_atomically(Path(path), *members)

    def close(self) -> None:
        """Let another writer open the file; the log can be read on."""
        if self._journal:
            self._journal.close()
            self._journal = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _transactions(
    chain: Chain, ticks: list[int], ops: list[Op], quads: list[ox.Quad], descent: Descent | None = None
) -> Iterator[Transaction]:
    """The deltas as one transaction a tick, the chain fed with each as it is yielded."""
    start = 0
    while start < len(ticks):
        tick = ticks[start]
        stop = bisect_right(ticks, tick, lo=start)
        lines = [f"{op.value} {quad} ." for op, quad in zip(ops[start:stop], quads[start:stop], strict=True)]
        previous = chain.value()
        chain.feed(tick, lines)
        yield Transaction(tick, previous, chain.value(), lines, descent)
        start, descent = stop, None


def _damaged(path: Path, text: str, damage: Damage) -> LogError:
    """The error of a gzip member that does not hold; what its text still says shows at which tick."""
    tick = None
    try:
        found = verify(text + damage.text, str(path))
        if found and found[-1][1] > len(text):
            tick = f"tick {found[-1][0].tick}"
    except LogError as error:
        tick = next((place for place in error.where if place.startswith("tick ")), None)
    tick = tick or (f"tick {damage.tick}" if damage.tick is not None else f"byte {damage.offset}")
    return LogError(f"damaged: {damage.why}", where=(path, tick), hint=EDITED)
