"""The stages of a language model: a transcript of its requests, and the rows that a replay gives."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from orchestration.base.progress import advance
from orchestration.benchmarks.baselines import SECTION, LanguageModel, pictures_in, pictures_of
from orchestration.benchmarks.own_files import AnswerCounts, write_rows
from orchestration.models import answering, asking, client, transcript
from orchestration.stage import Stage
from orchestration.workspace.folders import Workspace
from orchestration.workspace.model_requests import TRANSCRIPT, requests_of
from substrate.base.files import write_json
from substrate.baselines.parameters import MODEL_URL


def model_stages(model: LanguageModel) -> Iterator[Stage]:
    """Make the stages of a model's transcript and of its rows."""
    read = (f"{model.base.logger.name}/logs",) if model.reads_logs else ()
    needs = (f"{model.source.name}/dataset", *read)
    yield Stage(
        f"{model.name}/dataset",
        (f"data/{{profile}}/{model.name}",),
        partial(make_transcript, model),
        model.about["dataset"],
        needs=needs,
        parameters=model.keys,
        functions=(model.parts, model.source.cases),
        kinds=("llm",),
        pinned_by="data.dvc",
        asks_server=True,
        outside=partial(transcript_of, model),
    )
    yield Stage(
        f"{model.name}/answers",
        (f"artifacts/{{profile}}/{model.name}/answers.jsonl",),
        partial(make_rows, model),
        model.about["answers"],
        needs=(f"{model.name}/dataset", *needs),
        parameters=model.keys,
        functions=(model.parts, model.source.cases),
    )


def transcript_of(model: LanguageModel, workspace: Workspace) -> dict[str, Path]:
    """The recorded replies of a model: this run's, else the profile's."""
    baseline = model.baseline(workspace.settings)
    if baseline.model is None:
        return {}
    own, pinned = (
        transcript.file_of(place.transcripts / model.name, baseline)
        for place in (workspace, replace(workspace, experiment=None))
    )
    replies = own if own.is_file() or transcript.partial_of(own).is_file() else pinned
    beside = {"journal": transcript.partial_of(replies), "times": transcript.took_of(replies)}
    return {"replies": replies} | beside


def make_transcript(model: LanguageModel, workspace: Workspace, out: Path) -> dict[str, Any]:
    """Ask new questions if a server is set, and keep the transcript."""
    out.mkdir()
    settings = SECTION.of(workspace.settings)
    baseline = model.baseline(workspace.settings)
    if baseline.model is None:
        return {"not measured": f"baselines.{model.name}.model names no model"}
    replies = transcript_of(model, workspace)["replies"]
    transcript.settle(replies)
    server, requests = client.endpoint(), 0
    blind = model.sees and not settings.images
    if server and not blind:
        replies = _own_copy(model, workspace, replies)
        pictures = pictures_in(workspace.root / settings.images) if settings.images else pictures_of({})
        parts = requests_of(model, workspace, pictures)
        watch = partial(advance, f"{model.name}/dataset", unit="replies")
        requests = asking.record(parts, baseline, settings, server, replies, watch=watch)
    records = transcript.read_transcript(replies)
    if not records:
        lacks = "baselines.images names no folder of photographs" if blind else f"{MODEL_URL} is not set"
        return {"not measured": f"{lacks}, and no transcript of an earlier run is here"}
    parts = requests_of(model, workspace, pictures_of(records))
    try:
        used = asking.view(parts, baseline, records)
    except transcript.TranscriptError as error:
        return {"not measured": f"the transcript is of fewer or of other questions: {error}"}
    transcript.write_transcript(out / TRANSCRIPT, used)
    model_here = answering.answering_model(used, baseline, transcript.read_took(replies))
    write_json(out / answering.ANSWERING, model_here, indent=1)
    return {"requests": len(used), "asked now": requests}


def _own_copy(model: LanguageModel, workspace: Workspace, replies: Path) -> Path:
    """Copy the profile's replies into an experiment, which adds to its own file; return that file."""
    own = workspace.transcripts / model.name / replies.name
    if replies.is_file() and replies != own:
        own.parent.mkdir(parents=True, exist_ok=True)
        for path in filter(Path.is_file, (replies, transcript.took_of(replies))):
            shutil.copy(path, own.parent)
    return own


def make_rows(model: LanguageModel, workspace: Workspace, out: Path) -> dict[str, Any]:
    """Make the rows of a transcript; none if there is no transcript."""
    records = transcript.read_transcript(workspace.data / model.name / TRANSCRIPT)
    if not records:
        out.touch()
        return {"not measured": "no transcript"}
    parts, baseline = requests_of(model, workspace, pictures_of(records)), model.baseline(workspace.settings)
    watch = partial(advance, f"{model.name}/answers")
    counts = AnswerCounts()
    write_rows(asking.ask_parts(parts, transcript.Replay(records, baseline), watch=watch), out, counts)
    return {"rows": counts.rows, "unreadable replies": counts.errors}
