"""The folders that a run reads and writes, for a project folder and a profile."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from orchestration.base.project_lock import project_name
from orchestration.settings import Settings
from orchestration.workspace.log_table import LogTable
from orchestration.workspace.storage import Storage

# The name of a benchmark's file of answers.
ANSWERS = "answers.jsonl"
# The folder of a project's experiments, and of their tables in the storage.
EXPERIMENTS = "experiments"


@dataclass(frozen=True)
class Workspace:
    """A project folder with a profile's settings, and the places of all files of the profile.

    Attributes:
        root: the project folder.
        settings: the settings, which name the profile.
        scratch: a folder that holds ``artifacts/`` and the tables instead of the project, for a
            recomputation.
        experiment: the folder that holds an experiment's data and artifacts; it has the experiment's name.
    """

    root: Path
    settings: Settings
    scratch: Path | None = None
    experiment: Path | None = None

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
        if self.settings.storage and not self.scratch:
            return Storage(self.settings.storage, shared=True)
        return Storage(((self.scratch or self.root) / "storage").as_uri())

    @property
    def shelves(self) -> tuple[str, ...]:
        """The storage's folders that may have a table: the first is written, and each is read.

        An experiment also reads the tables of its profile. The name of a table is the hash of its inputs, so
        projects that share a storage also share one folder.
        """
        profile = self.settings.profile
        if self.storage.shared or not self.experiment:
            return (profile,)
        return f"{EXPERIMENTS}/{self.experiment.name}/{profile}", profile

    def passing_tables(self, kind: str, name: str) -> str:
        """The storage's folder for tables that only pass between workers and driver.

        They are removed once they are read. In a shared storage the folder is named by the project, so that
        no run removes a table that another project still reads.
        """
        shelf = self.shelves[0]
        if self.storage.shared:
            shelf += f"/{hashlib.sha256(project_name(self.root).encode()).hexdigest()[:16]}"
        return f"{shelf}/{kind}/{name}"

    @property
    def transcripts(self) -> Path:
        """The folder of language models' replies; an experiment's replies outlive a failed run."""
        own = self.root / EXPERIMENTS / ".replies" / self.experiment.name if self.experiment else self.root
        return own / "transcripts" / self.settings.profile

    def name_of(self, artifact: Path) -> str:
        """The path of an artifact in the form that stages use."""
        return f"artifacts/{self.settings.profile}/{artifact.relative_to(self.artifacts).as_posix()}"

    def logs(self, benchmark: str) -> LogTable:
        """The logs of a benchmark in the profile."""
        index = self.artifacts / benchmark / "logs" / "index.jsonl"
        return LogTable(self.storage, tuple(f"{shelf}/logs/{benchmark}" for shelf in self.shelves), index)
