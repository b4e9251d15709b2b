"""The folders that a run reads and writes, for a project folder and a profile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orchestration.settings import Settings
from orchestration.workspace.storage import Storage
from orchestration.workspace.tables import Logs

ANSWERS = "answers.jsonl"
"""The name of a benchmark's file of answers."""
EXPERIMENTS = "experiments"
"""The folder of a project's experiments, and of their tables in the storage."""


@dataclass(frozen=True)
class Workspace:
    """A project folder with a profile's settings."""

    root: Path
    settings: Settings
    scratch: Path | None = None
    """A folder that holds ``artifacts/`` and the tables instead of the project, for a recomputation."""
    experiment: Path | None = None
    """The folder that holds an experiment's data and artifacts; it has the experiment's name."""

    def path(self, template: str) -> Path:
        """A stage's path, with ``{profile}`` replaced by the profile's name."""
        relative = template.format(profile=self.settings.profile)
        made = self.scratch if self.scratch and relative.startswith("artifacts/") else None
        return (made or self.home) / relative

    def paths(self, templates: Iterable[str]) -> dict[str, Path]:
        """Paths of stages, by their names in this profile."""
        return {template.format(profile=self.settings.profile): self.path(template) for template in templates}

    @property
    def home(self) -> Path:
        """The folder that the paths of data start from: the project or the experiment."""
        return self.experiment or self.root

    @property
    def data(self) -> Path:
        """The profile's input data."""
        return self.path("data/{profile}")

    @property
    def artifacts(self) -> Path:
        """The files that the profile's stages make."""
        return self.path("artifacts/{profile}")

    def answers(self, benchmark: str) -> Path:
        """The file of a benchmark's answers."""
        return self.artifacts / benchmark / ANSWERS

    @property
    def storage(self) -> Storage:
        """The place of tables: the scratch folder if there is one, else the settings' URI or the project."""
        own = self.scratch or self.root
        return Storage((not self.scratch and self.settings.storage) or (own / "storage").as_uri())

    @property
    def shelves(self) -> tuple[str, ...]:
        """The storage's folders for tables: the first is written; an experiment also reads its profile's."""
        profile = self.settings.profile
        return (f"{EXPERIMENTS}/{self.experiment.name}/{profile}", profile) if self.experiment else (profile,)

    @property
    def transcripts(self) -> Path:
        """The folder of language models' replies; an experiment's replies outlive a failed run."""
        own = self.root / EXPERIMENTS / ".replies" / self.experiment.name if self.experiment else self.root
        return own / "transcripts" / self.settings.profile

    def name_of(self, artifact: Path) -> str:
        """The path of an artifact in the form that stages use."""
        return f"artifacts/{self.settings.profile}/{artifact.relative_to(self.artifacts).as_posix()}"

    def logs(self, benchmark: str) -> Logs:
        """The logs of a benchmark in the profile."""
        index = self.artifacts / benchmark / "logs" / "index.jsonl"
        return Logs(self.storage, tuple(f"{shelf}/logs/{benchmark}" for shelf in self.shelves), index)
