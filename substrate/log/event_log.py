"""The append-only log of typed deltas (paper, section 2).

:class:`substrate.log.growing.GrowingLog` is the log in memory; this module adds its file.

A delta is ``(tick, op, triple)``. A log's digest is a SHA-256 chain over its ticks: the value after a
tick is the hash of the value before it and of the tick's deltas as RDF Patch lines. Equal logs have
equal digests, however their deltas were batched.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from os import SEEK_END, PathLike
from pathlib import Path
from threading import RLock
from typing import NamedTuple, Self

import pyoxigraph as ox

from substrate.base.arguments import path_of, require
from substrate.base.delta import Delta
from substrate.base.delta import Op as Op
from substrate.base.delta import Triple as Triple
from substrate.base.errors import LogError
from substrate.base.words import counted
from substrate.log._chain import Chain
from substrate.log._columns import ascending, by_tick, whole_ticks
from substrate.log._locking import MEMORY
from substrate.log._spelling import require_spelled, split_lines
from substrate.log.foreign import read
from substrate.log.growing import GrowingLog
from substrate.log.journal import MEMBER, Journal, TornTail, read_contents, write_atomically
from substrate.log.patch import EDITED, Descent, Opening, Verified, transactions, verify


class TornTailWarning(UserWarning):
    """A log's last append was cut off; the whole appends have been read."""


class _Source(NamedTuple):
    """The file a log was read from, how many unpacked bytes were read, and the deltas in them."""

    path: Path
    end: int
    deltas: int


class EventLog(GrowingLog):
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

    torn: TornTail | None = None
    """The cut-off append that was dropped at the file's end; ``None`` if the file was whole."""
    _source: _Source | None = None

    def __init__(self, deltas: Iterable[Delta] = ()) -> None:
        super().__init__()
        self._journal: Journal | None = None
        if deltas != ():
            self.extend(deltas)

    def __repr__(self) -> str:
        if not len(self):
            return "<EventLog: empty>"
        forked = f", forked at tick {self.branch_tick}" if self.branch_tick is not None else ""
        return f"<EventLog: {counted(len(self), 'delta')}, ticks {self[0].tick} to {self.last_tick}{forked}>"

    # Growing

    @property
    def _writing(self) -> RLock:
        return self._journal.lock if self._journal else MEMORY

    def _grow(
        self, ticks: list[int], inserts: bytearray, texts: list[str], quads: list[ox.Quad] | None = None
    ) -> None:
        """Append deltas as one step, first to the file if the log has one."""
        journal = self._journal
        if journal is None:
            super()._grow(ticks, inserts, texts, quads)
            return
        # Only the holder of the journal's lock may write; memory can still be read while the file is synced
        with journal.lock:
            journal.check()
            column = whole_ticks(ticks, self.last_tick)
            # Only a log's first transaction names its origin
            chain, descent = self.chain, (None if len(self) else self.descent)
            written = list(transactions(chain, descent, by_tick(column, inserts, texts), None))
            if written:
                journal.append("".join(text for text, _ in written))
            with MEMORY:
                for _, later in written[-1:]:  # none if there are no deltas
                    self._digests.keep(later)
                self._take(column, inserts, texts, quads)

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
            # The file can only be cut after a member: the last one whose content is whole
            offset = max((end for unpacked, end in contents.ends if unpacked <= whole), default=0)
        if offset < contents.size:
            log.torn = TornTail(offset, contents.size - offset)
        return log

    def _take_verified(self, transactions: Iterable[Verified], path: Path) -> int:
        """Append the transactions of a file; return the offset at which the last one ends."""
        opening, end = None, 0
        for batch in transactions:
            if batch.descent:
                self.descent = batch.descent
            self._take_batch(batch, path)
            self._digests.keep(batch.chain)
            opening, end = batch.opening or opening, batch.end
            self._source = _Source(path, end, len(self))
        self._open_with(opening, path)
        return end

    def _open_with(self, opening: Opening | None, name: object) -> None:
        """Take the opening that a file declares, if it does; check it."""
        if opening is None:
            return
        first = self[0].tick if len(self) else 0
        if opening.deltas > self.position(first) or self._digests.after(opening.deltas) != opening.digest:
            what = "its opening deltas are not as written"
            raise LogError(what, where=(name, f"tick {first}"), hint=EDITED)
        self.opening = opening.deltas

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
            what = "the log was appended to since it was read"
            raise LogError(what, where=(source.path,), hint="Append to a fork of it")
        with read_contents(source.path) as contents:
            if contents.data.seek(0, SEEK_END) < source.end:
                what = "the file has become shorter"
                raise LogError(what, where=(source.path,), hint="Read it anew by EventLog.read")
            contents.data.seek(source.end)
            with MEMORY:
                new = verify(contents.data, str(source.path), self.chain)
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
        log, patch = cls(), read(text, name, graph)
        try:
            log.extend_spelled(patch.deltas)
        except LogError as error:
            raise LogError(error.what, where=(name, *error.where), hint=error.hint) from error
        log.descent = patch.descent
        log._open_with(patch.opening, name)
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
        opening = Opening(self.opening, self._digests.after(self.opening)) if self.opening else None
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


# These methods as functions
insert, retract, record = EventLog.insert, EventLog.retract, EventLog.record


def _restored(
    kind: type[EventLog], text: str, descent: Descent | None, prefixes: Mapping[str, object] | None = None
) -> EventLog:
    log = kind.from_patch(text, "pickle")
    log.descent, log.prefixes = descent, dict(prefixes or {})
    return log
