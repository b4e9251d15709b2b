"""People's wordings, as in CLEVRER-Humans, resolved to the events of a scene made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from clevrer_scenes import scene_events

from research.domains.humans import (
    HumanChoice,
    HumanQuestion,
    HumanScene,
    Moment,
    answer_humans,
    read_human_questions,
    resolve,
)
from substrate import ProgramError
from substrate.base.errors import FormatError
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene


@pytest.fixture(scope="module")
def scene() -> Scene:
    """The red metal ball enters at 10, hits the cube at 30; that hits the cylinder at 60 and leaves at 90."""
    looks = "red metal sphere", "green rubber cube", "gray metal cylinder", "red rubber sphere"
    flips = [{"frame": 10, "object": 0, "type": "in"}, {"frame": 90, "object": 1, "type": "out"}]
    return Scene(events_log(scene_events(looks, [(0, 1, 30), (1, 2, 60)], in_outs=flips)))


@pytest.mark.parametrize(
    ("words", "object_", "kind", "frame", "outcome"),
    [
        ("the red ball came from the left", 0, "Entry", 10, False),
        ("the green cube exits", 1, "Exit", 90, False),
        ("the green cube bumps into the grey one", 1, "Collision", 60, False),
        ("the red sphere hit the green cube from the left", 0, "Collision", 30, False),
        ("the green cube came from above", 1, None, None, False),
        ("the green cube was in the path of the red metal ball", 1, None, None, False),
        ("the green cylinder was pushed", 2, "Collision", 60, True),
    ],
)
def test_wordings(
    scene: Scene, words: str, object_: int, kind: str | None, frame: int | None, outcome: bool
) -> None:
    (moment,) = resolve(words, scene)
    assert (
        moment.object,
        moment.event and moment.event.kind,
        moment.event and moment.event.frame,
        moment.outcome,
    ) == (object_, kind, frame, outcome)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("the orange moved", "names 0 objects"),
        ("the blue ball moved", "blue sphere fits no object"),
        ("the green cube was grand", "no rule reads"),
        ("the red ball, the green cube and the gray cylinder collide", "names 3 objects"),
    ],
)
def test_unreadable_words_are_refused_with_the_reason(scene: Scene, words: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        resolve(words, scene)


@pytest.mark.parametrize(
    ("cause", "effect", "answer"),
    [
        ("the red ball came from the left", "the gray cylinder moved", "correct"),
        ("the green cube hit the gray cylinder", "the gray cylinder moved", "correct"),
        ("the green cube hit the gray cylinder", "the red ball hit the green cube", "wrong"),
        ("the red ball came from the left", "the gray cylinder was in the path", "wrong"),
        ("the orange moved", "the gray cylinder moved", "error"),
        ("the red ball came from the left", "the rubber ball was pushed", "wrong"),
        ("the red ball was in the path", "the green cube came from above", "wrong"),
    ],
)
def test_what_is_responsible(scene: Scene, cause: str, effect: str, answer: str) -> None:
    question = HumanQuestion(
        0,
        f"Which of the following is responsible for {effect}?",
        "explanatory",
        [HumanChoice(0, cause, "correct")],
    )
    (row,) = answer_humans(scene.log, 1, HumanScene([question]), Parameters(), "train")
    assert (row.predicted, row.correct) == (answer, answer == "correct")
    assert (row.benchmark, row.subset) == ("clevrer_humans", "explanatory")


def test_words_that_fit_two_objects_have_both_readings(scene: Scene) -> None:
    assert resolve("the red ball was in the path", scene) == [Moment(0), Moment(3)]


@pytest.mark.parametrize("words", ["the gray cylinder hit the red metal ball", "the rubber ball collided"])
def test_an_event_that_the_log_lacks_did_not_happen(scene: Scene, words: str) -> None:
    (moment,) = resolve(words, scene)
    assert (moment.event, moment.happens) == (None, False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "holds no question"),
        ('{"a": {"questions": []}}', "not a scene number"),
        ('{"1": {"questions": 3}}', "Expected `array`"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "humans.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=message) as caught:
        read_human_questions(path)
    assert str(path) in str(caught.value)
