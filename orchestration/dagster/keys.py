"""The names of stages in Dagster: the keys, groups and tags of assets.

Dagster's assets are the stages of all profiles side by side, and profiles share stages. So an asset belongs
to the home of its stage: the first profile that has it (:func:`home_of`). This need not be the default
profile of ``params.yaml``. A stage that needs other stages in another profile has an asset of its own there
(:data:`OWN_ASSETS`).

The history of an asset shows the results of its stage's home. A run that is *apart*, in another profile or
as an experiment, materialises the same assets, but records its results under other keys.
"""

from __future__ import annotations

from dataclasses import replace

import dagster as dg

from orchestration.benchmarks.benchmark import BEYOND
from orchestration.registry import BENCHMARKS, SOURCES, STUDIES
from orchestration.stage import Stage, Stages, in_order
from orchestration.stages.graph import GRAPHS, STAGES, stages_in
from orchestration.workspace.folders import Workspace

RESULTS = "results"
# The stages of all profiles, each as in its home.
EVERY: Stages = in_order({**GRAPHS["real"], **GRAPHS[BEYOND], **STAGES}.values())
# By `PROFILE/STAGE`, the stages that need other stages in that profile than in their home.
OWN_ASSETS: Stages = {
    f"{profile}/{name}": replace(stage, profile=profile)
    for profile, stages in GRAPHS.items()
    for name, stage in stages.items()
    if set(stage.needs) != set(EVERY[name].needs)
}


def home_of(stage: str) -> str:
    """Return the home of a stage: the first profile that has it, in the order of ``GRAPHS``.

    >>> [home_of(stage) for stage in ("clevrer/scores", "robustness/babi", "babi_10k/scores")]
    ['sample', 'beyond', 'real']
    """
    return next((profile for profile, stages in GRAPHS.items() if stage in stages), "")


def box_of(stage: str) -> str:
    """Return the name of a stage's box in the graph, which shows only the last part of a key.

    >>> box_of("clevrer/scores")
    'clevrer_scores'
    """
    return stage.replace("/", "_")


def asset_key(stage: str, profile: str = "") -> dg.AssetKey:
    """Return the key of the asset that a run of a profile materialises for a stage."""
    return dg.AssetKey([profile, box_of(stage)] if f"{profile}/{stage}" in OWN_ASSETS else box_of(stage))


def is_apart(workspace: Workspace) -> bool:
    """Tell whether a run is apart: it is an experiment, or some of its stages have another home."""
    profile = workspace.settings.profile
    return bool(workspace.experiment) or any(home_of(stage) != profile for stage in stages_in(workspace))


def recorded_key(stage: str, workspace: Workspace) -> dg.AssetKey:
    """Return the key under which a run apart records a stage, so that pinned results have a history alone."""
    if workspace.experiment:
        return dg.AssetKey(["experiments", workspace.experiment.name, box_of(stage)])
    profile = workspace.settings.profile
    return asset_key(stage) if profile == home_of(stage) else dg.AssetKey([profile, box_of(stage)])


def group_of(stage: Stage) -> str:
    """Return the group of a stage in the UI: its study, its benchmark's family, or the results.

    Sources whose names begin with the same word are a family. A language model's stages are a group beside
    it, since many models may answer.

    >>> [group_of(EVERY[name]) for name in ("clevrer/scores", "ablations/scores", "twin_direct/answers")]
    ['clevrer', 'ablations', 'twin_models']
    """
    if stage.profile:
        return f"{RESULTS}_{stage.profile}"
    first = stage.name.partition("/")[0]
    if first in {study.name for study in STUDIES}:
        return first
    benchmark = BENCHMARKS.get(first)
    source = benchmark.source.name if benchmark else first
    if source not in SOURCES:
        return RESULTS
    family = source.partition("_")[0]
    family = family if family in SOURCES else source
    if benchmark and benchmark.by_model:
        family += f"_models_{BEYOND}" if home_of(stage.name) == BEYOND else "_models"
    return family


def tags_of(stage: Stage) -> dict[str, str]:
    """Return the search tags of a stage: its step and, if it belongs to a benchmark, the benchmark.

    >>> from orchestration.stages.graph import STAGES
    >>> [tags_of(STAGES[name]) for name in ("babi/scores", "tables/clevrer", "tables/transfer")]
    [{'step': 'scores', 'benchmark': 'babi'}, {'step': 'tables', 'benchmark': 'clevrer'}, {'step': 'tables'}]
    """
    first, _, second = stage.name.partition("/")
    of, step = (first, second) if first in BENCHMARKS else (second, first)
    return {"step": step, **({"benchmark": of} if of in BENCHMARKS else {})}
