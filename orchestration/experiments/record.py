"""The records of experiments, each in `experiments/NAME/` with the experiment's data and artifacts."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from orchestration.project import making, open_workspace, require_name
from orchestration.workspace.folders import EXPERIMENTS, Workspace
from substrate.base.errors import ParameterError
from substrate.base.inputs import NOT_JSON

RECORD = "experiment.json"


class Changed(msgspec.Struct, frozen=True):
    """A parameter that an experiment changes: its value in `params.yaml`, and its value in the experiment."""

    was: Any
    now: Any

    def __str__(self) -> str:
        was, now = (msgspec.json.encode(value).decode() for value in (self.was, self.now))
        return f"{was} -> {now}"


class Parent(msgspec.Struct, frozen=True):
    """The parent of an experiment: profile, commit in git, and SHA-256 of `params.yaml` and of the pins."""

    profile: str
    revision: str | None
    parameters: str
    pins: str | None


class Experiment(msgspec.Struct, frozen=True):
    """The parameters and inputs of an experiment.

    ``overrides`` are ``KEY=VALUE`` as given; ``changed`` lists the parameters that differ from the parent's.
    ``taken`` lists the stages whose outs are the parent's, byte for byte.
    """

    name: str
    parent: Parent
    overrides: Sequence[str]
    changed: Mapping[str, Changed]
    parameters: Mapping[str, Any]
    stages: Mapping[str, Literal["computed", "taken"]] = {}

    @property
    def changes(self) -> list[str]:
        """The changed parameters, each with its old and its new value as JSON."""
        return [f"{key}: {change}" for key, change in self.changed.items()]


def experiment_names(root: Path) -> list[str]:
    """The names of a project's experiments, sorted."""
    return sorted(path.parent.name for path in (root / EXPERIMENTS).glob(f"[!.]*/{RECORD}"))


def read_experiment(root: Path, name: str, argument: str = "NAME") -> Experiment:
    """Read an experiment by its name.

    Args:
        root: the project.
        name: the experiment's name.
        argument: the argument that an error names.

    Raises:
        ParameterError: no experiment has this name, or its record is damaged.
    """
    names = experiment_names(root)
    if name not in names:
        known = f"There are {', '.join(names)}" if names else "`reproduce --set KEY=VALUE` makes one"
        raise ParameterError(f"no experiment {name!r}", where=(argument,), hint=known)
    path = root / EXPERIMENTS / name / RECORD
    try:
        return msgspec.json.decode(path.read_bytes(), type=Experiment)
    except NOT_JSON as error:
        hint = f"`substrate experiment remove {name}` removes it; the same overrides make it again"
        raise ParameterError(f"is damaged: {error}", where=(path,), hint=hint) from error


def open_experiment(root: Path, name: str) -> Workspace:
    """Open the workspace of an experiment to read its results; raises errors as :func:`read_experiment`."""
    experiment = read_experiment(root, name)
    workspace = open_workspace(experiment.parent.profile, tuple(experiment.overrides))
    return replace(workspace, experiment=root / EXPERIMENTS / name)


def remove_experiment(root: Path, name: str) -> None:
    """Remove an experiment, or the remains of an interrupted run.

    Raises:
        ParameterError: there is no such experiment.
    """
    require_name(name, "NAME")
    left = [making(root, name), root / EXPERIMENTS / ".replies" / name]
    if name not in experiment_names(root) and not any(path.is_dir() for path in left):
        read_experiment(root, name)
    open_workspace().storage.remove(f"{EXPERIMENTS}/{name}")
    for path in (root / EXPERIMENTS / name, *left):
        if path.is_dir():
            shutil.rmtree(path)
