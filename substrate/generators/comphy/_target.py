"""A generated example as files: target and reference annotations, questions and their truth."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
from msgspec.structs import replace

from substrate.domains.clevrer.format import FRAMES, Annotation, Collision
from substrate.domains.comphy.format import TargetQuestions
from substrate.generators.clevrer.physics import LENGTH
from substrate.generators.clevrer.scene import annotation_of, require_number, thousand
from substrate.generators.comphy.physics import Solid, pulls, simulate
from substrate.generators.comphy.questions import Change, asks_of_future, changes, write_down
from substrate.generators.comphy.sampling import REFERENCE_FRAMES, Example, Hidden, Video, example
from substrate.generators.layout import QUESTIONS


class TargetTruth(msgspec.Struct, frozen=True):
    """The truth that only the world knows.

    Attributes:
        scene_index: the target.
        properties: mass and charge of each object.
        future_collisions: first contacts in the hidden seconds, frames 128 to 178.
        counterfactual_collisions: by object and change (``2 counterfact_heavier``), first contacts of the
            same scene with that change, frames 1 to 178. Gold answers use only those in the visible frames.
    """

    scene_index: int
    properties: list[Hidden]
    future_collisions: list[Collision]
    counterfactual_collisions: dict[str, list[Collision]]


class WorldTarget(msgspec.Struct, frozen=True):
    """An example: the visible part, its questions, and its truth."""

    annotation: Annotation
    references: list[Annotation]
    questions: TargetQuestions
    truth: TargetTruth


def generate_target(scene_index: int, seed: int) -> WorldTarget:
    """Generate an example; it depends only on ``scene_index`` and ``seed``, to the last bit.

    Raises:
        ParameterError: ``scene_index`` is negative.

    >>> target = generate_target(3, seed=0)
    >>> len(target.annotation.motion_trajectory), [len(r.motion_trajectory) for r in target.references]
    (128, [50, 50, 50, 50])
    """
    require_number(scene_index, "generate_target", "Number targets from 0")
    made = example(scene_index, seed, future=asks_of_future(scene_index))
    contacts = made.target.run.contacts
    annotation = _annotation(scene_index, made, made.target, f"sim_{scene_index:05d}.mp4", FRAMES)
    references = [
        _annotation(scene_index, made, video, f"sim_{scene_index:05d}_{number}.mp4", REFERENCE_FRAMES)
        for number, video in enumerate(made.references)
    ]
    changed = _changed_contacts(made)
    truth = TargetTruth(
        scene_index,
        list(made.hidden),
        [c for c in contacts if c.frame_id >= FRAMES],
        {f"{number} {word}": collisions for (number, word), collisions in changed.items()},
    )
    return WorldTarget(
        annotation, references, write_down(annotation, made.hidden, contacts, changed, seed), truth
    )


def _annotation(scene: int, made: Example, video: Video, name: str, frames: int) -> Annotation:
    looks = [made.properties[number] for number in video.members]
    properties = (replace(look, object_id=place) for place, look in enumerate(looks))
    return annotation_of(scene, name, properties, video.run, frames)


_CHANGED = {
    "counterfact_lighter": lambda solid: dataclasses.replace(solid, mass=1),
    "counterfact_heavier": lambda solid: dataclasses.replace(solid, mass=5),
    "counterfact_uncharged": lambda solid: dataclasses.replace(solid, charge=0),
    "counterfact_opposite": lambda solid: dataclasses.replace(solid, charge=-solid.charge),
}


def _changed_contacts(made: Example) -> dict[Change, list[Collision]]:
    """The contacts of the target's world under each change; equivalent changes are simulated once.

    With two charges it does not matter which one is reversed or removed.
    """
    observed, by_change = list(made.target.run.contacts), dict[Change, list[Collision]]()
    worlds: dict[Any, list[Collision]] = {}
    for number, word in changes(made.hidden):
        if (
            word in ("counterfact_lighter", "counterfact_heavier")
            and not made.hidden[number].charge
            and not any(number in c.object_ids for c in observed)
        ):
            # Mass has no effect on a solid that touches nothing and has no charge.
            by_change[number, word] = observed
            continue
        solids: list[Solid] = [
            _CHANGED[word](solid) if solid.body.object_id == number else solid for solid in made.target.solids
        ]
        # Motion depends on nothing else.
        world = (*((solid.body, solid.mass) for solid in solids), *pulls(solids))
        if world not in worlds:
            worlds[world] = list(simulate(solids, LENGTH).contacts)
        by_change[number, word] = worlds[world]
    return by_change


def target_files(scene_index: int, seed: int) -> dict[str, Any]:
    """An example's records by file name in the official layout, with its questions under ``questions``.

    >>> list(target_files(12, seed=0))[1]
    'annotation/reference/00000-01000/annotation_00012_0.json'
    """
    made = generate_target(scene_index, seed)
    references = {
        f"annotation/reference/{thousand(scene_index)}/annotation_{scene_index:05d}_{number}.json": reference
        for number, reference in enumerate(made.references)
    }
    return {
        f"annotation/target/{thousand(scene_index)}/annotation_{scene_index:05d}.json": made.annotation,
        **references,
        f"truth/truth_{scene_index:05d}.json": made.truth,
        QUESTIONS: made.questions,
    }
