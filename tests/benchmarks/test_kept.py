"""The kept figures: a slowdown is reported, noise and a gain are not, and a person can keep new ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.speed import kept
from benchmarks.speed.benches import BENCHES
from benchmarks.speed.measure import Bench, Pair

LOOPS = 2000


def _counting(times: int) -> Bench:
    @contextmanager
    def prepare(size: int) -> Iterator[Pair]:
        yield Pair(lambda: sum(range(times * size * LOOPS)), lambda: sum(range(size * LOOPS)))

    return Bench("counting", "counting less", (1,), prepare)


@pytest.fixture
def kept_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "FILE", tmp_path / "kept.jsonl")
    monkeypatch.setattr(kept, "SIZES", {"counting": (1,)})
    monkeypatch.setitem(BENCHES, "counting", _counting(4))
    assert kept.main(["--record"]) == 0
    return tmp_path / "kept.jsonl"


def test_work_that_takes_ten_times_as_long_is_reported_and_a_gain_is_not(
    kept_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kept.main([]) == 0
    monkeypatch.setitem(BENCHES, "counting", _counting(40))
    assert kept.main([]) == 1
    assert "counting at 1" in capsys.readouterr().err
    kept.main(["--record"])
    assert kept.main([]) == 0
    monkeypatch.setitem(BENCHES, "counting", _counting(4))
    assert kept.main([]) == 0


def test_each_bench_that_is_compared_was_kept() -> None:
    lines = kept.FILE.read_text("utf-8").splitlines()
    pairs = [(record["bench"], record["size"]) for record in map(kept.msgspec.json.decode, lines)]
    assert pairs == [(name, size) for name, sizes in kept.SIZES.items() for size in sizes]
