"""Intervals against the counts that the paper prints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from orchestration.scoring.statistics import mcnemar_exact, newcombe_paired, wilson

PAIRS = st.tuples(*[st.integers(0, 300)] * 4).filter(any)


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
def test_wilson_gives_the_intervals_of_the_paper(
    correct: int, n: int, low: float, high: float, printed_to: float
) -> None:
    assert [100 * bound for bound in wilson(correct, n)] == pytest.approx([low, high], abs=printed_to)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_statsmodels(counts: tuple[int, int]) -> None:
    assert wilson(*counts) == pytest.approx(proportion_confint(*counts, method="wilson"), abs=1e-12)


@pytest.mark.parametrize(
    ("table", "low", "high", "printed_to"),
    [
        ((406, 94, 0, 0), 0.1553, 0.2246, 5e-5),  # the paper: 500 of 500 against 406 of 500
        ((36, 12, 2, 0), 0.0569, 0.3404, 5e-5),  # Newcombe 1998, table III, method 10
    ],
)
def test_newcombe_gives_printed_intervals(
    table: tuple[int, int, int, int], low: float, high: float, printed_to: float
) -> None:
    assert newcombe_paired(*table) == pytest.approx((low, high), abs=printed_to)


@given(st.integers(1, 300), st.integers(0, 300), st.booleans())
def test_newcombe_without_association_is_the_interval_for_independent_samples_of_statsmodels(
    right: int, wrong: int, first_is_perfect: bool
) -> None:
    # With one of the two perfect there is no association to correct for.
    n, table = right + wrong, (right, wrong, 0, 0) if first_is_perfect else (right, 0, wrong, 0)
    first, second = (n, right) if first_is_perfect else (right, n)
    assert newcombe_paired(*table) == pytest.approx(
        confint_proportions_2indep(first, n, second, n, method="newcomb"), abs=1e-12
    )


@given(PAIRS)
def test_newcombe_changes_sign_with_the_order_and_contains_the_difference(
    table: tuple[int, int, int, int],
) -> None:
    both, first, second, neither = table
    low, high = newcombe_paired(both, first, second, neither)
    assert (-high, -low) == pytest.approx(newcombe_paired(both, second, first, neither))
    assert -1 <= low <= (first - second) / sum(table) <= high <= 1


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_that_of_statsmodels(first_only: int, second_only: int) -> None:
    expected = 1.0
    if first_only + second_only:
        result = mcnemar([[0, first_only], [second_only, 0]], exact=True)
        expected = result.pvalue  # pyright: ignore[reportAttributeAccessIssue]
    assert mcnemar_exact(first_only, second_only) == pytest.approx(expected, rel=1e-9, abs=1e-300)
