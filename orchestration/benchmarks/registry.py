"""Every benchmark, by name. A new one is added here, and declared in a module of this room."""

from __future__ import annotations

from collections.abc import Mapping

from orchestration.benchmarks.ablations import ABLATIONS
from orchestration.benchmarks.babi import BABI
from orchestration.benchmarks.baselines import (
    CONTROLLED,
    GQA_EXTRACTOR,
    GQA_VISION,
    TWIN_CONCORDIA,
    TWIN_DIRECT,
)
from orchestration.benchmarks.benchmark import Benchmark
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.benchmarks.clevrer_humans import CLEVRER_HUMANS
from orchestration.benchmarks.comphy import COMPHY, COMPHY_INFERRED
from orchestration.benchmarks.gqa import GQA
from orchestration.benchmarks.twin import TWIN

_IN_ORDER: tuple[Benchmark, ...] = (
    CLEVRER,
    COMPHY,
    COMPHY_INFERRED,
    BABI,
    CLEVRER_HUMANS,
    GQA,
    CONTROLLED,
    GQA_VISION,
    GQA_EXTRACTOR,
    ABLATIONS,
    TWIN,
    TWIN_DIRECT,
    TWIN_CONCORDIA,
)
BENCHMARKS: Mapping[str, Benchmark] = {benchmark.name: benchmark for benchmark in _IN_ORDER}
"""Every benchmark by name, in the order of the report."""
