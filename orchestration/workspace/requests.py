"""The requests of a profile to a language model, and the transcript of its answers."""

from __future__ import annotations

from collections.abc import Iterator

from orchestration.benchmarks.baselines import Inputs, LanguageModel, Pictures, pictures_of
from orchestration.models.asking import Part
from orchestration.models.transcript import Exchange, Replay, read_transcript
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, split_of
from substrate.baselines.parameters import Baseline
from substrate.domains.rows import Row

TRANSCRIPT = "transcript.jsonl"
"""The name of a profile's copy, in the folder of its dataset."""


def parts_of(model: LanguageModel, workspace: Workspace, pictures: Pictures) -> tuple[list[Part], Baseline]:
    """The requests to a model, and their settings."""
    baseline: Baseline = getattr(workspace.settings.of("baselines"), model.name)
    cases = model.source.cases(files_of(workspace, model.source), None, True).each
    logs = workspace.logs(model.asks.logger.name)
    split = split_of(workspace, model.source)
    return model.parts(Inputs(cases, logs.read, split, pictures), baseline), baseline


def conversations(workspace: Workspace, model: LanguageModel) -> Iterator[tuple[Row, list[Exchange]]]:
    """Each row of a model, with the requests and the replies behind it; none without a transcript."""
    records = read_transcript(workspace.data / model.name / TRANSCRIPT)
    if not records:
        return
    parts, baseline = parts_of(model, workspace, pictures_of(records))
    for part in parts:
        replay = Replay(records, baseline)
        rows = part(replay)
        exchanges = [records[name] for name in replay.asked]
        # As many requests as rows, in their order; else all of a part are behind each of its rows.
        behind = (
            [[exchange] for exchange in exchanges] if len(exchanges) == len(rows) else [exchanges] * len(rows)
        )
        yield from zip(rows, behind, strict=True)
