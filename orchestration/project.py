"""The project around the current folder: its settings, typed by every benchmark there is."""

from __future__ import annotations

from orchestration.benchmarks import robustness
from orchestration.benchmarks.registry import BENCHMARKS
from orchestration.root import find_root
from orchestration.settings import PARAMETERS_FILE, load_settings, settings_type
from orchestration.workspace import Workspace

SETTINGS = settings_type(
    dict(benchmark.parameters for benchmark in BENCHMARKS.values() if benchmark.parameters)
    | {robustness.KEY: robustness.Robustness},
    {name: benchmark.data for name, benchmark in BENCHMARKS.items() if benchmark.data},
)
"""The type of `params.yaml`."""


def open_workspace(profile: str | None = None, overrides: tuple[str, ...] = ()) -> Workspace:
    """The project around the current folder."""
    root = find_root()
    return Workspace(root, load_settings(root / PARAMETERS_FILE, SETTINGS, overrides, profile))
