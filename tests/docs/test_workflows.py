"""The workflows run what was reviewed, and say who may do what."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).resolve().parents[2] / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_a_full_commit_and_names_its_release(path: Path) -> None:
    used = re.findall(r"uses: (.+)", path.read_text("utf-8"))
    assert used
    for action in used:
        local = action.startswith("./.github/workflows/")
        assert local or re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_names_its_rights_and_no_text_of_a_change_reaches_a_shell(path: Path) -> None:
    workflow: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert set(job.get("permissions", {})) <= {"pull-requests"}
        for step in job.get("steps", ()):
            assert "${{" not in step.get("run", ""), "give it by env"
