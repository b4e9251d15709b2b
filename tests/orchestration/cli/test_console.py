"""A run's lines where there is no terminal."""

from __future__ import annotations

import pytest

from orchestration.cli import console
from orchestration.pipeline.progress import advance


def test_a_long_asking_says_its_pace_and_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    names = ["twin/dataset", "twin_direct/dataset"]
    with console.stages_told(names):
        # Replies of an earlier run come at once, then one in ten seconds; in the end the server stands still.
        for now in range(1, 401):
            advance(names[1], 40 + min(now, 300) // 10, 1000 if now > 5 else 0, "replies")
    lines = capsys.readouterr().err.splitlines()
    assert 400 / 15 <= len(lines) <= 50
    assert f"[1/2] {names[1]}  70 of 1,000 replies, 6.0 a minute, about 2 h 34 min left" in lines
    assert lines[-1].endswith("70 of 1,000 replies, 4.1 a minute, about 3 h 49 min left")
