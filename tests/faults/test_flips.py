"""A byte that changed anywhere in a profile is named by its file, and in a file of rows by its line."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from byte_flips import flips, summary, verified
from commands import invoke

from orchestration.ledger.manifest import changing
from orchestration.stages.nothing_to_do import last_outcome, record_outcome

SEED, FLIPS = 20, int(os.environ.get("SUBSTRATE_FLIPS", "15"))


def verify(*more: str) -> tuple[int, str]:
    result = invoke("verify", "--no-recompute", *more, code=None)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def failed_verification(*more: str) -> str:
    """The output of a verification that must find something wrong."""
    code, output = verify(*more)
    assert code == 1
    return output


def flip(path: Path, at: int) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


def test_a_random_byte_is_named_by_its_file(reproduced: Path) -> None:
    assert verified("no flip, so only labels", 0, 0).outcome == "silent"
    flipped = list(flips(reproduced, FLIPS, SEED))
    assert len(flipped) == FLIPS
    assert {damage.outcome for damage in flipped} == {"named"}, summary(flipped)


def test_no_damaged_file_hides_another(reproduced: Path) -> None:
    """A flip of each kind at once: a result, a page, a record, a pin, a lock, the seal, data, a table."""
    tables = reproduced.glob("storage/*/logs/babi/*/*.parquet")
    ledger = reproduced / "artifacts/sample/.ledger"
    damaged = [
        "artifacts/sample/gqa/answers.jsonl",
        "artifacts/sample/report/index.html",
        "artifacts/sample/provenance/prov.ttl",
        *(path.relative_to(reproduced).as_posix() for path in ledger.glob("*.jsonl")),
        "artifacts/sample/clevrer/logs/index.jsonl",
        "pins/sample/babi.answers.jsonl",
        "dvc.lock",
        "dvc.yaml",
        "data/sample/clevrer/annotation.zip",
        "data/sample/twin/specs.jsonl",
        *(path.relative_to(reproduced).as_posix() for path in tables),
    ]
    for name in damaged:
        flip(reproduced / name, 40)
    gone = "artifacts/sample/tables/twin.md"
    (reproduced / gone).unlink()
    output = failed_verification()
    assert [name for name in [*damaged, gone] if name not in output] == []
    assert "artifacts/sample/clevrer/logs/index.jsonl, line 1: " in output
    assert "data/sample/twin/specs.jsonl, line 1: " in output


def test_a_damaged_record_of_the_last_run_is_named_and_not_used(reproduced: Path) -> None:
    record_outcome(reproduced, "sample", None, {"profile": "sample", "drifted": {}})
    assert verify()[0] == 0
    for at in (0, 4, -1):
        assert last_outcome(reproduced, "sample", None)
        (record,) = (reproduced / "artifacts/sample/.ledger").glob("*.jsonl")
        before = record.read_bytes()
        flip(record, at % len(before))
        assert record.relative_to(reproduced).as_posix() in failed_verification()
        assert last_outcome(reproduced, "sample", None) is None
        record.write_bytes(before)


def test_damaged_parameters_hide_nothing_else(reproduced: Path) -> None:
    (reproduced / "params.yaml").write_bytes(b"\xff")
    flip(reproduced / "artifacts/sample/scores/gqa.by_id.accuracy.json", 40)
    output = failed_verification()
    assert "params.yaml" in output
    assert "artifacts/sample/scores/gqa.by_id.accuracy.json" in output


def test_a_row_that_can_no_longer_be_read_is_named_by_its_line(reproduced: Path) -> None:
    answers = reproduced / "artifacts/sample/babi/answers.jsonl"
    lines = answers.read_bytes().splitlines(keepends=True)
    lines[6] = b"{" + lines[6]
    answers.write_bytes(b"".join(lines))
    differences = msgspec.json.decode(failed_verification("--json"))["differences"]
    (row,) = [d for d in differences if d["kind"] == "row" and "line 7" in d["what"]]
    assert row["new"].startswith('"not readable" without gold')


def test_a_parameter_that_nobody_accepted_is_named_though_no_result_is_another(reproduced: Path) -> None:
    path = reproduced / "params.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace("tau: null", "tau: 0.9", 1), "utf-8")
    output = failed_verification()
    assert "parameter clevrer.predictive.tau null -> 0.9 (" in output


def test_an_edited_pin_is_not_called_a_changed_result(reproduced: Path) -> None:
    pin = reproduced / "pins/sample/twin.answers.jsonl"
    lines = pin.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'","', b'","another ', 1)
    pin.write_bytes(b"".join(lines))
    (difference,) = msgspec.json.decode(failed_verification("--json"))["differences"]
    assert (difference["stage"], difference["what"]) == ("pins", "pins/sample/twin.answers.jsonl, line 2")


def test_a_table_is_compared_with_the_ledger_though_its_manifest_is_gone(reproduced: Path) -> None:
    manifest = next(path for path in reproduced.glob("storage/sample/logs/babi/*.json"))
    shard = next(path for path in reproduced.glob("storage/sample/logs/babi/*/*.parquet"))
    manifest.unlink()
    flip(shard, 40)
    output = failed_verification()
    for path in (manifest, shard):
        assert path.relative_to(reproduced).as_posix() in output


def test_a_record_in_the_place_of_another_is_named(reproduced: Path) -> None:
    with changing(reproduced / "artifacts/sample/.ledger") as manifest:
        manifest.stages["gqa/scores"] = manifest.stages["babi/scores"]
    output = failed_verification()
    assert "gqa/scores: artifacts/sample/.ledger/manifest.jsonl, gqa/scores: " in output
    assert "the record of another stage" in output


@pytest.mark.parametrize(
    "kind", ["pins/sample.json", "artifacts/sample/**/*.json", "artifacts/sample/.ledger/*"]
)
def test_a_file_of_json_that_nests_past_all_depth_is_named(reproduced: Path, kind: str) -> None:
    damaged = [path for path in reproduced.glob(kind) if path.is_file()]
    assert damaged
    for path in damaged:
        path.unlink()
        path.write_text('{"a": ' + "[" * 100_000, "utf-8")
    output = failed_verification("--json")
    assert [name for path in damaged if (name := path.relative_to(reproduced).as_posix()) not in output] == []
