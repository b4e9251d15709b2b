"""A stage: output files and the function that makes them. Dagster runs stages, and DVC keeps their files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from orchestration.code import Declared, code_of
from substrate.baselines.parameters import MODEL_URL

# From the workspace and a new path for each out to the metadata of the materialisation.
Run = Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class Stage(Declared):
    """A stage: its inputs, its outs and its function; paths may contain ``{profile}``.

    Attributes:
        name: ``benchmark/step``, which is also the asset's key.
        outs: the files or folders that it makes; each appears whole or not at all.
        run: the function that makes the outs.
        about: a description for the UI.
        needs: names of the stages whose outs it reads.
        parameters: keys of ``params.yaml`` that its outs depend on.
        functions: functions that ``run`` calls but does not name in its text, such as those in workers; their
            order is free, since only their code counts.
        describes: the stages that its outs describe; it depends on their code too.
        kinds: the tools that it runs on, for the UI.
        pinned_by: DVC's file that lists its outs, which git pins: ``data.dvc`` for input data, ``dvc.yaml``
            for results; ``nothing`` for outs that describe a run, since any change of the code changes them.
        asks_server: true if it asks a server when one is set, so that its outs may grow.
        shown: the outs that other stages read; empty for all outs.
        outside: the files outside the project that it reads; their bytes count as inputs.
        profile: the profile that it belongs to, if it has other needs there than in its home, which is the
            first profile that has it.
    """

    name: str
    outs: tuple[str, ...]
    run: Run
    about: str
    needs: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    functions: tuple[Callable[..., Any], ...] = ()
    describes: tuple[Stage, ...] = ()
    kinds: tuple[str, ...] = ()
    pinned_by: str = "dvc.yaml"
    asks_server: bool = False
    shown: tuple[str, ...] = ()
    outside: Callable[[Any], Mapping[str, Path]] | None = None
    profile: str = ""

    @cached_property
    def code(self) -> Mapping[str, str]:
        """The project's files that its outs depend on, sorted, each with a short hash of what it
        reaches in it.
        """
        return code_of(*self.calls)

    @property
    def always(self) -> bool:
        """True if it must run even if no input changed: a server may answer more."""
        return self.asks_server and bool(os.environ.get(MODEL_URL))

    @property
    def calls(self) -> tuple[Callable[..., Any], ...]:
        """Its functions, and the functions of the stages that it describes."""
        return self.run, *self.functions, *(call for stage in self.describes for call in stage.calls)

    @property
    def benchmark(self) -> str:
        """The first part of its name."""
        return self.name.partition("/")[0]


# Stages by name, each after the stages that it needs.
Stages = Mapping[str, Stage]


def in_order(stages: Iterable[Stage]) -> dict[str, Stage]:
    """Sort stages by name, but each after the stages that it needs."""
    named = {stage.name: stage for stage in stages}
    order = TopologicalSorter({name: sorted(named[name].needs) for name in sorted(named)})
    return {name: named[name] for name in order.static_order()}


def needed(stages: Stages, names: Iterable[str]) -> list[str]:
    """Some stages and all stages that they need, in order."""
    wanted = set(names)
    for name in reversed(list(stages)):
        if name in wanted:
            wanted.update(stages[name].needs)
    return [name for name in stages if name in wanted]


def computable(stages: Stages, absent: Collection[str]) -> Stages:
    """The stages that need no data of the absent sources."""
    lacking = {f"{source}/dataset" for source in absent}
    names = (name for name in stages if not lacking.intersection(needed(stages, [name])))
    return {name: stages[name] for name in names} if lacking else stages


def inputs_of(stages: Stages, stage: Stage) -> list[str]:
    """The paths that a stage reads."""
    return [out for need in stage.needs for out in stages[need].shown or stages[need].outs]
