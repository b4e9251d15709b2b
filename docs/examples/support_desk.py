"""A support desk: three authors, contradictions, a request to be forgotten, two branches and a crash.

Run it with nothing but the library: `python docs/examples/support_desk.py`. It writes 100,000 deltas.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyoxigraph import NamedNode

from substrate import EventLog, Memory, Namespace, TBox

DESK = Namespace("https://example.org/desk#")
BOT, MIRA, BILLING = DESK.intakeBot, DESK.mira, DESK.billing
MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
WORDS = """
@prefix : <https://example.org/desk#> .
@prefix core: <urn:substrate:> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:plan a owl:FunctionalProperty . :status a owl:FunctionalProperty . :age rdfs:range xsd:integer .
:suspects core:defeasible true .
"""
CUSTOMERS = 3_400


def memory_of(log: EventLog) -> Memory:
    """The desk's memory on a log; it keeps contradicting records, in doubt."""
    return Memory(log, TBox("desk", WORDS), contradictions="doubt")


def intake() -> Iterator[tuple[NamedNode, NamedNode, object]]:
    """The facts of a morning's import."""
    for number in range(CUSTOMERS):
        customer = DESK[f"customer{number}"]
        yield customer, DESK.plan, DESK[("bronze", "silver", "gold")[number % 3]]
        yield customer, DESK.age, 20 + number % 60
        yield customer, DESK.city, DESK[f"city{number % 97}"]
        yield customer, DESK.status, DESK.active
        yield customer, DESK.opened, DESK[f"ticket{number}"]


def name(term: object) -> str:
    """The last part of an IRI, or a value."""
    return str(term).strip('<>"').rpartition("#")[2]


def crash(path: Path) -> None:
    """Observe a fact in a child process that kills itself at once."""
    if not (child := os.fork() if hasattr(os, "fork") else 0):
        with EventLog.open(path) as log:
            memory_of(log).observe(DESK.ticket7, DESK.answeredBy, MIRA, author=MIRA)
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def contradictions(memory: Memory) -> None:
    """Two authors contradict each other; the doubt ends when the wrong record is forgotten."""
    memory.observe(DESK.customer5, DESK.plan, DESK.silver, author=BILLING)
    print("in doubt:", [(name(ground.author), name(ground.said[2])) for ground in memory.doubted()])
    memory.forget(DESK.customer5, DESK.plan, DESK.gold, author=BOT)
    print("in doubt:", memory.doubted())


def consequences(memory: Memory) -> None:
    """Records that rest on a ticket end with it, or become doubtful, as the TBox says."""
    ticket = memory.observe(DESK.ticket9, DESK.reports, DESK.doubleCharge, author=BOT)
    guess = memory.observe(MIRA, DESK.suspects, DESK.cardReader, author=MIRA, cause=ticket)
    memory.observe(DESK.customer9, DESK.owed, 40, author=BILLING, cause=ticket)
    memory.observe(DESK.cardReader, DESK.checkedBy, DESK.technician, author=MIRA, cause=guess)
    falls = memory.impact(DESK.ticket9, DESK.reports, DESK.doubleCharge)
    print("would fall:", sorted(name(ground.said[1]) for ground in falls))
    memory.end(DESK.ticket9, DESK.reports, DESK.doubleCharge, author=BILLING)
    print("owed now:", [name(o) for *_, o in memory.log.state().match(DESK.customer9, DESK.owed)])
    print("in doubt:", [name(ground.said[1]) for ground in memory.doubted()])


def forgotten(memory: Memory) -> None:
    """A customer asks to be forgotten: the present forgets, the log does not erase."""
    before = memory.log.last_tick
    facts = list(memory.log.state().match(DESK.customer42))
    for fact in sorted(facts, key=str):
        memory.forget(*fact, source="a letter of 3 March")
    print("known of customer 42:", len(list(memory.log.state().match(DESK.customer42))))
    print("known of them before:", len(list(memory.as_of(before).match(DESK.customer42))))
    print("let go:", [name(ground.said[1]) for ground in memory.forgotten()[-len(facts) :]])


def branches(memory: Memory) -> Memory:
    """Mira works on the train, billing in the office; both days are one log again, in the order of time."""
    here = memory.log.last_tick + 1
    train, office = memory.imagine(here), memory.imagine(here)
    train.observe(DESK.customer1, DESK.status, DESK.waiting, author=MIRA, time=MONDAY)
    train.believe(MIRA, DESK.outage, time=MONDAY + timedelta(hours=1))
    office.believe(BILLING, DESK.outage, told_by=MIRA, time=MONDAY + timedelta(hours=2))
    office.observe(DESK.customer1, DESK.status, DESK.closed, author=BILLING, time=MONDAY + timedelta(hours=3))
    both = train.merge(office, choose=lambda conflict: "b")
    print("who knew of the outage:", [name(who) for who in both.who_knew(DESK.outage)])
    print("status:", sorted(name(o) for *_, o in both.log.state().match(DESK.customer1, DESK.status)))
    return both


def main() -> None:
    """A Monday at the desk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "desk.rdfp"
        with EventLog.open(path) as log:
            memory_of(log).observe_many(intake(), author=BOT, source="the old system")
            print(f"{len(log) // 1_000} thousand deltas, {len(log.state()) // 1_000} thousand triples")
        crash(path)
        with EventLog.open(path) as log:
            memory = memory_of(log)
            (ground,) = memory.why(DESK.ticket7, DESK.answeredBy, MIRA)
            print("after the crash:", name(ground.said[2]), "answered, said", name(ground.author))
            contradictions(memory)
            consequences(memory)
            forgotten(memory)
            both = branches(memory)
            both.log.save(path.with_name("both.rdfp"))
        print("kept:", EventLog.read(path.with_name("both.rdfp")) == both.log)


if __name__ == "__main__":
    main()
