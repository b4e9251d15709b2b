"""A stage that is up to date is not run; one that differs from its pins for no reason is computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import invoke
from projects import pages

from orchestration.stages import benchmark_stages


def substrate(*arguments: str) -> tuple[int, str]:
    result = invoke(*arguments, code=None)
    return result.exit_code, result.output


def test_a_remark_leaves_nothing_to_do(reproduced: Path) -> None:
    substrate("reproduce")
    with (reproduced / "params.yaml").open("a", encoding="utf-8") as file:
        file.write("# A remark.\n")
    code, output = substrate("reproduce")
    assert code == 0
    assert output.splitlines()[-1].startswith("Nothing to do: all ")
    assert "  computed  " not in output
    code, output = substrate("verify", "--no-recompute")
    assert code == 0, output


@pytest.mark.long
def test_results_that_differ_for_no_reason_are_computed_again(
    reproduced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a run in an environment that was tampered with, and then restored."""
    right = benchmark_stages.score

    def tampered(*given: Any) -> Any:
        score = right(*given)
        return msgspec.structs.replace(score, correct=0) if score.name == "gqa/by_id/accuracy" else score

    with monkeypatch.context() as wrong:
        wrong.setattr(benchmark_stages, "score", tampered)
        _, output = substrate("reproduce", "--only", "gqa", "--force")
        assert "2 outputs differ from their pins" in output.splitlines()[-1]
        # One more run gives the same difference, which then counts as known.
        _, output = substrate("reproduce", "--only", "gqa")
        assert "gqa/scores  computed" in output
        _, output = substrate("reproduce", "--only", "gqa")
        assert output.splitlines()[-1].startswith("Nothing to do: ")
        _, output = substrate("reproduce", "--only", "gqa", "--force")
    _, output = substrate("reproduce", "--only", "gqa")
    assert "gqa/scores: its outputs differ from their pins, and code, parameters and inputs do not" in output
    assert "gqa/scores  computed" in output
    assert "gqa/answers  reused" in output
    assert "differ" not in output.splitlines()[-1]


def test_pages_are_kept_and_damaged_ones_are_made_again(reproduced: Path) -> None:
    report = reproduced / "artifacts/sample/report"
    before = pages(report)
    assert not (reproduced / "storage/sample/answers").exists()
    damaged = next(iter(sorted((reproduced / ".dagster/shown").rglob("*.js"))))
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2])
    code, output = substrate("materialize", "report/html", "--force")
    assert code == 0, output
    assert damaged.read_bytes() == whole
    assert pages(report) == before
