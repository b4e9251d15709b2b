"""A stage's results in the detail that comparisons need: scores, cells and rows, read from its outs as they
are now (a measurement).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import starmap, zip_longest
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from orchestration.ledger.digests import with_details
from orchestration.ledger.manifest import Made
from orchestration.ledger.stage_records import fingerprint
from orchestration.scoring.scores import Score
from orchestration.stage import Stage, Stages
from orchestration.workspace.folders import ANSWERS, Workspace
from substrate.base.inputs import NOT_JSON
from substrate.domains.rows import decode

_SHORT = 8


class ShortRow(msgspec.Struct, frozen=True, array_like=True):
    """A row of answers in short; ``log`` and ``row`` are the first digits of hashes."""

    subset: str
    scene: int | str
    question: int | str
    predicted: str
    expected: str | None
    correct: bool | None
    log: str
    row: str

    @property
    def name(self) -> str:
        """The row's name in messages."""
        return f"scene {self.scene}, question {self.question} ({self.subset})"


class StageResult(Made, frozen=True, kw_only=True, omit_defaults=True):
    """A stage's results with the record of their run, measured here or read from the pins.

    Results from pins have the code and environment of the run only if it was on this machine.

    Attributes:
        scores: right answers and total by number.
        cells: by table and row: the text under each head.
        rows: the stage's answers in short, by name.
        unsafe: the reason for accepting the outs although no record of a run computed them.
    """

    scores: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    cells: dict[str, dict[str, dict[str, str]]] = msgspec.field(default_factory=dict)
    rows: dict[str, ShortRow] = msgspec.field(default_factory=dict)
    unsafe: str = ""

    @property
    def record(self) -> Made:
        """The part that the ledger keeps of pinned results."""
        return replace(msgspec.convert(self, Made, from_attributes=True), files={}, lines={})


# Results by stage.
Results = dict[str, StageResult]


def measure(
    workspace: Workspace, stages: Stages, wanted: Iterable[Stage] | None = None, known: Results | None = None
) -> Results:
    """Measure the stages' present outs in a workspace; skip a stage without outs.

    The details omit unreadable parts of a damaged file; a line that is not a row is marked.

    Args:
        workspace: the workspace with the outs.
        stages: all stages.
        wanted: the stages to measure; by default all.
        known: an earlier measurement; its details are reused for outs that have not changed.
    """
    results, known = Results(), known or {}
    for stage in stages.values() if wanted is None else wanted:
        made = fingerprint(stages, stage, workspace)
        if stage.pinned_by == "nothing" or not made.outs:
            continue
        result = known.get(stage.name)
        if result is None or result.outs != made.outs:
            result = with_results(made, {out: workspace.path(out) for out in made.outs})
        of_run = {"inputs": made.inputs, "needs": made.needs, "environment": made.environment}
        results[stage.name] = replace(result, code=made.code, parameters=made.parameters, **of_run)
    return results


def with_results(made: Made, paths: Mapping[str, Path]) -> StageResult:
    """Add all readable details of its outs to a record; ``paths`` maps each out to its path."""
    scores, cells, rows = dict[str, tuple[int, int]](), dict[str, Any](), dict[str, ShortRow]()
    for out, path in paths.items():
        with suppress(*NOT_JSON):  # the hash reveals a damaged file
            if path.name == ANSWERS:
                short = starmap(short_row, enumerate(path.read_bytes().splitlines(), 1))
                rows = {row.name: row for row in short}
            elif "/scores/" in out:
                score = msgspec.json.decode(path.read_bytes(), type=Score)
                scores[score.name] = score.correct, score.n
            elif "/tables/" in out and path.suffix == ".json":
                cells[path.stem] = _cells(path.read_bytes())
    others = {out: path for out, path in paths.items() if path.name != ANSWERS}
    record = asdict(with_details(made, others))
    return StageResult(**record, scores=scores, cells=cells, rows=rows)


def short_digest(digest: str, digits: int = _SHORT) -> str:
    """Return the first digits of a digest, by default as many as pins have of a log's or row's.

    >>> short_digest("sha256:0123456789abcdef")
    '01234567'
    """
    return digest.removeprefix("sha256:")[:digits]


def short_row(number: int, line: bytes) -> ShortRow:
    """Shorten a line of a file of answers; a line that is not a row is marked."""
    digest = short_digest(hashlib.sha256(line).hexdigest())
    try:
        row = decode(line)
    except NOT_JSON:
        return ShortRow("", f"line {number}", "", "not readable", None, None, "", digest)
    fields = row.subset, row.scene, row.question, row.predicted, row.expected, row.correct
    return ShortRow(*fields, short_digest(row.log), digest)


class _Cells(msgspec.Struct):
    heads: list[str]
    rows: list[list[str]]
    numbers: list[list[str | None] | None]


def _cells(data: bytes) -> dict[str, dict[str, str]]:
    """Return the text of a table's cells under each head, by row."""
    table = msgspec.json.decode(data, type=_Cells)
    cells: dict[str, dict[str, str]] = {}
    for row, numbers in zip_longest(table.rows, table.numbers, fillvalue=None):
        row = row or [""]
        for head, text, number in zip_longest(table.heads, row, numbers or (), fillvalue=None):
            cells.setdefault(number or row[0], {})[head or ""] = text or ""
    return cells
