"""DVC's files: `dvc.yaml` from the asset graph, and the entries of results in `dvc.lock` and `data.dvc`.

DVC learns of a stage's code from a file, which says `unchanged` while the code matches the ledger, and else
names the changes. So a change of code makes DVC run the stage, and a change without effect on results leaves
`dvc.lock` unchanged. Which results are pinned is decided in :mod:`orchestration.acceptance`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import yaml

from orchestration.base.yaml_text import read_yaml
from orchestration.ledger.manifest import changed, put
from orchestration.ledger.stage_records import read_records
from orchestration.pins.paths import IN_DVC
from orchestration.pins.pin_files import PinError, damage_error
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError

DVC_YAML = "dvc.yaml"
# The folder of the files that DVC shows as metrics: one of each benchmark, and so a row.
_METRICS = "artifacts/{profile}/metrics/"
# The folder of the files that say of each stage what of its code changed since it ran.
_CODE = "artifacts/{profile}/.code"
# The out of DVC's stage `code`, which writes those files. Each other stage reads it, or reads an out of a
# stage that does, so DVC runs `code` first. The content never changes, so no hash of code enters the lock.
_CODE_RAN = f"{_CODE}/looked"
_HEADER = "# Generated from the asset graph by `substrate dvc sync`; a test holds the two equal.\n"
# DVC warns of an empty file.
_UNCHANGED = "unchanged\n"
# The stage `code`, which DVC runs each time: no hash in its lock would tell it that code has changed.
_CODE_STAGE = {
    "cmd": "PATH=.venv/bin:$PATH substrate dvc code --profile ${profile}",
    "always_changed": True,
    "outs": ["artifacts/${profile}/.code/looked"],
}


def render_dvc_yaml(stages: Stages) -> str:
    """The text of `dvc.yaml`: a stage for each asset but the datasets, which `data.dvc` pins."""
    described = {dvc_name(name): _dvc_stage(stages, stage) for name, stage in in_dvc(stages).items()}
    whole = {"stages": {"code": _CODE_STAGE} | described}
    # A list stands in its line: DVC reads both, and nobody edits this file.
    return _HEADER + yaml.safe_dump(whole, sort_keys=False, width=110, default_flow_style=None)


def in_dvc(stages: Stages) -> Stages:
    """Return the stages of `dvc.yaml`, whose outs `dvc.lock` pins."""
    return {name: stage for name, stage in stages.items() if stage.pinned_by == "dvc.yaml"}


def dvc_name(name: str) -> str:
    """Return the name of a stage in DVC, which allows no slash."""
    return name.replace("/", "-")


def _dvc_stage(stages: Stages, stage: Stage) -> dict[str, Any]:
    inputs = [*inputs_of(stages, stage), f"{_CODE}/{dvc_name(stage.name)}"]
    if not in_dvc(stages).keys() & stage.needs:
        inputs.append(_CODE_RAN)  # the other stages come after one that reads it
    metrics = [out for out in stage.outs if out.startswith(_METRICS)]
    described: dict[str, Any] = {
        # The environment's own command, whether or not it has been activated. The stage's name comes last,
        # so that in dvc.lock it stays on one line.
        "cmd": f"PATH=.venv/bin:$PATH substrate materialize --force --profile ${{profile}} {stage.name}",
        "deps": sorted(map(_dvc_path, inputs)),
        "params": [_dvc_path(key) for key in stage.parameters],
        "metrics": [_dvc_path(out) for out in metrics],
        "outs": [_dvc_path(out) for out in stage.outs if out not in metrics],
    }
    return {key: value for key, value in described.items() if value}


def _dvc_path(template: str) -> str:
    return template.replace("{profile}", "${profile}")


def sync(root: Path, stages: Stages) -> bool:
    """Write `dvc.yaml`, and tell whether it changed."""
    return put(root / DVC_YAML, render_dvc_yaml(stages).encode())


def keep_code(workspace: Workspace, stages: Stages) -> None:
    """Write the files from which DVC learns of changed code, one for each stage.

    A file says `unchanged` if the code is that of the recorded run, or nothing was made yet; it lists the
    changed files if some are; and it says so if outs are there without a record.
    """
    records = read_records(workspace)
    for name, stage in in_dvc(stages).items():
        lines: list[str] = []
        if record := records.get(name):
            apart = sorted(changed(record.code, stage.code).items())
            lines = [f"{file} {now or 'gone'}\n" for file, (_, now) in apart]
        elif any(workspace.path(out).exists() for out in stage.outs):
            lines = ["no run is recorded here\n"]
        put(workspace.path(_CODE) / dvc_name(name), "".join(lines or [_UNCHANGED]).encode())
    put(workspace.path(_CODE_RAN), b"looked\n")


def without_entry(root: Path, stages: Stages) -> set[str]:
    """Return the names of the stages that `dvc.yaml` has and `dvc.lock` does not."""
    lock = root / "dvc.lock"
    entries = read_yaml(lock).get("stages", {}) if lock.is_file() else {}
    return {name for name in in_dvc(stages) if dvc_name(name) not in entries}


def record(root: Path, stages: Iterable[Stage], *, data: bool) -> None:
    """Record the present outs of some stages in `dvc.lock`, and with ``data`` the data in `data.dvc`; do
    nothing in a project without DVC. Raises errors as :func:`commit`.
    """
    names = [dvc_name(stage.name) for stage in stages if stage.pinned_by == "dvc.yaml"]
    targets = ["code", *names] if names else []
    if data and (root / "data.dvc").is_file():
        targets.append("data.dvc")
    if targets and (root / ".dvc").is_dir():
        commit(root, *targets)


def commit(root: Path, *targets: str) -> None:
    """Record the present files in DVC's entries and in its cache; by default of all targets.

    Raises:
        PinError: DVC fails.
    """
    command = ("-P", str(Path(__file__).with_name("commit_script.py")), *targets)
    done = _run(root, *command)
    if done.returncode:
        hint = f"Run it by hand to see more: {shlex.join([sys.executable, *command])}"
        raise PinError(f"DVC failed: {done.stderr.strip()}", where=(root,), hint=hint)


def forget(root: Path, stages: Stages) -> None:
    """Drop the entries of `dvc.lock` whose stages are not in the graph; DVC keeps them."""
    path = root / "dvc.lock"
    if path.is_file():
        names = {"code", *map(dvc_name, stages)}
        head, *entries = re.split(r"^(?=  \S)", path.read_text("utf-8"), flags=re.MULTILINE)
        kept = [entry for entry in entries if entry.partition(":")[0].strip() in names]
        put(path, "".join([head, *kept]).encode())


def commit_verified(root: Path, suspects: Iterable[str]) -> None:
    """Record the present files in DVC's entries of all targets, and verify suspect files of DVC by it.

    A file that differs from its seal is sound only if DVC writes the same bytes again from the present files,
    as after an interrupted acceptance.

    Raises:
        PinError: a file is not what DVC writes; nothing was changed. Or DVC fails.
    """
    before = {name: (root / name).read_bytes() for name in IN_DVC if (root / name).is_file()}
    for name in suspects:
        if name not in before or not _all_here(root, name):
            raise damage_error(root, name)
    try:
        commit(root)
        for name in suspects:
            if (root / name).read_bytes() != before[name]:
                raise damage_error(root, name)
    except PinError:
        for name, data in before.items():
            put(root / name, data)
        raise


def _all_here(root: Path, name: str) -> bool:
    """Tell whether a file of DVC names only stages of `dvc.yaml` and files that exist.

    The stages of `dvc.lock` have outs; `data.dvc` has no stages, but outs of its own.
    """
    try:
        file = read_yaml(root / name)
        stages, known = file.get("stages", {}), read_yaml(root / DVC_YAML).get("stages", {})
        outs = [out for with_outs in (*stages.values(), file) for out in with_outs.get("outs", ())]
        return stages.keys() <= known.keys() and all((root / out["path"]).exists() for out in outs)
    except (ParameterError, AttributeError, LookupError, TypeError):
        return False


def check_out(root: Path, outs: Collection[str]) -> None:
    """Restore the bytes of some outs, as far as DVC's cache or remote has them."""
    for command in (("fetch", "--quiet"), ("checkout", "--quiet", "--force")):
        _run(root, "-m", "dvc", *command, *outs)


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command, environment = (sys.executable, *arguments), os.environ | {"DVC_NO_ANALYTICS": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
