"""Every stage there is: collected from the benchmarks and from what shows them."""

from __future__ import annotations

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.pipeline.benchmark_stages import answer_stage, log_stage, score_stage, source_stage
from orchestration.pipeline.model_stages import model_stages
from orchestration.pipeline.result_stages import describing_stages, result_stages
from orchestration.pipeline.study_stages import determinism_stage, study_stages, table_stage
from orchestration.registry import BENCHMARKS, INTERPRETED, LOGGERS, SOURCES, STUDIES
from orchestration.stage import Stages, in_order, needed
from substrate.base.errors import ParameterError


def _all() -> Stages:
    benchmarks = list(BENCHMARKS.values())
    computed = [
        *map(source_stage, SOURCES.values()),
        *map(log_stage, LOGGERS.values()),
        *map(answer_stage, INTERPRETED.values()),
        *map(score_stage, benchmarks),
        determinism_stage(),
        *result_stages(benchmarks),
    ]
    for benchmark in benchmarks:
        if isinstance(benchmark, LanguageModel):
            computed += model_stages(benchmark)
    for study in STUDIES:
        computed += study_stages(study)
        if study.shares:
            computed.append(table_stage(study, study.shares))
    return in_order([*computed, *describing_stages(benchmarks, computed)])


STAGES: Stages = _all()
"""Every stage by name, each after those that it needs."""


def _is_of(stage: str, benchmark: str) -> bool:
    """Tell whether a stage is one of a benchmark's own, or its table.

    >>> [_is_of(stage, "babi") for stage in ("babi/scores", "tables/babi", "robustness/babi")]
    [True, True, False]
    """
    return stage.startswith(f"{benchmark}/") or stage == f"tables/{benchmark}"


def stages_of(benchmark: str | None) -> list[str]:
    """The stages of one benchmark and all they need, or every stage, in order.

    A table or a comparison that holds it against language models is left to the whole run.

    Raises:
        ParameterError: there is no such benchmark.
    """
    if benchmark is None:
        return list(STAGES)
    models = {f"{name}/answers" for name, one in BENCHMARKS.items() if one.by_model and name != benchmark}
    own = [name for name in STAGES if _is_of(name, benchmark)]
    names = [name for name in own if not models.intersection(needed(STAGES, [name]))]
    if not names:
        raise ParameterError(
            f"no benchmark {benchmark!r}", where=("--only",), hint=f"Choose one of {', '.join(BENCHMARKS)}"
        )
    return needed(STAGES, names)
