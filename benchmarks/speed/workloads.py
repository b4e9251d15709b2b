"""Inputs of any size, the same on every run: a village's log, and events that share participants."""

from __future__ import annotations

import random

import pyoxigraph as ox

from substrate import Event, EventLog


def village_lines(deltas: int, seed: int = 1) -> list[tuple[int, str]]:
    """A log as lines of RDF Patch: at each tick two agents move and one hears a word that is new.

    Each move retracts the old place and inserts the new one, so that there are about 0.57 distinct triples a
    delta; a tick has about five deltas.
    """
    chance = random.Random(seed)
    agents = max(10, deltas // 50)
    place: dict[int, int] = {}
    lines: list[tuple[int, str]] = []
    tick = 0
    while len(lines) < deltas:
        for _ in range(2):
            agent = chance.randrange(agents)
            if agent in place:
                lines.append((tick, f"D {_at(agent, place[agent])}"))
            place[agent] = chance.randrange(100)
            lines.append((tick, f"A {_at(agent, place[agent])}"))
        word = f'"word {len(lines)}"'
        lines.append((tick, f"A <urn:village:agent{chance.randrange(agents)}> <urn:village:heard> {word} ."))
        tick += 1
    return lines[:deltas]


IS_SOMEWHERE = "ASK { <urn:village:agent1> <urn:village:at> ?place }"
"""A question of a village that names a term in its only pattern."""


def _at(agent: int, place: int) -> str:
    return f"<urn:village:agent{agent}> <urn:village:at> <urn:village:place{place}> ."


def village_log(deltas: int) -> EventLog:
    """The log of :func:`village_lines`."""
    log = EventLog()
    log.extend_lines(village_lines(deltas))
    return log


def branch_tick(log: EventLog) -> int:
    """The tick after nine tenths of a log's deltas."""
    return log[len(log) * 9 // 10].tick


def quads(log: EventLog) -> list[tuple[bool, ox.Quad]]:
    """A log as changes of a bare store: whether to add or to remove, and the quad."""
    return [(op.value == "A", quad) for op, quad in log.changes()]


def meetings(events: int, objects: int, seed: int = 1) -> list[Event]:
    """Events of two participants each, one a tick."""
    chance = random.Random(seed)
    return [Event(tick, tick, frozenset(chance.sample(range(objects), 2))) for tick in range(events)]


def last_edges(events: list[Event]) -> list[tuple[int, int]]:
    """From each event to the last one before it of each participant: a small graph whose closure is
    ancestry where no two events share a tick.
    """
    edges: list[tuple[int, int]] = []
    last: dict[object, int] = {}
    for place, event in enumerate(events):
        edges += [(place, other) for other in sorted({last[o] for o in event.objects if o in last})]
        last |= dict.fromkeys(event.objects, place)
    return edges
