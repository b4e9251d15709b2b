"""The ComPhy world: reproducible, true to mass and charge, and with gold that its own truth bears out."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import pytest
from releases import write_folder

from substrate.domains.clevrer.format import COLORS, FRAMES, MATERIALS, SHAPES
from substrate.domains.comphy.format import REFERENCES, appearance
from substrate.generators.clevrer.physics import HIDDEN_FRAMES, Body, Run
from substrate.generators.comphy import WorldTarget, generate_target, target_files
from substrate.generators.comphy.physics import Solid, simulate
from substrate.generators.comphy.questions import FACTUAL, TARGETS, asks_of_future, factual_quota
from substrate.generators.comphy.sampling import REFERENCE_FRAMES, example

SEED = 23
SCENES = range(10)
VALUES = {*COLORS, *MATERIALS, *SHAPES}


@pytest.fixture(scope="module")
def targets() -> list[WorldTarget]:
    return [generate_target(index, SEED) for index in SCENES]


def solid(number: int, x: float, vx: float = 0.0, *, mass: int = 1, charge: int = 0, y: float = 0.0) -> Solid:
    return Solid(Body(number, "sphere", (x, y), 0.0, (vx, 0.0)), mass, charge)


def speed(run: Run, number: int, frame: int) -> float:
    return run.poses[frame][number][2][0]


def gap(run: Run, frame: int) -> float:
    return math.dist(run.poses[frame][0][0], run.poses[frame][1][0])


# --- physics


@pytest.mark.parametrize(
    ("charges", "sign"), [((1, 1), 1), ((-1, -1), 1), ((1, -1), -1), ((1, 0), 0), ((0, 0), 0)]
)
def test_charges_push_and_pull(charges: tuple[int, int], sign: int) -> None:
    run = simulate([solid(0, 0.0, charge=charges[0]), solid(1, -2.0, charge=charges[1])], 20)
    change = gap(run, 19) - 2.0
    assert (math.copysign(1, change) if sign else round(change, 8)) == sign


def test_a_force_moves_the_heavy_one_five_times_less() -> None:
    run = simulate([solid(0, 0.0, mass=5, charge=1), solid(1, -1.5, charge=-1)], 8)
    assert speed(run, 1, 7) / -speed(run, 0, 7) == pytest.approx(5, rel=0.05)


# --- examples


def test_an_example_has_four_shorter_references_of_the_targets_objects(targets: list[WorldTarget]) -> None:
    for made in targets:
        looks = {appearance(thing) for thing in made.annotation.object_property}
        assert len(looks) == len(made.annotation.object_property)
        assert len(made.references) == REFERENCES
        assert {
            appearance(thing) for reference in made.references for thing in reference.object_property
        } == looks
        for reference in made.references:
            assert len(reference.motion_trajectory) == REFERENCE_FRAMES
            assert 2 <= len(reference.object_property) <= 3


def test_the_references_join_all_objects_and_the_charged_two(targets: list[WorldTarget]) -> None:
    for index in SCENES:
        made = example(index, SEED, future=asks_of_future(index))
        together = {frozenset(pair) for video in made.references for pair in combinations(video.members, 2)}
        charged = frozenset(number for number, properties in enumerate(made.hidden) if properties.charge)
        assert not charged or charged in together
        joined = {0}
        for _ in made.hidden:
            joined |= {number for pair in together if pair & joined for number in pair}
        assert joined == set(range(len(made.hidden)))


def test_no_annotation_has_the_hidden_properties(tmp_path: Path) -> None:
    write_folder(tmp_path, [target_files(0, SEED)])
    for path in [*(tmp_path / "annotation").rglob("*.json")]:
        assert {key for thing in json.loads(path.read_bytes())["object_property"] for key in thing} == {
            "object_id",
            "color",
            "material",
            "shape",
        }
        assert "mass" not in path.read_text()
    assert json.loads((tmp_path / "truth" / "truth_00000.json").read_bytes())["properties"]


# --- questions


def test_the_quota_adds_up_to_the_paper() -> None:
    assert sum(map(factual_quota, range(TARGETS))) == FACTUAL == 5882


def test_every_target_asks_its_quota_and_all_subsets_occur(targets: list[WorldTarget]) -> None:
    for index, made in zip(SCENES, targets, strict=True):
        subsets = [question.subset for question in made.questions.questions]
        assert subsets.count("factual") == factual_quota(index)
        assert all(question.question_type == question.subset for question in made.questions.questions)
    assert {question.subset for made in targets for question in made.questions.questions} == {
        "factual",
        "predictive",
        "counterfactual",
    }


def test_the_gold_of_hidden_properties_is_the_truth(targets: list[WorldTarget]) -> None:
    counted = 0
    for made in targets:
        hidden = made.truth.properties
        holds = {
            "heavy": [p.mass == 5 for p in hidden],
            "light": [p.mass == 1 for p in hidden],
            "charged": [p.charge != 0 for p in hidden],
            "uncharged": [p.charge == 0 for p in hidden],
        }
        for question in made.questions.questions:
            family, _, kind = question.question_family.partition("_")
            if family == "count" and kind in holds:
                words = question.question.split()
                named = {value for value in VALUES if value in words or f"{value}s" in words}
                fits = [named <= set(appearance(o)) for o in made.annotation.object_property]
                assert question.answer == str(sum(h and f for h, f in zip(holds[kind], fits, strict=True)))
                counted += 1
    assert counted


@pytest.mark.long
def test_counterfactual_gold_is_another_simulation(targets: list[WorldTarget]) -> None:
    changed = 0
    for index, made in zip(SCENES, targets, strict=True):
        solids = example(index, SEED, future=asks_of_future(index)).target.solids
        for name, collisions in made.truth.counterfactual_collisions.items():
            number, word = name.split()
            mass, charge = solids[int(number)].mass, solids[int(number)].charge
            wanted = {
                "lighter": (1, charge),
                "heavier": (5, charge),
                "uncharged": (mass, 0),
                "opposite": (mass, -charge),
            }[word.removeprefix("counterfact_")]
            assert wanted != (mass, charge)
            other = [Solid(s.body, *wanted) if s.body.object_id == int(number) else s for s in solids]
            contacts = list(simulate(other, FRAMES + HIDDEN_FRAMES).contacts)
            assert {c.object_ids for c in contacts} == {c.object_ids for c in collisions}
            assert contacts == collisions or not charge  # of two charges either one may have been changed
            seen = {c.object_ids for c in made.annotation.collision}
            changed += {c.object_ids for c in collisions if c.frame_id < FRAMES} != seen
    assert changed  # some change makes a difference


def test_predictive_gold_is_the_hidden_future(targets: list[WorldTarget]) -> None:
    checked = 0
    for made in targets:
        future = {c.object_ids for c in made.truth.future_collisions}
        for question in made.questions.questions:
            for choice in question.choices or () if question.subset == "predictive" else ():
                named = [
                    o.object_id
                    for o in made.annotation.object_property
                    if _named(choice.program, appearance(o))
                ]
                assert (choice.answer == "correct") == (tuple(sorted(named)) in future)
                checked += 1
    assert checked


def _named(program: list[str], appearance: tuple[str, str, str]) -> bool:
    """Tell whether one of the two descriptions in a choice's program fits an object."""
    parts = " ".join(program).split("objects")[1:]
    descriptions = [{token for token in part.split() if token in VALUES} for part in parts]
    return any(description <= set(appearance) for description in descriptions)
