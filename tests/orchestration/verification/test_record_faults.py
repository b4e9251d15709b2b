"""A damaged record is named before a run, and no acceptance seals it; "as pinned" follows a comparison."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commands import invoke, output_of
from projects import ROOT
from shared_project import run

from orchestration.dagster import run as runs
from orchestration.pins.paths import ACCEPTED

PINS, ROWS = "pins/sample.json", "pins/sample/babi.answers.jsonl"


def marked(path: Path) -> None:
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first, 7 * b"<" + b" ours\n", *others, 7 * b">" + b" theirs\n"]))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def flipped(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])


DAMAGES = [
    (PINS, marked, "line 2 is a conflict marker of a merge"),
    (PINS, Path.unlink, "is missing"),
    (ROWS, flipped, "differs from its seal"),
    (ROWS, Path.unlink, "is missing"),
    (ACCEPTED, marked, "line 2 is a conflict marker of a merge"),
    (ACCEPTED, flipped, "lacks 1 of its sealed lines"),
    (ACCEPTED, cut, "line 1 is no acceptance"),
    ("data.dvc", flipped, "differs from its seal"),
    ("dvc.lock", cut, "differs from its seal"),
    ("dvc.lock", Path.unlink, "is missing"),
    ("dvc.yaml", marked, "is not what the asset graph says"),
]


@pytest.mark.long
def test_a_damaged_record_is_named_before_a_run_and_never_sealed(
    reproduced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke("accept", "as they are")
    run(reproduced, "git", "init", "--quiet")
    run(reproduced, "git", "add", "pins")
    run(reproduced, "git", "commit", "--quiet", "--message", "Accepted")
    monkeypatch.setattr(runs, "_job", lambda *_: pytest.fail("a stage ran"))
    for name, damage, message in DAMAGES:
        whole = (reproduced / name).read_bytes()
        damage(reproduced / name)
        before = {path: path.read_bytes() for path in reproduced.glob("pins/**/*.json*")}
        output = output_of("reproduce", "--only", "babi", "--force", code=1)
        assert f"{reproduced / name}: " in output, message
        assert message in output, name
        assert "more files" not in output, name
        assert "every result as pinned" not in output, name
        invoke("accept", "why", code=1)
        assert {path: path.read_bytes() for path in reproduced.glob("pins/**/*.json*")} == before
        assert name in output_of("verify", "--no-recompute", code=1)
        (reproduced / name).write_bytes(whole)


@pytest.mark.long
def test_an_interrupted_acceptance_is_repeated_though_its_seal_is_missing(reproduced: Path) -> None:
    before = (reproduced / PINS).read_bytes()
    invoke("accept", "first")
    after = (reproduced / ACCEPTED).read_bytes()
    (reproduced / PINS).write_bytes(before)
    assert ACCEPTED in output_of("verify", "--no-recompute", code=1)
    invoke("accept", "again")
    assert (reproduced / ACCEPTED).read_bytes().startswith(after)
    invoke("verify", "--no-recompute")


@pytest.mark.long
def test_a_profile_without_pins_says_that_nothing_was_compared(reproduced: Path) -> None:
    assert output_of("reproduce", "--only", "babi", "--force").endswith("; every result as pinned.\n")
    for gone in ("pins", "artifacts/sample/.ledger", ".dvc"):
        shutil.rmtree(reproduced / gone)
    for gone in ("dvc.lock", "dvc.yaml"):
        (reproduced / gone).unlink()
    assert "nothing pinned to compare with in profile sample\n" in output_of("verify", "--no-recompute")
    assert output_of("reproduce", "--only", "babi").endswith("; nothing pinned to compare with.\n")
    assert output_of("reproduce", "--only", "babi").endswith("; every result as pinned.\n")


def test_the_damaged_pins_of_another_profile_are_named_before_their_numbers_are_shown(
    reproduced: Path,
) -> None:
    for name in ("real.json", "real.accepted.jsonl"):
        shutil.copy(ROOT / "pins" / name, reproduced / "pins")
    shutil.copytree(ROOT / "pins/real", reproduced / "pins/real")
    invoke("verify", "--no-recompute")
    for name in ("pins/real.json", "pins/real/babi.answers.jsonl", "pins/real.accepted.jsonl"):
        whole = (reproduced / name).read_bytes()
        flipped(reproduced / name)
        assert name in output_of("verify", "--no-recompute", code=1)
        assert name in output_of("reproduce", "--only", "babi", "--force", code=1)
        (reproduced / name).write_bytes(whole)
    (reproduced / "pins/claims.json").write_text("{", "utf-8")
    output = output_of("reproduce", "--only", "babi", "--force", code=1)
    assert "pins/claims.json: is damaged" in output
    assert "more files" not in output, "the verdicts belong to no profile"
