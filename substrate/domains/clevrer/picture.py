"""A scene's log as lanes and marks: its objects, its events, and the role of each in an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrate.cause.explanation import ExplainedStep, Explanation
from substrate.cause.pictures import Lane, Mark, Scale, Span, Timeline
from substrate.domains.clevrer.program import OPCODES, REMOVALS
from substrate.domains.clevrer.scene import Scene, SceneEvent


def scene_timeline(scene: Scene, explanation: Explanation) -> Timeline:
    """The timeline of a scene's log, with the marks that an explanation highlights.

    Args:
        scene: the scene's log, opened.
        explanation: the explanation of a question about the scene.
    """
    steps = [step for part in explanation.parts for step in part.steps]
    numbers = {f"{scene.iri}:object:{number}": number for number in scene.objects}
    removed = _removed(steps)
    predicted = _predicted(steps, numbers, explanation)
    # Predicted collisions lie right of the video's end, at 1.06 to 1.12 times its length.
    x = Scale(scene.end * (1.15 if predicted else 1))
    rows = {number: row for row, number in enumerate(scene.objects)}
    states = _states(scene, steps, explanation, removed)

    def mark(event: SceneEvent, place: float, state: str) -> Mark:
        joined = tuple(sorted(rows[number] for number in event.objects))
        return Mark(x(place), event.frame, event.kind, joined, state, _title(scene, event))

    marks = [
        mark(event, event.frame or 0, states.get(event.iri, "")) for event in scene.events if event.objects
    ]
    ahead = [SceneEvent("Collision", None, frozenset(pair)) for pair in predicted]
    marks += [
        mark(event, scene.end * (1.06 + 0.06 * number / len(ahead)), "predicted")
        for number, event in enumerate(ahead)
    ]
    lanes = [Lane(_name(scene, n), _spans(scene, n, x), n == removed) for n in scene.objects]
    # A label every 25 frames, and one at the end that no other overlaps.
    axis = [(x(tick), tick) for tick in (*range(0, scene.end - 12, 25), scene.end)]
    return Timeline(lanes, marks, axis, "frame", x(scene.end))


def _removed(steps: Sequence[ExplainedStep]) -> int | None:
    """The object that a question removes, the last input of the removing step.

    ComPhy's opcodes of the same names take one input more, a changed property: they remove nothing.
    """
    removing = (step for step in steps if step.name in REMOVALS)
    return next((int(s.took[-1]) for s in removing if len(s.took) == len(OPCODES[s.name].takes)), None)


def _predicted(
    steps: Sequence[ExplainedStep], numbers: Mapping[str, int], explanation: Explanation
) -> list[tuple[int, ...]]:
    """The pairs that collide after the video, as the question's first ``unseen_events`` step gives them."""
    step = next((step for step in steps if step.name == "unseen_events"), None)
    if step is None:
        return []
    return [_pair(about, step, numbers, explanation) for about in step.about]


def _pair(
    about: tuple[str, ...], step: ExplainedStep, numbers: Mapping[str, int], explanation: Explanation
) -> tuple[int, ...]:
    """The participants of an event; a fork's event names them in its deltas."""
    if len(about) != 1:
        return tuple(numbers[iri] for iri in about)
    (event,) = about
    triples = [explanation.delta(piece).triple for piece in step.evidence]
    values = [str(value)[1:-1] for subject, _, value in triples if str(subject)[1:-1] == event]
    return tuple(numbers[value] for value in values if value in numbers)


def _states(
    scene: Scene, steps: Sequence[ExplainedStep], explanation: Explanation, removed: int | None
) -> dict[str, str]:
    """The role in the answer of each event that the steps highlight, by IRI."""
    if removed is not None:
        ancestry = scene.ancestry("event")
        return {e.iri: "lost" for e in scene.events if e.objects and removed in ancestry[e.iri].objects}
    traversals = [step for step in steps if step.name == "filter_ancestor"]
    if traversals:
        ancestors = {iri for step in traversals for (iri,) in step.about}
        read = {iri for step in traversals for iri in _events(scene, step, explanation)}
        return dict.fromkeys(read - ancestors, "focus") | dict.fromkeys(ancestors, "ancestor")
    selected = [about for step in steps if step.name in _SELECTING for about in step.about]
    return dict.fromkeys((about[0] for about in selected if len(about) == 1), "focus")


_SELECTING = (
    "unique",
    "filter_before",
    "filter_after",
    "filter_collision",
    "filter_in",
    "filter_out",
    "filter_order",
)


def _events(scene: Scene, step: ExplainedStep, explanation: Explanation) -> set[str]:
    """The IRIs of the events in a step's evidence."""
    subjects = {str(explanation.delta(piece).triple[0])[1:-1] for piece in step.evidence}
    return {event.iri for event in scene.events if event.iri in subjects}


def _name(scene: Scene, number: int) -> str:
    thing = scene.objects[number]
    return f"{number} · {thing.color} {thing.material} {thing.shape}"


def _title(scene: Scene, event: SceneEvent) -> str:
    who = " and ".join(" ".join(scene.objects[o][:3]) for o in sorted(event.objects))
    return f"{event.kind.lower()} of {who}" + (
        f", frame {event.frame}" if event.frame is not None else ", after the video"
    )


def _spans(scene: Scene, number: int, x: Scale) -> list[Span]:
    """The times in which an object is visible; the whole video if the log has no motion."""
    if not scene.has_motion:
        return [Span(x(0), x(scene.end))]
    flips = [e.frame or 0 for e in scene.events if number in e.objects and e.kind in ("Entry", "Exit")]
    if number in scene.motion(0):
        flips.insert(0, 0)
    if len(flips) % 2:
        flips.append(scene.end)
    return [Span(x(start), x(stop)) for start, stop in zip(flips[::2], flips[1::2], strict=True)]
