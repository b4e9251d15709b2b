"""Intervals against the counts that the paper prints."""

from __future__ import annotations

import pytest

from orchestration.statistics import wilson


@pytest.mark.parametrize(
    ("correct", "n", "low", "high", "printed_to"),
    [
        (153, 300, 45.37, 56.61, 0.005),
        # The paper's interval for ComPhy is not quite Wilson's of any count: 4300 gives [71.956, 74.222].
        (4300, 5882, 71.94, 74.23, 0.017),
        (9, 30, 16.7, 47.9, 0.05),
        (880, 1000, 85.84, 89.87, 0.005),
        (406, 500, 77.54, 84.38, 0.005),
        (432, 500, 83.12, 89.13, 0.005),
        (35, 100, 26.36, 44.75, 0.005),
        (79, 100, 70.02, 85.83, 0.005),
    ],
)
def test_wilson_gives_the_intervals_of_the_paper(correct: int, n: int, low: float, high: float, printed_to: float) -> None:
    assert [100 * bound for bound in wilson(correct, n)] == pytest.approx([low, high], abs=printed_to)


@pytest.mark.parametrize(("correct", "n"), [(0, 1), (1, 1), (0, 500), (500, 500)])
def test_wilson_stays_within_zero_and_one(correct: int, n: int) -> None:
    low, high = wilson(correct, n)
    assert 0 <= low <= correct / n <= high <= 1
