"""A process that uses logs, memories and tools again and again holds no more than at first."""

from __future__ import annotations

from pathlib import Path

import pytest
from leaks import SUBJECTS, count_held


@pytest.mark.parametrize("name", SUBJECTS)
def test_nothing_is_left_open_when_a_log_is_closed(name: str, tmp_path: Path) -> None:
    def used(times: int) -> tuple[int, int, int]:
        for number in range(times):
            SUBJECTS[name](tmp_path / f"{times}-{number}.rdfp")
        return count_held()[:3]

    used(3)
    objects, files, threads = used(1)
    more_objects, more_files, more_threads = used(4)
    assert (more_files, more_threads) == (files, threads)
    assert more_objects - objects < 4, "each use leaves an object"
