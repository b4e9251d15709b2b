"""The append-only log of typed deltas (paper, section 2).

A delta is ``(tick, op, triple)``. A log's digest is a SHA-256 chain over its ticks: the value after a
tick is the hash of the value before it and of the tick's deltas as RDF Patch lines. Equal logs have
equal digests, however their deltas were batched.
"""

from __future__ import annotations

import warnings
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from operator import attrgetter
from os import SEEK_END, PathLike
from pathlib import Path
from typing import NamedTuple, Self

import pyoxigraph as ox

from substrate.base.arguments import path_of, require, require_tick
from substrate.base.delta import Delta, Op, Triple
from substrate.base.errors import LogError
from substrate.base.ntriples import text_of, texts_of
from substrate.base.terms import Value, triple
from substrate.base.words import counted
from substrate.log._chain import Chain
from substrate.log._columns import ascending, by_tick, whole_ticks
from substrate.log._locking import MEMORY
from substrate.log._spelling import is_plain, require_spelled, split_lines
from substrate.log._triples import Triples
from substrate.log.foreign import read
from substrate.log.history import Difference, History, diff, history
from substrate.log.journal import MEMBER, Journal, TornTail, read_contents, write_atomically
from substrate.log.patch import EDITED, Descent, Verified, require_flat, transactions, verify
from substrate.log.replay import Checkpoints, Timeline
from substrate.log.simulator import Simulator

_INSERTS = {"A ": 1, "D ": 0}
_MARK = 256
"""The least number of deltas between two kept values of the chain; a digest starts from the nearest value."""
_DEPTH = 16
"""From this depth of nesting on, a fork copies its parent's content instead of sharing it."""


class TornTailWarning(UserWarning):
    """A log's last append was cut off; the whole appends have been read."""


class _Source(NamedTuple):
    """The file a log was read from, how many unpacked bytes were read, and the deltas in them."""

    path: Path
    end: int
    deltas: int


class EventLog(Timeline):
    """An ordered, append-only log of deltas whose ticks never go back.

    The initial ABox of the paper's tuple, A0, is the first :attr:`opening` deltas. Ticks are whole
    numbers from 0 to 2**63 - 1. A log is in memory; :meth:`open` gives a log that is also on disk.

    Threads may share a log: appends run one after the other, and acknowledged deltas are in the file and in
    memory, in the same order. A child process may read a log that its parent has open, but not append.

    >>> from pyoxigraph import NamedNode
    >>> fact = (NamedNode("urn:ann"), NamedNode("urn:in"), NamedNode("urn:cafe"))
    >>> log = EventLog([Delta(0, Op.INSERT, fact), Delta(4, Op.RETRACT, fact)])
    >>> len(log), log.last_tick, len(log.state(3)), len(log.state(4))
    (2, 4, 1, 0)
    """

    opening: int = 0
    """The number of first deltas that describe the state before the first event; a fork keeps them at any
    tick. It is 0 if the log does not declare it. :meth:`save` writes it to the file.
    """
    withheld: tuple[Delta, ...] = ()
    """The observed deltas that a fork left out: they contradict an intervention's placements."""
    torn: TornTail | None = None
    """The cut-off append that was dropped at the file's end; ``None`` if the file was whole."""

    _source: _Source | None = None
    _descent: Descent | None = None
    _forked: tuple[EventLog, int, int] | None = None
    """Until the parent's digest is known: a fork's parent, its delta count at the fork, the branch tick."""
    _deferred: int | None = None
    """The number of deltas that this log shares with its parent, until its chain is computed."""

    def __init__(self, deltas: Iterable[Delta] = ()) -> None:
        super().__init__()
        self._chain = Chain()
        self._marks: list[Chain] = [self._chain]
        self._parent: EventLog | None = None  # the log that this one branched from
        self._journal: Journal | None = None
        if deltas != ():
            self.extend(deltas)

    def __repr__(self) -> str:
        if not len(self):
            return "<EventLog: empty>"
        forked = f", forked at tick {self.branch_tick}" if self.branch_tick is not None else ""
        return f"<EventLog: {counted(len(self), 'delta')}, ticks {self[0].tick} to {self.last_tick}{forked}>"

    @property
    def descent(self) -> Descent | None:
        """The origin of a fork; ``None`` for a log that is no fork. The log's file keeps it."""
        if self._forked:
            parent, deltas, at = self._forked
            self.descent = Descent(parent._digest_after(deltas), at)
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
            return self._forked[2]
        return self._descent.branch if self._descent else None

    # Growing

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
                raise LogError(
                    f"not a delta ({error})",
                    where=(f"tick {delta[0]}" if isinstance(delta, Delta) else f"{delta!r}"[:60],),
                    hint="Give a tick, an Op and a triple of pyoxigraph terms: subject, predicate, object",
                ) from error
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

        >>> from substrate import Namespace
        >>> log, V = EventLog(), Namespace("urn:v:")
        >>> log.insert(V.ann, V.age, 7, tick=2).tick, len(log.state(2))
        (2, 1)
        """
        return self._append_change(Op.INSERT, triple(subject, predicate, object), tick)

    def retract(self, subject: Value, predicate: Value, object: Value, *, tick: int | None = None) -> Delta:
        """Append the retraction of a triple; arguments and errors as :meth:`insert`.

        >>> from substrate import Namespace
        >>> log, V = EventLog(), Namespace("urn:v:")
        >>> _ = log.insert(V.ann, V.age, 7, tick=2)
        >>> log.retract(V.ann, V.age, 7, tick=3).op.name, len(log.state(3))
        ('RETRACT', 0)
        """
        return self._append_change(Op.RETRACT, triple(subject, predicate, object), tick)

    def _append_change(self, op: Op, triple: Triple, tick: int | None) -> Delta:
        journal = self._journal
        # No other thread may move the last tick before this delta is appended
        with journal.lock if journal else MEMORY:
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

        >>> from substrate import Namespace
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
            raise LogError(
                f"not a line of RDF Patch ({error})", hint="Write `A` or `D`, then one N-Triples statement"
            ) from error
        if len(quads) != len(inserts) or text.count("\n") >= max(1, len(inserts)) or "\r" in text:
            raise LogError(
                f"{len(inserts)} lines hold {len(quads)} statements, or a line's end",
                hint="Write one statement a line",
            )
        self._grow(ticks, inserts, texts_of(quads), quads)

    def extend_spelled(self, deltas: Iterable[tuple[int, Op, str]]) -> None:
        """Add deltas as one step; the caller has their triples as text from a log or a state.

        The spellings are taken unchanged and unparsed. Raises the errors of :meth:`extend`.

        >>> log = EventLog()
        >>> log.extend_spelled([(4, Op.INSERT, "<urn:ann> <urn:in> <urn:cafe>")])
        >>> len(log.state(4))
        1
        """
        deltas = list(deltas)
        texts = [text for _, _, text in deltas]
        require_flat("\n".join(texts))
        inserts = bytearray([op is Op.INSERT for _, op, _ in deltas])
        self._grow([tick for tick, _, _ in deltas], inserts, texts)

    def extend_from(self, other: EventLog, start: int = 0, stop: int | None = None) -> None:
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
        journal = self._journal
        if journal is None:
            with MEMORY:
                self._take(whole_ticks(ticks, self.last_tick), inserts, texts, quads)
            return
        # Only the holder of the journal's lock may write; memory can still be read while the file is synced
        with journal.lock:
            journal.check()
            column = whole_ticks(ticks, self.last_tick)
            with MEMORY:
                chain, descent = self._fed_chain(), None if len(self) else self.descent
            written = list(transactions(chain, descent, by_tick(column, inserts, texts)))
            if written:
                journal.append("".join(text for text, _ in written))
            with MEMORY:
                for _, later in written[-1:]:
                    self._keep(later)
                self._take(column, inserts, texts, quads)

    def _take(
        self, ticks: array[int], inserts: bytearray, texts: Iterable[str], quads: list[ox.Quad] | None = None
    ) -> None:
        numbers = self.triples.numbers(texts)
        if quads is not None:
            self.triples.keep(numbers, quads)
        self._own.take(ticks, inserts, numbers)
        if self._head is not None:
            self._head.follow(zip(inserts, numbers, strict=True), self.last_tick)

    def kept(self, at: int) -> int:
        """Count the deltas that a branch at a tick keeps, including the log's opening deltas.

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
            branch._forked = self, len(self), descent
        else:
            branch.descent = descent
        if self.triples.depth >= _DEPTH:
            branch.extend_from(self, 0, start)
            return branch
        branch.triples, branch.stores = Triples(self.triples), self.stores
        branch._share(self, 0, start)
        branch.checkpoints = Checkpoints(branch, self.checkpoints, start)
        branch._parent, branch._deferred = self, start
        return branch

    def follow(self, parent: EventLog, start: int, stop: int) -> None:
        """For forks: append deltas of the log that this one was branched from, sharing them."""
        if self.triples.depth == 0 or self._head is not None or self._journal:
            self.extend_from(parent, start, stop)
        else:
            self._share(parent, start, stop)

    # Reading

    def history(self, triple: Triple) -> History:
        """The times at which a triple was true, and the deltas that changed that; see
        :class:`.history.History`.
        """
        return history(self, triple)

    def diff(self, a: int, b: int) -> Difference:
        """The triples to insert and retract to turn the state at tick ``a`` into the state at tick ``b``."""
        return diff(self, a, b)

    @property
    def digest(self) -> str:
        """``sha256:…``, the chain's value after the last delta."""
        with MEMORY:
            return self._fed_chain().value

    @property
    def chain(self) -> Chain:
        """The chain after the last delta; later values are computed from it."""
        with MEMORY:
            return self._fed_chain()

    def digest_at(self, tick: int) -> str:
        """The chain's value after all deltas with tick <= ``tick``, computed from the nearest kept value."""
        require_tick(tick, "tick")
        return self._digest_after(self.position(tick))

    def _digest_after(self, stop: int) -> str:
        with MEMORY:
            if self._chain.fed < stop:
                self._fed_chain()
            chain = self._mark(stop)
        for tick, lines in self.lines(chain.fed, stop):
            chain = chain.after(tick, lines)
        return chain.value

    def _fed_chain(self) -> Chain:
        if self._deferred is not None and self._parent:
            self._parent._fed_chain()
            self._chain, self._deferred = self._parent._mark(self._deferred), None
            self._marks = [self._chain]
        if self._chain.fed == len(self):
            return self._chain
        ticks, bodies, fed = list[bytes](), list[bytes](), 0
        for tick, lines in self.lines(self._chain.fed):
            ticks.append(b"%d" % tick)
            bodies.append("\n".join(lines).encode("utf-8", "surrogatepass"))
            fed += len(lines)
            if fed >= _MARK or self._chain.fed + fed == len(self):
                self._keep(self._chain.linked(ticks, bodies, fed)[1])
                ticks, bodies, fed = [], [], 0
        return self._chain

    def _mark(self, deltas: int) -> Chain:
        """The last kept value of the chain within the first ``deltas`` deltas, here or in a parent."""
        log = self
        while deltas < log._marks[0].fed and log._parent is not None:
            log = log._parent
        return log._marks[bisect_right(log._marks, deltas, key=attrgetter("fed")) - 1]

    def _keep(self, chain: Chain) -> None:
        self._chain = chain
        if chain.fed - self._marks[-1].fed >= _MARK:
            self._marks.append(chain)

    # As a value

    def __eq__(self, other: object) -> bool:
        """Tell whether two logs have the same deltas; their files and origins do not matter.

        A log grows, so it has no hash: use its digest as a key.
        """
        if not isinstance(other, EventLog):
            return NotImplemented
        return self is other or (len(self) == len(other) and self.digest == other.digest)

    def __copy__(self) -> Self:
        """A log in memory that shares this log's deltas; each of the two grows by itself.

        >>> from copy import copy
        >>> log = EventLog()
        >>> log.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> .")])
        >>> other = copy(log)
        >>> other.extend_lines([(1, "D <urn:ann> <urn:in> <urn:cafe> .")])
        >>> len(log), len(other), log == other
        (1, 2, False)
        """
        return self.branch(len(self), self.descent)

    def __deepcopy__(self, memo: object) -> Self:
        return self.branch(len(self), self.descent)

    def __reduce__(self) -> tuple[Callable[..., EventLog], tuple[object, ...]]:
        """For pickle: the log as RDF Patch; unpickling checks its chain and gives a log without a file."""
        return _restored, (type(self), self.to_patch(), self.descent, dict(self.prefixes))

    # Files

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Open a log on disk, created if absent, and locked for this writer until :meth:`close`.

        Every append is durable when the call returns. A call makes one write and one sync for all its
        deltas, so give many at once to :meth:`extend`. An append that a crash cut off is moved to a file
        next to the log, named by :class:`TornTailWarning` and :attr:`torn`.

        Raises:
            LogError: another writer has the file open, it is not a log (and stays unchanged), or its chain
                does not match (names the tick).
        """
        journal = Journal(path_of(path))
        try:
            log = cls._read(path_of(path))
            if log.torn:
                log.torn = log.torn._replace(kept=journal.cut(log.torn.offset))
                log._warn_of(log.torn, f"moved to {log.torn.kept}", path)
        except BaseException:
            journal.close()
            raise
        log._journal, log._source = journal, None
        return log

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a log from its file into memory; the file stays unchanged.

        Raises:
            LogError: the file cannot be read, or a byte of it was edited (names the tick).
        """
        log = cls._read(path_of(path))
        if log.torn:
            log._warn_of(log.torn, "passed over", path)
        return log

    def _warn_of(self, torn: TornTail, what: str, path: object) -> None:
        tail = f"{torn.dropped} bytes after tick {self.last_tick} are {what}"
        warnings.warn(f"{path}: the last append was cut off; {tail}", TornTailWarning, stacklevel=3)

    @classmethod
    def _read(cls, path: Path) -> Self:
        log = cls()
        log._source = _Source(path, 0, 0)
        with read_contents(path) as contents:
            whole = log._take_verified(verify(contents.data, str(path)), path)
            if contents.damage:
                raise contents.damage.error(path)
        offset = whole
        if path.suffix == ".gz":
            offset = max((end for unpacked, end in contents.ends if unpacked <= whole), default=0)
        if offset < contents.size:
            log.torn = TornTail(offset, contents.size - offset)
        return log

    def _take_verified(self, transactions: Iterable[Verified], path: Path) -> int:
        """Append the transactions of a file; return the offset at which the last one ends."""
        opening, end = "", 0
        for batch in transactions:
            if batch.descent:
                self.descent = batch.descent
            self._take_batch(batch, path)
            self._keep(batch.chain)
            opening, end = batch.opening or opening, batch.end
            self._source = _Source(path, end, len(self))
        self._open_with(opening, path)
        return end

    def _open_with(self, opening: str, name: object) -> None:
        """Take the opening that a file declares: the number of deltas, and the chain's value after them."""
        deltas, _, value = opening.partition(" ")
        first = self[0].tick if len(self) else 0
        if opening and not (
            deltas.isdecimal()
            and int(deltas) <= self.position(first)
            and self._digest_after(int(deltas)) == value
        ):
            raise LogError(
                "its opening deltas are not as written", where=(name, f"tick {first}"), hint=EDITED
            )
        self.opening = int(deltas or self.opening)

    def _take_batch(self, batch: Verified, path: Path) -> None:
        try:
            text = batch.text.decode()
            column = ascending(batch.ticks, self.last_tick)
            require_spelled(text, path, f"from tick {batch.ticks[0]}")
        except (SyntaxError, UnicodeError, LogError) as error:
            if isinstance(error, LogError) and error.where:
                raise
            what = error.what if isinstance(error, LogError) else f"not a line of RDF Patch ({error})"
            raise LogError(what, where=(path,), hint=EDITED) from error
        inserts, texts = split_lines(text)
        self._take(column, inserts, texts)

    def refresh(self) -> int:
        """Take in the deltas that a writer has appended since this log was read; return how many.

        Only the new part is read and verified; a gzip file is unpacked whole. An incomplete append is left
        for the next call.

        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder, EventLog.open(Path(folder, "a.rdfp")) as writer:
        ...     reader = EventLog.read(Path(folder, "a.rdfp"))
        ...     writer.extend_lines([(3, "A <urn:ann> <urn:in> <urn:cafe> .")])
        ...     reader.refresh(), reader.refresh(), reader == writer
        (1, 0, True)

        Raises:
            LogError: the log was not made by :meth:`read`, it was appended to in memory, or the file does not
                continue it (names the tick).
        """
        source, count = self._source, len(self)
        if source is None:
            raise LogError("the log was not read from a file", hint="Make it by EventLog.read")
        if source.deltas != count:
            raise LogError(
                "the log was appended to since it was read",
                where=(source.path,),
                hint="Append to a fork of it",
            )
        with read_contents(source.path) as contents:
            if contents.data.seek(0, SEEK_END) < source.end:
                raise LogError(
                    "the file has become shorter", where=(source.path,), hint="Read it anew by EventLog.read"
                )
            contents.data.seek(source.end)
            with MEMORY:
                new = verify(contents.data, str(source.path), self._fed_chain())
                self._take_verified(new, source.path)
            if contents.damage:
                raise contents.damage.error(source.path)
        return len(self) - count

    @classmethod
    def from_patch(cls, text: str, name: str = "patch", graph: str | None = None) -> Self:
        """Read a log from RDF Patch text, also from another program; checks the chain if present.

        Args:
            text: the patch.
            name: the patch's name in errors.
            graph: the IRI of the graph to take if the patch changes several; by default only triples.

        Raises:
            LogError: the text is not RDF Patch, is cut off, or its chain does not match.
        """
        require(text, str, "RDF Patch text", "text")
        data, log = text.encode("utf-8", "replace"), cls()
        # Our own text is verified like a file; text that fails is read by its tokens
        with suppress(LogError):
            if log._take_verified(verify(BytesIO(data), name), Path(name)) == len(data):
                log._source = None
                return log
        log, (deltas, descent, opening) = cls(), read(text, name, graph)
        try:
            log.extend_spelled(deltas)
        except LogError as error:
            raise LogError(error.what, where=(name, *error.where), hint=error.hint) from error
        log.descent = descent
        log._open_with(opening, name)
        return log

    def to_patch(self) -> str:
        """The log as RDF Patch text, one transaction per tick."""
        return "".join(self._rendered())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole log to a file at once, as gzip if the name ends in ``.gz``.

        Raises:
            LogError: the file is open as a log's journal, here or elsewhere, or the system refuses the write.
        """
        members: list[str] = []
        room = 0
        for transaction in self._rendered():
            if room <= 0:
                members.append("")
                room = MEMBER
            members[-1] += transaction
            room -= len(transaction)
        write_atomically(Path(path), *members)

    def _rendered(self) -> Iterator[str]:
        opening = f"{self.opening} {self._digest_after(self.opening)}" if self.opening else ""
        return (text for text, _ in transactions(Chain(), self.descent, self.lines(), opening))

    def close(self) -> None:
        """Release the file for another writer; the log stays readable, but takes no more deltas."""
        journal = self._journal
        if journal:
            with journal.lock:
                journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


insert, retract, record = EventLog.insert, EventLog.retract, EventLog.record
"""These methods as functions."""


def _restored(
    kind: type[EventLog], text: str, descent: Descent | None, prefixes: Mapping[str, object] | None = None
) -> EventLog:
    log = kind.from_patch(text, "pickle")
    log.descent, log.prefixes = descent, dict(prefixes or {})
    return log
