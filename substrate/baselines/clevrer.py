"""The controlled comparison: a language model reads, as English text, the same log as the substrate."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyoxigraph as ox

from substrate.base.errors import LogError
from substrate.baselines.model import Model, ReplyError, Request, answer_of, one_of, request_of
from substrate.domains.clevrer.deltas import NAMESPACE
from substrate.domains.clevrer.format import COLORS, MATERIALS, SHAPES
from substrate.log.event_log import EventLog, Op

VOCABULARY = ("yes", "no", *map(str, range(10)), *COLORS, *MATERIALS, *SHAPES)
"""The answers that a descriptive question may have."""

_TASK = f"""You are given the event log of a short video of {len(SHAPES)} kinds of objects on a table, \
frame by frame, and one question about it.
All objects are those that the log names, each with its color, material and shape.
At a frame, that frame's own lines included, only an object that is in view is moving or stationary: \
moving if the last that the log says of its motion is that it is moving, stationary if that it is at rest.
In a question that names no moment, an object is moving if the log says at any frame that it has been seen \
moving, and stationary if it never does.
What enters, exits and collides, only the numbered events say; \
before and after an event mean at an earlier and at a later frame.
Reply with JSON only, {{"answer": "..."}} with one of: {", ".join(VOCABULARY)}."""


def log_text(log: EventLog, *, poses: bool = True) -> str:
    """Every delta of a CLEVRER log in English, in log order: one line per subject and tick.

    Args:
        log: a scene's log.
        poses: include places and velocities, which no descriptive question needs.

    >>> from substrate.domains.clevrer.deltas import events_log
    >>> from substrate.domains.clevrer.format import CompactObject, InOut, SceneEvents
    >>> cube = CompactObject("red", "metal", "cube", 0)
    >>> print(log_text(events_log(SceneEvents(7, 128, [cube], [InOut(30, 0, "in")], []))))
    Frame 0: The video has 128 frames.
    Frame 0: Object 0 is the red metal cube.
    Frame 0: Event 0: the video starts.
    Frame 30: Event 1: the red metal cube (object 0) enters the scene.
    Frame 127: Event 2: the video ends.
    """
    grouped: dict[tuple[int, str], dict[str, list[str]]] = {}
    for delta in log:
        subject, predicate, value = (_local(term) for term in delta.triple)
        if predicate == "pose" and not poses:
            continue
        facts = grouped.setdefault((delta.tick, subject), {})
        facts.setdefault(predicate if delta.op is Op.INSERT else f"-{predicate}", []).append(value)
    objects = {
        subject: (
            f"the {facts['color'][0]} {facts['material'][0]} {facts['shape'][0]} "
            f"(object {subject.rpartition(':')[2]})"
        )
        for (_, subject), facts in grouped.items()
        if {"color", "material", "shape"} <= facts.keys()
    }
    return "\n".join(
        f"Frame {tick}: {sentence}"
        for (tick, subject), facts in grouped.items()
        for sentence in _sentences(subject, facts, objects)
    )


def _sentences(subject: str, facts: Mapping[str, list[str]], objects: Mapping[str, str]) -> list[str]:
    """The sentences for a subject's deltas at one tick."""
    if "frame" in facts:
        who = " and ".join(objects[participant] for participant in facts.get("participant", ()))
        return [f"Event {subject.rpartition(':')[2]}: {_EVENTS[facts['type'][0]](who)}."]
    if "frames" in facts:
        return [f"The video has {facts['frames'][0]} frames."]
    name = objects[subject]
    intro = [f"Object {facts['number'][0]} is {name.rpartition(' (')[0]}."] if "number" in facts else []
    changes = [
        (predicate, value)
        for predicate, values in facts.items()
        if predicate not in _TOLD_ALREADY
        for value in values
    ]
    if unknown := sorted({predicate for predicate, _ in changes} - _CHANGES.keys()):
        raise LogError(
            f"there are no words for {', '.join(unknown)}",
            where=(subject,),
            hint="Say them in substrate/baselines/clevrer.py: the model is told every delta",
        )
    return intro + [f"{_capital(name)} {_CHANGES[predicate](value)}." for predicate, value in changes]


_EVENTS: Mapping[str, Callable[[str], str]] = {
    "Start": lambda _: "the video starts",
    "End": lambda _: "the video ends",
    "Entry": lambda who: f"{who} enters the scene",
    "Exit": lambda who: f"{who} exits the scene",
    "Collision": lambda who: f"{who} collide",
}
_CHANGES: Mapping[str, Callable[[str], str]] = {
    "inView": lambda _: "is in view",
    "-inView": lambda _: "is out of view",
    "motion": lambda motion: "is moving" if motion == "moving" else "is at rest",
    "moved": lambda _: "has now been seen moving",
    "pose": lambda pose: (
        "is at ({1}, {2}), turned by {3} radians, with velocity ({4}, {5}) units a second "
        "and spin {6} radians a second".format(*pose.split())
    ),
}
_TOLD_ALREADY = frozenset({"type", "number", "color", "material", "shape", "-motion"})
"""Predicates without words: the object's name has them, and the next motion implies the end of the last."""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _local(term: object) -> str:
    """A term's local name in the domain or in RDF, or a literal's value; a scene's own things stay whole."""
    value = term.value if isinstance(term, (ox.NamedNode, ox.Literal)) else str(term)
    return value.removeprefix(NAMESPACE).rpartition("#")[2]


def request(text: str, question: str) -> Request:
    """A request for an answer from :data:`VOCABULARY` to a question about a log's text."""
    return request_of(_TASK, f"{text}\n\nQuestion: {question}", one_of(*VOCABULARY))


def controlled(model: Model, log: EventLog, question: str) -> str | ReplyError:
    """A model's answer to a question about a log, or the error if its reply cannot be read."""
    return answer_of(model, request(log_text(log), question))
