"""Tell what an explained answer finally rests on: a recorded event, a simulated event, or an absence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from research.domains.objects import object_iri
from research.domains.perception.explain import ground_alone
from substrate.cause.explanation import OWN, Evidence, ExplainedPart, ExplainedStep, Explanation
from substrate.domains.clevrer.program import IMAGINING
from substrate.domains.clevrer.scene import Scene

RECORDED = "an event of the record"
IMAGINED = "a simulated event"
RULED = "an event by a rule"
ABSENT = "that nothing happens"
FACTS = "facts alone, no event"
RESTS = (RECORDED, IMAGINED, RULED, ABSENT, FACTS)
"""The things that an answer may rest on, in the order of the tables."""
_BY_GROUND = {"observed": RECORDED, "dual": RECORDED, "simulated": IMAGINED, "heuristic": RULED}


class Decider(NamedTuple):
    """The thing that decides an answer.

    Attributes:
        kind: its kind, one of :data:`RESTS`.
        event: the IRI of a recorded event; empty if the thing is none.
    """

    kind: str
    event: str = ""


def rests_on(
    why: Explanation, part: ExplainedPart, recorded: str = RECORDED, absent: str = ABSENT
) -> Decider:
    """Tell what decides a part of an answer: the last step that found or missed something.

    A delta at tick 0 is a fact, and a later delta is an event. A delta of a fork from its branch tick on is
    simulated. :func:`rests_on_video` tells this more precisely, by CLEVRER's event classes.

    Args:
        recorded: the word for a recorded delta after tick 0; :data:`FACTS` for a domain without events.
        absent: the word for an answer that rests on an absence; :data:`FACTS` for a domain without events.

    >>> from pyoxigraph import Literal, NamedNode
    >>> from substrate import Delta, EventLog, Op
    >>> from substrate.cause.explanation import ExplainedStep
    >>> log = EventLog([Delta(3, Op.INSERT, (NamedNode("urn:ann"), NamedNode("urn:at"), Literal("home")))])
    >>> part = ExplainedPart("", (ExplainedStep("look up", "home", evidence=(Evidence(0),)),), "home")
    >>> rests_on(Explanation("Where is Ann?", "home", (part,), {"": log}), part).kind
    'an event of the record'
    """
    for step in reversed(part.steps):
        if any(_imagined(why, piece) for piece in step.evidence):
            return Decider(IMAGINED)
        if step.evidence:
            later = any(why.delta(piece).tick > 0 for piece in step.evidence)
            return Decider(recorded if later else FACTS)
        if step.missed:
            return Decider(absent)
    return Decider(FACTS if part.steps else absent)


def _imagined(why: Explanation, piece: Evidence) -> bool:
    branch = why.logs[piece.log].branch_tick
    return branch is not None and why.delta(piece).tick >= branch


def rests_on_video(why: Explanation, part: ExplainedPart, imagines: str = RULED) -> Decider:
    """Find the event that decides a part of an answer: a choice, or the answer to a question without choices.

    If a choice is about a world that was not filmed and its event happens there, it rests on that event:
    recorded, simulated, or by a rule such as straight lines. If the event does not happen, the choice rests
    on the recorded event that is prevented, or on no collision. Any other answer rests on the last event that
    its steps name, or on none, if a step looked for events and found none.

    Args:
        imagines: the cause of imagined events if the part's ground does not name it.
    """
    if not part.steps:
        return Decider(ABSENT)
    scene = Scene.of(why.logs[OWN])
    recorded = {event.iri for event in scene.events if event.objects}
    membership = next((step for step in part.steps if step.name == "belong_to"), None)
    sought = _sought(part, membership) if membership else ()
    if membership and sought and any(step.name in IMAGINING for step in part.steps):
        filmed = sought[0] if len(sought) == 1 else _filmed(scene, sought)
        if membership.gave == "yes":
            kind = _BY_GROUND.get(ground_alone(part), imagines)
            return Decider(kind, filmed) if kind != RECORDED or filmed else Decider(ABSENT)
        return Decider(RECORDED, filmed) if filmed else Decider(ABSENT)
    for step in reversed(part.steps):
        named = [iri for (iri, *more) in step.about if not more and iri in recorded]
        if named and step.name != "events":
            return Decider(RECORDED, named[-1])
        if _dropped_all_events(step):
            return Decider(ABSENT)
    return Decider(FACTS)


def _dropped_all_events(step: ExplainedStep) -> bool:
    # A step carries the individuals of its result, and only the words of its inputs: each recorded event is
    # named there with its frame.
    return step.name.startswith("filter_") and step.gave == "[]" and "at frame" in "".join(step.took)


def _sought(part: ExplainedPart, membership: ExplainedStep) -> tuple[str, ...]:
    """The event whose membership is tested, from the step that found it."""
    steps: Iterable[ExplainedStep] = (step for step in part.steps if step.gave == membership.took[0])
    return next((step.about[0] for step in steps if len(step.about) == 1), ())


def _filmed(scene: Scene, objects: Sequence[str]) -> str:
    """The IRI of the first filmed collision of some objects, named by IRI, or an empty text."""
    for event in scene.events:
        if event.kind == "Collision" and {object_iri(scene.iri, n) for n in event.objects} == {*objects}:
            return event.iri
    return ""
