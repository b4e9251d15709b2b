"""From one answer behind a number to its row, its log, and the ticks and triples it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from orchestration.pipeline.logs import read_index
from orchestration.scoring.pairs import PAIRED
from orchestration.workspace import Workspace
from substrate.domains.gqa.explain import short
from substrate.domains.smallville.twin import ARMS
from substrate.errors import ParameterError
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
    folder = next(
        (
            folder
            for folder in lineage.inputs([lineage.makers[path]], is_logs)
            if entry_of(read_index(lineage.workspace.path(folder)), row)
        ),
        None,
    )
    entry = entry_of(read_index(lineage.workspace.path(folder)), row) if folder else None
    if folder is None or entry is None:
        raise ParameterError(
            f"no log has the digest {row.log} that the row names",
            where=(path, str(line)),
            hint="`substrate reproduce` makes logs and rows that fit together",
        )
    log_path = lineage.workspace.path(folder) / entry.file
    name, explanation, explained = _explain(lineage.workspace, row)
    source = _source(
        lineage, lineage.inputs([lineage.makers[folder]], lambda path: path.startswith("data/")), entry.source
    )
    return AnswerTrace(
        name=name,
        file=path,
        line=line,
        row=msgspec.json.decode(text),
        adds=next(
            (tally.right, tally.n)
            for tally in tallies(number, counted_rows(lineage.workspace.path(path), number))
            if row in tally.rows
        ),
        log_file=f"{folder}/{entry.file}",
        log=row.log,
        log_deltas=entry.deltas,
        log_intact=EventLog.read(log_path).digest == row.log,
        source=entry.source,
        source_file=source,
        source_sha256=sha256(lineage.workspace.path(source)) if source else "",
        evidence=list(_evidence(log_path, explanation)),
        explanation=explanation,
        explained=explained,
    )


def row_line(workspace: Workspace, answer: AnswerTrace) -> bytes:
    """The bytes of an answer's row, without the line's end."""
    return workspace.path(answer.file).read_bytes().splitlines()[answer.line - 1]


def _find(path: Path, number: str, question: str) -> Row:
    parts = question.removeprefix(f"{benchmark_of(number)}/").split("/")
    *subset, scene, asked = parts if len(parts) > 1 else ("", "")
    found = [
        row
        for row in counted_rows(path, number)
        if str(row.scene) == scene
        and asked in (str(row.question), _asked(row))
        and subset in ([], [row.subset])
    ]
    if len(found) != 1:
        names = ", ".join(f"{row.subset}/{row.scene}/{row.question}" for row in found)
        why = f"it may be {names}" if found else "no row that counts for it answers that"
        raise ParameterError(
            f"{number} has no one answer named {question!r}: {why}",
            where=("--question",),
            hint="Write SCENE/QUESTION, or SUBSET/SCENE/QUESTION",
        )
    return found[0]


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


def _explain(workspace: Workspace, row: Row) -> tuple[str, str, Any]:
    """An answer's name, and its explanation where its benchmark has one."""
    # A variant of the ablations is CLEVRER under other settings.
    overrides = next(
        (
            variant.overrides
            for variant in VARIANTS
            if row.benchmark == "ablations" and variant.name == row.subset
        ),
        (),
    )
    benchmark = "clevrer" if overrides else row.benchmark
    form = EXPLAINERS.get(benchmark, ("",))[0]
    name = "/".join(
        map(
            str,
            [
                row.benchmark,
                *([row.subset] if form.count("/") != 2 or overrides else []),
                row.scene,
                _asked(row),
            ],
        )
    )
    if not form:
        return name, "", None
    asked = f"{benchmark}/{row.scene}/{row.question}" if overrides else name
    explained = explain_answer(
        asked, Input(workspace.settings.profile, tuple(f"{benchmark}.{override}" for override in overrides))
    )
    return name, explained.text, explained.record


def _source(lineage: Lineage, datasets: list[str], source: str) -> str:
    """The path of the file that an index of logs names; the index may name it without its folder, and an item
    in it.
    """
    plain = source.rpartition(":")[0] or source
    candidates = [
        name for given in (source, plain) for name in (given, *(f"{dataset}/{given}" for dataset in datasets))
    ]
    return next((path for path in candidates if path and lineage.workspace.path(path).is_file()), "")


_BEHIND = re.compile(r"tick +(\d+) [^<\n]*(<.+)$", re.MULTILINE)
_OPS = {"A": "insert", "D": "delete"}
_TICK = re.compile(r'H tick "(\d+)" \.')


def _evidence(log: Path, explanation: str) -> Iterator[Evidence]:
    """The lines of a log's file that an explanation names by tick and triple."""
    wanted = {(int(tick), triple.strip()) for tick, triple in _BEHIND.findall(explanation)}
    tick = -1
    for number, line in enumerate(log.read_text("utf-8").splitlines(), start=1):
        if header := _TICK.fullmatch(line):
            tick = int(header[1])
        elif line[:2] in ("A ", "D "):
            triple = line[2:].removesuffix(" .")
            if wanted & {(tick, triple), (tick, short(triple))}:
                yield Evidence(number, tick, _OPS[line[0]], triple)
