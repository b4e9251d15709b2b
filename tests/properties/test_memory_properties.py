"""Random operations on a memory, compared with a model of it in SQLite.

`MEMORY_OPERATIONS=20000 pytest -s tests/properties/test_memory_properties.py` prints the cost of many more.
"""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import time
from pathlib import Path

from substrate import EventLog, Namespace
from substrate.base.terms import triple
from substrate.base.vocabulary import AWARE_OF
from substrate.memory import Memory, Record

V = Namespace("urn:v:")
OPERATIONS = int(os.environ.get("MEMORY_OPERATIONS", "600"))
_SCHEMA = """
CREATE TABLE said (id INTEGER PRIMARY KEY, fact TEXT, author TEXT, cause INTEGER, told INTEGER, gone INTEGER,
                   back INTEGER DEFAULT 0);
CREATE INDEX by_fact ON said(fact); CREATE INDEX by_cause ON said(cause);
CREATE TABLE knows (agent TEXT, fact TEXT, teller TEXT, tick INTEGER);
CREATE INDEX by_known ON knows(fact);
"""
# A fact is `told` at a tick and `gone` at a tick; `back` is 1 where it was forgotten, not ended.


class Model:
    """Records as rows, each with its author and its cause."""

    def __init__(self) -> None:
        self.rows = sqlite3.connect(":memory:")
        self.rows.executescript(_SCHEMA)

    def execute(self, query: str, *given: object) -> list[tuple[object, ...]]:
        return self.rows.execute(query, given).fetchall()

    def observe(self, fact: str, author: str | None, cause: int | None, tick: int) -> None:
        self.execute("INSERT INTO said VALUES (NULL, ?, ?, ?, ?, NULL, 0)", fact, author, cause, tick)

    def stands(self, fact: str, tick: int | None = None) -> bool:
        at = "gone IS NULL" if tick is None else f"told <= {tick} AND (gone IS NULL OR gone > {tick})"
        return bool(self.execute(f"SELECT 1 FROM said WHERE fact = ? AND {at} LIMIT 1", fact))

    def end(self, fact: str, tick: int) -> None:
        self.execute("UPDATE said SET gone = ? WHERE fact = ? AND gone IS NULL", tick, fact)
        self._fall(fact, tick)

    def forget(self, fact: str, author: str | None, tick: int) -> None:
        own = self.execute("SELECT id FROM said WHERE fact = ? AND author = ? AND back = 0", fact, author)
        which, given = ("fact = ? AND author = ?", (fact, author)) if own else ("fact = ?", (fact,))
        self.execute(
            f"UPDATE said SET gone = coalesce(gone, ?), back = 1 WHERE {which} AND back = 0", tick, *given
        )
        self._fall(fact, tick)

    def _fall(self, fact: str, tick: int) -> None:
        queue = [fact]
        while queue:
            lost = queue.pop()
            if self.stands(lost):
                continue
            resting = "cause IN (SELECT id FROM said WHERE fact = ?) AND gone IS NULL"
            queue += [
                str(fallen)
                for (fallen,) in self.execute(f"SELECT DISTINCT fact FROM said WHERE {resting}", lost)
            ]
            self.execute(f"UPDATE said SET gone = ? WHERE {resting}", tick, lost)


def test_a_memory_agrees_with_its_model_in_sql(tmp_path: Path) -> None:
    draw, model, records = random.Random(7), Model(), list[tuple[str, Record]]()
    things = max(20, OPERATIONS // 40)
    costs: list[float] = []
    with EventLog.open(tmp_path / "memory.rdfp") as log:
        memory = Memory(log)
        for tick in range(OPERATIONS):
            fact = f"s{draw.randrange(things)} p{draw.randrange(3)} o{draw.randrange(2)}"
            terms = triple(*(V[part] for part in fact.split()))
            author = draw.choice([None, "ann", "bo"])
            begun, kind = time.process_time(), draw.random()
            if kind < 0.6:
                cause = draw.randrange(max(0, len(records) - 50), len(records)) if records else None
                if cause is not None and (draw.random() < 0.5 or not model.stands(records[cause][0])):
                    cause = None
                given = None if cause is None else records[cause][1]
                if given is not None and not any(log.state().match(given.node)):
                    given = cause = None  # taken back, so that nothing can rest on it
                made = memory.observe(*terms, author=author, cause=given, tick=tick)
                records.append((fact, made))
                # SQLite numbers the rows from 1.
                model.observe(fact, author, None if cause is None else cause + 1, tick)
            elif not model.stands(fact):
                assert terms not in log.state()
            elif kind < 0.75:
                memory.end(*terms, tick=tick)
                model.end(fact, tick)
            elif kind < 0.9:
                memory.forget(*terms, author=author, tick=tick)
                model.forget(fact, author, tick)
            else:
                agent, teller = f"a{draw.randrange(9)}", f"a{draw.randrange(9)}"
                memory.believe(V[agent], V[fact.split()[0]], told_by=V[teller], tick=tick)
                model.execute("INSERT INTO knows VALUES (?, ?, ?, ?)", agent, fact.split()[0], teller, tick)
            costs.append(time.process_time() - begun)
            assert (terms in log.state()) == model.stands(fact), (tick, fact)
            if tick % 20 == 0:
                then = draw.randrange(tick + 1)
                if then <= log.last_tick:
                    assert (terms in memory.as_of(then)) == model.stands(fact, then), (tick, then)
                about = fact.split()[0]
                known = "SELECT agent, min(tick) FROM knows WHERE fact = ? GROUP BY agent ORDER BY 2, 1"
                rows = [V[str(agent)] for agent, _ in model.execute(known, about)]
                assert memory.who_knew(V[about]) == rows
        everything = {fact for (fact,) in model.execute("SELECT DISTINCT fact FROM said WHERE gone IS NULL")}
        state = log.state()
        standing = {" ".join(str(t)[7:-1] for t in part) for part in state if str(part[0])[7:8] == "s"}
        assert {words for words in standing if " p" in words} == everything
        assert sum(1 for _ in state.match(None, AWARE_OF)) == len(
            model.execute("SELECT DISTINCT agent, fact FROM knows")
        )
    tenth = len(costs) // 10
    ends = (sum(costs[:tenth]) / tenth * 1e6, sum(costs[-tenth:]) / tenth * 1e6)
    sys.stdout.write(
        f"{OPERATIONS} operations: {ends[0]:.0f} µs each in the first tenth, {ends[1]:.0f} in the last\n"
    )
