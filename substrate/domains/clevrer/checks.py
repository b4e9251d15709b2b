"""Checks that a record of CLEVRER agrees with itself, which its types alone cannot tell.

The readers in ``format.py`` call them. An error names the file, the place in the record, and the advice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any

from substrate.base.errors import FormatError
from substrate.base.inputs import Measure, Whole
from substrate.base.limits import LIMITS

Sampled = tuple[Whole, Measure, Measure]
"""A frame and a position in it (units)."""

_NUMBER = attrgetter("object_id")


def check_annotation(name: str, annotation: Any) -> Mapping[int, Sequence[Any]]:
    """Refuse an annotation that contradicts itself; give its objects' motion as :func:`tracks` does."""
    numbers = [o.object_id for o in annotation.object_property]
    declared = declared_numbers(name, "$.object_property", numbers)
    frames, motion = annotation.motion_trajectory, _in_order(annotation)
    if not frames:
        where, hint = (name, "$.motion_trajectory"), "An annotation has 128 frames"
        raise FormatError("no frames", where=where, hint=hint)
    for index, frame in enumerate(frames):
        if frame.frame_id != index:
            what, hint = f"frame_id is {frame.frame_id}, expected {index}", "Frames run from 0 without a gap"
            raise FormatError(what, where=(name, f"$.motion_trajectory[{index}].frame_id"), hint=hint)
        if motion is None and sorted(state.object_id for state in frame.objects) != sorted(numbers):
            hint = "List every object of object_property in every frame"
            where = (name, f"$.motion_trajectory[{index}].objects")
            raise FormatError("does not list each declared object once", where=where, hint=hint)
    collisions = [("", collision.object_ids, collision.frame_id) for collision in annotation.collision]
    check_events(name, "$.collision", collisions, declared, len(frames))
    return tracks(annotation) if motion is None else motion


def tracks(annotation: Any) -> Mapping[int, Sequence[Any]]:
    """Give each object's motion states by frame, keyed by object number."""
    if (motion := _in_order(annotation)) is not None:
        return motion
    numbers = [o.object_id for o in annotation.object_property]
    states = [
        sorted(frame.objects, key=lambda state: numbers.index(state.object_id))
        for frame in annotation.motion_trajectory
    ]
    return dict(zip(numbers, zip(*states, strict=True), strict=True))


def _in_order(annotation: Any) -> Mapping[int, Sequence[Any]] | None:
    """Each object's states if every frame lists the objects as they are declared, as official files do."""
    numbers = [o.object_id for o in annotation.object_property]
    states = zip(*[frame.objects for frame in annotation.motion_trajectory], strict=True)
    try:
        motion = dict(zip(numbers, states, strict=True))
    except ValueError:  # frames list unequal numbers of objects
        return None
    return motion if all({n} == set(map(_NUMBER, track)) for n, track in motion.items()) else None


def check_trajectory(name: str, ids: Sequence[int], trajectory: Mapping[int, Sequence[Sampled]]) -> None:
    """Refuse positions of undeclared objects, and those whose frames do not ascend."""
    declared = declared_numbers(name, "$.objects", list(ids))
    for number, points in sorted(trajectory.items()):
        where = (name, f"$.trajectory.{number}")
        if number not in declared:
            what = f"belongs to none of the objects {sorted(declared)}"
            raise FormatError(what, where=where, hint="Declare every object once")
        if any(before[0] >= after[0] for before, after in pairwise(points)):
            what, hint = "frames do not ascend", "Sort the points by frame, one per frame"
            raise FormatError(what, where=where, hint=hint)


def declared_numbers(name: str, path: str, ids: list[int]) -> set[int]:
    """The numbers of a record's objects; refuses a number below 0, and a number that occurs twice."""
    if len(ids) != len(set(ids)):
        raise FormatError("an object id occurs twice", where=(name, path), hint="Number every object once")
    if any(i < 0 for i in ids):
        raise FormatError("an object id is negative", where=(name, path), hint="Number objects from 0")
    return set(ids)


def check_events(
    name: str, path: str, events: Sequence[tuple[str, Sequence[int], int]], declared: set[int], frames: float
) -> None:
    """Refuse events (kind, participants, frame) of undeclared objects, past the video, or listed twice.

    An entry or exit has a kind and one participant; a collision has an empty kind and two participants.
    """
    first: dict[tuple[str, frozenset[int], int], int] = {}
    for index, (kind, objects, frame) in enumerate(events):
        where, participants, size = (name, f"{path}[{index}]"), frozenset(objects), 1 if kind else 2
        if len(participants) != size or len(objects) != size or not declared.issuperset(participants):
            hint = f"Name {size} of the declared objects {sorted(declared)}"
            raise FormatError(f"objects are {list(objects)}", where=where, hint=hint)
        if not 0 <= frame < frames:
            hint = "Frames run from 0 to the video's last"
            raise FormatError(f"frame is {frame}", where=where, hint=hint)
        # An event that a file lists twice, perhaps with its objects swapped, would count as two.
        if (earlier := first.setdefault((kind, participants, frame), index)) != index:
            what = f"is the same event as {path}[{earlier}]"
            raise FormatError(what, where=where, hint="List each event once")


def check_questions(name: str, record: Any, own: Callable[[Any], str], hint: str) -> None:
    """Refuse a scene's questions if a number occurs twice or a program is too long.

    Args:
        own: gives a further fault of a question; empty if there is none.
        hint: the advice for that fault.
    """
    seen: set[int] = set()
    for index, question in enumerate(record.questions):
        fault = partial(FormatError, where=(name, f"scene {record.scene_index}", f"$.questions[{index}]"))
        choices = question.choices or ()
        if question.question_id in seen:
            what = f"question {question.question_id} occurs twice"
            raise fault(what, hint="Number a scene's questions once")
        if max(map(len, (question.program, *(c.program for c in choices)))) > LIMITS.steps:
            what = f"its program has more than {LIMITS.steps} steps"
            raise fault(what, hint="If it is meant to, raise steps in SUBSTRATE_LIMITS")
        seen.add(question.question_id)
        if what := own(question):
            raise fault(what, hint=hint)
        numbers = [choice.choice_id for choice in choices]
        for number in numbers:
            if numbers.count(number) > 1:
                raise fault(f"choice {number} occurs twice", hint="Number a question's choices once")
