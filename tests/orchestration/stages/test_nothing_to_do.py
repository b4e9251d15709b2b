"""A run with nothing to do says so at once, also in a copy and with drift; any other counts its stages."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from commands import invoke, python

ROOT = Path(__file__).resolve().parents[3]
SCORE = "artifacts/sample/scores/gqa.by_id.accuracy.json"


def reproduce(*more: str, code: int = 0) -> str:
    return invoke("reproduce", *more, code=code).stderr


def test_a_copy_with_equal_bytes_has_nothing_to_do_and_loads_no_dagster(reproduced: Path) -> None:
    lines = reproduce().splitlines()
    stage_lines = [line for line in lines if re.search(r"  (computed|reused)  .*[\d.]+ s$", line)]
    assert stage_lines or lines[-1].startswith("Nothing to do: ")
    copied = reproduced.parent / "copied"
    shutil.copytree(reproduced, copied, symlinks=True, copy_function=shutil.copy)
    # Neither a link that leads nowhere nor a clock that was set back is a change.
    (copied / SCORE).with_name("gone").symlink_to("nowhere")
    os.utime(copied / SCORE, (2**32, 2**32))
    program = "import sys; from orchestration.cli.main import app; sys.argv = ['substrate', 'reproduce']\n"
    program += "try:\n    app()\nfinally:\n    assert not {'dagster', 'pyspark'} & sys.modules.keys()"
    for _ in range(2):
        done = python("-c", program, cwd=copied)
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines()[-1].startswith("Nothing to do: all ")


def test_pending_drift_is_reported_again_and_fails_a_run_that_asks_for_it(reproduced: Path) -> None:
    path = reproduced / "params.yaml"
    text = path.read_text("utf-8").replace("infer_properties: false", "infer_properties: true", 1)
    path.write_text(text, "utf-8")
    output = reproduce("--only", "comphy")
    assert "] comphy/answers  computed" in output
    assert "] comphy/dataset  reused" in output
    assert " reused, in " in output.splitlines()[-1]
    again = reproduce("--only", "comphy")
    assert again.splitlines()[-1].startswith("Nothing to do: all ")
    assert "outputs differ from their pins" in again.splitlines()[-1]
    assert "drift: artifacts/sample/comphy/answers.jsonl is modified against its pin" in again
    assert "drift: " in reproduce("--only", "comphy", "--fail-on-drift", code=1)
