"""CLEVRER on real files: annotations convert without loss, and questions are read from their words."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from substrate import TBox
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import (
    SceneQuestions,
    annotation_names,
    decode_annotation,
    read_questions,
)
from substrate.domains.clevrer.scene import Scene


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
                    kind = "Entry" if new["inside_camera_view"] else "Exit"
                    flips.add((kind, now["frame_id"], frozenset({new["object_id"]})))
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


def test_official_questions_are_read_from_their_words(real_data: Path) -> None:
    """The 564 explanatory questions carry programs, and the others none."""
    questions = texts = 0
    for name in ("explanatory_train", "questions_train_causalsight", "questions_validation_mvbench"):
        for record in read_questions(real_data / "clevrer" / f"{name}.jsonl.gz").values():
            given = msgspec.to_builtins(record)
            for part in (p for q in given["questions"] for p in (q, *q.get("choices", ()))):
                texts += 1
                del part["program"]
            assert msgspec.convert(given, SceneQuestions) == record
            questions += len(record.questions)
    assert (questions, texts) == (564 + 254 + 415, 4609)
