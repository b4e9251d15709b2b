"""Damaged results come back, and pins that cannot be read do not count as missing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from commands import invoke, output_of
from shared_project import run

ROWS = "artifacts/sample/babi/answers.jsonl"
NUMBERS = "artifacts/sample/tables"


def path_in_cache(project: Path, data: bytes) -> Path:
    """The path of some bytes in DVC's cache."""
    name = hashlib.md5(data, usedforsecurity=False).hexdigest()
    cached = project / ".dvc/cache/files/md5" / name[:2] / name[2:]
    cached.parent.mkdir(parents=True)
    return cached


@pytest.mark.long
def test_a_damaged_result_comes_back_from_the_cache_or_is_computed_again(reproduced: Path) -> None:
    before = {path: path.read_bytes() for path in (reproduced / NUMBERS).iterdir()}
    rows = (reproduced / ROWS).read_bytes()
    path_in_cache(reproduced, rows).write_bytes(rows)
    (reproduced / ROWS).write_bytes(rows.replace(b"true", b"tru3", 1))
    for table in (reproduced / NUMBERS).glob("clevrer.*"):
        table.unlink()
    invoke("verify", "--no-recompute", code=1)
    output = output_of("verify", "--no-recompute", "--repair")
    assert f"{ROWS}: its pinned bytes are back" in output
    assert "tables/clevrer: computed again" in output
    assert (reproduced / ROWS).read_bytes() == rows
    assert {path: path.read_bytes() for path in (reproduced / NUMBERS).iterdir()} == before


@pytest.mark.long
def test_a_damaged_cache_is_not_used(reproduced: Path) -> None:
    from orchestration.project import open_workspace
    from orchestration.stages.graph import STAGES
    from orchestration.verification.damage import repair_profile

    rows = (reproduced / ROWS).read_bytes()
    path_in_cache(reproduced, rows).write_bytes(rows.replace(b"true", b"tru3", 1))
    (reproduced / ROWS).write_bytes(b"lost\n")
    computed: list[str] = []
    done = repair_profile(open_workspace(), STAGES, computed.extend)
    assert done[:1] == ["babi/answers: computed again"]
    assert "babi/answers" in computed


def test_pins_of_an_earlier_form_do_not_count_as_missing(reproduced: Path) -> None:
    run(reproduced, "git", "init", "--quiet")
    (reproduced / ".gitignore").write_text("/data/\n/artifacts/\n/storage/\n/.dagster/\n/.dvc/\n", "utf-8")
    pins = (reproduced / "pins/sample.json").rename(reproduced / "pins/aside")
    run(reproduced, "git", "add", "--all")
    run(reproduced, "git", "commit", "--quiet", "--message", "An earlier form")
    pins.rename(reproduced / "pins/sample.json")
    output = output_of("verify", "--no-recompute", "--since", "HEAD", code=1)
    assert "have an earlier form" in output
