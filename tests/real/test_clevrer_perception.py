"""`substrate perceive clevrer` on real proposals: its events have probabilities, intervals and places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from commands import invoke

VIDEOS = (70, 81, 95, 97, 180, 216, 242, 296)


def test_events_have_probabilities_intervals_and_places(real_data: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "proposals", tmp_path / "events.jsonl"
    folder.mkdir()
    with ZipFile(real_data / "clevrer/proposals.zip") as archive:
        for video in VIDEOS:
            name = f"sim_{video:05d}.json"
            (folder / name).write_bytes(archive.read(f"processed_proposals/{name}"))
    given = ["--proposals", str(folder), "--out", str(out), "--logs", str(tmp_path / "logs")]
    invoke("perceive", "clevrer", *given)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [line["scene_index"] for line in lines] == sorted(VIDEOS)
    for line in lines:
        events: list[dict[str, Any]] = line["in_outs"] + line["collisions"]
        assert events
        assert all(0.5 <= event["probability"] <= 1 for event in events)
        assert all(event["probability"] < 0.5 for event in line["doubtful"])
        assert all(event["frames"][0] <= event["frame"] <= event["frames"][1] for event in events)
        for thing in line["objects"]:
            frames = [frame for frame, _, _ in line["trajectory"][str(thing["id"])]]
            assert frames == list(range(frames[0], frames[-1] + 1))
