"""DVC: `dvc.yaml` from the asset graph, and whether data and artifacts are what was pinned."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from dvc_data.hashfile.hash_info import HashInfo
from dvc_data.hashfile.tree import Tree

from orchestration.pins.pinned import settle_pins
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.workspace import Workspace
from substrate.errors import SubstrateError

_NUMBERS = "artifacts/${profile}/tables/numbers.csv"
_HEADER = "# Generated from the asset graph by `substrate dvc sync`; a test holds the two equal.\n"


class PinError(SubstrateError):
    """DVC failed."""


def render_dvc_yaml(stages: Stages) -> str:
    """The text of `dvc.yaml`: a stage for each asset but the datasets, which `data.dvc` pins."""
    pinned = (stage for stage in stages.values() if stage.pinned_by == "dvc.yaml")
    described = {_dvc_name(stage.name): _dvc_stage(stages, stage) for stage in pinned}
    return _HEADER + yaml.safe_dump({"stages": described, "plots": _PLOTS}, sort_keys=False, width=120)


_PLOTS = [
    {
        "accuracy": {
            "template": "bar_horizontal",
            "x": "accuracy",
            "y": {_NUMBERS: "number"},
            "title": "Accuracy of every number",
        }
    }
]
"""What `dvc plots show` and `dvc plots diff` draw."""


def _dvc_name(name: str) -> str:
    return name.replace("/", "-")


def _dvc_stage(stages: Stages, stage: Stage) -> dict[str, Any]:
    inputs = map(_dvc_path, inputs_of(stages, stage))
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


def sync(root: Path, stages: Stages) -> bool:
    """Write `dvc.yaml`; says whether it changed."""
    path, text = root / "dvc.yaml", render_dvc_yaml(stages)
    if path.is_file() and path.read_text("utf-8") == text:
        return False
    path.write_text(text, "utf-8")
    return True


def drift(root: Path) -> dict[str, str]:
    """The pinned paths that are not what was pinned, with how: ``modified`` or ``deleted``.

    Compares hashes, so it needs no copy of what was pinned; what was never pinned does not drift.
    """
    return _drifted(_data_status(root))


def _data_status(root: Path) -> dict[str, Any]:
    return json.loads(_dvc(root, "data", "status", "--json") or "{}")


def _drifted(status: dict[str, Any]) -> dict[str, str]:
    changed = status.get("uncommitted", {})
    return {path.rstrip("/"): how for how in ("modified", "deleted") for path in changed.get(how, [])}


def recorded(root: Path) -> dict[str, str]:
    """The MD5 at which `dvc.lock` and `data.dvc` pin each path; what was never pinned is not in it.

    For checks inside a run, where a call of DVC for each stage would take longer than the stage.
    """
    return _data_pins(_bytes(root / "data.dvc")) | _lock_pins(_bytes(root / "dvc.lock"))


def md5(path: Path) -> str:
    """DVC's hash of a file or folder."""
    if not path.is_dir():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "md5").hexdigest()
    tree = Tree()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        tree.add(file.relative_to(path).parts, None, HashInfo("md5", md5(file)))
    tree.digest()
    assert tree.hash_info  # digest() sets it
    return str(tree.hash_info.value)


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@lru_cache(maxsize=1)
def _lock_pins(text: bytes) -> dict[str, str]:
    stages = (yaml.safe_load(text) or {}).get("stages", {}).values()
    return {out["path"]: out["md5"] for stage in stages for out in stage.get("outs", [])}


def _data_pins(text: bytes) -> dict[str, str]:
    return {out["path"]: out["md5"] for out in (yaml.safe_load(text) or {}).get("outs", []) if "md5" in out}


def commit(root: Path, *targets: str) -> None:
    """Record what is there as the pins; of everything, where no target is named."""
    _dvc(root, "commit", "--force", *targets)


def settle(workspace: Workspace, stages: Stages, ran: Iterable[str]) -> dict[str, str]:
    """After a run: record new stages and changed inputs, but never a changed result.

    Args:
        stages: every stage there is.
        ran: names of the stages that ran.

    Returns:
        The paths whose bytes differ from their pins; they stay unrecorded until they are accepted.
    """
    root, profile = workspace.root, workspace.settings.profile
    status = _data_status(root)
    drifted, absent = _drifted(status), {path.rstrip("/") for path in status.get("not_in_cache", [])}
    those = [stages[name] for name in ran]
    settled: list[str] = []
    uncached: set[str] = {"data.dvc"} if any(path.startswith("data/") for path in absent) else set()
    for stage in those:
        outs = {out.format(profile=profile) for out in stage.outs}
        if stage.pinned_by == "dvc.yaml" and not outs & drifted.keys():
            settled.append(_dvc_name(stage.name))
            if outs & absent:
                uncached.add(_dvc_name(stage.name))
    if (root / "data.dvc").is_file() and not any(path.startswith("data/") for path in drifted):
        settled.append("data.dvc")
    if settled:
        # DVC writes its whole lock anew for every stage that it commits: only what is not as it stands there.
        changed = uncached | json.loads(_dvc(root, "status", "--json") or "{}").keys()
        if news := [name for name in settled if name in changed]:
            commit(root, *news)
        kept = [stage for stage in those if _dvc_name(stage.name) in settled or stage.pinned_by in settled]
        settle_pins(workspace, stages, kept)
    return {path: how for path, how in drifted.items() if how == "modified"}


def _dvc(root: Path, *arguments: str) -> str:
    environment = os.environ | {"DVC_NO_ANALYTICS": "1"}
    finished = subprocess.run(
        [sys.executable, "-m", "dvc", *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise PinError(
            f"dvc {arguments[0]} failed: {finished.stderr.strip()}",
            where=(root,),
            hint="Run it by hand to see more",
        )
    return finished.stdout
