"""DVC: `dvc.yaml` from the asset graph, and whether data and artifacts are what was pinned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from orchestration.stage import STAGES, Stage, ordered_stages
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


def status(root: Path, *targets: str) -> dict[str, list[Any]]:
    """What differs from the pins, by stage, as `dvc status --json` says it; empty where nothing does."""
    return json.loads(_dvc(root, "status", "--json", *targets) or "{}")


def drift(root: Path, *targets: str) -> dict[str, str]:
    """The pinned outs that are not what was pinned, with how, by path; a missing cached copy is no drift."""
    pinned = _pinned_paths(root)
    outs = [item for entries in status(root, *targets).values() for entry in entries if isinstance(entry, dict) for item in entry.get("changed outs", {}).items()]
    return {path: how for path, how in outs if path in pinned and how != "not in cache"}


def _pinned_paths(root: Path) -> set[str]:
    """Every path that `dvc.lock` or `data.dvc` has a hash of."""
    files = [yaml.safe_load(path.read_text("utf-8")) or {} for name in ("dvc.lock", "data.dvc") if (path := root / name).is_file()]
    outs = [out for file in files for part in (file, *file.get("stages", {}).values()) for out in part.get("outs", [])]
    return {out["path"] for out in outs if "md5" in out}


def commit(root: Path, *targets: str) -> None:
    """Record what is there as the pins."""
    _dvc(root, "commit", "--force", "--quiet", *targets)


def settle(root: Path) -> dict[str, str]:
    """After a run: record new stages and changed inputs, but never a changed result.

    Returns:
        The outs that differ from their pins; they stay unrecorded until they are accepted.
    """
    drifted = drift(root)
    if not drifted:
        commit(root)
    return drifted


def data_difference(root: Path, folder: str) -> str:
    """How a data folder differs from `data.dvc`; empty where it does not, or is not pinned there."""
    return drift(root, "data.dvc").get(folder, "") if (root / "data.dvc").is_file() else ""


def _dvc(root: Path, *arguments: str) -> str:
    environment = os.environ | {"DVC_NO_ANALYTICS": "1"}
    finished = subprocess.run([sys.executable, "-m", "dvc", *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise PinError(f"dvc {arguments[0]} failed: {finished.stderr.strip()}", where=(root,), hint="Run it by hand to see more")
    return finished.stdout
