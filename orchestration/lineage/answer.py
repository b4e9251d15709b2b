"""From an answer to its row, log, ticks and triples; and a recomputation of the answer from its input."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from orchestration.lineage.explain import answered, case_of
from orchestration.lineage.number import LOGS, NUMBERS, ROWS, Lineage, contributions
from orchestration.registry import BENCHMARKS, EXPLAINED, INTERPRETED
from orchestration.workspace.dataset_files import split_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.log_table import LogEntry, read_index
from substrate.base.errors import ParameterError
from substrate.base.files import sha256
from substrate.cause.explanation import OWN
from substrate.domains.rows import Row, decode, encode
from substrate.log.event_log import EventLog

_ANEW = "`substrate reproduce` makes logs and rows that fit together"


class TracedDelta(msgspec.Struct, frozen=True):
    """A delta behind the answer: its position in the log, its tick and its triple."""

    position: int
    tick: int
    op: str
    triple: str


class AnswerTrace(msgspec.Struct, frozen=True):
    """The way from an answer's row down to its deltas and its input.

    Attributes:
        name: the answer's.
        file: of its row.
        line: of its row in it.
        row: the row.
        adds: the addition of the row, or of its pair, to the number's correct ones and to its n.
        log_name: the log's name, as `substrate log` takes it: BENCHMARK/SCENE.
        log: the digest that the row names.
        log_deltas: how many it has.
        log_intact: True if the log, read again, has that digest.
        source: the input as the index names it.
        source_file: its file.
        source_sha256: the hash of that now.
        evidence: the deltas that the answer rests on.
        explanation: why, in words.
        explained: the same for a machine.
    """

    name: str
    file: str
    line: int
    row: dict[str, Any]
    adds: tuple[int, int]
    log_name: str
    log: str
    log_deltas: int
    log_intact: bool
    source: str
    source_file: str
    source_sha256: str
    evidence: list[TracedDelta]
    explanation: str
    explained: Any


def trace_answer(lineage: Lineage, number: str, question: str) -> AnswerTrace:
    """Follow one of a number's answers to its sources.

    Args:
        question: SCENE/QUESTION, or the name of an answer as `substrate explain` takes it.

    Raises:
        ParameterError: no row of the number has this question, or several rows have it.
    """
    workspace = lineage.workspace
    (path,) = lineage.inputs([lineage.makers[lineage.score_paths[number]]], ROWS)
    counted = contributions(lineage, number, path)
    row = _find([row for part in counted for row in part.rows], number, question)
    line = workspace.path(path).read_bytes().splitlines().index(encode(row)) + 1
    index, entry = _entry(lineage, path, line, row)
    benchmark, logged = BENCHMARKS[row.benchmark], Path(index).parts[-3]
    log = workspace.logs(logged).read(entry.name)
    name, log_name = benchmark.answer_name(row), f"{logged}/{entry.name}"
    why = answered(name, workspace).explanation if row.benchmark in EXPLAINED else None
    if why and why.logs[OWN].digest != log.digest:
        what = f"{name} is explained from a log of digest {why.logs[OWN].digest}, not from this one"
        raise ParameterError(what, where=(log_name,), hint=_ANEW)
    source = _source(lineage, lineage.inputs([lineage.makers[index]], "data/*"), entry.source)
    return AnswerTrace(
        name=name,
        file=path,
        line=line,
        row=msgspec.json.decode(encode(row)),
        adds=next((part.right, part.n) for part in counted if row in part.rows),
        log_name=log_name,
        log=row.log,
        log_deltas=entry.deltas,
        log_intact=log.digest == row.log,
        source=entry.source,
        source_file=source,
        source_sha256=sha256(workspace.path(source)) if source else "",
        evidence=[_delta(log, position) for position in why.evidence()] if why else [],
        explanation=why.text() if why else "",
        explained=why.record() if why else None,
    )


def _entry(lineage: Lineage, path: str, line: int, row: Row) -> tuple[str, LogEntry]:
    """The index that names a row's log, and its entry; of equal logs, the entry of the row's scene."""

    def fits(entry: LogEntry) -> tuple[bool, bool]:
        parts = entry.name.split("/")
        return str(row.scene).lstrip("0") in [part.lstrip("0") for part in parts], row.subset in parts

    for index in lineage.inputs([lineage.makers[path]], LOGS):
        entries = read_index(lineage.workspace.path(index))
        if of_log := [entry for entry in entries if entry.log == row.log]:
            return index, max(of_log, key=fits)
    what = f"no log has the digest {row.log} that the row names"
    raise ParameterError(what, where=(path, str(line)), hint=_ANEW)


def _find(rows: Iterable[Row], number: str, question: str) -> Row:
    """The row of a number that a question names."""
    benchmark = NUMBERS[number]
    parts = question.removeprefix(f"{benchmark.name}/").split("/")
    *subset, scene, question_name = parts if len(parts) > 1 else ("", "")
    of_scene = [row for row in rows if str(row.scene) == scene and subset in ([], [row.subset])]
    matching = [row for row in of_scene if question_name in (str(row.question), benchmark.asked(row))]
    if len(matching) != 1:
        names = ", ".join(f"{row.subset}/{row.scene}/{row.question}" for row in matching)
        why = f"it may be {names}" if matching else "no row that counts for it answers that"
        what = f"{number} has no one answer named {question!r}: {why}"
        hint = "Write SCENE/QUESTION, or SUBSET/SCENE/QUESTION"
        raise ParameterError(what, where=("--question",), hint=hint)
    return matching[0]


def _source(lineage: Lineage, datasets: list[str], source: str) -> str:
    """The path of the input that an index of logs names, with or without a folder and an item inside."""
    plain = source.rpartition(":")[0] or source
    paths = (path for given in (source, plain) for path in (given, *(f"{data}/{given}" for data in datasets)))
    return next((path for path in paths if lineage.workspace.path(path).is_file()), "")


def _delta(log: EventLog, position: int) -> TracedDelta:
    """The delta at a position of a log."""
    tick, op, triple = log[position]
    return TracedDelta(position, tick, op.name.lower(), " ".join(map(str, triple)))


class Reexecution(msgspec.Struct, frozen=True):
    """The recomputed answer, and whether it equals the stored row and log."""

    row: str
    log: str
    same_row: bool
    same_log: bool
    same_log_file: bool


def reexecute(workspace: Workspace, answer: AnswerTrace) -> Reexecution:
    """Recompute the row of an answer and its log, and compare both with the stored ones.

    Raises:
        ParameterError: answers of the row's benchmark cannot be recomputed singly.
    """
    line = workspace.path(answer.file).read_bytes().splitlines()[answer.line - 1]
    logged, _, name = answer.log_name.partition("/")
    kept_patch, row = workspace.logs(logged).patch(name), decode(line)
    benchmark = INTERPRETED.get(row.benchmark)
    if benchmark is None:
        hint = f"`substrate verify` computes everything; --reexecute knows {', '.join(INTERPRETED)}"
        raise ParameterError(f"an answer of {row.benchmark} cannot be computed apart", hint=hint)
    case = case_of(benchmark.source, workspace, str(row.scene))
    if case is None:
        raise ParameterError(f"no scene {row.scene} is in the data", where=(benchmark.source.name,))
    parameters = benchmark.parameters.of(workspace.settings)
    logs = benchmark.logs(case, parameters)
    rows = benchmark.rows(case, logs, parameters, split_of(workspace, benchmark.source))
    same = (again for again in rows if (again.subset, again.question) == (row.subset, row.question))
    if (fresh := next(same, None)) is None:
        return Reexecution("", "", False, False, False)
    same_file = any(log.digest == fresh.log and log.to_patch() == kept_patch for log in logs)
    text = encode(fresh)
    return Reexecution(text.decode(), fresh.log, text == line, fresh.log == row.log, same_file)
