"""Drift: `substrate verify` names the cell, the row, old and new, and what changed, in a clone that has no
pinned file.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest
from commands import invoke, printed
from shared_project import run

from orchestration.drift.as_pinned import differences
from orchestration.drift.causes import causes
from orchestration.ledger.digests import with_details
from orchestration.ledger.manifest import changing
from orchestration.ledger.stage_records import ledger_of, read_records
from orchestration.ledger.stage_results import measure
from orchestration.pins.pin_files import read_pins, write_pins
from orchestration.project import open_workspace
from orchestration.stages.graph import STAGES
from orchestration.verification.verify import verify_profile
from substrate.base.files import sha256

QUESTIONS = "data/sample/clevrer/questions.json"


def change_parameter(root: Path, old: str, new: str) -> None:
    path = root / "params.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def change_gold(root: Path) -> tuple[int, int, str]:
    """Change the gold of one descriptive question; return its scene, its number and the old gold."""
    scenes = json.loads((root / QUESTIONS).read_bytes())
    scene = scenes[1]
    question = next(q for q in scene["questions"] if q["question_type"] == "descriptive")
    old, question["answer"] = question["answer"], "cylinder" if question["answer"] != "cylinder" else "cube"
    (root / QUESTIONS).write_text(json.dumps(scenes), "utf-8")
    return scene["scene_index"], question["question_id"], old


def forge_a_row(root: Path) -> None:
    """Call a right answer wrong."""
    rows = root / "artifacts/sample/gqa/answers.jsonl"
    rows.write_bytes(rows.read_bytes().replace(b'"correct": true', b'"correct": false', 1))


def test_pinned_results_verify_and_their_pins_are_small_enough_for_git(reproduced: Path) -> None:
    workspace = open_workspace()
    gone = read_records(workspace)["gqa/scores"]
    with changing(ledger_of(workspace)) as manifest:  # of a stage that an earlier version had
        outs = {"artifacts/sample/metrics/gone.json": "sha256:0"}
        manifest.stages["gone/scores"] = msgspec.structs.replace(gone, outs=outs)
    assert "every artifact is as pinned\n" in printed("verify", "--no-recompute")
    assert json.loads(printed("verify", "--no-recompute", "--json"))["differences"] == []
    rows = (reproduced / "artifacts/sample/gqa/answers.jsonl").read_bytes().splitlines()
    assert len((reproduced / "pins/sample/gqa.answers.jsonl").read_bytes()) < 80 * len(rows)


@pytest.mark.long
def test_a_clone_names_the_changed_gold_label_and_the_changed_parameter(reproduced: Path) -> None:
    shutil.rmtree(reproduced / "artifacts")
    scene, question, old = change_gold(reproduced)
    change_parameter(reproduced, "infer_properties: false", "infer_properties: true")
    text = printed("verify", code=1)
    # The label: its file, its row, its number and its cell.
    assert "clevrer/dataset: data/sample/clevrer/questions.json: " in text
    (row,) = [line for line in text.splitlines() if line.startswith("clevrer/answers: ")]
    begin = f"clevrer/answers: scene {scene}, question {question} (descriptive): "
    assert row.startswith(f'{begin}"{old}" right, expected "{old}", log ')
    assert f' -> "{old}" wrong, expected "' in row
    assert len(set(re.findall(r"log \w+", row))) == 1, "the log is the same"
    first, _, number, *_ = text.splitlines()
    assert first.split() == ["number", "n", "before", "after", "difference", "won", "lost", "p"]
    assert number.startswith("clevrer/descriptive/per_question ")
    # The last columns are empty: another gold is other data, so no rows are paired.
    assert number.rstrip().endswith(" pp"), "won, lost and p are empty"
    assert f"right to wrong: substrate explain clevrer/{scene}/{question}: " in text
    assert "tables/clevrer: clevrer/descriptive/per_question, substrate: 100.00 % -> " in text
    assert "input data/sample/clevrer changed (clevrer/dataset" in text
    # The parameter: rows with another log, and the stages that take it.
    assert "parameter comphy.infer_properties false -> true (" in text
    assert re.search(r"^comphy/answers: scene .*log ", text, re.MULTILINE)
    # Nothing else.
    assert not [line for line in text.splitlines() if line.startswith(("babi/", "gqa/", "provenance/"))]


def test_reproduce_stops_at_changed_data_and_names_the_change(reproduced: Path) -> None:
    change_parameter(reproduced, "\nseed: 20", "\nseed: 21")
    result = invoke("reproduce", "--only", "clevrer", code=1)
    assert "data/sample/clevrer is modified against its pin" in result.stderr
    assert re.search(r"\d files? differs?: ", result.stderr)
    assert "parameter seed 20 -> 21 (clevrer/dataset)" in result.stderr
    assert "parameter seed 20 -> 21" in printed("verify", "--no-recompute", code=1)


@pytest.mark.usefixtures("without_dvc")
def test_new_results_stay_unpinned_until_they_are_accepted_with_a_reason(reproduced: Path) -> None:
    run(reproduced, "git", "init", "--quiet")
    run(reproduced, "git", "add", "pins", "params.yaml")
    run(reproduced, "git", "commit", "--quiet", "-m", "pinned")
    before = read_pins(reproduced, "sample")
    change_parameter(reproduced, "infer_properties: false", "infer_properties: true")
    assert "is modified against its pin" in invoke("reproduce", "--only", "comphy", code=None).stderr
    after = read_pins(reproduced, "sample")
    drifted = ("comphy/logs", "comphy/answers", "comphy/scores", "tables/transfer")
    assert [after[name] for name in drifted] == [before[name] for name in drifted]
    report = json.loads(printed("verify", "--no-recompute", "--json", code=1))
    parameter = next(cause for cause in report["causes"] if cause["kind"] == "parameter")
    assert [parameter[key] for key in ("what", "old", "new")] == ["comphy.infer_properties", "false", "true"]
    assert {item["stage"] for item in report["differences"] if item["kind"] == "row"} == {"comphy/answers"}
    (reproduced / "pins/claims.json").write_text('{"same_bytes": "differs"}', "utf-8")
    assert "claims: same_bytes: differs -> agrees" in printed("verify", "--no-recompute", code=1)
    assert "claims: same_bytes: differs -> agrees" in printed("accept", "known now", "--dry-run")
    invoke("accept", "the hidden properties are known now")
    assert json.loads((reproduced / "pins/claims.json").read_bytes())["same_bytes"] == "agrees"
    accepted = printed("verify", "--no-recompute", "--since", "HEAD")
    assert "every artifact is as pinned" in accepted
    assert "the hidden properties are known now (comphy/answers" in accepted
    assert "substrate explain comphy/" in accepted


def test_changed_code_is_named_by_its_file(reproduced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = "substrate/domains/babi/answers.py"
    answers = STAGES["babi/answers"]
    # A stage is frozen, and keeps the cached value of its property `code` among its attributes.
    monkeypatch.setitem(vars(answers), "code", dict(answers.code) | {changed: "0" * 16})
    rows = reproduced / "artifacts/sample/babi/answers.jsonl"
    first, _, rest = rows.read_bytes().partition(b"\n")
    row = json.loads(first)
    answer = f'"predicted": "{row["predicted"]}"'.encode()
    wrong = first.replace(answer, b'"predicted": "elsewhere"').replace(
        b'"correct": true', b'"correct": false'
    )
    rows.write_bytes(wrong + b"\n" + rest)
    old = read_pins(reproduced, "sample")
    new = measure(open_workspace(), STAGES, [STAGES["babi/answers"], STAGES["babi/logs"]])
    (difference,) = differences(old, new)
    begin = f"babi/answers: scene {row['scene']}, question {row['question']} ({row['subset']}): "
    assert str(difference).startswith(f'{begin}"{row["predicted"]}" right, ')
    assert ' -> "elsewhere" wrong, ' in str(difference)
    assert [str(cause) for cause in causes(old, new)] == [f"code of babi/answers changed: {changed}"]


def test_a_changed_version_is_named_as_a_cause_and_makes_nothing_stale(
    reproduced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = read_records(open_workspace())
    assert {"Python", "Java", "pyspark", "pyoxigraph"} <= recorded["gqa/logs"].environment.keys()
    assert "pybullet" not in recorded["gqa/logs"].environment
    monkeypatch.setattr("orchestration.ledger.environment._version", lambda name: f"{name} of tomorrow")
    invoke("verify", "--no-recompute")
    output = invoke("reproduce", "--only", "gqa", code=None).stderr
    assert " 0 computed, " in output or "Nothing to do" in output
    forge_a_row(reproduced)
    text = printed("verify", "--no-recompute", code=1)
    (line,) = [line for line in text.splitlines() if line.strip().startswith("pyoxigraph ")]
    assert "-> pyoxigraph of tomorrow in the environment (gqa/answers" in line


def test_a_stage_takes_over_the_outs_of_one_that_had_another_name(reproduced: Path) -> None:
    workspace = open_workspace()
    now = read_records(workspace)["provenance/prov"]
    before = msgspec.structs.replace(now, outs=dict.fromkeys(now.outs, "sha256:0"))
    with changing(ledger_of(workspace)) as manifest:
        manifest.stages["provenance/crate"] = before
    assert "provenance/crate" in printed("verify", "--no-recompute", code=1)
    invoke("materialize", "provenance/prov", "--force")
    invoke("verify", "--no-recompute")
    assert "provenance/crate" not in read_records(workspace)


def test_a_result_that_differs_for_no_declared_reason_says_so(reproduced: Path) -> None:
    forge_a_row(reproduced)
    text = printed("verify", "--no-recompute", code=1)
    assert "gqa/answers: scene 0, question" in text
    assert "nothing that gqa/answers declares has changed" in text
    assert "tables/transfer" not in text


def test_a_row_that_was_forged_with_its_record_its_seal_and_its_pin_is_named(
    reproduced: Path, tmp_path: Path
) -> None:
    unforged, name = tmp_path / "unforged", "artifacts/sample/gqa/answers.jsonl"
    shutil.copytree(reproduced / "artifacts", unforged / "artifacts")
    rows, workspace = reproduced / name, open_workspace()
    rows.write_bytes(rows.read_bytes().replace(b'"correct": true', b'"correct": false', 1))
    with changing(ledger_of(workspace)) as manifest:
        made = msgspec.structs.replace(manifest.stages["gqa/answers"], outs={name: sha256(rows)})
        manifest.stages["gqa/answers"] = with_details(made, {name: rows})
    write_pins(workspace, {"gqa/answers": measure(workspace, STAGES)["gqa/answers"]})

    def computed(_: list[str], __: str, folder: Path) -> None:
        shutil.copytree(unforged, folder, dirs_exist_ok=True)

    report = verify_profile(workspace, STAGES, recompute=computed)
    lines = [str(difference) for difference in report.differences]
    assert any(line.startswith("gqa/answers: scene 0, question") for line in lines), lines
    assert any(line.endswith("(here -> recomputed)") for line in lines), lines


def test_a_commit_that_is_not_there_is_refused(reproduced: Path) -> None:
    result = invoke("verify", "--no-recompute", "--since", "nowhere", code=1)
    assert "Name a commit that this clone has" in result.stderr
