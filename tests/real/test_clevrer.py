"""CLEVRER on real files: what the interpreter gets right, and that real annotations convert without loss."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestration.cli.main import app
from substrate import TBox
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.format import (
    annotation_names,
    decode_annotation,
    read_scene_events,
)
from substrate.domains.clevrer.scene import Scene

EXPLANATORY_QUESTIONS = 564
EXPLANATORY_CHOICES = 2256


@pytest.mark.parametrize(
    ("reference_frame", "questions", "choices"),
    [
        ("event", EXPLANATORY_QUESTIONS, EXPLANATORY_CHOICES),
        ("printed", EXPLANATORY_QUESTIONS, EXPLANATORY_CHOICES),
        ("global", 490, 2167),
    ],
)
def test_explanatory_questions_by_reference_frame(
    real_data: Path, tmp_path: Path, reference_frame: str, questions: int, choices: int
) -> None:
    folder = real_data / "clevrer"
    arguments = [
        "answer",
        "clevrer",
        "--events",
        str(folder / "ground_truth_train.jsonl.gz"),
        "--questions",
        str(folder / "explanatory_train.jsonl.gz"),
    ]
    result = CliRunner().invoke(
        app,
        [
            *arguments,
            "--out",
            str(tmp_path / "rows.jsonl"),
            "--set",
            f"clevrer.explanatory.reference_frame={reference_frame}",
            "--json",
        ],
    )
    assert result.exit_code == 0, result.output
    tally = json.loads(result.stdout)
    assert (tally["questions"], tally["correct"]) == (EXPLANATORY_QUESTIONS, questions)
    assert (tally["choices"], tally["choices_correct"]) == (EXPLANATORY_CHOICES, choices)
    assert tally["errors"] == 0
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()]
    assert [(row["scene"], row["question"]) for row in rows] == sorted(
        (row["scene"], row["question"]) for row in rows
    )
    assert list(rows[0]) == [
        "benchmark",
        "split",
        "subset",
        "scene",
        "question",
        "predicted",
        "expected",
        "correct",
        "choices",
        "log",
    ]


def test_official_annotations_convert_without_loss(real_data: Path) -> None:
    folder = real_data / "clevrer" / "annotations"
    names = annotation_names(folder)
    assert len(names) == 8
    shapes = TBox.load("clevrer")
    for source in sources_in(folder, names.values()):
        raw = json.loads(source[1])
        log = annotation_log(decode_annotation(source))
        scene = Scene(log)
        flips = set()
        for before, now in zip(raw["motion_trajectory"], raw["motion_trajectory"][1:], strict=False):
            for old, new in zip(before["objects"], now["objects"], strict=True):
                if old["inside_camera_view"] != new["inside_camera_view"]:
                    flips.add(
                        (
                            "Entry" if new["inside_camera_view"] else "Exit",
                            now["frame_id"],
                            frozenset({new["object_id"]}),
                        )
                    )
        assert {(e.kind, e.frame, e.objects) for e in scene.events if e.kind in ("Entry", "Exit")} == flips
        collisions = {(c["frame_id"], frozenset(c["object_ids"])) for c in raw["collision"]}
        assert {(e.frame, e.objects) for e in scene.events if e.kind == "Collision"} == collisions
        for frame in (0, 63, 127):
            now = raw["motion_trajectory"][frame]["objects"]
            speeds = {
                o["object_id"]: (o["velocity"][0] ** 2 + o["velocity"][1] ** 2) ** 0.5
                for o in now
                if o["inside_camera_view"]
            }
            assert scene.motion(frame) == {number: speed > 0.02 for number, speed in speeds.items()}
        assert shapes.validate(log.state(), log) == []
        assert 60 < len(log.state()) < 300


def test_every_real_event_record_converts(real_data: Path) -> None:
    for name, count in (("ground_truth_train.jsonl.gz", 10_000), ("ground_truth_test.jsonl.gz", 5_000)):
        scenes = read_scene_events(real_data / "clevrer" / name)
        assert len(scenes) == count
        for record in list(scenes.values())[::50]:
            scene = Scene(events_log(record))
            assert len(scene.objects) == len(record.objects)
            assert len(scene.events) == len(record.in_outs) + len(record.collisions) + 2
