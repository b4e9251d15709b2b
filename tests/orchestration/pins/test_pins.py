"""Pins: equal bytes leave them, rows are packed in few lines, and a file that changed is read again."""

from __future__ import annotations

import json
import shutil
import time
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import msgspec
import pytest
import yaml
from commands import invoke
from shared_project import run

from orchestration.drift.moved_numbers import compare_results
from orchestration.ledger.manifest import changing
from orchestration.ledger.stage_records import fingerprint
from orchestration.pins.pin_files import decode_rows, encode_rows, read_pins
from orchestration.project import open_workspace
from orchestration.stages.graph import STAGES, stages_of

ROOT = Path(__file__).resolve().parents[3]
by_scene = attrgetter("scene")


@pytest.fixture
def pinned(reproduced: Path) -> Path:
    """A reproduced project with its data pinned, as a fresh clone has it: DVC's cache is not there."""
    run(reproduced, "dvc", "commit", "--force", "data.dvc")
    shutil.rmtree(reproduced / ".dvc/cache")
    return reproduced


@pytest.mark.long
def test_a_run_that_gives_the_same_bytes_leaves_the_pins(pinned: Path) -> None:
    before = (pinned / "dvc.lock").read_bytes()
    with changing(pinned / "artifacts/sample/.ledger") as manifest:
        # As if bAbI's code had changed: this run leaves bAbI out, and must not change its lock.
        record = manifest.stages["babi/answers"]
        manifest.stages["babi/answers"] = msgspec.structs.replace(record, code={"another.py": "0" * 16})
    result = invoke("reproduce", "--only", "clevrer", "--force")
    assert "drift" not in result.stderr
    assert (pinned / "dvc.lock").read_bytes() == before
    changed = json.loads(run(pinned, "dvc", "status", "--json").stdout)
    assert list(changed["babi-answers"][0]["changed deps"]) == ["artifacts/sample/.code/babi-answers"]
    ran = {name.replace("/", "-") for name in stages_of("clevrer")} & set(yaml.safe_load(before)["stages"])
    assert {"clevrer-logs", "clevrer-answers", "clevrer-scores"} <= ran
    assert not {*ran, "data.dvc"} & set(changed)
    assert changed["code"] == ["always changed"], "DVC asks which code changed before it looks at the stages"
    for folder in ("artifacts", "data"):
        shutil.rmtree(pinned / folder)
    result = invoke("verify", "--no-recompute", code=1)
    assert "is not there" in result.stderr


def test_rows_stand_a_few_scenes_in_a_line_and_a_line_of_one_scene_is_still_read() -> None:
    pinned = ROOT / "pins/sample/gqa.answers.jsonl"
    rows = decode_rows(pinned.read_bytes())
    scenes = len({row.scene for row in rows.values()})
    assert len(pinned.read_bytes().splitlines()) <= scenes / 4
    assert encode_rows(rows) == pinned.read_bytes()
    before = [encode_rows({row.name: row for row in own}) for _, own in groupby(rows.values(), by_scene)]
    assert len(before) == scenes
    assert decode_rows(b"".join(before)) == rows


def test_answers_to_a_fork_that_lack_an_arm_are_compared() -> None:
    pins = read_pins(ROOT, "sample")
    answers = pins["twin/answers"]
    _, *others = answers.rows.values()
    now = pins | {"twin/answers": msgspec.structs.replace(answers, rows={row.name: row for row in others})}
    assert [row.change for row in compare_results(pins, now).rows] == ["gone"]


def test_a_file_that_is_written_again_in_its_size_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("params.yaml", "workspace.yaml"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    stage, workspace = STAGES["tables/numbers"], open_workspace()
    (path,) = (workspace.path(out) for out in stage.outs)
    path.parent.mkdir(parents=True)
    digests: list[str] = []
    for text in ("first", "other", "first"):
        path.write_text(text, "utf-8")
        time.sleep(0.1)  # longer than the resolution of a file's times
        for _ in range(2):
            digests += fingerprint(STAGES, stage, workspace).outs.values()
    first, other = f"sha256:{sha256(b'first').hexdigest()}", f"sha256:{sha256(b'other').hexdigest()}"
    assert digests == [first, first, other, other, first, first]


def test_a_checkout_that_converts_line_feeds_leaves_these_files(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    for name in (".gitattributes", "params.yaml", "pins/accepted.jsonl"):
        shutil.copy(ROOT / name, origin)
    for command in (["init"], ["add", "--all"], ["commit", "--message", "All"]):
        run(origin, "git", *command)
    run(tmp_path, "git", "clone", "--quiet", "--config", "core.autocrlf=true", str(origin), str(clone))
    for path in filter(Path.is_file, origin.iterdir()):
        assert (clone / path.name).read_bytes() == path.read_bytes(), path.name
