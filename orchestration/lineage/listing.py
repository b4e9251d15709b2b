"""The catalogue of every number, printed and measured.

An :class:`Entry` is a line of it: a figure of the paper, a measurement here, or both. :class:`Listing` finds
a number by name or by figure, and derives (:meth:`Listing.made`) what no score file holds: differences,
bounds and counts of tasks.
"""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.benchmarks.baselines import COMPARISONS
from orchestration.lineage.number import NUMBERS, read_tables
from orchestration.models.answering import read_model
from orchestration.registry import BENCHMARKS
from orchestration.scoring.comparability import difference, own, why_not
from orchestration.scoring.counting import Comparison
from orchestration.scoring.names import EDGES, MEAN, Role, benchmarks_of, figure_of, name_of
from orchestration.scoring.published import Kind, published
from orchestration.scoring.scores import Score, score_file
from orchestration.scoring.statistics import newcombe_paired, wilson
from orchestration.workspace.folders import Workspace

# A figure with its unit, if it has one.
_FIGURE = re.compile(r"([+−-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)\s*(?:%|pp)?")


# The metric of a name for the questions of all subsets of a benchmark, which have a count but no accuracy.
_ALL = "all"


class TaskFigure(Enum):
    """A figure that the paper prints about tasks, the subsets of a benchmark; the value is its role."""

    PERFECT = "perfect"  # how many tasks have no wrong answer
    TASKS = "perfect/of"  # how many tasks there are
    BOUND = "perfect/accuracy"  # the accuracy from which on a task counts as perfect


_OF_TASKS = {figure.value: figure for figure in TaskFigure}


class Entry(msgspec.Struct, frozen=True):
    """A number: accuracies in percent, differences in percentage points, counts without a unit.

    ``paper`` is the figure as printed; ``measured`` is ``None`` without a measurement that may be compared
    with it. ``n`` is the measurement's, else the paper's. ``answered_by`` is the language model that was
    measured here, which may differ from the paper's; ``None`` if no model was.
    """

    name: str
    where: str
    paper: str | None
    citation: str | None
    measured: float | None
    n: int | None
    interval: tuple[float, float] | None
    data: Kind
    answered_by: str | None


class Counted(msgspec.Struct, frozen=True):
    """The right answers and the total of a count, and the file that has them."""

    number: str
    correct: int
    n: int
    file: str


class Derived(NamedTuple):
    """A measured number: its value, the counts behind it, and how it is made; or why there is no value."""

    value: float | None
    counts: list[Counted]
    how: str
    n: int | None = None
    interval: tuple[float, float] | None = None
    data: Kind = "none"


_OF_SCORE = (Role("n"), *(Role("", edge) for edge in EDGES))
_NOT_MEASURED = Derived(None, [], "not measured")


class Listing:
    """The numbers of a profile; numbers that are not computed yet have no measurement."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.figures = {figure.name: figure for figure in published().figures()}
        paths = (self._score_file(name) for name in NUMBERS)
        scores = (msgspec.json.decode(path.read_bytes(), type=Score) for path in paths if path.is_file())
        self._scores = {score.name: score for score in scores if score.n}
        path = workspace.path(COMPARISONS)
        pairs = msgspec.json.decode(path.read_bytes(), type=list[Comparison]) if path.is_file() else []
        self._comparisons = {(pair.first, pair.second): pair for pair in pairs}
        self._tables = read_tables(workspace)

    def entries(self) -> list[Entry]:
        """Every figure of the paper in the order of its file, then every other number that is measured."""
        names = [*self.figures, *(name for name in NUMBERS if name not in self.figures)]
        return [self.entry(name) for name in names]

    def entry(self, name: str) -> Entry:
        """A number, by a name from :meth:`find`."""
        made, figure = self.made(name), self.figures.get(name)
        figure = figure or published().accuracies(name).get(own(name))
        number = name if name in NUMBERS else self.split_figure(name)[0]
        table = NUMBERS[number].table[0].name if number in NUMBERS else "numbers"
        where, paper, citation = f"tables/{table}", None, None
        if figure:
            where, paper, citation = ", ".join(figure.where), figure.printed, published().citation(figure)
        # Rounded only to remove binary noise: tables print far fewer digits.
        measured = None if made.value is None else float(f"{made.value:.10g}")
        interval = made.interval and (round(made.interval[0], 4), round(made.interval[1], 4))
        n, model = made.n or published().n(number), None if measured is None else self._answered_by(name)
        return Entry(name, where, paper, citation, measured, n, interval, made.data, model)

    def _answered_by(self, name: str) -> str | None:
        """The language model behind a number, or behind a side of a difference."""
        for benchmark in map(BENCHMARKS.get, reversed(benchmarks_of(name))):
            if benchmark and benchmark.by_model and (who := read_model(self.workspace.data / benchmark.name)):
                return who.name
        return None

    def find(self, text: str) -> list[str]:
        """The names of the numbers that a text may mean, without repetitions.

        It is a name, a row or a cell of a table, or a figure that the paper prints or that was measured.
        """
        text = text.strip()
        if text in NUMBERS or text in self.figures or self._is_derived(text):
            return [text]
        tables = self._tables.values()
        rows = [row for table in tables for row in zip(table["rows"], table["numbers"], strict=True)]
        in_rows = [name for row, names in rows if row[0] == text for name in names]
        cells = [cell for row in rows for cell in zip(*row, strict=True)]
        named = [*in_rows, *(name for cell, name in cells if cell == text)]
        if figure := _FIGURE.fullmatch(text):
            named += self._of_figure(figure[1].replace(",", "").replace("−", "-"))
        return list(dict.fromkeys(filter(None, named)))

    def _of_figure(self, figure: str) -> list[str]:
        """The numbers that the paper prints with a figure, then those measured with it, rounded as in tables.

        A sign is not compared: a difference may be asked for in either direction.
        """
        wanted, every = abs(float(figure)), self.entries()
        printed = [of.name for of in every if of.paper is not None and abs(float(of.paper)) == wanted]
        measured = [(of.name, of.measured) for of in every if of.measured is not None and "." in figure]
        return printed + [name for name, value in measured if f"{abs(value):.2f}" == f"{wanted:.2f}"]

    def split_figure(self, name: str) -> tuple[str, Role]:
        """The number that a name is about, and the role of the named figure."""
        return figure_of(name, {*NUMBERS, *published().numbers})

    def made(self, name: str) -> Derived:
        """Derive a number from the counts of this run."""
        if score := self._scores.get(name):
            return self._of_score(score)
        number, role = self.split_figure(name)
        if role.is_difference:
            return self._of_difference(number, role)
        parts = name_of(number)
        if (parts.subset, parts.metric) == ("", _ALL) and parts.benchmark in BENCHMARKS:
            return self._of_all(parts.benchmark)
        if role.about in _OF_TASKS:
            return self._of_tasks(parts.benchmark, _OF_TASKS[role.about])
        if (score := self._scores.get(number)) is None:
            return _NOT_MEASURED
        made = self._of_score(score)
        if role == Role("n"):
            kind = "options" if score.metric == "per_option" else "counted rows"
            return made._replace(value=score.n, interval=None, how=f"{score.n:,} {kind} with gold")
        if role.edge in EDGES and role.about in ("", own(number)):
            bound = 100 * wilson(score.correct, score.n)[EDGES.index(role.edge)]
            how = f"{role.edge} bound of Wilson's 95 % interval"
            return made._replace(value=bound, interval=None, how=how)
        return Derived(None, [], "another system's figure: nothing here measures it")

    def _of_score(self, score: Score) -> Derived:
        right, n = score.correct, score.n
        low, high = (100 * bound for bound in wilson(right, n))
        counts, how = [self._count(score)], f"{right:,} of {n:,}"
        return Derived(100 * right / n, counts, how, n, (low, high), score.data)

    def _of_difference(self, number: str, role: Role) -> Derived:
        second, edge, _ = role
        if (score := self._scores.get(number)) is None:
            return _NOT_MEASURED
        here = 100 * score.correct / score.n
        if second in published().systems:
            if reason := why_not(score, second):
                return Derived(None, [self._count(score)], f"not compared: {reason}", data=score.data)
            figure = published().accuracies(number)[second]
            how = f"{here:.2f} here minus {figure.printed} published"
            return Derived(difference(score, second), [self._count(score)], how, score.n, None, score.data)
        pair = name_of(number).benchmark, name_of(second).benchmark
        if pair in self._comparisons:
            return self._of_pair(self._comparisons[pair], edge, score.data)
        other = self._scores.get(second)
        if other is None or edge:
            return _NOT_MEASURED
        there = 100 * other.correct / other.n
        how = f"{here:.2f} minus {there:.2f}, on the same questions"
        return Derived(here - there, [self._count(score), self._count(other)], how, score.n, None, score.data)

    def _of_pair(self, pair: Comparison, edge: str, data: Kind) -> Derived:
        if pair.difference is None or pair.newcombe is None or pair.mcnemar is None:
            return Derived(None, [], f"{pair.second} was not asked")
        both = {pair.first: pair.both + pair.first_only, pair.second: pair.both + pair.second_only}
        file = self.workspace.name_of(self.workspace.path(COMPARISONS))
        counts = [Counted(name, right, pair.n, file) for name, right in both.items()]
        first_only, second_only = pair.first_only, pair.second_only
        bounds = newcombe_paired(pair.both, first_only, second_only, pair.neither)
        low, high = (100 * bound for bound in bounds)
        apart = f"{first_only:,} right by {pair.first} alone, {second_only:,} by {pair.second} alone"
        value, how = {
            "": (100 * (first_only - second_only) / pair.n, "paired difference"),
            "low": (low, "low bound of Newcombe's interval, method 10"),
            "high": (high, "high bound of Newcombe's interval, method 10"),
            "p": (pair.mcnemar, "McNemar's exact two-sided p"),
        }[edge]
        how = f"{how}: {apart}{'' if edge == 'p' else f', of {pair.n:,}'}"
        return Derived(value, counts, how, pair.n, None if edge else (low, high), data)

    def _of_all(self, benchmark: str) -> Derived:
        scores = [score for score in self._measured(benchmark) if score.metric == "per_question"]
        if not scores:
            return _NOT_MEASURED
        n, counts = sum(score.n for score in scores), [*map(self._count, scores)]
        return Derived(n, counts, "questions of all subsets", n, None, scores[0].data)

    def _of_tasks(self, benchmark: str, figure: TaskFigure) -> Derived:
        """Count the tasks of a benchmark, all or those without a wrong answer."""
        every = self._measured(benchmark)
        scores = [score for score in every if score.metric == "accuracy" and score.subset != MEAN]
        if not scores:
            return _NOT_MEASURED
        if figure is TaskFigure.BOUND:
            return Derived(None, [], "the accuracy that makes a task count")
        counted, how = scores, "tasks"
        if figure is TaskFigure.PERFECT:
            counted = [score for score in scores if score.correct == score.n]
            how = "tasks without a wrong answer"
        counts = [*map(self._count, counted)]
        return Derived(len(counts), counts, how, len(scores), None, scores[0].data)

    def _measured(self, benchmark: str) -> list[Score]:
        return [self._scores[name] for name in BENCHMARKS[benchmark].numbers if name in self._scores]

    def _count(self, score: Score) -> Counted:
        file = self.workspace.name_of(self._score_file(score.name))
        return Counted(score.name, score.correct, score.n, file)

    def _is_derived(self, name: str) -> bool:
        number, role = self.split_figure(name)
        is_made = self.made(name).how != _NOT_MEASURED.how if role.is_difference else role in _OF_SCORE
        return is_made and number in self._scores

    def _score_file(self, name: str) -> Path:
        return self.workspace.artifacts / "scores" / score_file(name)
