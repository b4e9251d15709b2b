"""The table of measurements on official data, from a run or from the pins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from pathlib import Path

from orchestration.benchmarks.benchmark import Benchmark
from orchestration.benchmarks.benchmark import Table as DeclaredTable
from orchestration.benchmarks.real import MEASURED_ON, REAL  # the declared table of official data
from orchestration.lineage.number import NUMBERS
from orchestration.pins.pin_files import pinned_cells
from orchestration.rendering.layouts.best_trivial import graded, trivial_columns
from orchestration.rendering.layouts.captions import caption
from orchestration.rendering.tables import Column, Table
from orchestration.scoring.comparability import NOT_REPORTED, percent, printed
from orchestration.scoring.counting import RIGHT, compared, counts_for, is_detail, outcomes, scene_counts
from orchestration.scoring.formatting import bracketed, paired
from orchestration.scoring.names import kind_and_variant
from orchestration.scoring.published import published
from orchestration.scoring.scores import Score
from orchestration.scoring.statistics import clustered
from orchestration.verification.record_faults import profile_faults, require_sound
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import names_of

BESIDE = "published of whole splits"
# The profile whose pins are shown if it was not computed.
_PROFILE = "real"


def official(
    table: DeclaredTable, benchmarks: Sequence[Benchmark], scores: Mapping[str, Score], workspace: Workspace
) -> Table:
    """A row per number, or only the mean of many tasks, with other systems' figures."""
    files = {name for benchmark in benchmarks for name in names_of(workspace, benchmark.source).values()}
    about = caption("official", profile=workspace.settings.profile, files=sorted(files), table=table)
    rows_here = cache(partial(graded, workspace))

    def interval(score: Score) -> str:
        # Scenes are taken for independent.
        benchmark = NUMBERS[score.name]
        if score.subset in benchmark.no_interval:
            return ""
        counted = (row for row in rows_here(benchmark.name) if counts_for(row, score.name))
        return bracketed(*clustered(scene_counts(counted, benchmark.metrics[score.metric])))

    columns = [
        Column("measured", _label),
        Column("on", lambda score: NUMBERS[score.name].about[MEASURED_ON]),
        Column("n", lambda score: f"{score.n:,}"),
        Column("right", lambda score: f"{score.correct:,}"),
        Column("accuracy", percent),
        Column("95 % interval", interval, place="below"),
        *trivial_columns(table, workspace),
        Column(BESIDE, _beside),
    ]
    sources = [benchmark.source.name for benchmark in benchmarks]
    each = [score for score in scores.values() if score.n]
    each.sort(key=lambda score: sources.index(NUMBERS[score.name].source.name))
    names = [score.name for score in each]
    return Table.of(about, columns, [score for score in each if not is_detail(score.name, names)])


def _label(score: Score) -> str:
    subset = "" if score.subset in ("", "mean") else f", {score.subset}"
    return f"{NUMBERS[score.name].title}{subset} {score.metric.replace('_', ' ')}"


def _beside(score: Score) -> str:
    figures = published().accuracies(score.name)
    told = (f"{published().systems[who].title} {printed(score.name, who)}" for who in figures)
    return ", ".join(told) or NOT_REPORTED


_OF_PAIRS = ("first − second", "n", "first", "second", "only first", "only second", "difference", "exact p")


def by_pair(
    table: DeclaredTable, benchmarks: Sequence[Benchmark], scores: Mapping[str, Score], workspace: Workspace
) -> Table:
    """Make the table of each two variants of the same questions, with McNemar's exact p."""
    asked = "; ".join(f"{benchmark.name}: {benchmark.about[MEASURED_ON]}" for benchmark in benchmarks)
    rows: list[list[str]] = []
    for benchmark in benchmarks:
        numbers = [name for name in benchmark.numbers if name.endswith("/per_question") and scores[name].n]
        answers = graded(workspace, benchmark.name)
        right = {name: outcomes([row for row in answers if counts_for(row, name)], RIGHT) for name in numbers}
        for first, second in combinations(numbers, 2):
            sides = [scores[name] for name in (first, second)]
            kinds = {kind_and_variant(side.subset)[0] for side in sides}
            # Without the names of the sides, which the label of the row has.
            pair = compared("", "", right[first], right[second])
            if len(kinds) == 1 and pair.mcnemar is not None:
                counts = pair.both, pair.first_only, pair.second_only, pair.neither
                cells = [f"{benchmark.name}: {' − '.join(side.subset for side in sides)}", f"{pair.n:,}"]
                cells += [percent(side) for side in sides]
                cells += [str(pair.first_only), str(pair.second_only), paired(*counts), f"{pair.mcnemar:.2g}"]
                rows.append(cells)
    return Table.of(f"{table.title}. {asked}. {table.note}", [Column(head, str) for head in _OF_PAIRS], rows)


def pinned_rows(root: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The pinned rows of the table, by number, in the order of the report; each maps heads to cells.

    Raises:
        PinError: a file of these pins is missing or damaged.
    """
    require_sound(profile_faults(root, _PROFILE))
    cells = pinned_cells(root, _PROFILE, REAL.name)
    yield from ((number, cells[number]) for number in NUMBERS if number in cells)
