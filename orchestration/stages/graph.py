"""All stages: collected from the benchmarks and from the code that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.benchmarks.benchmark import Benchmark, Interpreted
from orchestration.benchmarks.real import MEASURED_ON, REAL
from orchestration.registry import BENCHMARKS, STUDIES, TABLES
from orchestration.stage import Stage, Stages, in_order, needed
from orchestration.stages.benchmark_stages import answer_stage, log_stage, score_stage, source_stage
from orchestration.stages.model_stages import model_stages
from orchestration.stages.result_stages import describing_stages, result_stages
from orchestration.stages.study_stages import determinism_stage, study_stages, table_stage
from orchestration.workspace.folders import Workspace
from orchestration.workspace.real import is_real
from substrate.base.errors import ParameterError


def _usual(benchmarks: list[Benchmark]) -> Stages:
    tables = [
        (table, [benchmark for benchmark in benchmarks if benchmark.table[0] == table])
        for table in TABLES.values()
    ]
    filled = [(table, of_it) for table, of_it in tables if of_it]
    computed = [*_answered(benchmarks), determinism_stage(), *result_stages(benchmarks, filled)]
    for benchmark in benchmarks:
        if isinstance(benchmark, LanguageModel):
            computed += model_stages(benchmark)
    for study in STUDIES:
        computed += study_stages(study)
        if study.shares:
            computed.append(table_stage(study, study.shares))
    return in_order([*computed, *describing_stages(benchmarks, computed)])


def _answered(benchmarks: Iterable[Benchmark]) -> Iterator[Stage]:
    """The stages of some benchmarks, from data to scores."""
    yield from map(
        source_stage, {benchmark.source.name: benchmark.source for benchmark in benchmarks}.values()
    )
    interpreted = [benchmark for benchmark in benchmarks if isinstance(benchmark, Interpreted)]
    yield from map(log_stage, {benchmark.logger.name: benchmark.logger for benchmark in interpreted}.values())
    yield from map(answer_stage, interpreted)
    yield from map(score_stage, benchmarks)


@cache
def _of(names: tuple[str, ...], real: bool) -> Stages:
    benchmarks = [BENCHMARKS[name] for name in names]
    if not real:
        return _usual(benchmarks)
    computed = list(_answered(benchmarks))
    there = {stage.name for stage in computed}
    studied = (stage for study in STUDIES for stage in study_stages(study))
    trivial = [stage for stage in studied if stage.name in REAL.trivial and there.issuperset(stage.needs)]
    table = replace(REAL, trivial=tuple(stage.name for stage in trivial))
    computed += (*trivial, *result_stages(benchmarks, [(table, benchmarks)]))
    # The parameters name the files that data are copied from, and those files may be packed in many ways.
    computed = [
        replace(stage, pinned_by="nothing") if stage.pinned_by == "data.dvc" else stage for stage in computed
    ]
    return in_order([*computed, *describing_stages(benchmarks, computed)])


def _belongs(benchmark: Benchmark, profile: str) -> bool:
    own = benchmark.profiles or benchmark.source.profiles
    return not own or profile in own


STAGES: Stages = _of(tuple(name for name, benchmark in BENCHMARKS.items() if _belongs(benchmark, "")), False)
"""The stages of a profile that has no benchmarks of its own, by name, each after its needs."""
OFFICIAL: Stages = _of(
    tuple(name for name, benchmark in BENCHMARKS.items() if MEASURED_ON in benchmark.about), True
)
"""The stages of a profile that has every official file."""
EVERY: Stages = in_order({**OFFICIAL, **STAGES}.values())
"""The stages of every profile."""


def stages_in(workspace: Workspace) -> Stages:
    """The stages of the current profile. A profile of official files has the benchmarks whose files it names,
    and no studies; any other has every benchmark that is not reserved for some profiles.
    """
    settings, real = workspace.settings, is_real(workspace)
    names = (
        name
        for name, benchmark in BENCHMARKS.items()
        if _belongs(benchmark, settings.profile)
        and (
            not real
            or (MEASURED_ON in benchmark.about and settings.data(benchmark.source.name).source == "real")
        )
    )
    return _of(tuple(names), real)


def _is_of(stage: str, benchmark: str) -> bool:
    """Tell whether a stage belongs to a benchmark, or is its table.

    >>> [_is_of(stage, "babi") for stage in ("babi/scores", "tables/babi", "robustness/babi")]
    [True, True, False]
    """
    return stage.startswith(f"{benchmark}/") or stage == f"tables/{benchmark}"


def stages_of(benchmark: str | None, stages: Stages = STAGES) -> list[str]:
    """The stages of a benchmark and all stages that they need, or every stage, in order.

    Tables and comparisons with language models are left to the whole run.

    Args:
        stages: the stages of the profile.

    Raises:
        ParameterError: the profile has no such benchmark.
    """
    if benchmark is None:
        return list(stages)
    models = {f"{name}/answers" for name, other in BENCHMARKS.items() if other.by_model and name != benchmark}
    own = [name for name in stages if _is_of(name, benchmark)]
    names = [name for name in own if not models.intersection(needed(stages, [name]))]
    if not names:
        there = [name for name in BENCHMARKS if f"{name}/scores" in stages]
        raise ParameterError(
            f"no benchmark {benchmark!r}", where=("--only",), hint=f"Choose one of {', '.join(there)}"
        )
    return needed(stages, names)
