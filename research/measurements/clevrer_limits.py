"""The limits of answers from a video's detections: identity, events, motion, or the rule.

    python -m research.measurements.clevrer_limits DATA/perceived

The folder holds ``proposals.zip``, ``annotation.zip`` and ``questions.json`` of the same videos. The
questions are answered four times: from the perceived record, with the true objects, with the true events too,
and with the true positions too. A wrong answer counts under the first part of the truth that corrects it, and
under the rule if none does. Prints a table of docs/perception.md.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from research.domains.perception.perceive import Perceived, examined, read_videos, recorded
from research.domains.positions import tracked_log
from research.measurements.markdown import head, print_lines, row
from substrate.base.numbered import sources_in
from substrate.domains.clevrer import format
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene

PARTS = "identity", "events", "motion"
RULE = "rule"


def true_record(annotation: format.Annotation) -> format.SceneEvents:
    """An annotation as a line of a file of events, with each object's positions while it is in view."""
    scene = Scene(annotation_log(annotation))
    crossings = [
        format.InOut(event.frame or 0, number, "in" if event.kind == "Entry" else "out")
        for event in scene.events
        if event.kind in ("Entry", "Exit")
        for number in sorted(event.objects)
    ]
    positions: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for frame in annotation.motion_trajectory:
        for state in frame.objects:
            if state.inside_camera_view:
                positions[state.object_id].append((frame.frame_id, *state.location[:2]))
    return format.SceneEvents(
        annotation.scene_index,
        len(annotation.motion_trajectory),
        [format.CompactObject(o.color, o.material, o.shape, o.object_id) for o in annotation.object_property],
        crossings,
        [
            format.CompactCollision((hit.object_ids[0], hit.object_ids[1]), hit.frame_id)
            for hit in annotation.collision
        ],
        dict(positions),
    )


def corrected(record: Perceived, truth: format.SceneEvents) -> Iterator[format.SceneEvents]:
    """The perceived record, then with the true objects, with the true events, and the truth itself.

    An object is the true one of the same color, material and shape. A false object goes with its events; a
    missed object comes with its own.
    """
    perceived = format.decode_scene_events((str(record.scene_index), msgspec.json.encode(record)))
    yield perceived
    looks = {(thing.color, thing.material, thing.shape): thing.id for thing in truth.objects}
    number = {o.id: looks.get((o.color, o.material, o.shape)) for o in perceived.objects}
    missed = set(looks.values()) - set(number.values())
    positions = {to: (perceived.trajectory or {})[was] for was, to in number.items() if to is not None}
    positions |= {to: (truth.trajectory or {})[to] for to in missed}
    crossings = [
        format.InOut(event.frame, to, event.type)
        for event in perceived.in_outs
        if isinstance(event.object, int) and (to := number[event.object]) is not None
    ]
    hits = [
        format.CompactCollision((first, second), hit.frame)
        for hit in perceived.collisions
        if (first := number[hit.object[0]]) is not None and (second := number[hit.object[1]]) is not None
    ]
    yield replace(
        truth,
        in_outs=crossings + [event for event in truth.in_outs if event.object in missed],
        collisions=hits + [hit for hit in truth.collisions if missed & set(hit.object)],
        trajectory=positions,
    )
    yield replace(truth, trajectory=positions)
    yield truth


def wrong(record: format.SceneEvents, questions: list[format.Question]) -> set[int]:
    """The questions that a record answers wrong."""
    rows = answer_scene(tracked_log(record), record.scene_index, questions, Parameters(), "")
    return {int(row.question) for row in rows if not row.correct}


def limits(record: Perceived, truth: format.SceneEvents, questions: list[format.Question]) -> dict[int, str]:
    """The limit of each wrong answer, by question."""
    first, *others = corrected(record, truth)
    by_question = dict.fromkeys(wrong(first, questions), RULE)
    for part, better in zip(PARTS, others, strict=True):
        still = wrong(better, [q for q in questions if by_question.get(q.question_id) == RULE])
        for question, limit in by_question.items():
            if limit == RULE and question not in still:
                by_question[question] = part
    return by_question


def report(data: Path) -> Iterator[str]:
    """The table: the wrong answers of each kind of question, by what limits them."""
    questions = format.read_questions(data / "questions.json")
    names = format.annotation_names(data / "annotation.zip")
    totals, counts = Counter[str](), Counter[tuple[str, str]]()
    for name, video in read_videos(data / "proposals.zip"):
        scene = video.video_index
        (source,) = sources_in(data / "annotation.zip", [names[scene]])
        about = list(questions[scene].questions)
        kinds = {question.question_id: question.question_type for question in about}
        totals.update(kinds.values())
        truth = true_record(format.decode_annotation(source))
        by_question = limits(recorded(examined(video, name)), truth, about)
        counts.update((kinds[question], limit) for question, limit in by_question.items())
    yield head("kind", "questions", *PARTS, RULE)
    for kind, n in totals.items():
        yield row(kind, n, *(counts[kind, limit] for limit in (*PARTS, RULE)))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description="Tell what loses the wrong answers from a video's detections."
    )
    parser.add_argument("data", type=Path)
    return print_lines(report(parser.parse_args().data))


if __name__ == "__main__":
    raise SystemExit(main())
