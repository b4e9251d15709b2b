"""The graph of stages of each profile: its stages by name, each after the stages that it needs.

There are three graphs, and profiles share them; :func:`stages_in` gives the graph of a workspace:

- the paper's, of `sample`, `full`, `paper` and any profile without benchmarks of its own (:data:`STAGES`);
- the graph of the work beyond the paper, of the profile `beyond`;
- the graph on official files, of `real` and any profile whose data are real: the benchmarks whose files the
  profile names, without studies.

A graph is collected in this order: the stages of its benchmarks, tables, language models and studies; the
stages of other graphs that these need; last the report and what else describes all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import chain

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.benchmarks.benchmark import BEYOND, Benchmark, Interpreted, Table, belongs
from orchestration.benchmarks.real import MEASURED_ON, METHODS, REAL
from orchestration.registry import BENCHMARKS, INTERPRETED, STUDIES, TABLES
from orchestration.stage import Stage, Stages, in_order, needed
from orchestration.stages.benchmark_stages import answer_stage, log_stage, score_stage, source_stage
from orchestration.stages.model_stages import model_stages
from orchestration.stages.result_stages import describing_stages, result_stages
from orchestration.stages.study_stages import determinism_stage, study_stages
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import is_real
from substrate.base.errors import ParameterError


@cache
def _with_studies(names: tuple[str, ...], profile: str) -> Stages:
    """The stages of some benchmarks and of the profile's studies, with all stages that these need."""
    benchmarks = [BENCHMARKS[name] for name in names]
    computed = [*_answered(benchmarks), *result_stages(benchmarks, _tables(benchmarks, profile))]
    for benchmark in benchmarks:
        if isinstance(benchmark, LanguageModel):
            computed += model_stages(benchmark)
    for study in (study for study in STUDIES if belongs(study.profiles, profile)):
        computed += (*study_stages(study), *study.stages(study))
    if profile != BEYOND:
        computed.append(determinism_stage())
    # A study or a table may need stages of benchmarks that the profile lacks: robustness asks the paper's.
    others = in_order([*_answered(INTERPRETED.values()), *chain.from_iterable(map(study_stages, STUDIES))])
    there = {stage.name for stage in computed}
    lacking = {need for stage in computed for need in stage.needs} - there
    computed += (others[name] for name in needed(others, lacking) if name not in there)
    return in_order([*computed, *describing_stages(benchmarks, computed)])


def _tables(benchmarks: Collection[Benchmark], profile: str) -> Iterator[tuple[Table, list[Benchmark]]]:
    """Each table that some benchmarks fill, with these benchmarks."""
    for table in TABLES.values():
        members = [benchmark for benchmark in benchmarks if benchmark.table[0] == table]
        # The rows below a table are the paper's, and so their profiles show them.
        shown = replace(table, needs=(), beyond=(), note="") if profile == BEYOND else table
        if members:
            yield shown, members


def _answered(benchmarks: Collection[Benchmark]) -> Iterator[Stage]:
    """The stages of some benchmarks, from data to scores."""
    yield from map(source_stage, {of.source.name: of.source for of in benchmarks}.values())
    interpreted = [benchmark for benchmark in benchmarks if isinstance(benchmark, Interpreted)]
    yield from map(log_stage, {benchmark.logger.name: benchmark.logger for benchmark in interpreted}.values())
    yield from map(answer_stage, interpreted)
    yield from map(score_stage, benchmarks)


@cache
def _on_official_files(names: tuple[str, ...]) -> Stages:
    """The stages of some benchmarks on official files, without studies."""
    benchmarks = [BENCHMARKS[name] for name in names]
    computed = list(_answered(benchmarks))
    there = {stage.name for stage in computed}
    studied = (stage for study in STUDIES for stage in study_stages(study))
    trivial = [stage for stage in studied if stage.name in REAL.trivial and there.issuperset(stage.needs)]
    table = replace(REAL, trivial=tuple(stage.name for stage in trivial))
    of_methods = [benchmark for benchmark in benchmarks if benchmark.table[0].layout == "by variant"]
    tables = [(table, benchmarks), *([(METHODS, of_methods)] if of_methods else [])]
    computed += (*trivial, *result_stages(benchmarks, tables))
    # The parameters name the files that data are copied from, and those files may be packed in many ways.
    unpinned = partial(replace, pinned_by="nothing")
    computed = [unpinned(stage) if stage.pinned_by == "data.dvc" else stage for stage in computed]
    return in_order([*computed, *describing_stages(benchmarks, computed)])


def _names_in(profile: str) -> tuple[str, ...]:
    """The names of the benchmarks of a profile."""
    return tuple(name for name, of in BENCHMARKS.items() if of.profile(profile) == profile)


# The paper's graph.
STAGES: Stages = _with_studies(_names_in(""), "")
# The graph of the work beyond the paper; no stages if that is not installed.
BEYOND_STAGES: Stages = _with_studies(_names_in(BEYOND), BEYOND)
_ON_OFFICIAL_FILES = tuple(name for name, benchmark in BENCHMARKS.items() if MEASURED_ON in benchmark.about)
# The profiles that have a job, each with its graph; there a profile of official files has all benchmarks.
GRAPHS: Mapping[str, Stages] = {
    **dict.fromkeys(("sample", "full", "paper"), STAGES),
    BEYOND: BEYOND_STAGES,
    "real": _on_official_files(_ON_OFFICIAL_FILES),
}


def stages_in(workspace: Workspace) -> Stages:
    """The graph of a workspace's profile."""
    settings = workspace.settings
    names = _names_in(settings.profile)
    if not is_real(workspace):
        return _with_studies(names, settings.profile)
    read = {name for name in names if settings.data(BENCHMARKS[name].source.name).source == "real"}
    return _on_official_files(tuple(name for name in _ON_OFFICIAL_FILES if name in read))


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
    own = [name for name, of in stages.items() if of.benchmark == benchmark or name == f"tables/{benchmark}"]
    names = [name for name in own if not models.intersection(needed(stages, [name]))]
    if not names:
        there = [name for name in BENCHMARKS if f"{name}/scores" in stages]
        hint = f"Choose one of {', '.join(there)}"
        if known := BENCHMARKS.get(benchmark):
            hint = f"`--profile {known.profile(BEYOND)}` has it"
        raise ParameterError(f"no benchmark {benchmark!r}", where=("--only",), hint=hint)
    return needed(stages, names)
