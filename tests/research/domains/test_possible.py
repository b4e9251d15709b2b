"""Answers from every log that a scene may have, checked against arithmetic that runs no program."""

from __future__ import annotations

import json
from itertools import product
from math import prod

import pytest
from clevrer_scenes import event_record
from hypothesis import given
from hypothesis import strategies as st

from research.domains.possible import PossibleEvent, PossibleScene, answer_possible, decode_possible, worlds
from substrate.base.errors import FormatError
from substrate.domains.clevrer.format import Choice, CompactObject, Question
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.rows import Row

COLORS = ("red", "blue", "green", "yellow")
OF_RED = "events objects red filter_color unique filter_collision"
chances = st.lists(st.integers(5, 95).map(lambda n: n / 100), min_size=3, max_size=3)


def scene(probabilities: list[float]) -> PossibleScene:
    """Red enters, and may then meet each of three others."""
    objects = [CompactObject(color, "metal", "cube", number) for number, color in enumerate(COLORS)]
    hits = [PossibleEvent(20 + 9 * n, "", (0, n + 1), chance) for n, chance in enumerate(probabilities)]
    return PossibleScene(7, 60, objects, [PossibleEvent(3, "in", (0,), 0.999), *hits])


def answered(possible: PossibleScene, *programs: str, most: int = 64) -> Row:
    """The row of an open question, or of one whose choices are yes-or-no programs."""
    ask, *options = programs
    choices = [Choice(number, "?", program.split(), "correct") for number, program in enumerate(options)]
    kind = "explanatory" if options else "descriptive"
    question = Question(0, "?", kind, ask.split(), choices=choices or None)
    (row,) = answer_possible(possible, [question], Parameters(), "train", most)
    return row


@given(chances)
def test_a_count_has_the_probability_of_that_many_events(probabilities: list[float]) -> None:
    of_count = [0.0] * 4
    for happened in product((0, 1), repeat=3):
        of_count[sum(happened)] += prod(
            p if here else 1 - p for p, here in zip(probabilities, happened, strict=True)
        )
    row = answered(scene(probabilities), "events objects filter_collision count")
    assert row.probability == pytest.approx(max(of_count), abs=1e-4)
    assert of_count[int(row.predicted)] == pytest.approx(max(of_count))


@given(chances)
def test_a_question_about_the_only_collision_is_answered_given_that_there_was_one(
    probabilities: list[float],
) -> None:
    odds = [p / (1 - p) for p in probabilities]
    red = "objects red filter_color unique"
    row = answered(scene(probabilities), f"{OF_RED} unique {red} get_col_partner query_color")
    assert row.probability == pytest.approx(max(odds) / sum(odds), abs=1e-4)
    assert odds[COLORS.index(row.predicted) - 1] == pytest.approx(max(odds))


def test_a_question_has_the_probability_of_all_of_its_choices_together() -> None:
    met = [f"{OF_RED} objects {color} filter_color unique filter_collision exist" for color in COLORS[1:]]
    row = answered(scene([0.8, 0.7, 0.1]), "", *met)
    assert [choice.predicted for choice in row.choices or ()] == ["correct", "correct", "wrong"]
    assert [choice.probability for choice in row.choices or ()] == [0.8, 0.7, 0.9]
    assert row.probability == pytest.approx(0.8 * 0.7 * 0.9)


def test_a_question_that_no_world_can_answer_has_no_probability() -> None:
    row = answered(scene([0.3, 0.3, 0.3]), "events unique get_frame", most=1)
    assert row.predicted == "error"
    assert not row.probability


def test_no_more_worlds_are_asked_than_allowed_the_most_doubtful_events_first() -> None:
    possible = scene([0.9, 0.6, 0.3])
    assert [len(worlds(possible, most)) for most in (1, 2, 3, 4, 7, 8, 64)] == [1, 2, 2, 4, 4, 8, 8]
    assert [round(world.weight, 3) for world in worlds(possible, 2)] == [0.6, 0.4]
    assert [len(world.events.collisions) for world in worlds(possible, 2)] == [2, 1]
    assert worlds(possible._replace(events=possible.events[::-1])) == worlds(possible)


def record(**changed: object) -> tuple[str, bytes]:
    hit = {"object": [0, 1], "frame": 20, "probability": 0.75}
    line = event_record([f"{color} cube" for color in COLORS], n_frames=60) | {"collisions": [hit]} | changed
    return "events.jsonl:1", json.dumps(line).encode()


def test_a_record_says_how_probable_its_events_are() -> None:
    doubtful = [{"object": [2], "frame": 9, "type": "out", "probability": 0.25}]
    assert decode_possible(record(doubtful=doubtful)).events == [
        PossibleEvent(20, "", (0, 1), 0.75),
        PossibleEvent(9, "out", (2,), 0.25),
    ]


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"collisions": [{"object": [0, 1], "frame": 20}]}, "$.collisions[0]: carries no probability"),
        (
            {"doubtful": [{"object": [1, 0], "frame": 20, "probability": 0.2}]},
            "$.doubtful[0]: is listed among",
        ),
        ({"doubtful": [{"object": [0, 9], "frame": 20, "probability": 0.2}]}, "$.doubtful[0]: objects are"),
    ],
)
def test_a_record_that_cannot_be_weighed_is_refused_by_place(changed: dict[str, object], place: str) -> None:
    with pytest.raises(FormatError) as caught:
        decode_possible(record(**changed))
    assert str(caught.value).startswith(f"events.jsonl:1: {place}")
