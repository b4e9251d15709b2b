"""Where a run reads and writes: one project folder, one profile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestration.settings import PARAMETERS_FILE, Settings, load_settings
from substrate.errors import ParameterError


@dataclass(frozen=True)
class Workspace:
    """A project folder under one profile's settings."""

    root: Path
    settings: Settings
    scratch: Path | None = None
    """Where artifacts go instead of ``artifacts/``, for a recomputation that must not touch them."""

    def path(self, template: str) -> Path:
        """A path of a stage; ``{profile}`` stands for the profile's name."""
        relative = template.format(profile=self.settings.profile)
        return (self.scratch if self.scratch and relative.startswith("artifacts/") else self.root) / relative

    @property
    def data(self) -> Path:
        """The profile's input data."""
        return self.path("data/{profile}")

    @property
    def artifacts(self) -> Path:
        """What the profile's stages make."""
        return self.path("artifacts/{profile}")


def find_root(start: Path | None = None) -> Path:
    """The project folder: the nearest one upward that has a ``params.yaml``, else the one this code runs
    from.

    Raises:
        ParameterError: there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if (folder / PARAMETERS_FILE).is_file() and (folder / "workspace.yaml").is_file():
            return folder
    raise ParameterError(
        "no project here", where=(here,), hint=f"Run this inside a checkout, where {PARAMETERS_FILE} lies"
    )


def open_workspace(profile: str | None = None, overrides: tuple[str, ...] = ()) -> Workspace:
    """The project around the current folder."""
    root = find_root()
    return Workspace(root, load_settings(root / PARAMETERS_FILE, overrides, profile))
