"""A log in memory: the ways to append deltas, the digest after them, and branches that share them.

Every way to append ends in ``GrowingLog._grow``. :class:`substrate.log.event_log.EventLog` extends this
method: if the log has a file, the deltas are written to the file first.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from threading import RLock
from typing import NamedTuple, Self

import pyoxigraph as ox

from substrate.base.arguments import require, require_tick
from substrate.base.delta import Delta, Op, Triple
from substrate.base.errors import LogError
from substrate.base.ntriples import text_of, texts_of
from substrate.base.terms import Value, triple
from substrate.log._chain import Chain, Digests
from substrate.log._columns import DeltaSequence, whole_ticks
from substrate.log._locking import MEMORY
from substrate.log._spelling import is_plain, split_lines
from substrate.log._triples import Triples
from substrate.log.history import Difference, History, diff, history
from substrate.log.patch import Descent, require_flat
from substrate.log.replay import Checkpoints, Timeline
from substrate.log.simulator import Simulator

_INSERTS = {"A ": 1, "D ": 0}
# From this depth of nesting on, a fork copies its parent's content instead of sharing it
_DEPTH = 16


class _Fork(NamedTuple):
    """The parent of a fork, the number of its deltas at the fork, and the branch tick."""

    parent: GrowingLog
    deltas: int
    at: int


class GrowingLog(Timeline):
    """A log in memory: it grows, and has branches."""

    opening: int = 0
    """The number of first deltas that describe the state before the first event; a fork keeps them at any
    tick. It is 0 if the log does not declare it. :meth:`save` writes it to the file.
    """
    withheld: tuple[Delta, ...] = ()
    """The observed deltas that a fork left out: they contradict an intervention's placements."""

    _descent: Descent | None = None
    _forked: _Fork | None = None  # until the parent's digest is known

    def __init__(self) -> None:
        super().__init__()
        self._digests = Digests(self)

    @property
    def _writing(self) -> RLock:
        """The lock of the thread that appends."""
        return MEMORY

    def append(self, delta: Delta) -> None:
        """Add one delta; raises the errors of :meth:`extend`."""
        self.extend((delta,))

    def extend(self, deltas: Iterable[Delta]) -> None:
        """Add deltas as one step: all of them, or none if one is refused.

        Raises:
            LogError: a tick lies before the log's last tick or below 0, a triple is not valid RDF,
                or the file behind the log cannot be written.
        """
        ticks: list[int] = []
        inserts = bytearray()
        texts: list[str] = []
        require(deltas, Iterable, "a list of deltas", "deltas")
        for delta in deltas:
            try:
                tick, op, triple = delta
                texts.append(text_of(triple))
                inserts.append(Op(op) is Op.INSERT)
            except (TypeError, ValueError) as error:
                place = f"tick {delta[0]}" if isinstance(delta, Delta) else f"{delta!r}"[:60]
                hint = "Give a tick, an Op and a triple of pyoxigraph terms: subject, predicate, object"
                raise LogError(f"not a delta ({error})", where=(place,), hint=hint) from error
            ticks.append(tick)
        self._grow(ticks, inserts, texts)

    def insert(self, subject: Value, predicate: Value, object: Value, *, tick: int | None = None) -> Delta:
        """Append the insertion of a triple whose terms may be Python values; return the delta.

        To record an author, a source and a cause as well, use :meth:`substrate.memory.memory.Memory.observe`,
        which also writes to a log.

        Args:
            subject: an IRI or a blank node.
            predicate: an IRI.
            object: any value that :func:`substrate.base.terms.term` takes.
            tick: the tick of the delta; by default the log's last tick.

        Raises:
            ParameterError: the three are not a triple; says which is wrong.
            LogError: as :meth:`extend`.

        >>> from substrate import EventLog, Namespace
        >>> log, V = EventLog(), Namespace("urn:v:")
        >>> log.insert(V.ann, V.age, 7, tick=2).tick, len(log.state(2))
        (2, 1)
        """
        return self._append_change(Op.INSERT, triple(subject, predicate, object), tick)

    def retract(self, subject: Value, predicate: Value, object: Value, *, tick: int | None = None) -> Delta:
        """Append the retraction of a triple; arguments and errors as :meth:`insert`.

        >>> from substrate import EventLog, Namespace
        >>> log, V = EventLog(), Namespace("urn:v:")
        >>> _ = log.insert(V.ann, V.age, 7, tick=2)
        >>> log.retract(V.ann, V.age, 7, tick=3).op.name, len(log.state(3))
        ('RETRACT', 0)
        """
        return self._append_change(Op.RETRACT, triple(subject, predicate, object), tick)

    def _append_change(self, op: Op, triple: Triple, tick: int | None) -> Delta:
        with self._writing:  # no other thread may move the last tick before this delta is appended
            delta = Delta(self.last_tick if tick is None else tick, op, triple)
            self.append(delta)
        return delta

    def record(self, simulator: Simulator, ticks: Iterable[int]) -> None:
        """Run a simulator, and append its changes tick by tick.

        Args:
            simulator: the same kind of object as for :class:`substrate.branch.fork.Simulation`; it starts
                from the log's last state.
            ticks: the ticks of its steps, ascending, without a gap, from the log's last tick or later.

        Raises:
            LogError: as :meth:`extend`, and if the ticks have a gap.

        >>> from substrate import EventLog, Namespace
        >>> V = Namespace("urn:v:")
        >>> class Clock:
        ...     def start(self, state, tick):
        ...         pass
        ...     def step(self, tick):
        ...         return [(Op.INSERT, (V.clock, V.struck, ox.Literal(tick)))]
        >>> log = EventLog()
        >>> log.record(Clock(), range(3))
        >>> log.ticks
        [0, 1, 2]
        """
        last: int | None = None
        for tick in ticks:
            if last is None:
                simulator.start(self.state(), tick)
            elif tick != last + 1:
                raise LogError(f"tick {tick} does not follow tick {last}", hint="Give range(first, last + 1)")
            self.extend([Delta(tick, op, triple) for op, triple in simulator.step(tick)])
            last = tick

    def extend_lines(self, lines: Iterable[tuple[int, str]]) -> None:
        """Add deltas given as ``(tick, RDF Patch line)``, as one step.

        For converters that write many deltas: about three times as fast as building the terms.

        >>> from substrate import EventLog
        >>> log = EventLog()
        >>> fact = "<urn:ann> <urn:in> <urn:cafe> ."
        >>> log.extend_lines([(0, f"A {fact}"), (4, f"D {fact}")])
        >>> len(log.state(4))
        0

        Raises:
            LogError: as :meth:`extend`, or a line is not one N-Triples statement after ``A`` or ``D``.
        """
        pairs = list(lines)
        ticks = [tick for tick, _ in pairs]
        patch_lines = [line for _, line in pairs]
        try:
            spelled = "\n".join([*patch_lines, ""])
            if spelled.count("\n") == len(patch_lines) and is_plain(spelled):
                inserts, texts = split_lines(spelled)
                self._grow(ticks, inserts, list(texts))
                return
            inserts = bytearray([_INSERTS[line[:2]] for line in patch_lines])
            text = "\n".join([line[2:] for line in patch_lines])
            require_flat(text)
            quads = list(ox.parse(text, ox.RdfFormat.N_TRIPLES))
        except (KeyError, TypeError, SyntaxError, UnicodeEncodeError) as error:
            what = f"not a line of RDF Patch ({error})"
            raise LogError(what, hint="Write `A` or `D`, then one N-Triples statement") from error
        if len(quads) != len(inserts) or text.count("\n") >= max(1, len(inserts)) or "\r" in text:
            what = f"{len(inserts)} lines hold {len(quads)} statements, or a line's end"
            raise LogError(what, hint="Write one statement a line")
        self._grow(ticks, inserts, texts_of(quads), quads)

    def extend_spelled(self, deltas: Iterable[tuple[int, Op, str]]) -> None:
        """Add deltas as one step; the caller has their triples as text from a log or a state.

        The spellings are taken unchanged and unparsed. Raises the errors of :meth:`extend`.

        >>> from substrate import EventLog
        >>> log = EventLog()
        >>> log.extend_spelled([(4, Op.INSERT, "<urn:ann> <urn:in> <urn:cafe>")])
        >>> len(log.state(4))
        1
        """
        deltas, insertion = list(deltas), Op.INSERT  # an enum looks its members up slowly
        texts = [text for _, _, text in deltas]
        require_flat("\n".join(texts))
        inserts = bytearray([op is insertion for _, op, _ in deltas])
        self._grow([tick for tick, _, _ in deltas], inserts, texts)

    def extend_from(self, other: DeltaSequence, start: int = 0, stop: int | None = None) -> None:
        """Add another log's deltas, from position ``start`` to ``stop``; errors as :meth:`extend`."""
        ticks: list[int] = []
        inserts = bytearray()
        numbers: list[int] = []
        for columns, first, last in other.segments(start, stop):
            ticks += columns.ticks[first:last]
            inserts += columns.inserts[first:last]
            numbers += columns.numbers[first:last]
        self._grow(ticks, inserts, other.triples.texts(numbers))

    def _grow(
        self, ticks: list[int], inserts: bytearray, texts: list[str], quads: list[ox.Quad] | None = None
    ) -> None:
        """Append deltas as one step; ``quads`` are the quads of ``texts``, if already made."""
        with MEMORY:
            self._take(whole_ticks(ticks, self.last_tick), inserts, texts, quads)

    def _take(
        self, ticks: array[int], inserts: bytearray, texts: Iterable[str], quads: list[ox.Quad] | None = None
    ) -> None:
        """Append checked deltas to the columns and to the head."""
        numbers = self.triples.numbers(texts)
        if quads is not None:
            self.triples.keep(numbers, quads)
        self._own.take(ticks, inserts, numbers)
        if self._head is not None:
            self._head.follow(zip(inserts, numbers, strict=True), self.last_tick)

    @property
    def digest(self) -> str:
        """``sha256:…``, the chain's value after the last delta."""
        return self.chain.value

    @property
    def chain(self) -> Chain:
        """The chain after the last delta; later values are computed from it."""
        return self._digests.last()

    def digest_at(self, tick: int) -> str:
        """The chain's value after all deltas with tick <= ``tick``, computed from the nearest kept value."""
        require_tick(tick, "tick")
        return self._digests.after(self.position(tick))

    def history(self, triple: Triple) -> History:
        """The times at which a triple was true, and the deltas that changed that; see
        :class:`.history.History`.
        """
        return history(self, triple)

    def diff(self, a: int, b: int) -> Difference:
        """The triples to insert and retract to turn the state at tick ``a`` into the state at tick ``b``."""
        return diff(self, a, b)

    # Branches

    @property
    def descent(self) -> Descent | None:
        """The origin of a fork; ``None`` for a log that is no fork. The log's file keeps it."""
        if self._forked:
            fork = self._forked
            self.descent = Descent(fork.parent._digests.after(fork.deltas), fork.at)
        return self._descent

    @descent.setter
    def descent(self, descent: Descent | None) -> None:
        self._descent, self._forked = descent, None

    @property
    def parent_digest(self) -> str | None:
        """The digest of the log that this one was forked from; ``None`` for a log that is no fork."""
        return self.descent.parent if self.descent else None

    @property
    def branch_tick(self) -> int | None:
        """The first tick at which a fork may differ from its parent; ``None`` for a log that is no fork."""
        if self._forked:
            return self._forked.at
        return self._descent.branch if self._descent else None

    def kept(self, at: int) -> int:
        """Count the deltas that a branch at a tick keeps, including the log's opening deltas.

        >>> from substrate import EventLog
        >>> log = EventLog()
        >>> log.extend_lines([(0, "A <urn:a> <urn:in> <urn:b> ."), (0, "A <urn:e> <urn:of> <urn:a> .")])
        >>> log.opening = 1
        >>> [log.kept(at) for at in range(2)]
        [1, 2]
        """
        return self.position(at - 1) or min(self.opening, self.position(at))

    def branch(self, start: int, descent: Descent | int | None) -> Self:
        """For forks: make a log that shares this log's first ``start`` deltas.

        Args:
            start: the number of shared deltas.
            descent: the new log's origin; for forks of this log, only the branch tick.
        """
        branch = type(self)()
        branch.prefixes, branch.opening = dict(self.prefixes), min(self.opening, start)
        if isinstance(descent, int):
            branch._forked = _Fork(self, len(self), descent)
        else:
            branch.descent = descent
        if self.triples.depth >= _DEPTH:
            branch.extend_from(self, 0, start)
            return branch
        branch.triples, branch.stores = Triples(self.triples), self.stores
        branch._share(self, 0, start)
        branch.checkpoints = Checkpoints(branch, self.checkpoints, start)
        branch._digests = Digests(branch, self._digests, start)
        return branch

    def follow(self, parent: GrowingLog, start: int, stop: int) -> None:
        """For forks: append deltas of the log that this one was branched from; share them if possible."""
        if self.triples.depth == 0 or self._head is not None:
            self.extend_from(parent, start, stop)
        else:
            self._share(parent, start, stop)
