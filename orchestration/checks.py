"""Asset checks: what must hold of an asset before anything is computed from it."""

from __future__ import annotations

import dagster as dg

from orchestration.assets.answers import twin_answers
from orchestration.assets.datasets import babi_dataset, clevrer_dataset, comphy_dataset, gqa_dataset, twin_dataset
from orchestration.drift import explain_data
from orchestration.pins import drift
from orchestration.resources import WorkspaceResource
from substrate.domains.smallville.twin import ARMS
from substrate.rows import decode


def _pinned(dataset: dg.AssetsDefinition) -> dg.AssetChecksDefinition:
    """A check that a dataset's folder is what data.dvc pins; passes for data that are not pinned: another profile, or other parameters."""

    @dg.asset_check(asset=dataset, name="pinned", blocking=True, description="The input data are those that data.dvc pins.")
    def check(workspace: WorkspaceResource) -> dg.AssetCheckResult:
        opened = workspace.open()
        folder = (opened.data / dataset.key.path[0]).relative_to(opened.root).as_posix()
        how = "" if workspace.overrides else drift(opened.root).get(folder, "")
        why = explain_data(opened, "/".join(dataset.key.path)) if how else ""
        advice = f"{folder} is {how} against data.dvc{f' ({why})' if why else ''}: restore the data, or pin them with `substrate accept REASON`"
        return dg.AssetCheckResult(passed=not how, description=advice if how else f"{folder} is what data.dvc pins, or is not pinned")

    return check


@dg.asset_check(asset=twin_answers, name="golds_agree", blocking=True, description="The substrate's replay and the oracle's SQL give the same answer on every arm.")
def golds_agree(workspace: WorkspaceResource) -> dg.AssetCheckResult:
    """Two independent counts of the same truth: where they differ, one of them is wrong, and no score means anything."""
    rows = [decode(line) for line in (workspace.open().artifacts / "twin" / "answers.jsonl").read_bytes().splitlines()]
    apart = [f"twin/{row.scene}/{ARMS[int(row.question)]}" for row in rows if not row.correct]
    named = ", ".join(apart[:10]) + (f" and {len(apart) - 10} more" if len(apart) > 10 else "")
    return dg.AssetCheckResult(
        passed=not apart,
        metadata={"arms": len(rows), "agreeing": len(rows) - len(apart)},
        description=f"replay and oracle differ on {named}: `substrate explain` shows an arm" if apart else f"replay and oracle agree on {len(rows)} arms",
    )


CHECKS = [*(_pinned(dataset) for dataset in (clevrer_dataset, babi_dataset, comphy_dataset, gqa_dataset, twin_dataset)), golds_agree]
