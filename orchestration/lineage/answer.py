"""From one answer behind a number to its row, its log, and the ticks and triples it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.ablations import VARIANTS
from orchestration.files import sha256
from orchestration.lineage.explain import EXPLAINERS, Input, explain_answer
from orchestration.lineage.number import (
    Lineage,
    benchmark_of,
    counted_rows,
    entry_of,
    is_logs,
    is_rows,
    tallies,
)
from orchestration.pipeline.logs import LogEntry, read_index
from orchestration.scoring.pairs import PAIRED
from orchestration.workspace import Workspace
from substrate.domains.smallville.twin import ARMS
from substrate.errors import ParameterError
from substrate.explanation import OWN, Explanation
from substrate.log import EventLog
from substrate.rows import Row, encode


class Evidence(msgspec.Struct, frozen=True):
    """A delta that the answer rests on: its line in the log's file, its tick and its triple."""

    line: int
    tick: int
    op: str
    triple: str


class AnswerTrace(msgspec.Struct, frozen=True):
    """The way from an answer's row down to its deltas and its input."""

    name: str
    file: str
    line: int
    row: dict[str, Any]
    adds: tuple[int, int]
    """What the row, or the pair it is one of, adds to the number's correct ones and to its n."""
    log_file: str
    log: str
    log_deltas: int
    log_intact: bool
    """Whether the file of the log, read again, has the digest that the row names."""
    source: str
    source_file: str
    source_sha256: str
    evidence: list[Evidence]
    explanation: str
    explained: Any


def trace_answer(lineage: Lineage, number: str, question: str) -> AnswerTrace:
    """Follow one of a number's answers.

    Args:
        question: SCENE/QUESTION, or an answer's name as `substrate explain` takes it.

    Raises:
        ParameterError: no row that counts for the number answers it, or more than one does.
    """
    stage = lineage.makers[lineage.score_path(number)]
    (path,) = lineage.inputs([stage], is_rows)
    row = _find(lineage.workspace.path(path), number, question)
    line, text = _line(lineage.workspace.path(path), row)
    folder, entry = _kept_log(lineage, path, line, row)
    log_path = lineage.workspace.path(folder) / entry.file
    log = EventLog.read(log_path)
    name, why = _explain(lineage.workspace, row)
    if why and why.logs[OWN].digest != log.digest:
        raise ParameterError(
            f"{name} is explained from a log of digest {why.logs[OWN].digest}, not from this one",
            where=(f"{folder}/{entry.file}",),
            hint="`substrate reproduce` makes logs and rows that fit together",
        )
    source = _source(lineage, folder, entry.source)
    return AnswerTrace(
        name=name,
        file=path,
        line=line,
        row=msgspec.json.decode(text),
        adds=_added(number, lineage.workspace.path(path), row),
        log_file=f"{folder}/{entry.file}",
        log=row.log,
        log_deltas=entry.deltas,
        log_intact=log.digest == row.log,
        source=entry.source,
        source_file=source,
        source_sha256=sha256(lineage.workspace.path(source)) if source else "",
        evidence=list(_evidence(log, log_path, why.evidence())) if why else [],
        explanation=why.text() if why else "",
        explained=why.record() if why else None,
    )


def row_line(workspace: Workspace, answer: AnswerTrace) -> bytes:
    """The bytes of an answer's row, without the line's end."""
    return workspace.path(answer.file).read_bytes().splitlines()[answer.line - 1]


def _find(path: Path, number: str, question: str) -> Row:
    parts = question.removeprefix(f"{benchmark_of(number)}/").split("/")
    *subset, scene, asked = parts if len(parts) > 1 else ("", "")
    found = [row for row in counted_rows(path, number) if _is_named(row, subset, scene, asked)]
    if len(found) != 1:
        names = ", ".join(f"{row.subset}/{row.scene}/{row.question}" for row in found)
        why = f"it may be {names}" if found else "no row that counts for it answers that"
        raise ParameterError(
            f"{number} has no one answer named {question!r}: {why}",
            where=("--question",),
            hint="Write SCENE/QUESTION, or SUBSET/SCENE/QUESTION",
        )
    return found[0]


def _is_named(row: Row, subset: list[str], scene: str, asked: str) -> bool:
    if subset and subset != [row.subset]:
        return False
    return str(row.scene) == scene and asked in (str(row.question), _asked(row))


def _kept_log(lineage: Lineage, path: str, line: int, row: Row) -> tuple[str, LogEntry]:
    """The folder of the log that a row names, and the log's entry in the folder's index."""
    for folder in lineage.inputs([lineage.makers[path]], is_logs):
        entry = entry_of(read_index(lineage.workspace.path(folder)), row)
        if entry:
            return folder, entry
    raise ParameterError(
        f"no log has the digest {row.log} that the row names",
        where=(path, str(line)),
        hint="`substrate reproduce` makes logs and rows that fit together",
    )


def _added(number: str, path: Path, row: Row) -> tuple[int, int]:
    """What a row, or the pair it is one of, adds to a number's correct ones and to its n."""
    found = tallies(number, counted_rows(path, number))
    return next((tally.right, tally.n) for tally in found if row in tally.rows)


def _line(path: Path, row: Row) -> tuple[int, bytes]:
    wanted = encode(row)
    return next(
        (number, line)
        for number, line in enumerate(path.read_bytes().splitlines(), start=1)
        if line == wanted
    )


def _asked(row: Row) -> str:
    """A row's question as an answer's name has it: of a pair, the arm."""
    return ARMS[int(row.question)] if row.benchmark in PAIRED else str(row.question)


def _explain(workspace: Workspace, row: Row) -> tuple[str, Explanation | None]:
    """An answer's name, and its explanation where its benchmark has one."""
    if row.benchmark == "ablations":
        return _explain_variant(workspace, row)
    form, _ = EXPLAINERS.get(row.benchmark, ("", None))
    named = [row.scene, _asked(row)]
    if form.count("/") != len(named):
        named.insert(0, row.subset)
    name = "/".join(map(str, [row.benchmark, *named]))
    return name, explain_answer(name, Input(opened=workspace)) if form else None


def _explain_variant(workspace: Workspace, row: Row) -> tuple[str, Explanation]:
    """Of an ablation: a variant is CLEVRER under other settings."""
    (variant,) = (variant for variant in VARIANTS if variant.name == row.subset)
    overrides = tuple(f"clevrer.{override}" for override in variant.overrides)
    why = explain_answer(f"clevrer/{row.scene}/{row.question}", Input(workspace.settings.profile, overrides))
    return f"ablations/{row.subset}/{row.scene}/{row.question}", why


def _source(lineage: Lineage, folder: str, source: str) -> str:
    """The path of the file that an index of logs names; empty where it is not there.

    The index may name it without its dataset's folder, and with an item in it.
    """
    datasets = lineage.inputs([lineage.makers[folder]], lambda path: path.startswith("data/"))
    for given in (source, source.rpartition(":")[0]):
        for path in (given, *(f"{dataset}/{given}" for dataset in datasets)):
            if given and lineage.workspace.path(path).is_file():
                return path
    return ""


def _evidence(log: EventLog, file: Path, positions: Iterable[int]) -> Iterator[Evidence]:
    """The deltas at some positions of a log, with their lines in its file."""
    text = file.read_text("utf-8")
    # Only a line feed ends a line: literals may hold other characters that end one elsewhere.
    lines = [number for number, line in enumerate(text.split("\n"), start=1) if line[:2] in ("A ", "D ")]
    for position in positions:
        tick, op, triple = log[position]
        yield Evidence(lines[position], tick, op.name.lower(), " ".join(map(str, triple)))
