"""A generated scene, drawn by `_sampling.py`: its annotation, its questions and the truth behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from substrate.base.errors import ParameterError
from substrate.domains.clevrer.format import (
    FRAMES,
    Annotation,
    Collision,
    ObjectProperty,
    Question,
    SceneQuestions,
)
from substrate.generators.clevrer._sampling import Shot, shoot
from substrate.generators.clevrer.choices import Wrong
from substrate.generators.clevrer.events import WorldEvent, causes, observed_events
from substrate.generators.clevrer.physics import Run, near_misses, simulate
from substrate.generators.clevrer.questions import quota, write_down
from substrate.generators.layout import QUESTIONS


class SceneTruth(msgspec.Struct, frozen=True):
    """The facts that only the world knows.

    Attributes:
        scene_index: the scene.
        masses: the mass of each object; the typical mass is 1.
        future_collisions: first contacts in the hidden seconds, frames 128 to 178.
        counterfactual_collisions: for each removed object, first contacts of the same scene without
            it, frames 1 to 178. Gold answers take them all.
        events: the video's entries, exits and collisions in time order.
        causes: for each of ``events``, the indices of its causes in that list.
    """

    scene_index: int
    masses: dict[int, float]
    future_collisions: list[Collision]
    counterfactual_collisions: dict[int, list[Collision]]
    events: list[WorldEvent]
    causes: list[list[int]]


class WorldScene(msgspec.Struct, frozen=True):
    """The visible part of a scene, its questions, and its truth."""

    annotation: Annotation
    questions: SceneQuestions
    truth: SceneTruth


def generate_scene(scene_index: int, seed: int) -> WorldScene:
    """Generate a scene; it depends only on the arguments, to the last bit.

    Args:
        scene_index: the scene's number; :func:`quota` gives its numbers of questions.
        seed: the world's seed.

    Raises:
        ParameterError: ``scene_index`` is negative.

    >>> scene = generate_scene(10_000, seed=0)
    >>> len(scene.annotation.motion_trajectory), scene.annotation.video_filename
    (128, 'video_10000.mp4')
    """
    shot = _shot(scene_index, seed)
    annotation, contacts = _annotation(scene_index, shot), shot.run.contacts
    without = {body.object_id: _contacts_without(shot, body.object_id) for body in shot.bodies}
    events = observed_events(annotation)
    masses = {body.object_id: body.mass for body in shot.bodies}
    truth = SceneTruth(
        scene_index,
        masses,
        [c for c in contacts if c.frame_id >= FRAMES],
        without,
        events,
        [sorted(places) for places in causes(events)],
    )
    return WorldScene(annotation, write_down(annotation, contacts, without, seed), truth)


def predictive_questions(scene_index: int, seed: int, *kinds: Wrong) -> dict[Wrong, list[Question]]:
    """Generate only the predictive questions of :func:`generate_scene`, by the kind of their wrong choices.

    Raises:
        ParameterError: ``scene_index`` is negative.

    >>> every = generate_scene(10_001, seed=0).questions.questions
    >>> predictive_questions(10_001, 0, "any")["any"] == [q for q in every if q.question_type == "predictive"]
    True
    """
    if not quota(scene_index)["predictive"]:
        return {kind: [] for kind in kinds}
    shot = _shot(scene_index, seed)
    annotation, contacts = _annotation(scene_index, shot), shot.run.contacts
    misses, by_kind = near_misses(shot.run.poses[FRAMES - 1 :]), dict[Wrong, list[Question]]()
    for kind in kinds:
        # The worlds without an object affect neither the predictive questions nor their number.
        made = write_down(annotation, contacts, {}, seed, wrong=kind, misses=misses)
        by_kind[kind] = [question for question in made.questions if question.question_type == "predictive"]
    return by_kind


def generate_annotation(scene_index: int, seed: int) -> Annotation:
    """Generate only the annotation of :func:`generate_scene`, in half the time.

    Raises:
        ParameterError: ``scene_index`` is negative.
    """
    return _annotation(scene_index, _shot(scene_index, seed))


def _shot(scene_index: int, seed: int) -> Shot:
    require_number(scene_index, "generate_scene", "Number scenes from 0; validation scenes start at 10000")
    return shoot(scene_index, seed, future=quota(scene_index)["predictive"] > 0)


def annotation_of(
    scene_index: int, name: str, properties: Iterable[ObjectProperty], run: Run, frames: int = FRAMES
) -> Annotation:
    """The annotation of a simulated video: its first ``frames`` frames."""
    seen = [c for c in run.contacts if c.frame_id < frames]
    return Annotation(scene_index, name, list(properties), run.frames[:frames], seen)


def _annotation(scene_index: int, shot: Shot) -> Annotation:
    return annotation_of(scene_index, f"video_{scene_index:05d}.mp4", shot.properties, shot.run)


def require_number(scene_index: int, where: str, hint: str) -> None:
    """Refuse a negative number of a scene."""
    if scene_index < 0:
        raise ParameterError(f"scene_index is {scene_index}", where=(where,), hint=hint)


def thousand(scene_index: int) -> str:
    """The annotation folder of a scene: the first scene of its thousand, and the next thousand's."""
    start = scene_index // 1000 * 1000
    return f"{start:05d}-{start + 1000:05d}"


def _contacts_without(shot: Shot, removed: int) -> list[Collision]:
    contacts = shot.run.contacts
    if not any(removed in contact.object_ids for contact in contacts):
        return list(contacts)  # an object that touches nothing changes nothing
    return list(simulate([body for body in shot.bodies if body.object_id != removed]).contacts)


def scene_files(scene_index: int, seed: int) -> dict[str, Any]:
    """Generate a scene's records by file name in the official layout, with its questions under ``questions``.

    >>> list(scene_files(10_000, seed=0))
    ['annotation/annotation_10000-11000/annotation_10000.json', 'truth/truth_10000.json', 'questions']
    """
    scene = generate_scene(scene_index, seed)
    return {
        f"annotation/annotation_{thousand(scene_index)}/annotation_{scene_index:05d}.json": scene.annotation,
        f"truth/truth_{scene_index:05d}.json": scene.truth,
        QUESTIONS: _official(scene.questions),
    }


def _official(record: SceneQuestions) -> dict[str, Any]:
    """The record with its keys in the official order."""
    fields: dict[str, Any] = msgspec.to_builtins(record)
    asked = [{key: q[key] for key in _KEYS if key in q} for q in fields["questions"]]
    return {"scene_index": record.scene_index, "video_filename": record.video_filename, "questions": asked}


_KEYS = ["question_id", "question", "question_type", "question_subtype", "program", "answer", "choices"]
