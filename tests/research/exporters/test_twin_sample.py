"""The sample that Inspect and lm-evaluation-harness ask about."""

from __future__ import annotations

from collections import Counter

from research.exporters.twin_sample import sampled
from substrate.generators.smallville import cell_of


def test_a_small_sample_has_each_gold_and_linkage_and_is_the_beginning_of_a_larger_one() -> None:
    some, more = list(sampled(6, 20)), list(sampled(12, 20))
    assert more[:6] == some
    assert 5 <= Counter(spec.gold.a for spec in more)["yes"] <= 7
    assert {spec.linkage for spec in some} == {"control", "direct", "propagation"}
    assert all(cell_of(spec.spec) == (spec.linkage, spec.query.type, spec.gold) for spec in more)
