"""Experiments, each in `experiments/NAME/` with its record, data and artifacts.

An experiment is made in a hidden folder, which becomes visible when the whole run has succeeded. If a run is
killed, the next run of the same experiment continues in the hidden folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from orchestration.base.git import git
from orchestration.ledger.digests import digests
from orchestration.ledger.manifest import Made
from orchestration.ledger.stage_records import fingerprint, keep_records, read_records
from orchestration.pins.paths import pin_name
from orchestration.project import changed_parameters, making, open_workspace, require_name
from orchestration.settings import PARAMETERS_FILE
from orchestration.stage import Stage, Stages
from orchestration.workspace.folders import EXPERIMENTS, Workspace
from substrate.base.errors import ParameterError
from substrate.base.files import replacing, sha256, write_json
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
    ``parameters`` are all of its parameters. ``stages`` says for each stage whether its outs were
    computed, or taken from the parent, byte for byte.
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
        read_experiment(root, name)  # raises: there is none
    _clear_tables(open_workspace(), name)
    for path in (root / EXPERIMENTS / name, *left):
        if path.is_dir():
            shutil.rmtree(path)


def begin(workspace: Workspace, overrides: Sequence[str]) -> None:
    """Make the hidden folder of an experiment, with its record.

    An experiment of the same name, parameters and parent is continued, whether it is finished or was
    interrupted.

    Raises:
        ParameterError: an experiment of this name has other parameters.
    """
    folder, final = _hidden_folder(workspace), _final_folder(workspace)
    changed = {key: Changed(*values) for key, values in changed_parameters(workspace).items()}
    given, parameters = [text.strip() for text in overrides], msgspec.to_builtins(workspace.settings)
    made = Experiment(folder.name, _parent(workspace), given, changed, parameters)
    ours = msgspec.json.decode(msgspec.json.encode(made), type=Experiment)  # as its record will read
    if (known := _record_in(final)) and known.changed != ours.changed:
        others = ", ".join(f"{key}={change.now}" for key, change in known.changed.items())
        hint = f"Give another --name, or `substrate experiment remove {folder.name}`"
        where = "--name", folder.name
        raise ParameterError(f"is the name of another experiment ({others})", where=where, hint=hint)
    if _continues(_record_in(folder), ours):
        return
    with replacing(folder) as fresh:
        if _continues(known, ours):
            copy_to(final, fresh, linked=True)
        else:
            fresh.mkdir()
        with replacing(fresh / RECORD) as record:
            write_json(record, ours, indent=1)


def take(
    stage: Stage, workspace: Workspace, now: Made, theirs: Mapping[str, Made] | None = None
) -> Made | None:
    """Take a stage's outs from the parent, if they were made from the very same code, parameters and inputs.

    Args:
        stage: the stage whose outs are taken.
        workspace: the workspace of the unfinished experiment.
        now: the record that the outs would have if the experiment computed them.
        theirs: the parent's records, if they were read already.

    Returns:
        The fingerprint of the taken outs; ``None`` if the parent has no such outs.
    """
    parent = replace(workspace, experiment=None)
    record = (read_records(parent) if theirs is None else theirs).get(stage.name)
    if stage.always or record is None or record.basis != now.basis:
        return None
    outs = digests(parent.paths(stage.outs))
    if outs != record.outs:
        return None
    for out in stage.outs:
        with replacing(workspace.path(out)) as fresh:
            copy_to(parent.path(out), fresh, linked=stage.pinned_by == "data.dvc")
    return msgspec.structs.replace(now, outs=outs, files=record.files, lines=record.lines)


def take_needs(stages: Stages, stage: Stage, workspace: Workspace) -> None:
    """Take the inputs of a stage from the parent if the run does not make them and the experiment lacks them.

    Raises:
        ParameterError: the parent lacks an input, or the experiment's parameters change it.
    """
    for need in (stages[name] for name in stage.needs):
        if need.name in read_records(workspace):
            continue
        take_needs(stages, need, workspace)
        made = take(need, workspace, fingerprint(stages, need, workspace))
        if made is None:
            what = f"{need.name} differs in this experiment, or was never made"
            hint = f"Materialize it and what it needs: `substrate reproduce --only {need.benchmark}` does"
            raise ParameterError(what, where=(stage.name,), hint=hint)
        keep_records(workspace, {need.name: made})


def finish(workspace: Workspace) -> None:
    """Move an experiment that succeeded to its final place, replacing an experiment of the same name."""
    folder = _hidden_folder(workspace)
    if not folder.is_dir():
        return
    ours, theirs = read_records(workspace), read_records(replace(workspace, experiment=None))
    stages: dict[str, Literal["computed", "taken"]] = {
        name: "taken" if ours[name].repeats(theirs.get(name)) else "computed" for name in sorted(ours)
    }
    record = msgspec.json.decode((folder / RECORD).read_bytes(), type=Experiment)
    with replacing(folder / RECORD) as fresh:
        write_json(fresh, msgspec.structs.replace(record, stages=stages), indent=1)
    _clear_tables(workspace, _hidden_folder(workspace).name)
    with replacing(_final_folder(workspace)) as fresh:
        folder.rename(fresh)


def drop(workspace: Workspace) -> None:
    """Delete an unfinished experiment, except for the replies of language models, which cost money."""
    _clear_tables(workspace, _hidden_folder(workspace).name)
    if _hidden_folder(workspace).is_dir():
        shutil.rmtree(_hidden_folder(workspace))


def copy_to(source: Path, target: Path, *, linked: bool) -> None:
    """Copy a file or folder, or hard-link its files if the disk can; no stage changes files in place."""
    copy = _link if linked else shutil.copy2
    if source.is_dir():
        shutil.copytree(source, target, copy_function=copy, dirs_exist_ok=True)
    else:
        copy(source, target)


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _hidden_folder(workspace: Workspace) -> Path:
    """The hidden folder of an experiment in the making."""
    assert workspace.experiment
    return workspace.experiment


def _final_folder(workspace: Workspace) -> Path:
    """The folder of the finished experiment."""
    return workspace.root / EXPERIMENTS / _hidden_folder(workspace).name


def _clear_tables(workspace: Workspace, name: str) -> None:
    """Delete an experiment's tables; they are made again when needed. A shared storage keeps all."""
    if not workspace.storage.shared:
        workspace.storage.remove(f"{EXPERIMENTS}/{name}")


def _record_in(folder: Path) -> Experiment | None:
    try:
        return msgspec.json.decode((folder / RECORD).read_bytes(), type=Experiment)
    except (OSError, *NOT_JSON):
        return None


def _continues(known: Experiment | None, ours: Experiment) -> bool:
    """Tell whether the existing experiment has the same parameters and the same parent."""
    return known is not None and msgspec.structs.replace(known, stages={}) == ours


def _parent(workspace: Workspace) -> Parent:
    root, profile = workspace.root, workspace.settings.profile
    pins = root / pin_name(profile)
    commit = (git(root, "rev-parse", "--verify", "--quiet", "HEAD") or b"").decode().strip()
    pinned = sha256(pins) if pins.is_file() else None
    return Parent(profile, commit or None, sha256(root / PARAMETERS_FILE), pinned)
