"""DVC: `dvc.yaml` from the asset graph, and whether data and artifacts are what was pinned."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import yaml
from dvc_data.hashfile.hash_info import HashInfo
from dvc_data.hashfile.tree import Tree

from orchestration.pins.pinned import PinError, settle_pins
from orchestration.pins.seal import broken, seal_pins
from orchestration.settings import PARAMETERS_FILE
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.workspace.folders import Workspace

_NUMBERS = "artifacts/${profile}/tables/numbers.csv"
_METRICS = "artifacts/{profile}/metrics.json"
"""What DVC shows of a run. One file: where a metric's name is in several, DVC puts the file's before it."""
_HEADER = "# Generated from the asset graph by `substrate dvc sync`; a test holds the two equal.\n"


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
    metrics = [out for out in stage.outs if out == _METRICS]
    described: dict[str, Any] = {
        # The environment's own command, whether or not it has been activated.
        "cmd": f"PATH=.venv/bin:$PATH substrate materialize {stage.name} --profile ${{profile}} --force",
        "deps": sorted([*inputs, *stage.code]),
        "params": [_dvc_path(key) for key in stage.parameters],
        "metrics": [_dvc_path(out) for out in metrics],
        "outs": [_dvc_path(out) for out in stage.outs if out not in metrics],
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
    changed = json.loads(_dvc(root, "data", "status", "--json") or "{}").get("uncommitted", {})
    return {path.rstrip("/"): how for how in ("modified", "deleted") for path in changed.get(how, [])}


LOCKS = ("data.dvc", "dvc.lock")
"""The files of DVC's pins."""


def recorded(root: Path) -> dict[str, str]:
    """The MD5 at which `dvc.lock` and `data.dvc` pin each path; what was never pinned is not in it.

    For checks inside a run, where a call of DVC for each stage would take longer than the stage.

    Raises:
        PinError: one of them cannot be read.
    """
    found: dict[str, str] = {}
    for name in LOCKS:
        pinned = pinned_md5(root, name)
        if pinned is None:
            hint = "Restore it, as with `git checkout`"
            raise PinError("is damaged: these are no pins of DVC", where=(root / name,), hint=hint)
        found |= pinned
    return found


def pinned_md5(root: Path, name: str) -> dict[str, str] | None:
    """The MD5 at which `dvc.lock` or `data.dvc` pins each path; ``None`` where it cannot be read."""
    path = root / name
    return _md5_of(path.read_bytes()) if path.is_file() else {}


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


class _Out(msgspec.Struct):
    path: str
    md5: str = ""


class _Stage(msgspec.Struct):
    outs: list[_Out] = []


class _Lock(msgspec.Struct):
    stages: dict[str, _Stage] = {}
    outs: list[_Out] = []


@lru_cache(maxsize=2)
def _md5_of(text: bytes) -> dict[str, str] | None:
    try:
        read = yaml.load(text, _LOADER)
        lock = msgspec.convert(read or {}, _Lock)
    except (yaml.YAMLError, msgspec.ValidationError, ValueError, RecursionError):
        return None
    outs = [*lock.outs, *(out for stage in lock.stages.values() for out in stage.outs)]
    return {out.path: out.md5 for out in outs if out.md5}


# The C one is ten times as fast, and not on every machine.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def commit(root: Path, *targets: str) -> None:
    """Record what is there as the pins; of everything, where no target is named."""
    _run(root, "-P", str(Path(__file__).with_name("dvc_commit.py")), *targets)


def settle(workspace: Workspace, stages: Stages, ran: Iterable[str]) -> dict[str, str]:
    """After a run: record new stages and changed inputs, but never a changed result, and seal the pins.

    Args:
        workspace: the project, in its default profile.
        stages: every stage there is.
        ran: names of the stages that ran.

    Returns:
        The paths whose bytes differ from their pins; they stay unrecorded until they are accepted.
    """
    root, profile = workspace.root, workspace.settings.profile
    unsealed = broken(root).keys()
    drifted = drift(root)
    those = [stages[name] for name in ran]
    settled: list[str] = []
    for stage in those:
        outs = {out.format(profile=profile) for out in stage.outs}
        if stage.pinned_by == "dvc.yaml" and not outs & drifted.keys():
            settled.append(_dvc_name(stage.name))
    if (root / "data.dvc").is_file() and not any(path.startswith("data/") for path in drifted):
        settled.append("data.dvc")
    if settled:
        commit(root, *settled)
        kept = [stage for stage in those if _dvc_name(stage.name) in settled or stage.pinned_by in settled]
        settle_pins(workspace, stages, kept)
    # What was not as sealed before the run stays so; of the parameters only what a stage takes counts.
    seal_pins(root, unsealed - (set() if drifted else {PARAMETERS_FILE}))
    return {path: how for path, how in drifted.items() if how == "modified"}


def _dvc(root: Path, *arguments: str) -> str:
    return _run(root, "-m", "dvc", *arguments)


def _run(root: Path, *arguments: str) -> str:
    finished = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env=os.environ | {"DVC_NO_ANALYTICS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise PinError(
            f"DVC failed: {finished.stderr.strip()}",
            where=(root,),
            hint=f"Run it by hand to see more: {shlex.join(['python', *arguments])}",
        )
    return finished.stdout
