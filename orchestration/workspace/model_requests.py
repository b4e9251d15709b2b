"""The requests of a profile to a language model, and the transcript of the replies."""

from __future__ import annotations

from collections.abc import Iterator

from orchestration.benchmarks.baselines import Inputs, LanguageModel, Pictures, pictures_of
from orchestration.models.asking import Part
from orchestration.models.exchange import Exchange
from orchestration.models.transcript import Replay, read_transcript
from orchestration.workspace.dataset_files import files_of, split_of
from orchestration.workspace.folders import Workspace
from substrate.domains.rows import Row

# The file name of a profile's copy, in its dataset's folder.
TRANSCRIPT = "transcript.jsonl"


def requests_of(model: LanguageModel, workspace: Workspace, pictures: Pictures) -> list[Part]:
    """The requests to a model, in parts."""
    cases = model.source.cases(files_of(workspace, model.source), None, True).each
    logs = workspace.logs(model.base.logger.name)
    inputs = Inputs(cases, logs.read, split_of(workspace, model.source), pictures)
    return model.parts(inputs, model.baseline(workspace.settings))


def conversations(workspace: Workspace, model: LanguageModel) -> Iterator[tuple[Row, list[Exchange]]]:
    """Each row of a model, with its requests and replies; none without a transcript."""
    records = read_transcript(workspace.data / model.name / TRANSCRIPT)
    if not records:
        return
    for part in requests_of(model, workspace, pictures_of(records)):
        replay = Replay(records, model.baseline(workspace.settings))
        rows = part(replay)
        exchanges = [records[name] for name in replay.asked]
        # If requests and rows are equal in number, they correspond in order; else each row gets all requests.
        alike = len(exchanges) == len(rows)
        for place, row in enumerate(rows):
            yield row, [exchanges[place]] if alike else exchanges
