"""The how-to on experiments runs as written, and what it promises of the results holds."""

from __future__ import annotations

import csv
import io
import json
import shlex
import subprocess
from pathlib import Path

import pytest
from runnable_pages import Page
from shared_project import put_in_git, run

pytestmark = pytest.mark.long
PAGE = Page("how-to-experiment.md")
ANSWERS = "artifacts/sample/clevrer/answers.jsonl"


def test_the_page_runs_and_the_pinned_results_stay_until_new_ones_are_accepted(reproduced: Path) -> None:
    put_in_git(reproduced)
    before = tracked(reproduced)
    runs: dict[str, subprocess.CompletedProcess[str]] = {}
    for block in PAGE.blocks:
        for line in block.text.splitlines():
            if line == "substrate explain clevrer/10000/0 --set clevrer.predictive.tau=0.4":
                assert tracked(reproduced) == before, "an experiment lies beside the results"
            as_csv = ["--csv"] if line.startswith("dvc exp show") else []
            runs[line] = run(reproduced, *shlex.split(line), *as_csv)

    # Compared.
    (diff,) = [
        done.stdout
        for line, done in runs.items()
        if line.endswith("experiment diff clevrer.predictive.tau-0.4")
    ]
    assert "parameter clevrer.predictive.tau null -> 0.4" in diff
    record = json.loads((reproduced / "experiments/clevrer.predictive.tau-0.4/experiment.json").read_bytes())
    assert record["stages"]["clevrer/logs"] == "taken"
    assert record["stages"]["clevrer/answers"] == "computed"
    assert not (reproduced / "experiments/tau-1").exists()

    # With DVC: the same answers, shown by parameters and accuracies without names of files.
    assert (
        "parameter clevrer.predictive.tau null -> 0.4" in runs["substrate experiment diff workspace"].stdout
    )
    (table,) = [done.stdout for line, done in runs.items() if line.startswith("dvc exp show")]
    heads, *lines = csv.reader(io.StringIO(table))
    assert not [head for head in heads if head.endswith((".py", ".json", ".jsonl", ".ttl")) or ":" in head]
    assert {row[heads.index("clevrer.predictive.tau")] for row in lines} >= {"0.4"}

    # Taken over, with a record that is read back.
    assert "\npinned; " in runs['substrate accept "tau of 0.4, measured on training scenes"'].stdout
    assert (
        "tau of 0.4, measured on training scenes"
        in runs["substrate verify --no-recompute --since HEAD~1"].stdout
    )
    experiment = reproduced / "experiments/clevrer.predictive.tau-0.4"
    assert (experiment / ANSWERS).read_bytes() == (reproduced / ANSWERS).read_bytes()


def tracked(project: Path) -> dict[str, bytes]:
    """The bytes of parameters, pins, data and artifacts."""
    files = [path for name in ("pins", "data", "artifacts") for path in (project / name).rglob("*")]
    files += [project / name for name in ("params.yaml", "dvc.lock", "data.dvc")]
    return {str(path): path.read_bytes() for path in files if path.is_file()}
