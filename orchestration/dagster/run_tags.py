"""The tags of a run in Dagster's records: its project, its profile, and the hash of its settings."""

from __future__ import annotations

import hashlib

import msgspec

from orchestration.dagster.keys import is_apart
from orchestration.dagster.own_runs import PROJECT_TAG, project_name
from orchestration.workspace.folders import Workspace

# The tag of a run with the SHA-256 of its initial settings; the run's log has the settings themselves.
SETTINGS_TAG = ".dagster/settings"
# Dagster's tag of a run whose asset events the run itself reports.
DEFERRED_TAG = "dagster/defer_asset_events"


def settings_of(workspace: Workspace) -> tuple[str, str]:
    """The settings of a workspace as JSON, and the SHA-256 of that JSON."""
    settings = msgspec.json.encode(workspace.settings, order="sorted")
    return settings.decode(), hashlib.sha256(settings).hexdigest()


def tags_of_run(workspace: Workspace) -> dict[str, str]:
    """The tags of a run: its project, its profile, its experiment, and who reports its assets."""
    named = {"experiment": workspace.experiment.name} if workspace.experiment else {}
    apart = {DEFERRED_TAG: "true"} if is_apart(workspace) else {}
    return {PROJECT_TAG: project_name(workspace.root), "profile": workspace.settings.profile} | named | apart
