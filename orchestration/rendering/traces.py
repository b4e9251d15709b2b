"""What stands behind a number, as the report shows it: counts, and each stage on the way with its code, parameters and hashes."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from orchestration.scores import Score
from orchestration.stage import STAGES, Fingerprint, ordered_stages
from orchestration.workspace import Workspace


class Made(NamedTuple):
    """A stage on the way to a number, as its last run recorded it: code version, parameters, and the hash of each out."""

    stage: str
    code: str
    parameters: list[tuple[str, str]]
    outs: list[tuple[str, str]]


class Trace(NamedTuple):
    """A number's way back to its data, the nearest stage first."""

    name: str
    score: Score
    file: str
    made: list[Made]


def trace_of(workspace: Workspace, score: Score) -> Trace:
    """The trace of a number of this run.

    A stage that left no record of its run (its outs were pulled, not made here) is named without code and hashes.
    """
    template = f"artifacts/{{profile}}/scores/{score.name.replace('/', '.')}.json"
    nearest = next(stage.name for stage in STAGES.values() if template in stage.outs)
    needed, waiting = {nearest}, [nearest]
    while waiting:
        fresh = set(STAGES[waiting.pop()].needs) - needed
        needed |= fresh
        waiting += fresh
    names = [stage.name for stage in reversed(ordered_stages()) if stage.name in needed]
    file = template.format(profile=workspace.settings.profile)
    return Trace(score.name, score, file, [_made(workspace, name, file if name == nearest else "") for name in names])


def _made(workspace: Workspace, name: str, only: str) -> Made:
    """One stage's record; of many outs, ``only`` the one that is asked for."""
    record = workspace.path(f"artifacts/{{profile}}/.stages/{name.replace('/', '.')}.json")
    if not record.is_file():
        return Made(name, "", [], [])
    found = msgspec.json.decode(record.read_bytes(), type=Fingerprint)
    parameters = [(key.format(profile=workspace.settings.profile), value) for key, value in _flat(msgspec.json.decode(found.parameters))]
    return Made(name, found.code, parameters, [(path, digest) for path, digest in sorted(found.outs.items()) if not only or path == only])


def _flat(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Nested parameters as dotted keys; those that are not set are left out.

    >>> _flat({"clevrer": {"predictive": {"tau": None, "configuration": "C"}}, "seed": 20})
    [('clevrer.predictive.configuration', 'C'), ('seed', '20')]
    """
    if isinstance(value, dict):
        return [pair for key in sorted(value) for pair in _flat(value[key], f"{prefix}.{key}" if prefix else key)]
    return [] if value is None else [(prefix, str(value).lower() if isinstance(value, bool) else str(value))]
