"""A forger of a log or a result is found by what the table of attackers names: by a signed head at last."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestration.cli.main import app
from orchestration.ledger.pinned import measure, read_pins, write_pins
from orchestration.ledger.records import fingerprint, keep_record
from orchestration.pipeline.graph import STAGES
from orchestration.project import open_workspace
from orchestration.stage import inputs_of
from substrate import EventLog

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="heads are signed by ssh-keygen")
LINES = [(tick, f'A <urn:s> <urn:p> "{tick}" .') for tick in range(6)]
SCORE = "artifacts/sample/scores/gqa.by_id.accuracy.json"


def invoke(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with two keys, ``mine`` and ``theirs``."""
    for name in ("mine", "theirs"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True
        )
    return tmp_path


def made(lines: list[tuple[int, str]]) -> EventLog:
    log = EventLog()
    log.extend_lines(lines)
    return log


FORGED: dict[str, Callable[[], EventLog]] = {
    "cut": lambda: made(LINES[:4]),
    "written anew": lambda: made([(tick, line.replace('"2"', '"9"')) for tick, line in LINES]),
    "with another last tick": lambda: made([(tick, line.replace('"5"', '"9"')) for tick, line in LINES]),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_log_that_was_forged_does_not_fit_its_signed_head(how: str, keys: Path) -> None:
    file, head = keys / "log.rdfp", keys / "head"
    made(LINES).save(file)
    invoke("log", "sign", file, "--key", keys / "mine", "--out", head)
    held = ("log", "verify", file, "--head", head, "--key", keys / "mine.pub")
    invoke(*held)
    file.unlink()
    FORGED[how]().save(file)
    invoke("log", "verify", file)  # its chain holds
    assert "signed" in invoke(*held, code=1)


@pytest.mark.parametrize("more", [[(5, "A <urn:s> <urn:p> <urn:x> .")], [(8, "A <urn:s> <urn:p> <urn:x> .")]])
def test_a_log_may_grow_behind_its_signed_head(more: list[tuple[int, str]], keys: Path) -> None:
    file, head = keys / "log.rdfp", keys / "head"
    made(LINES).save(file)
    invoke("log", "sign", file, "--key", keys / "mine", "--out", head)
    with EventLog.open(file) as log:
        log.extend_lines(more)
    invoke("log", "verify", file, "--head", head, "--key", keys / "mine.pub")


def test_a_head_that_another_signed_or_edited_is_none(keys: Path) -> None:
    file, head = keys / "log.rdfp", keys / "head"
    made(LINES).save(file)
    held = ("log", "verify", file, "--head", head, "--key", keys / "mine.pub")
    invoke("log", "sign", file, "--key", keys / "theirs", "--out", head)
    assert "error" in invoke(*held, code=1)
    invoke("log", "sign", file, "--key", keys / "mine", "--out", head)
    head.write_text(head.read_text("utf-8").replace('"deltas":6', '"deltas":5'), "utf-8")
    assert "error" in invoke(*held, code=1)
    head.write_text("{}", "utf-8")
    assert "error" in invoke(*held, code=1)
    assert "--key KEY.pub" in invoke("log", "verify", file, "--head", head, code=1)


def test_results_that_were_forged_to_the_last_record_do_not_fit_their_signed_head(
    reproduced: Path, keys: Path
) -> None:
    head = keys / "head"
    invoke("sign", "--key", keys / "mine", "--out", head)
    held = ("verify", "--no-recompute", "--head", head, "--key", keys / "mine.pub")
    invoke(*held)
    score = reproduced / SCORE
    score.write_bytes(score.read_bytes().replace(b'"correct": ', b'"correct": 1', 1))
    invoke("verify", "--no-recompute", code=1)
    # Whoever edits the result, then its record, its pin and the seal, as a run and an acceptance would.
    workspace = open_workspace()
    touched = [
        stage for stage in STAGES.values() if SCORE in named(stage.outs) | named(inputs_of(STAGES, stage))
    ]
    for stage in touched:
        keep_record(workspace, stage.name, fingerprint(STAGES, stage, workspace))
    write_pins(workspace, measure(workspace, STAGES, known=read_pins(reproduced, "sample")))
    for name in ("dvc.lock", "data.dvc"):
        (reproduced / name).unlink(missing_ok=True)
    write_pins(workspace, {})
    invoke("verify", "--no-recompute")
    assert "signed as sha256:" in invoke(*held, code=1)


def named(paths: tuple[str, ...] | list[str]) -> set[str]:
    return {path.format(profile="sample") for path in paths}
