"""A log in a server's event loop: nothing that reads or writes a file, or takes long, blocks the loop.

Appends go through one thread, in the order in which they were called. Whatever else is asked goes through
the loop's own threads: a log may be read while it is written. The log itself stays what it is, :attr:`log`,
and may be shared with code that is not asynchronous; from there it is appended to between two appends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from os import PathLike
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import pyoxigraph as ox

from substrate.base.delta import Delta
from substrate.base.errors import LogError
from substrate.base.terms import Value
from substrate.log.event_log import EventLog
from substrate.sparql.guard import QueryLimits, Solutions, query

P = ParamSpec("P")
T = TypeVar("T")

_CHUNK = 1 << 10
"""Deltas that are read at a time."""


class AsyncLog:
    """An event log whose methods are awaited.

    An append that is cancelled before its turn is not made; one whose turn has come is made as a whole.

    Args:
        log: an event log; :func:`opened` gives one that is on disk.

    >>> from substrate import Namespace
    >>> V = Namespace("urn:v:")
    >>> async def work():
    ...     async with AsyncLog(EventLog()) as log:
    ...         await asyncio.gather(*(log.insert(V.clock, V.struck, n, tick=n) for n in range(3)))
    ...         return [delta.tick async for delta in log], await log.query("ASK { ?s ?p 2 }", tick=1)
    >>> asyncio.run(work())
    ([0, 1, 2], False)
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._writer: ThreadPoolExecutor | None = ThreadPoolExecutor(1, thread_name_prefix="append")

    # Growing

    async def append(self, delta: Delta) -> None:
        """Add one delta; errors as :meth:`EventLog.extend`."""
        await self._write(self.log.append, delta)

    async def extend(self, deltas: Iterable[Delta]) -> None:
        """Add deltas as one durable step; errors as :meth:`EventLog.extend`."""
        await self._write(self.log.extend, list(deltas))

    async def extend_lines(self, lines: Iterable[tuple[int, str]]) -> None:
        """Add deltas given as ``(tick, RDF Patch line)``; errors as :meth:`EventLog.extend_lines`."""
        await self._write(self.log.extend_lines, list(lines))

    async def insert(
        self, subject: Value, predicate: Value, object: Value, *, tick: int | None = None
    ) -> Delta:
        """Append an insertion; arguments and errors as :meth:`EventLog.insert`."""
        return await self._write(self.log.insert, subject, predicate, object, tick=tick)

    async def retract(
        self, subject: Value, predicate: Value, object: Value, *, tick: int | None = None
    ) -> Delta:
        """Append a retraction; arguments and errors as :meth:`EventLog.insert`."""
        return await self._write(self.log.retract, subject, predicate, object, tick=tick)

    async def _write(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._writer is None:
            raise LogError("the log was closed", hint="Open it again to append")
        work = partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    # Asking

    async def query(
        self,
        sparql: str,
        *,
        tick: int | None = None,
        prefixes: Mapping[str, str] | None = None,
        limits: QueryLimits | None = None,
    ) -> Solutions | bool | list[ox.Triple]:
        """A query of anybody on the state at a tick, the last one unless given, within limits.

        It runs in a process of its own; see :func:`substrate.sparql.guard.query` for what it gives and
        raises. A query of one's own is faster by :meth:`run`.
        """
        return await asyncio.to_thread(
            lambda: query(self.log.state(tick), sparql, prefixes=prefixes, limits=limits)
        )

    async def run(
        self, function: Callable[Concatenate[EventLog, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Whatever takes the log first, in a thread: a method of :class:`EventLog`, ``fork``, ``merge``.

        For what reads. An answer that is made as it is read, such as the rows of ``State.query``, is made a
        list within the function: it must not leave its thread.

        >>> from substrate import fork
        >>> async def work():
        ...     log = AsyncLog(EventLog())
        ...     await log.extend_lines([(3, "A <urn:ann> <urn:in> <urn:cafe> .")])
        ...     branch = await log.run(fork, 3)
        ...     return len(branch), await log.run(lambda log: bool(log.head.query("ASK { ?s ?p ?o }")))
        >>> asyncio.run(work())
        (1, True)
        """
        return await asyncio.to_thread(function, self.log, *args, **kwargs)

    async def __aiter__(self) -> AsyncIterator[Delta]:
        """The deltas there are, and those that are appended until the end is reached."""
        position = 0
        while deltas := await asyncio.to_thread(self.log.__getitem__, slice(position, position + _CHUNK)):
            for delta in deltas:
                yield delta
            position += len(deltas)

    # Ending

    async def close(self) -> None:
        """After the appends that wait, let another writer open the file; the log can be read on."""
        writer, self._writer = self._writer, None
        if writer is not None:
            try:
                await asyncio.get_running_loop().run_in_executor(writer, self.log.close)
            finally:
                writer.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()


@asynccontextmanager
async def opened(path: str | PathLike[str]) -> AsyncIterator[AsyncLog]:
    """A log on disk, created where it is absent, closed at the end of the block.

    Raises:
        LogError: as :meth:`EventLog.open`.

    >>> import tempfile
    >>> async def work(path):
    ...     async with opened(path) as log:
    ...         await log.extend_lines([(3, "A <urn:ann> <urn:in> <urn:cafe> .")])
    ...     return len(EventLog.read(path))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(work(f"{folder}/log.rdfp"))
    1
    """
    async with AsyncLog(await asyncio.to_thread(EventLog.open, path)) as log:
        yield log
