"""Tell what an explained answer finally rests on: a recorded event, a simulated event, or an absence."""

from __future__ import annotations

from typing import NamedTuple

from substrate.cause.explanation import Evidence, ExplainedPart, Explanation

RECORDED = "an event of the record"
IMAGINED = "a simulated event"
RULED = "an event by a rule"
ABSENT = "that nothing happens"
FACTS = "facts alone, no event"
RESTS = (RECORDED, IMAGINED, RULED, ABSENT, FACTS)
"""The things that an answer may rest on, in the order of the tables."""


class Rest(NamedTuple):
    """The thing that decides an answer (one of :data:`RESTS`), and a recorded event's IRI."""

    on: str
    event: str = ""


def rests_on(why: Explanation, part: ExplainedPart, recorded: str = RECORDED, absent: str = ABSENT) -> Rest:
    """Tell what decides a part of an answer: the last step that found or missed something.

    A delta at tick 0 is a fact, and a later delta is an event. A delta of a fork from its branch tick on is
    simulated. A domain with its own event classes can tell this more precisely.

    Args:
        recorded: the word for a later delta that is not an event.
        absent: the word for an answer that rests on an absence.

    >>> from pyoxigraph import Literal, NamedNode
    >>> from substrate import Delta, EventLog, Op
    >>> from substrate.cause.explanation import ExplainedStep
    >>> log = EventLog([Delta(3, Op.INSERT, (NamedNode("urn:ann"), NamedNode("urn:at"), Literal("home")))])
    >>> part = ExplainedPart("", (ExplainedStep("look up", "home", evidence=(Evidence(0),)),), "home")
    >>> rests_on(Explanation("Where is Ann?", "home", (part,), {"": log}), part).on
    'an event of the record'
    """
    for step in reversed(part.steps):
        if any(_imagined(why, piece) for piece in step.evidence):
            return Rest(IMAGINED)
        if step.evidence:
            later = any(why.delta(piece).tick > 0 for piece in step.evidence)
            return Rest(recorded if later else FACTS)
        if step.missed:
            return Rest(absent)
    return Rest(FACTS if part.steps else absent)


def _imagined(why: Explanation, piece: Evidence) -> bool:
    branch = why.logs[piece.log].branch_tick
    return branch is not None and why.delta(piece).tick >= branch
