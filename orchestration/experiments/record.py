"""The records of experiments; each lies in `experiments/NAME/` beside data and artifacts."""

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
    """A parameter that an experiment changes: what `params.yaml` said, and what it is here."""

    was: Any
    now: Any

    def __str__(self) -> str:
        was, now = (msgspec.json.encode(value).decode() for value in (self.was, self.now))
        return f"{was} -> {now}"


class Parent(msgspec.Struct, frozen=True):
    """The parent of an experiment: profile, commit if in git, SHA-256 of `params.yaml` and of the pins."""

    profile: str
    revision: str | None
    parameters: str
    pins: str | None


class Experiment(msgspec.Struct, frozen=True):
    """The parameters and inputs of an experiment.

    ``overrides`` are ``KEY=VALUE`` as given, ``changed`` the parameters that are not as in the parent. A
    stage is ``taken`` where it is the parent's, byte for byte.
    """

    name: str
    parent: Parent
    overrides: Sequence[str]
    changed: Mapping[str, Changed]
    parameters: Mapping[str, Any]
    stages: Mapping[str, Literal["computed", "taken"]] = {}

    @property
    def changes(self) -> list[str]:
        """The parameters that it changes, each with what it was and is, as JSON."""
        return [f"{key}: {change}" for key, change in self.changed.items()]


def experiment_names(root: Path) -> list[str]:
    """The names of a project's experiments, sorted."""
    return sorted(path.parent.name for path in (root / EXPERIMENTS).glob(f"[!.]*/{RECORD}"))


def list_experiments(root: Path) -> list[Experiment]:
    """A project's experiments by name."""
    return [read_experiment(root, name) for name in experiment_names(root)]


def read_experiment(root: Path, name: str, argument: str = "NAME") -> Experiment:
    """An experiment by its name.

    Args:
        root: the project.
        name: the experiment's.
        argument: what an error calls the name.

    Raises:
        ParameterError: there is none of this name, or its record is damaged.
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
    """The workspace of an experiment, to read its results; errors as :func:`read_experiment`."""
    experiment = read_experiment(root, name)
    workspace = open_workspace(experiment.parent.profile, tuple(experiment.overrides))
    return replace(workspace, experiment=root / EXPERIMENTS / name)


def remove_experiment(root: Path, name: str) -> None:
    """Remove an experiment, or what an interrupted run left of one.

    Raises:
        ParameterError: there is nothing of this name.
    """
    require_name(name, "NAME")
    left = [making(root, name), root / EXPERIMENTS / ".replies" / name]
    if name not in experiment_names(root) and not any(path.is_dir() for path in left):
        read_experiment(root, name)
    open_workspace().storage.remove(f"{EXPERIMENTS}/{name}")
    for path in (root / EXPERIMENTS / name, *left):
        if path.is_dir():
            shutil.rmtree(path)
