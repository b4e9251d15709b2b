"""A stage: outputs that are files, and the function that makes them; Dagster runs it and DVC pins it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from orchestration.code import Declared, code_of

SERVER = "SUBSTRATE_MODEL_URL"
"""The variable that names the server of a language model."""
Run = Callable[..., dict[str, Any]]
"""Takes the workspace and a fresh path for each out; gives metadata for the materialisation."""


@dataclass(frozen=True)
class Stage(Declared):
    """A stage: what it reads, makes and runs; paths may hold ``{profile}``.

    Attributes:
        name: ``benchmark/step``; the asset's key.
        outs: files or folders it makes; each appears whole or not at all.
        run: makes them.
        about: what it does, for the UI.
        needs: names of the stages whose outs it reads.
        parameters: keys of ``params.yaml`` that its outs depend on.
        functions: what ``run`` calls beside what its own text refers to, in workers for instance.
        describes: stages whose code it depends on too, since it says something about it.
        kinds: what it runs on, for the UI.
        pinned_by: ``data.dvc`` for input data, ``dvc.yaml`` for results, ``nothing`` for what describes a run
            and is not pinned, because the output changes with any code change.
        asks: it asks a server where one is named, and what it makes may grow then.
        shown: those of its outs that other stages read; all where it names none.
        outside: the files outside the project that it reads in a workspace; their bytes count as inputs.
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
    asks: bool = False
    shown: tuple[str, ...] = ()
    outside: Callable[[Any], Mapping[str, Path]] | None = None

    @cached_property
    def code(self) -> Mapping[str, str]:
        """The files of the project that its outs depend on, sorted, each with a short hash of what they reach
        in it.
        """
        return code_of(*self.calls)

    @property
    def always(self) -> bool:
        """True where it must run though nothing that it reads has changed: a server may answer more."""
        return self.asks and bool(os.environ.get(SERVER))

    @property
    def calls(self) -> tuple[Callable[..., Any], ...]:
        """Its functions, and those of the stages that it describes."""
        return self.run, *self.functions, *(call for stage in self.describes for call in stage.calls)

    @property
    def benchmark(self) -> str:
        """The first part of its name."""
        return self.name.partition("/")[0]


Stages = Mapping[str, Stage]
"""Stages by name, each after those that it needs."""


def in_order(stages: Iterable[Stage]) -> dict[str, Stage]:
    """Stages by name, each after those it needs, else by name."""
    named = {stage.name: stage for stage in stages}
    order = TopologicalSorter({name: sorted(named[name].needs) for name in sorted(named)})
    return {name: named[name] for name in order.static_order()}


def needed(stages: Stages, names: Iterable[str]) -> list[str]:
    """Some stages and all that they need, in order."""
    wanted = set(names)
    for name in reversed(list(stages)):
        if name in wanted:
            wanted.update(stages[name].needs)
    return [name for name in stages if name in wanted]


def computable(stages: Stages, absent: Collection[str]) -> Stages:
    """Those of some stages that need none of some sources' data."""
    lacking = {f"{source}/dataset" for source in absent}
    names = (name for name in stages if not lacking.intersection(needed(stages, [name])))
    return {name: stages[name] for name in names} if lacking else stages


def inputs_of(stages: Stages, stage: Stage) -> list[str]:
    """The paths that a stage reads."""
    return [out for need in stage.needs for out in stages[need].shown or stages[need].outs]
