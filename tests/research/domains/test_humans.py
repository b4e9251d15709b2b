"""CLEVRER-Humans on scenes with motion: what would have happened anyway has no other cause."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import invoke

from substrate.domains.clevrer.motion import Body, simulate

COLORS = {0: "red", 1: "green", 2: "blue"}


def record(bodies: list[Body], frames: int = 100) -> dict[str, Any]:
    """The event record of bodies that the law of motion moves, with their places every five frames."""
    motion = simulate(bodies, frames - 1, trace=True)
    places: dict[int, list[tuple[int, float, float]]] = {body.id: [] for body in bodies}
    for frame, there in enumerate(motion.states or []):
        for body in there:
            if frame % 5 == 0:
                places[body.id].append((frame, round(body.x, 4), round(body.y, 4)))
    look = {"material": "metal", "shape": "sphere"}
    return {
        "scene_index": 1,
        "n_frames": frames,
        "objects": [look | {"id": body.id, "color": COLORS[body.id]} for body in bodies],
        "in_outs": [],
        "collisions": [{"object": [a, b], "frame": frame} for frame, a, b in motion.contacts],
        "trajectory": places,
    }


def answers(scene: dict[str, Any], folder: Path, *pairs: tuple[str, str]) -> list[str]:
    """The answers of `substrate answer` about pairs of a cause and an effect."""
    questions = [
        {
            "question_id": number,
            "question": f"Which of the following is responsible for {effect}?",
            "question_type": "explanatory",
            "choices": [{"choice_id": 0, "choice": cause}],
        }
        for number, (cause, effect) in enumerate(pairs)
    ]
    (folder / "events.jsonl").write_text(json.dumps(scene), "utf-8")
    (folder / "questions.json").write_text(json.dumps({"1": {"questions": questions}}), "utf-8")
    given = ["--events", folder / "events.jsonl", "--questions", folder / "questions.json"]
    command = ["answer", "clevrer-humans", *given, "--out", folder / "rows.jsonl"]
    invoke(*command)
    return [json.loads(line)["predicted"] for line in (folder / "rows.jsonl").read_text().splitlines()]


PUSHED = ("the red ball hits the green ball", "the green ball hits the blue ball")


@pytest.mark.parametrize(("speed", "with_motion"), [(1.5, "wrong"), (0.0, "correct")])
def test_a_push_is_responsible_where_nothing_would_happen_without_it(
    speed: float, with_motion: str, tmp_path: Path
) -> None:
    pusher, pushed = Body(0, "sphere", -2.0, 0.0, 2.5), Body(1, "sphere", -1.0, 0.0, speed)
    scene = record([pusher, pushed, Body(2, "sphere", 0.5, 0.0)])
    assert [hit["object"] for hit in scene["collisions"]][:2] == [[0, 1], [1, 2]]
    assert answers(scene, tmp_path, PUSHED) == [with_motion]
    # The chain of events alone cannot tell them apart.
    del scene["trajectory"]
    assert answers(scene, tmp_path, PUSHED) == ["correct"]


def test_ways_to_say_that_something_moves_are_read(tmp_path: Path) -> None:
    scene = record([Body(0, "sphere", -2.0, 0.0, 2.5), Body(1, "sphere", -1.0, 0.0)])
    hit = "the red ball hits the green ball"
    pairs = [
        (hit, f"the green ball {words}") for words in ("goes north", "rolls away", "heads east", "sings")
    ]
    assert answers(scene, tmp_path, *pairs) == ["correct", "correct", "correct", "error"]


def test_a_trajectory_of_no_object_is_named(tmp_path: Path) -> None:
    scene = record([Body(0, "sphere", -2.0, 0.0, 2.5)])
    scene["trajectory"][9] = [[0, 0.0, 0.0]]
    with pytest.raises(AssertionError, match=r"trajectory\.9: belongs to none"):
        answers(scene, tmp_path, PUSHED)
