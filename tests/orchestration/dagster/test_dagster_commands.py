"""Dagster's own commands work on the project as they do on any other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from projects import ROOT, link_code

MODULE = ("-m", "orchestration.definitions")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:Function `(asset_materialize|job_execute)_command` is superseded")
def test_a_selection_a_job_and_the_list_of_definitions(make_project: Callable[..., Path]) -> None:
    project = make_project()
    link_code(project)
    (project / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    (project / ".venv").symlink_to(sys.prefix)

    invoke("asset", "materialize", *MODULE, "--select", 'key:"gqa_dataset" or key:"babi_dataset"')
    made = sorted(path.name for path in (project / "data/sample").iterdir())
    assert made == ["babi", "gqa"]
    assert not list((project / "artifacts/sample").glob("*/answers.jsonl"))

    invoke("job", "execute", *MODULE, "--job", "reproduce_gqa")
    score = json.loads((project / "artifacts/sample/scores/gqa.by_name.accuracy.json").read_text("utf-8"))
    assert 0 < score["correct"] <= score["n"]

    dg = Path(sys.executable).with_name("dg")
    command = (dg, "list", "defs", "--json")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    listed = json.loads(done.stdout)
    assets = {asset["asset_key"] for asset in listed["assets"]}
    assert {"gqa_answers", "clevrer_logs", "tables_twin"} <= assets
    assert {"reproduce_sample", "reproduce_gqa", "verify"} <= {job["name"] for job in listed["jobs"]}


def invoke(*arguments: str) -> None:
    """Run a command of `dagster` in this process, where the definitions and Spark are loaded already."""
    (dagster,) = entry_points(group="console_scripts", name="dagster")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["dagster", *arguments])
        with pytest.raises(SystemExit) as done:
            dagster.load()()
    assert done.value.code == 0
