"""A stage: an asset whose outputs are files, described once for Dagster and DVC alike."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from graphlib import TopologicalSorter
from typing import Any

import dagster as dg
import msgspec

from orchestration.files import clear_leftovers, replacing, sha256
from orchestration.pins.records import (
    Fingerprint,
    code_files,
    code_version,
    parameter,
    read_record,
    record_path,
)
from orchestration.pipeline.previews import preview
from orchestration.pipeline.progress import advance, logging_to
from orchestration.pipeline.resources import WorkspaceResource
from orchestration.workspace import Workspace

Run = Callable[..., dict[str, Any]]
"""Takes the workspace and a fresh path for each out; gives metadata for the materialisation."""
OWNERS = ["team:reproduction"]


class Stage(msgspec.Struct, frozen=True):
    """What a stage reads and makes; paths may hold ``{profile}``."""

    name: str
    outs: list[str]
    needs: list[str]
    parameters: list[str]
    code: list[str]
    pinned_by: str


STAGES: dict[str, Stage] = {}
"""Every declared stage by name."""


def ordered_stages() -> list[Stage]:
    """Every stage, each after those it needs, else by name."""
    # Declares them; at the top it would be a circle
    from orchestration.pipeline import assets as _assets  # noqa: F401

    order = TopologicalSorter({name: sorted(STAGES[name].needs) for name in sorted(STAGES)})
    return [STAGES[name] for name in order.static_order()]


def stage(
    name: str,
    *,
    outs: Sequence[str],
    needs: Sequence[str] = (),
    parameters: Sequence[str] = (),
    code: Sequence[str],
    kinds: Sequence[str] = (),
    pinned_by: str = "dvc.yaml",
    always: bool = False,
) -> Callable[[Run], dg.AssetsDefinition]:
    """Make an asset of a function that writes files.

    The stage is skipped, and says so, where its code, parameters, inputs and outs are what they were.

    Args:
        name: the asset's key, ``benchmark/stage``.
        outs: files or folders it makes; each appears whole or not at all.
        needs: names of the stages whose outs it reads.
        parameters: keys of ``params.yaml`` the outs depend on.
        code: files or folders of this project the outs depend on.
        kinds: what it runs on, for the UI.
        pinned_by: ``data.dvc`` for input data, ``dvc.yaml`` for results, ``nothing`` for what describes a
            run: its bytes follow the code.
        always: run it each time: what it reads lies outside the project, where no fingerprint reaches.
    """
    declared = STAGES[name] = Stage(name, list(outs), list(needs), list(parameters), list(code), pinned_by)

    def decorate(run: Run) -> dg.AssetsDefinition:
        @dg.asset(
            key=name.split("/"),
            deps=[dg.AssetKey(need.split("/")) for need in needs],
            group_name=name.split("/")[0],
            kinds={"python", *kinds},
            description=run.__doc__,
            owners=OWNERS,
            code_version=code_version(tuple(code)),
        )
        def materialize(workspace: WorkspaceResource) -> dg.MaterializeResult[Any]:
            opened, log = workspace.open(), dg.AssetExecutionContext.get().log.info
            paths = [opened.path(out) for out in outs]
            advance(name, 0, 1)
            for path in paths:
                clear_leftovers(path)
            record = record_path(opened, name)
            before = fingerprint(declared, opened)
            if not always and not workspace.force and read_record(record) == before:
                metadata: dict[str, Any] = {}
                note = {"skipped": "code, parameters, inputs and outputs are unchanged"}
                log(f"{name}: skipped: {note['skipped']}")
            else:
                note = {}
                with ExitStack() as stack:
                    stack.enter_context(logging_to(log))
                    metadata = run(opened, *(stack.enter_context(replacing(path)) for path in paths))
                before = fingerprint(declared, opened)
                with replacing(record) as fresh:
                    fresh.write_bytes(msgspec.json.encode(before))
            advance(name, 1, 1)
            version = hashlib.sha256("".join(before.outs.values()).encode()).hexdigest()
            inputs = [opened.path(out) for need in needs for out in STAGES[need].outs]
            known = {
                "profile": opened.settings.profile,
                "parameters": before.parameters,
                "files": before.outs,
            }
            return dg.MaterializeResult(
                metadata={**note, **preview(paths, inputs), **metadata, **known},
                data_version=dg.DataVersion(version),
            )

        return materialize

    return decorate


def fingerprint(stage: Stage, workspace: Workspace) -> Fingerprint:
    """What a stage's outs would be made from now, and what those that are there are."""
    profile = workspace.settings.profile
    # As JSON gives them back, so that a record that was read equals one that was computed.
    parameters = msgspec.json.decode(
        msgspec.json.encode(
            {key.format(profile=profile): parameter(workspace, key) for key in stage.parameters},
            order="sorted",
        )
    )
    inputs = [out for need in stage.needs for out in STAGES[need].outs]
    hashes = [
        {out.format(profile=profile): sha256(path) for out in outs if (path := workspace.path(out)).exists()}
        for outs in (inputs, stage.outs)
    ]
    return Fingerprint(code_files(tuple(stage.code)), parameters, *hashes)
