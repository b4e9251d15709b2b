"""Where a run reads and writes: one project folder, one profile."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from orchestration.settings import Settings
from orchestration.tables import Logs, Storage


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

    @property
    def storage(self) -> Storage:
        """Where tables lie: on the URI of the settings, else in the project, or beside scratch artifacts."""
        own = self.scratch or self.root
        return Storage((not self.scratch and self.settings.storage) or (own / "storage").as_uri())

    def logs(self, benchmark: str) -> Logs:
        """The logs of a benchmark in the profile."""
        index = self.artifacts / benchmark / "logs" / "index.jsonl"
        return Logs(self.storage, f"{self.settings.profile}/logs/{benchmark}", index)
