"""bAbI and GQA as a user meets them: answers to own files, explanations, and errors that name a fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import invoke

STORY = (
    "1 Mary went to the kitchen.\n2 Mary took the milk.\n3 Where is the milk? \tkitchen\t1 2\n4 Mary went "
    "to the garden.\n5 Where is the milk? \tgarden\t2 4\n"
)


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "qa2_two-supporting-facts_test.txt").write_text(STORY, "utf-8")
    return folder


def test_a_story_is_answered_with_the_facts_it_rests_on(tasks: Path, tmp_path: Path) -> None:
    result = invoke("answer", "babi", "--tasks", str(tasks), "--out", str(tmp_path / "rows.jsonl"))
    assert result.stdout.splitlines()[-1] == "2 questions, 2 of 2 correct (100.00%)"
    first, second = map(json.loads, (tmp_path / "rows.jsonl").read_text("utf-8").splitlines())
    assert (first["subset"], first["split"], first["scene"], first["question"]) == ("qa2", "test", 0, 3)
    assert (first["predicted"], second["predicted"]) == ("kitchen", "garden")
    assert second["supporting"] == second["expected_supporting"] == [2, 4]


def test_why_names_sentences_and_ticks(tasks: Path) -> None:
    result = invoke("explain", "babi/qa2/0/5", "--tasks", str(tasks))
    assert "Mary went to the garden. => tick 4" in result.stdout
    assert "answer: garden" in result.stdout


def options(gqa: Path) -> tuple[str, ...]:
    return ("--scene-graphs", str(gqa / "sceneGraphs.json"), "--questions", str(gqa / "questions.json"))


@pytest.fixture
def gqa(tmp_path: Path) -> Path:
    invoke("generate", "gqa", "--out", str(tmp_path / "gqa"), "--scenes", "3", "--seed", "4")
    return tmp_path / "gqa"


def test_each_question_is_answered_by_name_and_by_id(gqa: Path, tmp_path: Path) -> None:
    invoke("answer", "gqa", *options(gqa), "--out", str(tmp_path / "rows.jsonl"))
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    keys = [(row["scene"], row["question"], row["subset"]) for row in rows]
    assert keys == sorted(keys)
    assert {row["subset"] for row in rows} == {"by_name", "by_id"}
    assert sum(row["correct"] for row in rows if row["subset"] == "by_id") == len(rows) / 2
    scene, question, subset = keys[0]
    why = invoke("explain", f"gqa/{subset}/{scene}/{question}", *options(gqa))
    assert f"answer: {rows[0]['predicted']}" in why.stdout


def test_a_question_about_a_missing_image_is_refused(gqa: Path, tmp_path: Path) -> None:
    graphs = json.loads((gqa / "sceneGraphs.json").read_text("utf-8"))
    graphs.pop("1")
    (gqa / "sceneGraphs.json").write_text(json.dumps(graphs), "utf-8")
    result = invoke("answer", "gqa", *options(gqa), "--out", str(tmp_path / "rows.jsonl"), code=1)
    assert "image 1" in result.stderr
    assert not (tmp_path / "rows.jsonl").exists()


@pytest.mark.parametrize("name", ["clevrer/1", "babi/qa1/0", "gqa/by_sight/0/1", "chess/1/2"])
def test_a_name_of_no_answer_is_refused(name: str) -> None:
    result = invoke("explain", name, code=1)
    assert "Write" in result.stderr
