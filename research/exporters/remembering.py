"""Episodes to remember, told to a memory of the substrate and asked of it."""

from __future__ import annotations

from functools import cache

import pyoxigraph as ox

from research.generators.remembering.episodes import Town
from research.generators.remembering.format import UNKNOWN, Episode, Question
from substrate.base.terms import triple
from substrate.log.event_log import EventLog
from substrate.memory.memory import Memory
from substrate.memory.records import Record
from substrate.rules.tbox import TBox, shipped_tboxes


@cache
def errands() -> TBox:
    """The TBox that episodes are made of."""
    return TBox.load("errands")


@cache
def town() -> Town:
    """Its words."""
    return Town((shipped_tboxes() / "errands.ttl").read_text("utf-8"))


def told(episode: Episode, log: EventLog | None = None) -> Memory:
    """A memory that was told the steps of an episode, each at its own tick.

    Args:
        episode: its steps alone are read, never its gold.
        log: what it is told into; a new log unless given.
    """
    memory = Memory(log, errands(), contradictions="end")
    records: list[Record] = []
    for tick, step in enumerate(episode.steps):
        fact = triple(*map(ox.NamedNode, (step.person, step.relation, step.value)))
        author = step.author or None
        if step.kind == "tell":
            cause = None if step.because is None else records[step.because]
            record = memory.observe(*fact, author=author, cause=cause, tick=tick)
        elif fact not in memory.log.state():
            record = Record(ox.NamedNode("urn:nothing"), tick, ())
        elif step.kind == "end":
            record = memory.end(*fact, author=author, tick=tick)
        else:
            record = memory.forget(*fact, author=author, tick=tick)
        records.append(record)
    return memory


def recalled(memory: Memory, question: Question) -> str:
    """The value that a memory knows; ``unknown`` where it knows none."""
    state = memory.log.state(question.at)
    values = [
        value for *_, value in state.match(ox.NamedNode(question.person), ox.NamedNode(question.relation))
    ]
    return values[0].value if len(values) == 1 and isinstance(values[0], ox.NamedNode) else UNKNOWN


def remembered(episode: Episode) -> list[str]:
    """The answers of a memory of the substrate."""
    memory = told(episode)
    return [recalled(memory, question) for question in episode.questions]
