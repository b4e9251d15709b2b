"""A log in an event loop: appends in the order of their calls, and a loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from substrate import Delta, EventLog, LogError, Namespace, Op, fork, merge
from substrate.log.asynchronous import AsyncLog, opened
from substrate.sparql.guard import QueryError, Solutions

V = Namespace("urn:")


def test_appends_that_are_called_together_stand_in_their_order(tmp_path: Path) -> None:
    """Each has the tick after the one before: in any other order some would be refused."""

    async def work() -> None:
        async with opened(tmp_path / "log.rdfp") as log:
            await asyncio.gather(*(log.insert(V.clock, V.struck, tick, tick=tick) for tick in range(200)))
            await log.retract(V.clock, V.struck, 7)
            assert [delta.tick async for delta in log] == [*range(200), 199]

    asyncio.run(work())
    log = EventLog.read(tmp_path / "log.rdfp")
    assert log.ticks == list(range(200))
    assert len(log.state()) == 199


class Slow(EventLog):
    """A log whose disk keeps an append waiting until the gate is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def append(self, delta: Delta) -> None:
        assert self.gate.wait(30)
        super().append(delta)


def test_the_loop_goes_on_while_an_append_waits() -> None:
    async def work() -> None:
        slow = Slow()
        async with AsyncLog(slow) as log:
            waiting = asyncio.create_task(log.append(Delta(1, Op.INSERT, (V.ann, V.at, V.park))))
            assert await log.run(len) == 0
            assert [delta async for delta in log] == []
            assert not waiting.done()
            slow.gate.set()
            await waiting
            assert await log.run(len) == 1

    asyncio.run(work())


def test_a_cancelled_append_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "log.rdfp"

    async def work() -> EventLog:
        async with opened(path) as log:
            tasks = [asyncio.create_task(log.insert(V.s, V.p, number)) for number in range(50)]
            await asyncio.sleep(0)
            for task in tasks[1::2]:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert sum(isinstance(one, Delta) for one in done) >= 25
            return log.log

    log = asyncio.run(work())
    said = [int(delta.triple[2].value) for delta in log]  # pyright: ignore
    assert said == sorted(said)
    assert set(range(0, 50, 2)) <= set(said)
    assert EventLog.read(path) == log


def test_what_is_refused_is_refused_where_it_is_awaited(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path / "log.rdfp") as log:
            with pytest.raises(LogError, match="another writer"):
                async with opened(tmp_path / "log.rdfp"):
                    pass
            await log.extend_lines([(5, "A <urn:ann> <urn:at> <urn:cafe> .")])
            with pytest.raises(LogError, match="before tick 5"):
                await log.extend([Delta(4, Op.INSERT, (V.ann, V.at, V.park))])
            with pytest.raises(QueryError, match="SERVICE"):
                await log.query("ASK { SERVICE <http://192.0.2.1/> { ?s ?p ?o } }")
        with pytest.raises(LogError, match="the log was closed"):
            await log.insert(V.ann, V.at, V.park)
        assert len(log.log) == 1, "it can be read on"
        async with opened(tmp_path / "log.rdfp") as again:
            assert await again.query("ASK { <urn:ann> ?p ?o }", tick=5)
            assert not await again.query("ASK { <urn:ann> ?p ?o }", tick=4)

    asyncio.run(work())


def test_what_a_server_asks_is_answered_off_the_loop() -> None:
    threads: set[str] = set()

    def named(log: EventLog) -> int:
        threads.add(threading.current_thread().name)
        return len(log)

    async def work() -> None:
        async with AsyncLog(EventLog()) as log:
            await log.insert(V.ann, V.at, V.cafe, tick=3)
            assert await log.run(named) == 1
            branch = await log.run(fork, 3)
            assert await log.run(merge, branch) == branch
            found = await log.query("SELECT ?where { <urn:ann> <urn:at> ?where }")
            assert found == Solutions(("where",), [(V.cafe,)])

    asyncio.run(work())
    assert threads
    assert threading.main_thread().name not in threads
