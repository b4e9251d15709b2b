"""Questions out of true events: exact gold, an option for all there is, in the official format."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from clevrer_scenes import scene_events
from commands import invoke

from research.generators.from_truth import Recorded, depth_of, explanatory
from substrate.base.errors import FormatError
from substrate.domains.clevrer.format import CompactCollision, CompactObject, Question, read_questions

# The ball enters and hits the cube, which hits the can; the gray cube comes too late for all of it.
CHAIN = scene_events(
    ("red sphere", "blue cube", "green cylinder", "gray cube"),
    [(0, 1, 20), (2, 1, 50)],
    in_outs=[{"frame": 5, "object": 0, "type": "in"}, {"frame": 90, "object": 3, "type": "in"}],
)


def right(question: Question) -> set[str]:
    """The colors and shapes that the program of each right choice filters for."""
    words = {"red", "blue", "green", "gray", "sphere", "cylinder"}
    return {
        " ".join(word for word in choice.program if word in words)
        for choice in question.choices or ()
        if choice.answer == "correct"
    }


def test_each_collision_is_asked_about_with_everything_as_an_option() -> None:
    first, second = explanatory(CHAIN, 20)
    assert [(depth_of(q.question_id), q.question_subtype) for q in (first, second)] == [
        (0, "chain_0"),
        (1, "chain_1"),
    ]
    assert [len(q.choices or ()) for q in (first, second)] == [2 + 3, 2 + 3], "other objects, other events"
    assert {words.split()[0] for words in right(first)} <= {"red", "sphere"}, "it entered"
    assert sum(choice.answer == "correct" for choice in second.choices or ()) == 3, (
        "the ball, its entry, and its collision with the cube"
    )


def test_an_event_that_no_program_can_name_is_neither_asked_about_nor_an_option() -> None:
    again = msgspec.structs.replace(CHAIN, collisions=[*CHAIN.collisions, CompactCollision((1, 0), 70)])
    (only,) = explanatory(again, 20)
    assert not any(
        choice.program.count("filter_collision") and "filter_in" not in choice.program
        for choice in only.choices or ()
    )


def test_objects_that_look_alike_are_refused() -> None:
    twins = msgspec.structs.replace(
        CHAIN, objects=[*CHAIN.objects, CompactObject("red", "metal", "sphere", 4)]
    )
    with pytest.raises(FormatError, match="two objects are a red metal sphere"):
        Recorded(twins)


def test_the_command_writes_questions_in_the_official_format(tmp_path: Path) -> None:
    events, out = tmp_path / "events.jsonl", tmp_path / "out"
    still = msgspec.structs.replace(CHAIN, scene_index=8, collisions=[])
    events.write_bytes(b"".join(msgspec.json.encode(scene) + b"\n" for scene in (CHAIN, still)))
    command = ["generate", "clevrer", "--from-truth", str(events), "--out", str(out), "--json"]
    done = invoke(*command)
    assert json.loads(done.stdout.splitlines()[-1])["scenes"] == 1, "the still video has nothing to ask about"
    ((scene, group),) = read_questions(out / "questions.json").items()
    assert (scene, group.questions) == (7, explanatory(CHAIN, 20))
    again = tmp_path / "again"
    invoke(*command[:5], str(again), code=None)
    assert (again / "questions.json").read_bytes() == (out / "questions.json").read_bytes()
    sheet = (out / "DATASHEET.md").read_text("utf-8")
    assert f"{len(group.questions)} questions about 1 videos" in sheet
    options = sum(len(question.choices or ()) for question in group.questions)
    offered = [int(line.split("|")[2]) for line in sheet.partition("| offered |")[2].splitlines()[2:5]]
    assert sum(offered) == options
