"""The table of measurements on official data, from a run or from the pins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.benchmarks.benchmark import Table as Declared
from orchestration.benchmarks.real import MEASURED_ON, REAL
from orchestration.ledger.pinned import pinned_cells
from orchestration.ledger.soundness import require_seals
from orchestration.registry import BENCHMARKS
from orchestration.rendering.best_trivial import BEST_TRIVIAL, BestTrivial
from orchestration.rendering.tables import Column, Table
from orchestration.scoring.likeness import NOT_REPORTED, bounded, percent, printed, rivals
from orchestration.scoring.published import published
from orchestration.scoring.scores import Score
from orchestration.workspace.folders import Workspace
from orchestration.workspace.real import names_of

BESIDE = "published of whole splits"
HEADS = (
    "measured",
    "on",
    "n",
    "right",
    "accuracy",
    "95 % interval",
    BEST_TRIVIAL,
    "published of whole splits",
)
PROFILE = "real"
"""The profile whose pins are shown if it was not computed."""


def official(
    table: Declared, benchmarks: Sequence[Benchmark], scores: Mapping[str, Score], workspace: Workspace
) -> Table:
    """A row per number, or only the mean of many tasks, with other systems' figures."""
    files = {name for benchmark in benchmarks for name in names_of(workspace, benchmark.source).values()}
    caption = (
        f"Official data (profile {workspace.settings.profile}): {', '.join(sorted(files))}; their SHA-256, "
        f"licences and sources stand in params.yaml. Intervals are Wilson, 95 %. {table.note}"
    )
    cells = (_label, _on, lambda s: f"{s.n:,}", lambda s: f"{s.correct:,}", percent, bounded)
    cells = (*cells, BestTrivial(table, workspace), _beside)
    columns = [Column(head, cell) for head, cell in zip(HEADS, cells, strict=True)]
    each = [score for score in scores.values() if score.n]
    means = {score.name.partition("/")[0] for score in each if score.subset == "mean"}
    rows = (score for score in each if score.subset == "mean" or score.name.partition("/")[0] not in means)
    return Table.of(caption, columns, rows)


def _of(score: Score) -> Benchmark:
    return BENCHMARKS[score.name.partition("/")[0]]


def _label(score: Score) -> str:
    subset = "" if score.subset in ("", "mean") else f", {score.subset}"
    return f"{_of(score).title}{subset} {score.metric.replace('_', ' ')}"


def _on(score: Score) -> str:
    return _of(score).about[MEASURED_ON]


def _beside(score: Score) -> str:
    told = (f"{published().systems[who].title} {printed(score.name, who)}" for who in rivals(score.name))
    return ", ".join(told) or NOT_REPORTED


def pinned_rows(root: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The pinned rows of the table, by number, in the order of the report; each maps heads to cells.

    Raises:
        PinError: a file of these pins is missing or damaged.
    """
    require_seals(root, PROFILE)
    cells = pinned_cells(root, PROFILE, REAL.name)
    for benchmark in BENCHMARKS.values():
        yield from ((number, cells[number]) for number in benchmark.numbers if number in cells)
