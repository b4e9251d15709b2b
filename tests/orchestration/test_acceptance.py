"""Accepting new results says in numbers what changed, and git says since when and why."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
from pathlib import Path

import pytest
from commands import invoke, printed
from projects import ROOT
from shared_project import run

from orchestration.acceptance import accept_results, proposed
from orchestration.ledger.stage_records import fingerprint, keep_records
from orchestration.ledger.stage_results import StageResult, measure
from orchestration.pins.acceptances import changes_since
from orchestration.pins.paths import ACCEPTED
from orchestration.pins.pin_files import read_pins, write_pins
from orchestration.project import open_workspace
from orchestration.stage import Stage, inputs_of
from orchestration.stages.graph import STAGES

NUMBER = "gqa/by_id/accuracy"
ROWS = "artifacts/sample/gqa/answers.jsonl"
SCORE = "artifacts/sample/scores/gqa.by_id.accuracy.json"


@pytest.fixture
def committed(reproduced: Path) -> Path:
    run(reproduced, "git", "init", "--quiet")
    (reproduced / ".gitignore").write_text("/data/\n/artifacts/\n/storage/\n/.dagster/\n/.dvc/\n", "utf-8")
    commit(reproduced, "Reproduced")
    return reproduced


def commit(root: Path, message: str) -> None:
    run(root, "git", "add", "--all")
    run(root, "git", "commit", "--quiet", "--message", message)


def answer_one_wrong(root: Path, subset: str = "by_id") -> tuple[str, str]:
    """Change a right answer to a wrong one; return the score before and after, as ``CORRECT/N``."""
    path = f"artifacts/sample/scores/gqa.{subset}.accuracy.json"
    lines = (root / ROWS).read_bytes().splitlines(keepends=True)
    rows = [json.loads(line) for line in lines]
    place = next(n for n, row in enumerate(rows) if row["correct"] and row["subset"] == subset)
    lines[place] = lines[place].replace(b'"correct": true', b'"correct": false')
    lines[place] = lines[place].replace(b'"predicted": "', b'"predicted": "not ')
    (root / ROWS).write_bytes(b"".join(lines))
    score = json.loads((root / path).read_bytes())
    before = f"{score['correct']}/{score['n']}"
    score["correct"] -= 1
    (root / path).write_text(json.dumps(score, indent=1) + "\n", "utf-8")
    # As if a run had made both files: the record of each stage that writes or reads one is renewed.
    workspace = open_workspace()
    for stage in STAGES.values():
        touched = {path.format(profile="sample") for path in (*stage.outs, *inputs_of(STAGES, stage))}
        if stage.pinned_by == "dvc.yaml" and touched & {ROWS, path}:
            keep_records(workspace, {stage.name: fingerprint(STAGES, stage, workspace)})
    return before, f"{score['correct']}/{score['n']}"


def since(revision: str, code: int = 0) -> str:
    return printed("verify", "--no-recompute", "--since", revision, code=code)


@pytest.mark.long
def test_a_change_is_shown_before_its_acceptance_and_read_back_from_the_commit(committed: Path) -> None:
    before, _ = answer_one_wrong(committed)
    rehearsal = printed("accept", "a better reason", "--dry-run")
    heads, _, number, *_ = rehearsal.splitlines()
    assert heads.split() == ["number", "n", "before", "after", "difference", "won", "lost", "p"]
    assert number.split()[:2] == [NUMBER, before.partition("/")[2]]
    assert "\n1 answer changed: 1 right to wrong\n" in rehearsal
    assert "right to wrong: substrate explain gqa/by_id/" in rehearsal
    assert "differences from the pins" in printed("verify", "--no-recompute", code=1), "nothing was pinned"

    # A stage that left the graph leaves the pins and DVC's lock with the next acceptance.
    files = [committed / "pins/sample.json", committed / "dvc.lock"]
    files[1].write_text(f"{files[1].read_text('utf-8')}  gone-answers:\n    cmd: gone\n", "utf-8")
    gone = StageResult(outs={"artifacts/sample/gone/answers.jsonl": "0"})
    write_pins(open_workspace(), {"gone/answers": gone})
    assert all("gone" in file.read_text("utf-8") for file in files)
    invoke("accept", "a better reason")
    assert not any("gone" in file.read_text("utf-8") for file in files)
    assert "accepted on " in since("HEAD")
    commit(committed, "New results")
    short = run(committed, "git", "rev-parse", "HEAD").stdout[:7]

    text = since("HEAD~1")
    assert f" in {short}: a better reason" in text
    report = json.loads(printed("verify", "--no-recompute", "--since", "HEAD~1", "--json"))
    (number,) = report["accepted_moved"]["numbers"]
    correct, n = map(int, before.split("/"))
    assert number["name"] == NUMBER
    assert [number["before"]["correct"], number["after"]["correct"]] == [correct, correct - 1]
    assert number["after"]["n"] == n
    (accepted,) = report["accepted"]
    assert accepted["commit"] == short
    assert accepted["stages"].keys() == {"gqa/answers", "gqa/scores"}
    assert "accepted on" not in since("HEAD")


@pytest.mark.usefixtures("without_dvc")
def test_a_line_that_cannot_be_read_is_named_and_hides_no_other(committed: Path) -> None:
    answer_one_wrong(committed)
    invoke("accept", "why")
    with (committed / ACCEPTED).open("ab") as file:
        file.write(b"{no line\n")
    text = since("HEAD", code=1)
    assert ACCEPTED in text
    assert NUMBER in text
    assert "nobody accepted" not in text


@pytest.mark.usefixtures("without_dvc")
def test_pins_that_changed_without_a_record_fail_and_are_named(committed: Path) -> None:
    answer_one_wrong(committed)
    known = (committed / ACCEPTED).read_bytes() if (committed / ACCEPTED).is_file() else b""
    invoke("accept", "why")
    (committed / ACCEPTED).write_bytes(known)
    write_pins(open_workspace(), {})
    commit(committed, "Nothing to see here")
    text = since("HEAD~1", code=1)
    assert "changed in the pins since HEAD~1, and nobody accepted it:\n  gqa/answers\n" in text
    assert NUMBER in text
    assert "1 answer changed: 1 right to wrong" in text

    # A record of a later change does not account for the earlier one.
    answer_one_wrong(committed)
    invoke("accept", "only the second")
    commit(committed, "Accepted")
    assert "nobody accepted it" in since("HEAD~2", code=1)
    assert "nobody accepted" not in since("HEAD~1")


def test_an_out_that_a_stage_gains_between_two_acceptances_breaks_no_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("params.yaml", "workspace.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    workspace, folder = open_workspace(), tmp_path / "artifacts/sample/tiny"
    folder.mkdir(parents=True)

    def stages(*names: str) -> dict[str, Stage]:
        outs = tuple(f"artifacts/{{profile}}/tiny/{name}" for name in names)
        return {"tiny/table": Stage("tiny/table", outs, lambda workspace, out: {}, "A table.")}

    def accept(text: str, *names: str) -> None:
        (folder / "one").write_text(text, "utf-8")
        proposal = proposed(workspace, stages(*names), text, unsafe=True)
        accept_results(workspace, stages(*names), proposal, usual=False)

    def unaccepted() -> list[str]:
        return changes_since(tmp_path, "sample", read_pins(tmp_path, "sample"), "HEAD")[-1]

    accept("pinned", "one")
    run(tmp_path, "git", "init", "--quiet")
    commit(tmp_path, "Pinned")
    accept("first", "one")
    (folder / "two").write_text("new", "utf-8")
    write_pins(workspace, measure(workspace, stages("one", "two")), usual=False)  # as a run does
    assert unaccepted() == []
    accept("second", "one", "two")
    assert unaccepted() == []
    (folder / "one").write_text("by nobody", "utf-8")
    write_pins(workspace, measure(workspace, stages("one", "two")), usual=False)
    assert unaccepted() == ["tiny/table"]


@pytest.mark.usefixtures("without_dvc")
def test_a_result_that_no_run_computed_is_refused_and_marked_where_it_is_forced(committed: Path) -> None:
    score = json.loads((committed / SCORE).read_bytes())
    forged = json.dumps(score | {"correct": 0}, indent=1) + "\n"
    (committed / SCORE).write_text(forged, "utf-8")
    before = (committed / "pins/sample.json").read_bytes()
    refused = invoke("accept", "typo", code=1)
    assert f"{SCORE}: no record of a run computed this" in refused.stderr
    assert (committed / "pins/sample.json").read_bytes() == before
    assert "no record of a run computed gqa/scores" in printed("accept", "typo", "--unsafe")
    pin = json.loads((committed / "pins/sample.json").read_bytes())["stages"]["gqa/scores"]
    assert pin["unsafe"] == "typo"
    commit(committed, "Forced")
    # The file is as pinned, so this is no difference; the page of a change shows that the pin was forced.
    assert "  no record of a run computed gqa/scores" in since("HEAD~1").splitlines()


@pytest.mark.long
def test_two_branches_that_both_accepted_are_merged_as_the_page_says(committed: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / ".gitattributes", committed)
    invoke("accept", "as they are")
    commit(committed, "Attributes")
    run(committed, "git", "branch", "--move", "main")
    other = shutil.copytree(committed, tmp_path / "other", symlinks=True)
    with contextlib.chdir(other):
        answer_one_wrong(other, "by_name")
        invoke("accept", "of main")
        commit(other, "Main")
    run(committed, "git", "switch", "--quiet", "--create", "branch")
    answer_one_wrong(committed)
    invoke("accept", "of the branch")
    commit(committed, "Branch")

    run(committed, "git", "fetch", "--quiet", str(other), "main:main", "--force")
    merge = ("git", "merge", "--quiet", "main")
    assert "CONFLICT" in run(committed, *merge, check=False).stdout
    assert "a conflict marker of a merge" in invoke("reproduce", code=None).stderr
    assert "a conflict marker of a merge" in invoke("accept", "merged", code=None).stderr
    page = (ROOT / "docs/how-to-ci.md").read_text("utf-8")
    (restore,) = [line.strip() for line in page.splitlines() if "git restore" in line]
    run(committed, *shlex.split(restore))
    answer_one_wrong(committed, "by_name")  # as a reproduction of the merged code gives both
    assert "; 2 outputs differ from their pins." in invoke("reproduce", "--only", "gqa", code=None).output
    invoke("accept", "merged")
    commit(committed, "Merged")
    lines = (committed / ACCEPTED).read_text("utf-8").splitlines()
    reasons = [json.loads(line)["reason"] for line in lines]
    assert sorted(reasons[1:-1]) == ["of main", "of the branch"]
    assert reasons[-1] == "merged"
    for revision in ("main", "main~1"):
        assert ": merged (gqa/answers, gqa/scores)" in since(revision)
