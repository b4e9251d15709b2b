"""The page for people who use DVC: what it says of data, of a way back, and of the status holds with DVC."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from shared_project import put_in_git, run


@pytest.mark.long
def test_other_data_are_named_with_their_command_and_the_way_back_leads_to_the_pins(reproduced: Path) -> None:
    put_in_git(reproduced)
    answers = reproduced / "artifacts/sample/gqa/answers.jsonl"
    before, parameters = answers.read_bytes(), reproduced / "params.yaml"
    changed = yaml.safe_load(parameters.read_text("utf-8"))
    changed["profiles"]["sample"]["gqa"]["scenes"] = 4
    parameters.write_text(yaml.safe_dump(changed), "utf-8")

    refused = run(reproduced, "dvc", "repro", "gqa-scores", check=False)
    assert refused.returncode
    assert "profiles.sample.gqa.scenes was 3, and is 4" in refused.stderr
    (command,) = re.findall(r"Make it first: `(.*)`", refused.stderr)
    assert answers.read_bytes() == before
    run(reproduced, *shlex.split(command))
    ran = run(reproduced, "dvc", "repro", "gqa-scores")
    assert "is empty" not in ran.stderr
    assert answers.read_bytes() != before
    assert run(reproduced, "substrate", "verify", "--no-recompute", check=False).returncode

    run(reproduced, "git", "checkout", "--quiet", "params.yaml", "dvc.lock", "data.dvc")
    run(reproduced, "dvc", "checkout", "--quiet")
    assert answers.read_bytes() == before
    verified = run(reproduced, "substrate", "verify", "--no-recompute")
    assert "every artifact is as pinned" in verified.stdout
    status = json.loads(run(reproduced, "dvc", "status", "--json").stdout)
    assert {name: how for name, how in status.items() if how != ["always changed"]} == {}
    assert run(reproduced, "git", "status", "--porcelain").stdout == ""
