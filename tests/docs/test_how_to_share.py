"""The how-to on sharing runs as written: what one project pushes, a clone of it pulls."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml
from runnable_pages import Page
from shared_project import put_in_git, run

PAGE = Page("how-to-share.md")
ANSWERS = "artifacts/sample/gqa/answers.jsonl"
# The stages that are shared: few, since each command of DVC checks every stage of a project.
STAGES = ("gqa-logs", "gqa-answers", "gqa-scores", "tables-numbers")


@pytest.mark.long
def test_pushed_results_are_pulled_in_a_clone(reproduced: Path) -> None:
    for name in ("dvc.yaml", "dvc.lock"):
        written = yaml.safe_load((reproduced / name).read_text("utf-8"))
        written["stages"] = {stage: written["stages"][stage] for stage in STAGES}
        (reproduced / name).write_text(yaml.safe_dump(written), "utf-8")
    put_in_git(reproduced, accepts=False)
    clone = reproduced.parent / "clone"
    refused = reproduced.parent / "without-a-remote"
    run(reproduced.parent, "git", "clone", "--quiet", str(reproduced), str(refused))
    done = run(refused, "dvc", "pull", check=False)
    page = PAGE.path.read_text("utf-8")
    for sentence in ("No remote provided and no default remote set.", "Is your cache up to date?"):
        assert sentence in done.stdout + done.stderr
        assert f"`{sentence}`" in page
    assert done.returncode == 1

    folder = reproduced
    for block in PAGE.blocks:
        output = ""
        for command in map(shlex.split, block.text.splitlines()):
            if command[0] == "cd":
                folder = (folder / command[1]).resolve()
            else:
                output = run(folder, *command).stdout
        if block.expected is not None:
            assert output == block.expected
    assert folder == clone
    assert (clone / ANSWERS).read_bytes() == (reproduced / ANSWERS).read_bytes()
    assert "shelf" in (clone / ".dvc/config").read_text("utf-8")
