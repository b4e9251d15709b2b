"""What assets share: the workspace, and through it the Spark session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import dagster as dg
from pydantic import Field

from orchestration.project import open_workspace
from orchestration.workspace import Workspace


class WorkspaceResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The project under a profile and parameter overrides; what a run is configured with."""

    profile: str = ""
    """A profile of ``params.yaml``; empty for the one it names itself."""
    overrides: list[str] = Field(default_factory=list)
    """``KEY=VALUE`` pairs on top of ``params.yaml``."""
    scratch: str = ""
    """A folder for artifacts instead of ``artifacts/``."""

    force: bool = False
    """Whether stages run although nothing they depend on has changed."""

    def open(self) -> Workspace:
        """The workspace this resource describes."""
        workspace = open_workspace(self.profile or None, tuple(self.overrides))
        return replace(workspace, scratch=Path(self.scratch)) if self.scratch else workspace
