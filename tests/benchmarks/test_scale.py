"""The measurement of growth runs on a user's files, keeps what it made, and leaves nothing out."""

from __future__ import annotations

import json
from pathlib import Path

from commands import ROOT, python

from substrate.generators.clevrer import scene_files
from substrate.generators.layout import encode_scene, write_release


def test_scenes_are_given_again_under_new_numbers_and_every_process_is_seen(tmp_path: Path) -> None:
    release = tmp_path / "release"
    questions = write_release(release, (encode_scene(scene_files(scene, 20)) for scene in (10000, 10001)))
    scale = ROOT / "benchmarks/scale.py"
    done = python(scale, "clevrer", 4, "--json", "--again", release, "--keep", tmp_path)
    measured = json.loads(done.stdout)
    assert measured["cases"] == 4
    seen = ("wall", "cpu", "driver", "jvm", "worker", "tasks", "busy", "files", "mib")
    assert min(measured[name] for name in seen) > 0

    results = tmp_path / "clevrer-4" / "artifacts" / "local" / "clevrer"
    rows = [json.loads(line) for line in (results / "answers.jsonl").read_text("utf-8").splitlines()]
    assert len(rows) == 2 * questions
    assert {row["scene"] for row in rows} == {10000, 10001, 10002, 10003}
    predicted = {(row["scene"], row["question"]): row["predicted"] for row in rows}
    given = [key for key in predicted if key[0] < 10002]
    assert all(predicted[scene + 2, question] == predicted[scene, question] for scene, question in given)
