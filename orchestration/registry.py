"""Every benchmark and study, by name, with what benchmarks share: sources, loggers, tables.

A new one is added here, and declared in a module of `orchestration/benchmarks/`.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestration.benchmarks import baselines
from orchestration.benchmarks.babi import BABI
from orchestration.benchmarks.benchmark import Benchmark, Explained, Interpreted, Logger, Source, Table
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.benchmarks.clevrer_humans import CLEVRER_HUMANS
from orchestration.benchmarks.comphy import COMPHY, COMPHY_INFERRED
from orchestration.benchmarks.gqa import GQA
from orchestration.benchmarks.perceived import PERCEIVED
from orchestration.benchmarks.twin import TWIN
from orchestration.studies.ablations import ABLATIONS
from orchestration.studies.ablations import STUDY as ABLATION_STUDY
from orchestration.studies.evidence import EVIDENCE
from orchestration.studies.questions import QUESTIONS
from orchestration.studies.reliability import RELIABILITY
from orchestration.studies.robustness import ROBUSTNESS
from orchestration.studies.study import Study

_IN_ORDER: tuple[Benchmark, ...] = (
    CLEVRER,
    PERCEIVED,
    COMPHY,
    COMPHY_INFERRED,
    BABI,
    CLEVRER_HUMANS,
    GQA,
    baselines.CONTROLLED,
    baselines.CONTROLLED_FACTS,
    baselines.GQA_VISION,
    baselines.GQA_EXTRACTOR,
    ABLATIONS,
    TWIN,
    baselines.TWIN_DIRECT,
    baselines.TWIN_REASONED,
    baselines.TWIN_WITH_SEARCH,
    baselines.TWIN_WITH_SUBSTRATE,
    baselines.TWIN_CONCORDIA,
)
BENCHMARKS: Mapping[str, Benchmark] = {benchmark.name: benchmark for benchmark in _IN_ORDER}
"""Every benchmark by name, in the order of the report."""
INTERPRETED: Mapping[str, Interpreted] = {
    benchmark.name: benchmark for benchmark in _IN_ORDER if isinstance(benchmark, Interpreted)
}
"""The benchmarks that the substrate answers, by name."""
EXPLAINED: Mapping[str, Explained] = {
    benchmark.name: benchmark for benchmark in _IN_ORDER if isinstance(benchmark, Explained)
}
"""The benchmarks whose answers have reasons, by name."""
SOURCES: Mapping[str, Source] = {benchmark.source.name: benchmark.source for benchmark in _IN_ORDER}
"""The sources of all cases, by name."""
LOGGERS: Mapping[str, Logger] = {one.logger.name: one.logger for one in INTERPRETED.values()}
"""The loggers of all logs, by name."""
TABLES: Mapping[str, Table] = {benchmark.table[0].name: benchmark.table[0] for benchmark in _IN_ORDER}
"""The tables of results, by name."""
MAIN = CLEVRER
"""The benchmark of the paper's first table, of which the report and the launch form speak first."""
STUDIES: tuple[Study, ...] = (ABLATION_STUDY, ROBUSTNESS, RELIABILITY, QUESTIONS, EVIDENCE)
"""The studies that have rows of their own."""
