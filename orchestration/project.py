"""The project around the current folder: its settings, with the types of every benchmark, and the folders
that its runs write to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.baselines import SECTION
from orchestration.registry import ABSENT, INTERPRETED, SOURCES, STUDIES
from orchestration.settings import PARAMETERS_FILE, find_root, flattened, load_settings, settings_type
from orchestration.workspace.folders import EXPERIMENTS, Workspace
from substrate.base.errors import ParameterError

_SECTIONS = (SECTION, *(asked.parameters for asked in (*INTERPRETED.values(), *STUDIES)))
_TYPES = {section.key: section.type for section in _SECTIONS if section.key}
# The type of `params.yaml`.
SETTINGS = settings_type(_TYPES, {name: source.data for name, source in SOURCES.items()}, ABSENT)
# Keys that say where a run computes or where its files come from; no result depends on them.
_NO_RESULT = re.compile(
    r"profile|storage|spark\..*|profiles\.local\..*|profiles\..*\.mirror"
    r"|baselines\.(concurrency|attempts|timeout)"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Names that comparisons reserve: for the pinned results, and for those in the working tree.
PINNED, WORKSPACE = NOT_EXPERIMENTS = ("pinned", "workspace")


def open_workspace(profile: str | None = None, overrides: tuple[str, ...] = ()) -> Workspace:
    """Open the project around the current folder, to read its data and results under some parameters."""
    root = find_root()
    return Workspace(root, load_settings(root / PARAMETERS_FILE, SETTINGS, overrides, profile))


def is_usual(workspace: Workspace) -> bool:
    """Tell whether a workspace has the default profile of `params.yaml`, whose files DVC tracks."""
    return workspace.settings.profile == open_workspace().settings.profile


def may_pin(workspace: Workspace, overrides: Collection[str]) -> bool:
    """Tell whether a run may pin its new results: it has the default profile, and nothing is overridden."""
    return not overrides and is_usual(workspace)


def open_run(profile: str | None = None, overrides: tuple[str, ...] = (), name: str = "") -> Workspace:
    """Open the project around the current folder, to compute in it under some parameters.

    If an override changes a parameter that results depend on, the run is an experiment. Its data and
    artifacts then lie in a separate folder, which is hidden until the run succeeds.

    Args:
        profile: by default the profile of `params.yaml`.
        overrides: ``KEY=VALUE`` on top of `params.yaml`.
        name: the experiment's name; by default made from the overrides.

    Raises:
        ParameterError: the name is invalid, or the run changes nothing and so is no experiment.
    """
    workspace = open_workspace(profile, overrides)
    changed = changed_parameters(workspace) if overrides else {}
    if name:
        require_name(name, "--name")
        if not changed:
            hint = "Change with --set what results depend on, such as seed=1"
            what = "names an experiment that changes nothing"
            raise ParameterError(what, where=("--name", name), hint=hint)
    if not changed:
        return workspace
    of_another = "" if is_usual(workspace) else workspace.settings.profile
    name = name or name_of({key: now for key, (_, now) in changed.items()}, of_another)
    return replace(workspace, experiment=making(workspace.root, name))


def making(root: Path, name: str) -> Path:
    """The folder of an experiment until its run succeeds."""
    return root / EXPERIMENTS / ".making" / name


def require_name(name: str, *where: object) -> None:
    """Refuse an invalid name of an experiment.

    Raises:
        ParameterError: the name has characters that are not allowed, or is reserved.
    """
    if name in NOT_EXPERIMENTS or not _NAME.fullmatch(name):
        hint = "Take up to 100 letters, digits, '.', '_' and '-', a letter or digit first"
        why = ": it is reserved for results that are no experiment" if name in NOT_EXPERIMENTS else ""
        raise ParameterError(f"{name!r} cannot be the name of an experiment{why}", where=where, hint=hint)


def changed_parameters(workspace: Workspace) -> dict[str, tuple[Any, Any]]:
    """The parameters that affect results and differ from `params.yaml`: by key, the value in the file and the
    value here.
    """
    profile = workspace.settings.profile
    sides = open_workspace(profile), workspace
    base, here = (flattened(msgspec.to_builtins(side.settings)) for side in sides)
    changed: dict[str, tuple[Any, Any]] = {}
    for key in sorted({**base, **here}):
        elsewhere = key.startswith("profiles.") and not key.startswith(f"profiles.{profile}.")
        if base.get(key) != here.get(key) and not elsewhere and not _NO_RESULT.fullmatch(key):
            changed[key] = base.get(key), here.get(key)
    return changed


def name_of(changed: Mapping[str, Any], profile: str = "") -> str:
    """Name an experiment after its profile, if one is given, and its changes.

    >>> name_of({"meadow.spring.tau": 0.4, "meadow.spring.horizon": 75})
    'meadow.spring.tau-0.4_meadow.spring.horizon-75'
    >>> name_of({"baselines.images": "my photographs"}, "full")
    'full_baselines.images-my-photographs-55d879cd'
    """
    values = {key: value if isinstance(value, str) else _json(value) for key, value in changed.items()}
    pairs = (f"{key}-{value}" for key, value in values.items())
    readable = "_".join([*([profile] if profile else []), *pairs])
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", readable)
    if plain == readable and _NAME.fullmatch(plain):
        return plain
    digest = hashlib.sha256(_json([profile, values]).encode()).hexdigest()[:8]
    return f"{plain[:90]}-{digest}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
