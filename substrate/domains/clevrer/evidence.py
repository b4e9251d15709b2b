"""The event that decides an answer about a video, and its distance from the true record's event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.evidence import ABSENT, FACTS, IMAGINED, RECORDED, RULED, Rest
from substrate.cause.explanation import OWN, ExplainedPart, ExplainedStep, Explanation
from substrate.domains.clevrer._chances import IMAGINING
from substrate.domains.clevrer.deltas import NAMESPACE
from substrate.domains.clevrer.scene import Scene

_BY_GROUND = {"observed": RECORDED, "dual": RECORDED, "simulated": IMAGINED, "heuristic": RULED}
_TRIED = ("Collision", "Entry", "Exit")


def rests_on(why: Explanation, part: ExplainedPart, imagines: str = RULED) -> Rest:
    """Find the event that decides a part of an answer: of a choice, or of a question without choices.

    If a choice is about a world that was not filmed and its event happens there, it rests on that event:
    recorded, simulated, or by a rule such as straight lines. If the event does not happen, the choice rests
    on the recorded event that is prevented, or on no collision. Any other answer rests on the last event that
    its steps name, or on none, if a step looked for events and found none.

    Args:
        imagines: the cause of imagined events if the part's ground does not name it.
    """
    if not part.steps:
        return Rest(ABSENT)
    kinds = _kinds(why)
    membership = next((step for step in part.steps if step.name == "belong_to"), None)
    sought = _sought(part, membership) if membership else ()
    if membership and sought and any(step.name in IMAGINING for step in part.steps):
        filmed = sought[0] if len(sought) == 1 else _filmed(why, sought)
        if membership.gave == "yes":
            on = _BY_GROUND.get(part.ground.partition(";")[0], imagines)
            return Rest(on, filmed) if on != RECORDED or filmed else Rest(ABSENT)
        return Rest(RECORDED, filmed) if filmed else Rest(ABSENT)
    for step in reversed(part.steps):
        named = [iri for (iri, *more) in step.about if not more and kinds.get(iri, "") in _TRIED]
        if named and step.name != "events":
            return Rest(RECORDED, named[-1])
        if step.name.startswith("filter_") and step.gave == "[]" and "at frame" in "".join(step.took):
            return Rest(ABSENT)
    return Rest(FACTS)


def _kinds(why: Explanation) -> Mapping[str, str]:
    """The classes of the log's individuals, by IRI."""
    held = Scene.of(why.logs[OWN]).holding(RDF_TYPE.value).items()
    return {name[1:-1]: [*classes][-1][1:-1].removeprefix(NAMESPACE) for name, classes in held if classes}


def _sought(part: ExplainedPart, membership: ExplainedStep) -> tuple[str, ...]:
    """The event whose membership is tested, from the step that found it."""
    steps: Iterable[ExplainedStep] = (step for step in part.steps if step.gave == membership.took[0])
    return next((step.about[0] for step in steps if len(step.about) == 1), ())


def _filmed(why: Explanation, objects: tuple[str, ...]) -> str:
    """The first filmed collision of some objects, or an empty text."""
    scene = Scene.of(why.logs[OWN])
    wanted = frozenset(int(iri.rpartition(":")[2]) for iri in objects)
    return next((e.iri for e in scene.events if e.kind == "Collision" and e.objects == wanted), "")
