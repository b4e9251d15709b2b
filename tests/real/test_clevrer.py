"""CLEVRER on real files: what the interpreter gets right, and that real annotations convert without loss."""

from __future__ import annotations

import json
from pathlib import Path

from substrate import TBox
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import (
    annotation_names,
    decode_annotation,
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
