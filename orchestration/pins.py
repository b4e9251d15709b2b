"""DVC: `dvc.yaml` from the asset graph, and whether data and artifacts are what was pinned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from orchestration.pinned import DESCRIBING, settle_pins
from orchestration.settings import PARAMETERS_FILE, load_settings
from orchestration.stage import STAGES, Stage, ordered_stages
from orchestration.workspace import Workspace
from substrate.errors import SubstrateError

_HEADER = "# Generated from the asset graph by `substrate dvc sync`; a test holds the two equal.\n"


class PinError(SubstrateError):
    """DVC failed."""


def render_dvc_yaml() -> str:
    """The text of `dvc.yaml`: a stage for each asset but the datasets, which `data.dvc` pins."""
    stages = {_dvc_name(stage.name): _dvc_stage(stage) for stage in ordered_stages() if stage.pinned_by == "dvc.yaml"}
    return _HEADER + yaml.safe_dump({"stages": stages}, sort_keys=False, width=120)


def _dvc_name(name: str) -> str:
    return name.replace("/", "-")


def _dvc_stage(stage: Stage) -> dict[str, Any]:
    inputs = [_dvc_path(out) for need in stage.needs for out in STAGES[need].outs]
    outs = "metrics" if stage.name.endswith("/scores") else "outs"
    described: dict[str, Any] = {
        # The environment's own command, whether or not it has been activated.
        "cmd": f"PATH=.venv/bin:$PATH substrate materialize {stage.name} --profile ${{profile}} --force",
        "deps": sorted([*inputs, *stage.code]),
        "params": [_dvc_path(key) for key in stage.parameters],
        outs: [_dvc_path(out) for out in stage.outs],
    }
    return {key: value for key, value in described.items() if value}


def _dvc_path(template: str) -> str:
    return template.replace("{profile}", "${profile}")


def sync(root: Path) -> bool:
    """Write `dvc.yaml`; says whether it changed."""
    path, text = root / "dvc.yaml", render_dvc_yaml()
    if path.is_file() and path.read_text("utf-8") == text:
        return False
    path.write_text(text, "utf-8")
    return True


def drift(root: Path) -> dict[str, str]:
    """The pinned paths that are not what was pinned, with how: ``modified`` or ``deleted``.

    Compares hashes, so it needs no copy of what was pinned; what was never pinned does not drift.
    """
    changed = json.loads(_dvc(root, "data", "status", "--json") or "{}").get("uncommitted", {})
    return {path.rstrip("/"): how for how in ("modified", "deleted") for path in changed.get(how, [])}


def commit(root: Path, *targets: str) -> None:
    """Record what is there as the pins; of everything, where no target is named."""
    _dvc(root, "commit", "--force", *targets)


def settle(root: Path, profile: str, ran: Iterable[str]) -> dict[str, str]:
    """After a run: record new stages and changed inputs, but never a changed result.

    Args:
        ran: names of the stages that ran.

    Returns:
        The paths whose bytes differ from their pins; they stay unrecorded until they are accepted.
    """
    # What describes the other stages follows them: a change of its bytes alone is no drift.
    describing = {out.format(profile=profile) for stage in STAGES.values() if stage.name.startswith(DESCRIBING) for out in stage.outs}
    drifted = {path: how for path, how in drift(root).items() if path not in describing}
    changed = {path: how for path, how in drifted.items() if how == "modified"}
    stages = [STAGES[name] for name in ran if not (changed and name.startswith(DESCRIBING))]
    settled = [_dvc_name(stage.name) for stage in stages if stage.pinned_by == "dvc.yaml" and not any(out.format(profile=profile) in drifted for out in stage.outs)]
    if (root / "data.dvc").is_file() and not any(path.startswith("data/") for path in drifted):
        settled.append("data.dvc")
    if settled:
        commit(root, *settled)
        workspace = Workspace(root, load_settings(root / PARAMETERS_FILE, (), profile))
        settle_pins(workspace, [stage for stage in stages if _dvc_name(stage.name) in settled or stage.pinned_by in settled])
    return changed


def _dvc(root: Path, *arguments: str) -> str:
    environment = os.environ | {"DVC_NO_ANALYTICS": "1"}
    finished = subprocess.run([sys.executable, "-m", "dvc", *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise PinError(f"dvc {arguments[0]} failed: {finished.stderr.strip()}", where=(root,), hint="Run it by hand to see more")
    return finished.stdout
