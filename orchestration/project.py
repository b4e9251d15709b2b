"""The project around the current folder: its settings, typed by every benchmark there is."""

from __future__ import annotations

from pathlib import Path

from orchestration.benchmarks.registry import BENCHMARKS
from orchestration.code import ROOT
from orchestration.settings import PARAMETERS_FILE, load_settings, settings_type
from orchestration.workspace import Workspace
from substrate.errors import ParameterError

SETTINGS = settings_type(
    dict(benchmark.parameters for benchmark in BENCHMARKS.values() if benchmark.parameters),
    {name: benchmark.data for name, benchmark in BENCHMARKS.items() if benchmark.data},
)
"""The type of `params.yaml`."""


def find_root(start: Path | None = None) -> Path:
    """The project folder: the nearest one upward that has a ``params.yaml``, else the one this code runs
    from.

    Raises:
        ParameterError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, ROOT):
        if (folder / PARAMETERS_FILE).is_file() and (folder / "workspace.yaml").is_file():
            return folder
    raise ParameterError(
        "no project here", where=(here,), hint=f"Run this inside a checkout, where {PARAMETERS_FILE} lies"
    )


def open_workspace(profile: str | None = None, overrides: tuple[str, ...] = ()) -> Workspace:
    """The project around the current folder."""
    root = find_root()
    return Workspace(root, load_settings(root / PARAMETERS_FILE, SETTINGS, overrides, profile))
