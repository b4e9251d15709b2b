"""The record of a stage's run: read from the ledger, kept in it, and as a run would leave it now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from orchestration.ledger.digests import digests, with_details
from orchestration.ledger.environment import environment_of
from orchestration.ledger.manifest import LEDGER, Made, changing, read_manifest
from orchestration.settings import PARAMETERS_FILE, value_at
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import table_sums
from substrate.base.files import sha256


def fingerprint(stages: Stages, stage: Stage, workspace: Workspace) -> Made:
    """Return the record that a stage would leave now: the inputs of its outs, and the existing outs."""
    root, outside = workspace.root, stage.outside(workspace).values() if stage.outside else ()
    # A file inside the project is named by its relative path, independent of the project's location.
    named = {str(path.relative_to(root) if path.is_relative_to(root) else path): path for path in outside}
    keys = [key.format(profile=workspace.settings.profile) for key in stage.parameters]
    return Made(
        outs=digests(workspace.paths(stage.outs)),
        code=dict(stage.code),
        parameters={key: value_at(workspace.settings, key) for key in sorted(keys)},
        inputs=digests(workspace.paths(inputs_of(stages, stage)) | named),
        environment=environment_of(stage.code),
        needs=list(stage.needs),
    )


def ledger_of(workspace: Workspace) -> Path:
    """Return the folder of a workspace's ledger."""
    return workspace.path(LEDGER)


def read_records(workspace: Workspace) -> dict[str, Made]:
    """Read the record of each stage of a profile from the ledger."""
    return read_manifest(ledger_of(workspace)).stages


def keep_records(workspace: Workspace, records: Mapping[str, Made]) -> None:
    """Keep in the ledger the records of the stages of a run, with the existing tables."""
    storage = workspace.storage.own_folder
    paths = {stage: {out: workspace.path(out) for out in made.outs} for stage, made in records.items()}
    whole = {stage: with_details(made, paths[stage]) for stage, made in records.items()}
    made_now = {out for made in whole.values() for out in made.outs}
    with changing(ledger_of(workspace)) as manifest:
        # A stage of another name that made one of these outs is no longer its maker.
        others = {name: made for name, made in manifest.stages.items() if made_now.isdisjoint(made.outs)}
        manifest.stages = others | whole
        if storage and not workspace.experiment:
            there = table_sums(storage, workspace.settings.profile)
            # Replaced tables are forgotten with their benchmark's folder; lost tables stay recorded.
            replaced, known = {Path(path).parts[:3] for path in there}, manifest.tables.items()
            lost = {path: was for path, was in known if Path(path).parts[:3] not in replaced}
            manifest.tables = there | lost


def keep_parameters(workspace: Workspace) -> None:
    """Keep in the ledger the hash of `params.yaml` of a run without drift."""
    with changing(ledger_of(workspace)) as manifest:
        manifest.beside[PARAMETERS_FILE] = sha256(workspace.root / PARAMETERS_FILE)
