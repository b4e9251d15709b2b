"""Pictures of logs as data for the page: objects as lanes, events at ticks; an image's objects as boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from pyoxigraph import Literal

from substrate.ask.questions import occurrences
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL
from substrate.cause.explanation import ExplainedStep, Explanation
from substrate.domains.clevrer.scene import Event, Scene
from substrate.log.event_log import EventLog, Op, Term
from substrate.rules.tbox import TBox

STATES = {
    "focus": "singled out by the question or the answer",
    "ancestor": "a causal ancestor",
    "lost": "does not happen without the removed object",
    "predicted": "predicted after the last frame",
    "suspected": "suspected, and not believed",
    "": "observed",
}
"""The relation of a mark to the answer, in words."""


class Span(NamedTuple):
    """A stretch of a lane, in per cent of the picture's width."""

    start: float
    stop: float


class Lane(NamedTuple):
    """An object: its name, when it is there, and whether the question removes it."""

    label: str
    spans: list[Span]
    removed: bool = False


class Mark(NamedTuple):
    """An event: its place in per cent of the width, the lanes it joins, and how it stands to the answer (a
    key of :data:`STATES`).
    """

    x: float
    tick: int | None
    kind: str
    lanes: tuple[int, ...]
    state: str
    title: str


class Timeline(NamedTuple):
    """Lanes from top to bottom, marks in time order, and ticks of the axis with their places."""

    lanes: list[Lane]
    marks: list[Mark]
    axis: list[tuple[float, int]]
    unit: str
    end: float
    """The end of the observed log, in per cent of the width."""

    @property
    def singled_out(self) -> int:
        """The number of events that the answer is about, or rests on."""
        return sum(bool(mark.state) for mark in self.marks)

    @property
    def states(self) -> list[str]:
        """The states that occur, for the legend."""
        return [state for state in STATES if any(mark.state == state for mark in self.marks)]


class Box(NamedTuple):
    """An object of an image, in per cent of the image's size."""

    label: str
    x: float
    y: float
    width: float
    height: float
    used: bool


class Boxes(NamedTuple):
    """An image's annotated objects, larger ones first, and the image's size in pixels."""

    boxes: list[Box]
    width: int
    height: int

    @property
    def singled_out(self) -> int:
        """The number of objects that the answer rests on."""
        return sum(box.used for box in self.boxes)


class Scale(NamedTuple):
    """Ticks to per cent; the margins leave room for the marks' size."""

    last: float

    def __call__(self, tick: float) -> float:
        """The place of a tick."""
        return round(2 + 96 * tick / max(self.last, 1), 2)


def scene_timeline(scene: Scene, explanation: Explanation) -> Timeline:
    """A scene's log with the marks that an explanation singles out.

    Args:
        scene: the scene's log, opened.
        explanation: why a question about the scene is answered as it is.
    """
    steps = [step for part in explanation.parts for step in part.steps]
    numbers = {f"{scene.iri}:object:{number}": number for number in scene.objects}
    removed = _removed(steps, explanation, numbers)
    predicted = _predicted(steps, numbers, explanation)
    x = Scale(scene.end * (1.15 if predicted else 1))
    rows = {number: row for row, number in enumerate(scene.objects)}
    states = _states(scene, steps, explanation, removed)

    def mark(event: Event, place: float, state: str) -> Mark:
        return Mark(
            x(place),
            event.frame,
            event.kind,
            tuple(sorted(rows[number] for number in event.objects)),
            state,
            _title(scene, event),
        )

    marks = [
        mark(event, event.frame or 0, states.get(event.iri, "")) for event in scene.events if event.objects
    ]
    ahead = [Event("Collision", None, frozenset(pair)) for pair in predicted]
    marks += [
        mark(event, scene.end * (1.06 + 0.06 * number / len(ahead)), "predicted")
        for number, event in enumerate(ahead)
    ]
    lanes = [
        Lane(_name(scene, number), _spans(scene, number, x), number == removed) for number in scene.objects
    ]
    return Timeline(
        lanes,
        marks,
        [(x(tick), tick) for tick in (*range(0, scene.end - 12, 25), scene.end)],
        "frame",
        x(scene.end),
    )


def _removed(
    steps: Sequence[ExplainedStep], explanation: Explanation, numbers: Mapping[str, int]
) -> int | None:
    """The object that a question removes: the step that imagines it gone rests on its being there."""
    for step in steps:
        if step.name in ("get_counterfact", "filter_counterfact") and len(step.took) == 2:
            for piece in step.evidence:
                subject, predicate, _ = explanation.delta(piece).triple
                if predicate == RDF_TYPE and str(subject)[1:-1] in numbers:
                    return numbers[str(subject)[1:-1]]
    return None


def _predicted(
    steps: Sequence[ExplainedStep], numbers: Mapping[str, int], explanation: Explanation
) -> list[tuple[int, ...]]:
    """The pairs that collide after the video, as a question's first look at the future has them."""
    step = next((step for step in steps if step.name == "unseen_events"), None)
    if step is None:
        return []
    return [_pair(about, step, numbers, explanation) for about in step.about]


def _pair(
    about: tuple[str, ...], step: ExplainedStep, numbers: Mapping[str, int], explanation: Explanation
) -> tuple[int, ...]:
    """The participants of an event; of one that a fork holds, by its deltas."""
    if len(about) != 1:
        return tuple(numbers[iri] for iri in about)
    (event,) = about
    said = [explanation.delta(piece).triple for piece in step.evidence]
    values = [str(value)[1:-1] for subject, _, value in said if str(subject)[1:-1] == event]
    return tuple(numbers[value] for value in values if value in numbers)


def _states(
    scene: Scene, steps: Sequence[ExplainedStep], explanation: Explanation, removed: int | None
) -> dict[str, str]:
    """The relation to the answer of each event that the steps single out, by IRI."""
    if removed is not None:
        ancestry = scene.ancestry("event")
        return {e.iri: "lost" for e in scene.events if e.objects and removed in ancestry[e.iri].objects}
    traversals = [step for step in steps if step.name == "filter_ancestor"]
    if traversals:
        ancestors = {iri for step in traversals for (iri,) in step.about}
        read = {iri for step in traversals for iri in _events(scene, step, explanation)}
        return dict.fromkeys(read - ancestors, "focus") | dict.fromkeys(ancestors, "ancestor")
    came_out = [about for step in steps if step.name in _SINGLED_OUT for about in step.about]
    return dict.fromkeys((about[0] for about in came_out if len(about) == 1), "focus")


_SINGLED_OUT = (
    "unique",
    "filter_before",
    "filter_after",
    "filter_collision",
    "filter_in",
    "filter_out",
    "filter_order",
)


def _events(scene: Scene, step: ExplainedStep, explanation: Explanation) -> set[str]:
    """The IRIs of the events that a step's evidence is about."""
    subjects = {str(explanation.delta(piece).triple[0])[1:-1] for piece in step.evidence}
    return {event.iri for event in scene.events if event.iri in subjects}


def _name(scene: Scene, number: int) -> str:
    thing = scene.objects[number]
    return f"{number} · {thing.color} {thing.material} {thing.shape}"


def _title(scene: Scene, event: Event) -> str:
    who = " and ".join(" ".join(scene.objects[o][:3]) for o in sorted(event.objects))
    return f"{event.kind.lower()} of {who}" + (
        f", frame {event.frame}" if event.frame is not None else ", after the video"
    )


def _spans(scene: Scene, number: int, x: Scale) -> list[Span]:
    """The time in which an object is in view; the whole video where the log does not say."""
    if not scene.has_motion:
        return [Span(x(0), x(scene.end))]
    flips = [e.frame or 0 for e in scene.events if number in e.objects and e.kind in ("Entry", "Exit")]
    if number in scene.motion(0):
        flips.insert(0, 0)
    if len(flips) % 2:
        flips.append(scene.end)
    return [Span(x(start), x(stop)) for start, stop in zip(flips[::2], flips[1::2], strict=True)]


_ROLES = ("agent", "receiver", "thing", "brought")


def story_timeline(log: EventLog, told: Sequence[tuple[int, str, bool]]) -> Timeline:
    """A story's log up to the question: people and things as lanes, a sentence's event at its tick.

    Args:
        log: a log of :mod:`substrate.domains.babi.deltas`.
        told: tick and text of each sentence before the question, and whether the answer rests on it.
    """
    kinds: dict[str, str] = {}
    taking_part: dict[str, list[str]] = {}
    for _, op, (subject, predicate, value) in log:
        event = str(subject)[1:-1]
        if op is Op.INSERT and event.startswith("urn:babi:event:"):
            if predicate == RDF_TYPE:
                kinds.setdefault(event, str(value)[1:-1].rpartition(":")[2])
            elif str(predicate)[1:-1].rpartition(":")[2] in _ROLES:
                taking_part.setdefault(event, []).append(str(value)[1:-1].rpartition(":")[2])
    events = [
        (tick, text, used, f"urn:babi:event:{tick}")
        for tick, text, used in told
        if f"urn:babi:event:{tick}" in taking_part
    ]
    names = list(dict.fromkeys(name for *_, event in events for name in taking_part[event]))
    last = told[-1][0]
    x = Scale(last)
    marks = [
        Mark(
            x(tick),
            tick,
            kinds[event],
            tuple(sorted({names.index(name) for name in taking_part[event]})),
            "focus" if used else "",
            text,
        )
        for tick, text, used, event in events
    ]
    axis = [(x(tick), tick) for tick in (*range(0, last - last // 8, max(1, last // 5)), last)]
    return Timeline(
        [Lane(name.replace("_", " "), [Span(x(0), x(last))]) for name in names],
        marks,
        axis,
        "sentence",
        x(last),
    )


def labels_in(log: EventLog) -> dict[Term, str]:
    """The labels that a log gives."""
    return {
        subject: value.value
        for _, op, (subject, predicate, value) in log
        if op is Op.INSERT and predicate == RDFS_LABEL and isinstance(value, Literal)
    }


def arm_timeline(tbox: TBox, log: EventLog, evidence: Sequence[int]) -> Timeline:
    """An arm of a twin experiment: who takes part in its events as lanes, and a mark for all that the same
    ones do at a tick.

    Args:
        tbox: what the events are called.
        log: the arm's log.
        evidence: the positions in it that the answer rests on; an event that one speaks of stands out.
    """
    labels, rests_on = labels_in(log), {log[position].triple[0] for position in evidence}

    def called(node: Any) -> str:
        return labels.get(node) or tbox.label(node)

    kinds: dict[tuple[int, tuple[str, ...]], dict[str, bool]] = {}
    for event in occurrences(log, tbox):
        who = tuple(sorted(map(called, event.participants)))
        at_tick, kind = kinds.setdefault((event.tick, who), {}), tbox.label(event.kind)
        at_tick[kind] = at_tick.get(kind, False) or event.node in rests_on
    told = sorted(kinds.items())
    lanes = list(dict.fromkeys(name for (_, who), _ in told for name in who))
    last = log.last_tick
    x = Scale(last)
    marks: list[Mark] = []
    for (tick, who), found in told:
        title = f"tick {tick}: {' and '.join(sorted(found))} of {' and '.join(who)}"
        rows = tuple(sorted(map(lanes.index, who)))
        marks.append(Mark(x(tick), tick, "", rows, "focus" if any(found.values()) else "", title))
    axis = [(x(tick), tick) for tick in (*range(0, last - last // 8, max(1, last // 5)), last)]
    return Timeline([Lane(name, [Span(x(0), x(last))]) for name in lanes], marks, axis, "tick", x(last))


class Annotated(Protocol):
    """An object of an image: its name, and its box in pixels from the upper left corner."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def x(self) -> int: ...  # noqa: D102
    @property
    def y(self) -> int: ...  # noqa: D102
    @property
    def w(self) -> int: ...  # noqa: D102
    @property
    def h(self) -> int: ...  # noqa: D102


def image_boxes(width: int, height: int, objects: Mapping[str, Annotated], used: set[str]) -> Boxes:
    """An image's objects as boxes.

    Args:
        width: of the image, in pixels, as ``height``.
        objects: by id.
        used: the ids of those that the answer rests on.
    """
    across, down = 100 / width, 100 / height
    boxes = [
        Box(
            thing.name,
            round(thing.x * across, 2),
            round(thing.y * down, 2),
            round(thing.w * across, 2),
            round(thing.h * down, 2),
            number in used,
        )
        for number, thing in sorted(objects.items(), key=lambda item: (-item[1].w * item[1].h, item[0]))
    ]
    return Boxes(boxes, width, height)
