"""An experiment of DVC: one command sets a parameter, and what is shown are parameters and accuracies."""

from __future__ import annotations

import csv
import io
import re
import shlex
from pathlib import Path

from shared_project import put_in_git, run

PAGE = Path(__file__).resolve().parents[3] / "docs/how-to-experiment.md"


def test_experiments_are_shown_by_parameters_and_accuracies_without_names_of_files(reproduced: Path) -> None:
    put_in_git(reproduced)
    run(reproduced, "dvc", "exp", "run", "-S", "comphy.emitter=motion", "tables-numbers")
    found = re.search(r"^ +(dvc exp show .*?)(  #.*)?$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert found
    shown = run(reproduced, *shlex.split(found[1]), "--csv").stdout
    heads, *lines = csv.reader(io.StringIO(shown))
    assert {"comphy.emitter", "comphy/predictive/per_question"} <= set(heads)
    assert not [head for head in heads if head.endswith((".py", ".json", ".jsonl", ".ttl")) or ":" in head]
    assert {row[heads.index("comphy.emitter")] for row in lines} == {"kinematic", "motion"}
