"""`substrate predict clevrer` on real motion: the contract's lines, and nothing read after the frame that may
be known.
"""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from orchestration.cli.main import app

AT = 100


def predict(trajectories: Path, out: Path) -> list[dict[str, Any]]:
    result = CliRunner().invoke(
        app, ["predict", "clevrer", "--trajectories", str(trajectories), "--at", str(AT), "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def test_the_future_is_never_read(real_data: Path, tmp_path: Path) -> None:
    with gzip.open(real_data / "clevrer/trajectories_test.jsonl.gz", "rt") as file:
        scenes = [json.loads(line) for line in itertools.islice(file, 60)]
    whole, past = tmp_path / "whole.jsonl", tmp_path / "past.jsonl"
    whole.write_text("".join(json.dumps(scene) + "\n" for scene in scenes), "utf-8")
    for scene in scenes:
        scene["trajectory"] = {
            number: [point for point in points if point[0] <= AT]
            for number, points in scene["trajectory"].items()
        }
    past.write_text("".join(json.dumps(scene) + "\n" for scene in scenes), "utf-8")
    predicted = predict(whole, tmp_path / "a.jsonl")
    assert predicted == predict(past, tmp_path / "b.jsonl")
    assert [line["scene"] for line in predicted] == [scene["scene_index"] for scene in scenes]
    assert all(list(line) == ["scene", "at", "collisions"] and line["at"] == AT for line in predicted)
    assert any(line["collisions"] for line in predicted)
    for line in predicted:
        assert line["collisions"] == sorted(line["collisions"])
        assert all(a < b for a, b in line["collisions"])
