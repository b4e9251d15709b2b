"""`substrate answer clevrer` as a user meets it: good files, and every kind of bad one."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
import pytest
from clevrer_scenes import annotation, event_record, question
from commands import invoke, python
from typer.testing import Result

from orchestration.benchmarks.babi import BABI
from orchestration.benchmarks.own_files import answer_files
from substrate.domains.clevrer.format import SHAPES

COUNT = question("objects count", "4")
# The answer is that the first choice is right and the second is wrong.
BELONGS = question(
    "events objects filter_collision belong_to",
    kind="explanatory",
    choices=[
        ("events objects cube filter_shape unique filter_collision unique", "correct"),
        ("objects green filter_color unique", "correct"),
    ],
)


class Files:
    """A user's folder with one annotation and one question file."""

    def __init__(self, folder: Path) -> None:
        self.annotations, self.questions = folder / "in", folder / "questions.json"
        self.out = folder / "out" / "rows.jsonl"
        self.annotations.mkdir()
        self.annotation_file = self.annotations / "annotation_00007.json"
        self.annotation_file.write_text(json.dumps(annotation([(0, 1, 30)])), "utf-8")
        self.ask([COUNT])

    def ask(self, questions: list[dict[str, Any]], scene: int = 7) -> None:
        self.questions.write_text(json.dumps([{"scene_index": scene, "questions": questions}]), "utf-8")

    def given(self, option: str = "--annotations") -> tuple[object, ...]:
        return option, self.annotations, "--questions", self.questions

    def run(self, *more: object, option: str = "--annotations", code: int = 0) -> Result:
        return invoke("answer", "clevrer", *self.given(option), "--out", self.out, *more, code=code)

    def explain(self, number: int, *more: str) -> str:
        return invoke("explain", f"clevrer/7/{number}", *self.given(), *more).stdout

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.read_text("utf-8").splitlines()]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_zip_gzip_and_json_lines_give_the_same_rows(files: Files) -> None:
    files.run()
    expected = files.out.read_bytes()
    record = json.dumps({"scene_index": 7, "questions": [COUNT]}).encode()
    archive = files.annotations.with_suffix(".zip")
    with ZipFile(archive, "w") as zipped:
        zipped.write(files.annotation_file, "annotation_00000-01000/annotation_00007.json")
    files.annotations = archive
    files.questions.write_bytes(gzip.compress(record + b"\n"))
    files.run()
    assert files.out.read_bytes() == expected


def test_rows_take_the_place_of_no_input_and_of_no_folder(files: Files, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("mine", "utf-8")
    inputs = files.questions.read_bytes()
    for out, message in (
        (folder, "is a folder"),
        (Path(), "is a folder"),
        (files.annotation_file, "is read by this command"),
        (files.questions, "is read by this command"),
    ):
        files.out = out
        assert message in files.run(code=1).stderr
    assert (folder / "a.txt").read_text("utf-8") == "mine"
    assert files.annotation_file.is_file()
    assert files.questions.read_bytes() == inputs


def test_a_pipe_or_device_gets_the_rows_and_keeps_its_place(files: Files, tmp_path: Path) -> None:
    files.run()
    rows = files.out.read_bytes()
    files.out = tmp_path / "pipe"
    os.mkfifo(files.out)
    with ThreadPoolExecutor(1) as beside:
        received = beside.submit(files.out.read_bytes)
        files.run()
        assert received.result(60) == rows
    assert files.out.is_fifo()


def test_a_zip_that_macos_packed_is_read(files: Files) -> None:
    archive = files.annotations.parent / "packed.zip"
    with ZipFile(archive, "w") as packed:
        packed.write(files.annotation_file, "in/annotation_00007.json")
        packed.writestr("__MACOSX/in/._annotation_00007.json", b"\0\5\26\7")
    files.annotations = archive
    files.run()


def test_a_test_split_without_programs_or_gold_is_answered_for_the_server(files: Files) -> None:
    count = {"question_id": 3, "question_type": "descriptive", "question": "How many objects are there?"}
    unique = {**count, "question_id": 4, "question": "What color is the object that exits the scene?"}
    next_ = {"question_id": 5, "question_type": "predictive", "question": "What will happen next?"}
    choices = [("The green cube and the sphere collide", 0), ("The cube collides with the gray object", 1)]
    next_["choices"] = [{"choice_id": number, "choice": choice} for choice, number in choices]
    files.ask([count, unique, next_])
    submission = files.out.with_name("submission.json")
    result = files.run("--submission", str(submission))
    assert result.stdout.splitlines()[-1] == "3 questions, 3 without gold, 2 could not run"
    assert (files.rows[0]["expected"], files.rows[0]["correct"]) == (None, None)
    (scene,) = json.loads(submission.read_text("utf-8"))
    assert scene["scene_index"] == 7
    assert [list(entry.values()) for entry in scene["questions"]] == [
        [3, "descriptive", "4"],
        [4, "descriptive", "error"],
        [5, "predictive", [{"choice_id": 0, "answer": "wrong"}, {"choice_id": 1, "answer": "wrong"}]],
    ]
    files.run("--submission", str(files.out), code=1)


def test_a_program_that_cannot_run_is_an_error_row_and_the_others_are_answered(files: Files) -> None:
    files.ask([question("objects frobnicate", "4"), question("objects count", "4", number=1)])
    result = files.run()
    first, second = files.rows
    assert (first["predicted"], first["correct"], list(first)[-1]) == ("error", False, "error")
    assert "program[1]: unknown opcode 'frobnicate'" in first["error"]
    assert second["correct"] is True
    for part in (str(files.questions), "scene 7", "question 0", "program[1]"):
        assert part in result.stderr


def test_every_choice_must_be_right(files: Files) -> None:
    files.ask([BELONGS])
    last = files.run().stdout.splitlines()[-1]
    assert last == "1 questions, 0 of 1 correct (0.00%), 1 of 2 choices correct (50.00%)"
    assert files.rows[0]["choices"] == [
        {"choice": 0, "predicted": "correct", "expected": "correct"},
        {"choice": 1, "predicted": "wrong", "expected": "correct"},
    ]


def _nan(files: Files) -> None:
    record = annotation()
    record["motion_trajectory"][3]["objects"][1]["velocity"][0] = float("nan")
    files.annotation_file.write_text(json.dumps(record), "utf-8")


@pytest.mark.parametrize(
    ("damage", "messages"),
    [
        (lambda files: os.truncate(files.annotation_file, 5000), ["annotation_00007.json", "cut off"]),
        (_nan, ["annotation_00007.json", "$.motion_trajectory[3].objects[1].velocity[0]", "not finite"]),
        (lambda files: files.ask([COUNT], scene=8), ["questions.json", "scene 8"]),
        (lambda files: files.ask([COUNT, COUNT]), ["questions.json", "scene 7", "question 0 occurs twice"]),
        (lambda files: files.annotation_file.unlink(), ["holds no annotation"]),
    ],
)
def test_a_bad_file_is_named_and_nothing_is_written(
    files: Files, damage: Callable[[Files], None], messages: list[str]
) -> None:
    damage(files)
    files.out.parent.mkdir()
    files.out.write_text("kept\n", "utf-8")
    result = files.run(code=1)
    for message in messages:
        assert message in result.stderr.replace("\n", " "), result.stderr
    assert files.out.read_text("utf-8") == "kept\n"
    assert [path.name for path in files.out.parent.iterdir()] == ["rows.jsonl"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("clevrer.predictive.tua=1", "cannot set"),
        ("clevrer.explanatory.reference_frame=none", "reference_frame"),
        ("nonsense", "KEY=VALUE"),
    ],
)
def test_a_wrong_parameter_is_refused(files: Files, setting: str, message: str) -> None:
    assert message in files.run("--set", setting, code=1).stderr


def test_explain_prints_queries_triples_and_ticks(files: Files) -> None:
    cube = "objects cube filter_shape unique"
    partner = f"events {cube} filter_collision unique {cube} get_col_partner query_shape"
    files.ask([question(partner, "sphere")])
    steps = files.explain(0, "--steps")
    assert "SELECT ?event ?type ?frame ?number" in steps
    assert "tick  30  insert   event:1 a :Collision; :frame 30;" in steps
    assert ":participant object:1" in steps
    assert steps.splitlines()[1] == "answer: sphere"
    whole = "<urn:clevrer:7:event:1> <urn:substrate:clevrer:participant> <urn:clevrer:7:object:1>"
    assert f"tick  30  insert   {whole}" in files.explain(0, "--full")
    record = json.loads(files.explain(0, "--json"))
    evidence = [piece for step in record["parts"][0]["steps"] for piece in step["evidence"]]
    assert (30, "insert", whole) in {(piece["tick"], piece["op"], piece["triple"]) for piece in evidence}


def test_explain_begins_with_the_rule_and_names_the_choice_that_failed(files: Files) -> None:
    future = "events objects cube filter_shape unique filter_collision unique unseen_events belong_to"
    files.ask([BELONGS, question(future, "no", number=1)])
    lines = files.explain(0).splitlines()
    assert len(lines) <= 15
    assert lines[0] == "rule: the program, read from what was filmed"
    assert lines[2] == "answer: correct,wrong (wrong); gold: correct,correct"
    assert [line.startswith("  FAILED ") for line in lines[3:5]] == [False, True]
    assert lines[5].startswith("premises of choice 1")
    assert any("the green " in line for line in lines[6:-1]), "objects by what they look like"
    predicted = files.explain(1)
    assert predicted.startswith("rule: Algorithm 3, configuration C: ")
    assert "tau = 1.7 within a horizon of 300 frames\n" in predicted


EVENTS = event_record([f"red {shape}" for shape in SHAPES], n_frames=60) | {
    "collisions": [{"object": [0, 1], "frame": 20, "probability": 0.75}],
    "doubtful": [{"object": [1, 2], "frame": 30, "probability": 0.4}],
}


def possible(files: Files, record: dict[str, Any], worlds: int, code: int = 0) -> Result:
    """The outcome of asking how often things collide, from so many possible logs of an event record."""
    files.annotations = files.out.parent.with_name("events.jsonl")
    files.annotations.write_text(json.dumps(record), "utf-8")
    files.ask([question("events objects filter_collision count", "1")])
    return files.run("--worlds", worlds, option="--events", code=code)


# Exactly one of the two collisions happens with a probability of 0.75 × 0.6 + 0.25 × 0.4.
@pytest.mark.parametrize(("worlds", "probability"), [(64, 0.55), (1, 1.0)])
def test_possible_worlds_answer_with_a_probability(files: Files, worlds: int, probability: float) -> None:
    result = possible(files, EVENTS, worlds)
    assert result.stdout.splitlines()[-1] == "1 questions, 1 of 1 correct (100.00%)"
    assert [(row["predicted"], row["probability"]) for row in files.rows] == [("1", probability)]


def test_possible_worlds_of_events_without_probability_are_refused(files: Files) -> None:
    sure = EVENTS | {"collisions": [{"object": [0, 1], "frame": 20}]}
    refused = possible(files, sure, 64, code=1).stderr
    assert "events.jsonl:1: $.collisions[0]: carries no probability" in refused
    assert not files.out.exists()


@pytest.mark.parametrize(
    ("shape", "given", "message"),
    [
        ("cube", "--events", ""),
        ("sphere", "--events", "object 0 is a red metal sphere, but not in"),
        ("cube", "--annotations", "--trajectories: {}: belongs to --events"),
    ],
)
def test_positions_may_lie_beside_the_events(files: Files, shape: str, given: str, message: str) -> None:
    """Lines with `trajectory` and a file of trajectories give the same rows; the two must fit."""
    events, tracks = files.out.parent.with_name("events.jsonl"), files.out.parent.with_name("tracks.jsonl")
    points = {"0": [[frame, frame / 9, 0.0] for frame in range(0, 20, 5)]}
    files.ask([question("objects cube filter_shape null filter_moving unique query_color", "red")])

    def answer(record: dict[str, Any], *more: object, code: int = 0) -> Result:
        events.write_text(json.dumps(record), "utf-8")
        files.annotations = files.annotations if given == "--annotations" else events
        return files.run(*more, option=given, code=code)

    things = [thing | {"shape": shape} if not thing["id"] else thing for thing in EVENTS["objects"]]
    tracks.write_text(json.dumps({"scene_index": 7, "objects": things, "trajectory": points}), "utf-8")
    beside = answer(EVENTS, "--trajectories", tracks, code=1 if message else 0)
    if message:
        assert not files.out.exists()
        assert message.format(tracks) in " ".join(beside.stderr.split())
        return
    rows = files.out.read_bytes()
    answer(EVENTS | {"trajectory": points})
    assert (files.out.read_bytes(), files.rows[0]["correct"]) == (rows, True)


def test_hash_seed_locale_and_time_zone_change_no_byte(files: Files, tmp_path: Path) -> None:
    files.ask([COUNT, BELONGS | {"question_id": 1}])
    written = []
    for seed, locale, zone in (("1", "C", "Asia/Tokyo"), ("2", "C.UTF-8", "America/Lima")):
        out = tmp_path / f"{seed}.jsonl"
        command = ["-m", "orchestration.cli.main", "answer", "clevrer", *files.given(), "--out", out]
        done = python(*command, PYTHONHASHSEED=seed, LC_ALL=locale, TZ=zone)
        assert done.returncode == 0, done.stderr
        written.append(out.read_bytes())
    assert written[0] == written[1] != b""


def test_questions_of_stories_that_have_the_same_lines_count_each(tmp_path: Path) -> None:
    world = BABI.source.world[0]
    data = BABI.source.data()
    data = msgspec.structs.replace(data, source="generated", questions=5)
    world.write(tmp_path / "tasks", (world.make(number, 20, data) for number in world.numbers(data)), 20)
    files = BABI.source.files(tmp_path / "tasks")
    tally = answer_files(BABI, files, None, tmp_path / "rows.jsonl")
    assert (tally.questions, tally.rows, tally.correct) == (100, 100, 100)
    assert tally.line() == "100 questions, 100 of 100 correct (100.00%)"


def test_tasks_of_any_number_are_answered_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    tasks, out = tmp_path / "tasks", tmp_path / "rows.jsonl"
    tasks.mkdir()
    for name in ("qa21_other_test", "qa01_first_test", "qa10_indefinite_test", "qa0_none_test"):
        story = "1 Mary moved to the park.\n2 Where is Mary? \tpark\t1\n"
        (tasks / f"{name}.txt").write_text(story, encoding="utf-8")
    answered = invoke("answer", "babi", "--tasks", str(tasks), "--out", str(out))
    assert answered.stdout.splitlines()[-1] == "4 questions, 4 of 4 correct (100.00%)"
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["subset"] for row in rows] == ["qa0", "qa1", "qa10", "qa21"]
