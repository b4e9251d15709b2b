"""Every benchmark and study by name, with the sources, loggers and tables that benchmarks share.

Declare a new benchmark in a module of `orchestration/benchmarks/` and add it here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from orchestration.base.beyond import beyond
from orchestration.benchmarks import babi, baselines, clevrer, comphy, gqa, twin
from orchestration.benchmarks.benchmark import Benchmark, Explained, Interpreted
from orchestration.studies import ablations
from orchestration.studies.study import Study

# The benchmarks in the order of the report. Those of `research` are given by name and left out if absent.
_BENCHMARKS: tuple[Benchmark | str, ...] = (
    clevrer.CLEVRER,
    "research.benchmarks.clevrer_validation:CLEVRER_VALIDATION",
    "research.benchmarks.perceived:PERCEIVED",
    "research.benchmarks.perceived_unseen:PERCEIVED_ASIDE",
    "research.benchmarks.perceived_unseen:PERCEIVED_WORLDS",
    comphy.COMPHY,
    "research.benchmarks.comphy_inferred:COMPHY_INFERRED",
    babi.BABI,
    "research.benchmarks.babi_10k:BABI_10K",
    "research.benchmarks.clevrer_humans:CLEVRER_HUMANS",
    gqa.GQA,
    "research.benchmarks.gqa_programs:GQA_PROGRAMS",
    "research.benchmarks.gqa_scenes:GQA_SCENES",
    "research.benchmarks.truths:DESCRIPTIVE",
    "research.benchmarks.truths:FROM_TRUTH",
    "research.benchmarks.foretold:FUTURE",
    "research.benchmarks.met:MET",
    "research.benchmarks.agreement:AGREEMENT",
    baselines.CONTROLLED,
    "research.benchmarks.readers:CONTROLLED_FACTS",
    baselines.GQA_VISION,
    baselines.GQA_EXTRACTOR,
    ablations.ABLATIONS,
    twin.TWIN,
    baselines.TWIN_DIRECT,
    "research.benchmarks.readers:TWIN_REASONED",
    "research.benchmarks.readers:TWIN_WITH_SEARCH",
    "research.benchmarks.readers:TWIN_WITH_SUBSTRATE",
    baselines.TWIN_CONCORDIA,
)
_STUDIES: tuple[Study | str, ...] = (
    ablations.STUDY,
    "research.studies.robustness:ROBUSTNESS",
    "research.studies.reliability:RELIABILITY",
    "research.studies.questions:QUESTIONS",
    "research.studies.evidence:EVIDENCE",
)
# Makers of stages that describe all others, by name: each takes the benchmarks and the described stages.
STAGES_BEYOND = ("research.exporters.prov:prov_stage",)
T = TypeVar("T")
B = TypeVar("B", bound=Benchmark)


def _here(declared: Iterable[T | str]) -> Iterable[T]:
    """Yield the installed declarations."""
    for entry in declared:
        value: Any = beyond(entry) if isinstance(entry, str) else entry
        if value is not None:
            yield value


_IN_ORDER: tuple[Benchmark, ...] = tuple(_here(_BENCHMARKS))
_BY_NAME = (entry for entry in (*_BENCHMARKS, *_STUDIES) if isinstance(entry, str))
_MISSING = (entry.rpartition(".")[2] for entry in _BY_NAME if beyond(entry) is None)
# The benchmarks, studies and sources that are not installed, by their keys in `params.yaml`. A source that
# several benchmarks share has the name of their module.
ABSENT = frozenset(name.lower() for entry in _MISSING for name in entry.split(":"))


def _by_name(kind: type[B]) -> Mapping[str, B]:
    return {benchmark.name: benchmark for benchmark in _IN_ORDER if isinstance(benchmark, kind)}


# Every benchmark by name, in the order of the report.
BENCHMARKS = _by_name(Benchmark)
# The benchmarks that the substrate answers, by name.
INTERPRETED = _by_name(Interpreted)
# The benchmarks whose answers have reasons, by name.
EXPLAINED = _by_name(Explained)
# The sources of all cases, by name.
SOURCES = {benchmark.source.name: benchmark.source for benchmark in _IN_ORDER}
# The loggers of all logs, by name.
LOGGERS = {benchmark.logger.name: benchmark.logger for benchmark in INTERPRETED.values()}
# The tables of results, by name.
TABLES = {benchmark.table[0].name: benchmark.table[0] for benchmark in _IN_ORDER}
# The studies, each with its own rows.
STUDIES: tuple[Study, ...] = tuple(_here(_STUDIES))
