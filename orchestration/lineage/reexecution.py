"""One answer computed again from its input, through its log, with the pipeline's own code and without Spark."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.benchmarks import babi, clevrer, comphy, gqa, twin
from orchestration.benchmarks.ablations import VARIANTS, AnswerVariants
from orchestration.pipeline.assets.answers import split_of
from orchestration.pipeline.assets.datasets import HUMANS
from orchestration.pipeline.logs import LogEntry
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import annotation_names
from substrate.domains.comphy.format import target_names
from substrate.errors import ParameterError
from substrate.rows import Row, decode

Work = Callable[[Sequence[Any]], Iterable[str]]


class Pipeline(NamedTuple):
    """A benchmark's two steps on a share of its scenes: logs into a folder, then rows from that folder."""

    write_logs: Work
    answer: Work


class Reexecution(msgspec.Struct, frozen=True):
    """What came out, and whether it is the row and the log that are kept."""

    row: str
    log: str
    same_row: bool
    same_log: bool
    same_log_file: bool


def reexecute(workspace: Workspace, line: bytes, kept_log: Path) -> Reexecution:
    """Compute the row of one answer and its log again.

    Args:
        line: the row as it is kept.
        kept_log: the file of the log it was computed from.

    Raises:
        ParameterError: the row's benchmark cannot be computed apart.
    """
    row = decode(line)
    if row.benchmark not in PIPELINES:
        raise ParameterError(
            f"an answer of {row.benchmark} cannot be computed apart",
            hint=f"`substrate verify` computes everything; --reexecute knows {', '.join(PIPELINES)}",
        )
    with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
        logs = Path(folder)
        pipeline = PIPELINES[row.benchmark](workspace, logs)
        entries = [msgspec.json.decode(text, type=LogEntry) for text in pipeline.write_logs([row.scene])]
        fresh = next((text for text in pipeline.answer([row.scene]) if _same_question(decode(text), row)), "")
        digest = decode(fresh).log if fresh else ""
        files = [logs / entry.file for entry in entries if entry.log == digest]
        same_file = any(file.read_bytes() == kept_log.read_bytes() for file in files)
    return Reexecution(fresh, digest, fresh.encode() == line, digest == row.log, same_file)


def _same_question(row: Row, other: Row) -> bool:
    return (row.subset, row.scene, row.question) == (other.subset, other.scene, other.question)


def _clevrer_logs(workspace: Workspace, logs: Path) -> Work:
    annotations = clevrer.annotations_of(workspace.data / "clevrer")
    return clevrer.WriteLogs(annotations, annotation_names(annotations), workspace.root, logs)


def _clevrer(workspace: Workspace, logs: Path) -> Pipeline:
    split = split_of(workspace.settings.data.clevrer.source, "validation")
    return Pipeline(
        _clevrer_logs(workspace, logs),
        clevrer.Answer(
            logs, clevrer.questions_of(workspace.data / "clevrer"), workspace.settings.clevrer, split
        ),
    )


def _ablations(workspace: Workspace, logs: Path) -> Pipeline:
    split = split_of(workspace.settings.data.clevrer.source, "validation")
    questions = clevrer.questions_of(workspace.data / "clevrer")
    return Pipeline(
        _clevrer_logs(workspace, logs),
        AnswerVariants(logs, questions, workspace.settings.clevrer, split, VARIANTS),
    )


def _humans(workspace: Workspace, logs: Path) -> Pipeline:
    events, questions = (workspace.data / "clevrer_humans" / name for name in HUMANS)
    return Pipeline(
        clevrer.WriteEventLogs(events, logs),
        clevrer.AnswerHumans(logs, questions, workspace.settings.clevrer, "train"),
    )


def _comphy(benchmark: str) -> Callable[[Workspace, Path], Pipeline]:
    def pipeline(workspace: Workspace, logs: Path) -> Pipeline:
        folder, parameters = workspace.data / "comphy", getattr(workspace.settings, benchmark)
        annotations = folder / "annotation"
        write = comphy.WriteLogs(
            annotations, target_names(annotations), workspace.root, parameters.infer_properties, logs
        )
        return Pipeline(
            write, comphy.Answer(logs, comphy.questions_of(folder), parameters, benchmark, "generated")
        )

    return pipeline


def _babi(workspace: Workspace, logs: Path) -> Pipeline:
    tasks = workspace.data / "babi"
    return Pipeline(
        babi.WriteLogs(tasks, logs),
        babi.Answer(logs, tasks, split_of(workspace.settings.data.babi.source, "test")),
    )


def _gqa(workspace: Workspace, logs: Path) -> Pipeline:
    folder = workspace.data / "gqa"
    split = split_of(workspace.settings.data.gqa.source, "validation")
    return Pipeline(
        gqa.WriteLogs(gqa.scene_graphs_of(folder), logs), gqa.Answer(logs, gqa.questions_of(folder), split)
    )


def _twin(workspace: Workspace, logs: Path) -> Pipeline:
    specs = twin.specs_of(workspace.data / "twin")
    return Pipeline(twin.WriteLogs(specs, logs), twin.Answer(logs, specs))


PIPELINES: Mapping[str, Callable[[Workspace, Path], Pipeline]] = {
    "ablations": _ablations,
    "babi": _babi,
    "clevrer": _clevrer,
    "clevrer_humans": _humans,
    "comphy": _comphy("comphy"),
    "comphy_inferred": _comphy("comphy_inferred"),
    "gqa": _gqa,
    "twin": _twin,
}
"""By benchmark: its two steps, with the logs in a folder of their own."""
