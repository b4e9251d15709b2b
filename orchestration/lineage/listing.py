"""Every number there is: what the paper prints of it, what was measured here, and the counts behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from orchestration.registry import BENCHMARKS
from orchestration.scoring.likeness import difference, own, why_not
from orchestration.scoring.published import MINUS, Figure, Kind, published
from orchestration.scoring.scores import Comparison, Score, score_file
from orchestration.workspace.folders import Workspace

_FIGURE = re.compile(r"[+−-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
_EDGES = ("low", "high")


class Entry(msgspec.Struct, frozen=True):
    """A number: accuracies in percent, differences in percentage points, counts as they are.

    ``paper`` is the figure as printed; ``measured`` is ``None`` where nothing was, or where what was measured
    may
    not be set beside it. ``n`` is that of the measurement, else the paper's.
    """

    name: str
    where: str
    paper: str | None
    citation: str | None
    measured: float | None
    n: int | None
    interval: tuple[float, float] | None
    data: Kind


class Count(msgspec.Struct, frozen=True):
    """So many right of so many: what a number was counted as, and the file that says so."""

    number: str
    correct: int
    n: int
    file: str


class Made(NamedTuple):
    """How a measured number is made: its value, the counts behind it, in words; without a value, why."""

    value: float | None
    counts: list[Count]
    how: str
    n: int | None = None
    interval: tuple[float, float] | None = None
    data: Kind = "none"


class Listing:
    """The numbers of a profile; what was not computed yet is not measured."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.numbers = [name for benchmark in BENCHMARKS.values() for name in benchmark.numbers]
        self.figures = {figure.name: figure for figure in published().figures()}
        self._scores = {name: found for name in self.numbers if (found := self._read_score(name))}
        path = workspace.artifacts / "twin" / "comparisons.json"
        read = msgspec.json.decode(path.read_bytes(), type=list[Comparison]) if path.is_file() else []
        self._comparisons = {(one.first, one.second): one for one in read}
        self._comparisons_file = self._relative(path)
        tables = sorted((workspace.artifacts / "tables").glob("*.json"))
        self._tables: list[dict[str, Any]] = [msgspec.json.decode(table.read_bytes()) for table in tables]

    def entries(self) -> list[Entry]:
        """Every figure of the paper in the order of its file, then every other number that is measured."""
        names = [*self.figures, *(name for name in self.numbers if name not in self.figures)]
        return [self.entry(name) for name in names]

    def entry(self, name: str) -> Entry:
        """A number by its name, which :meth:`find` gives."""
        made, figure = self.made(name), self._figure(name)
        number = name if name in self.numbers else self.split_name(name)[0]
        return Entry(
            name=name,
            where=", ".join(figure.where) if figure else f"tables/{self._table(number)}",
            paper=figure.printed if figure else None,
            citation=published().citation(figure) if figure else None,
            measured=None if made.value is None else float(f"{made.value:.6g}"),
            n=made.n or published().n(number),
            interval=made.interval,
            data=made.data,
        )

    def find(self, text: str) -> list[str]:
        """The names of the numbers that a text means: a name, a row's name, a cell, or a printed figure."""
        text = text.strip()
        if text in self.numbers or text in self.figures or self._is_derived(text):
            return [text]
        in_rows = [name for row, names in self._rows() if row[0] == text for name in names]
        in_cells = [
            name
            for row, names in self._rows()
            for cell, name in zip(row, names, strict=True)
            if cell == text and name
        ]
        found = [name for name in (*in_rows, *in_cells) if name]
        if _FIGURE.fullmatch(text.removesuffix("%").removesuffix("pp").strip()):
            found += self._of_figure(text)
        return list(dict.fromkeys(found))

    def _of_figure(self, text: str) -> Iterator[str]:
        plain = text.removesuffix("%").removesuffix("pp").strip().replace(",", "").replace("−", "-")
        wanted = abs(float(plain))
        digits = len(plain.partition(".")[2])
        for entry in self.entries():
            printed = entry.paper is not None and abs(float(entry.paper)) == wanted
            here = (
                entry.measured is not None and "." in plain and round(abs(entry.measured), digits) == wanted
            )
            if printed or here:
                yield entry.name

    def split_name(self, name: str) -> tuple[str, str]:
        """The number that a name is about, and what of it: ``n``, a bound, a difference, a system."""
        known = {*self.numbers, *published().numbers}
        parts = name.split("/")
        # A difference names a second number, so the shortest one that fits is the first.
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in known:
                return "/".join(parts[:end]), "/".join(parts[end:])
        return name, ""

    def made(self, name: str) -> Made:
        """How a number was made here, down to counts."""
        if score := self._scores.get(name):
            return self._of_score(score)
        number, what = self.split_name(name)
        if what.startswith(MINUS):
            return self._of_difference(number, what)
        if number == "clevrer/all":
            return self._of_all("clevrer")
        if what.startswith("perfect"):
            return self._of_perfect(number, what)
        score = self._scores.get(number)
        if score is None or score.accuracy is None or score.wilson is None:
            return Made(None, [], "not measured")
        made = self._of_score(score)
        whose, _, edge = what.rpartition("/")
        if what == "n":
            kind = "options" if score.metric == "per_option" else "counted rows"
            return made._replace(value=score.n, interval=None, how=f"{score.n:,} {kind} with gold")
        if edge in _EDGES and whose in ("", own(number)):
            value = 100 * score.wilson[_EDGES.index(edge)]
            return made._replace(value=value, interval=None, how=f"{edge} bound of Wilson's 95 % interval")
        return Made(None, [], "another system's figure: nothing here measures it")

    def _of_score(self, score: Score) -> Made:
        if score.accuracy is None or score.wilson is None:
            return Made(None, [], "not measured", data="none")
        low, high = (round(100 * bound, 4) for bound in score.wilson)
        count = self._count(score)
        how = f"{score.correct:,} of {score.n:,}"
        return Made(100 * score.accuracy, [count], how, score.n, (low, high), score.data)

    def _of_difference(self, number: str, what: str) -> Made:
        second = what.removeprefix(MINUS)
        edge = ""
        if second.rpartition("/")[2] in (*_EDGES, "p"):
            second, _, edge = second.rpartition("/")
        score = self._scores.get(number)
        if score is None or score.accuracy is None:
            return Made(None, [], "not measured")
        if second in published().systems:
            if reason := why_not(score, second):
                return Made(None, [self._count(score)], f"not compared: {reason}", data=score.data)
            figure = published().accuracies(number)[second]
            how = f"{100 * score.accuracy:.2f} here minus {figure.printed} published"
            return Made(difference(score, second), [self._count(score)], how, score.n, None, score.data)
        pair = number.partition("/")[0], second.partition("/")[0]
        if pair in self._comparisons:
            return self._of_pair(self._comparisons[pair], edge, score.data)
        other = self._scores.get(second)
        if other is None or other.accuracy is None or edge:
            return Made(None, [], "not measured")
        how = f"{100 * score.accuracy:.2f} minus {100 * other.accuracy:.2f}, on the same questions"
        counts = [self._count(score), self._count(other)]
        return Made(100 * (score.accuracy - other.accuracy), counts, how, score.n, None, score.data)

    def _of_pair(self, pair: Comparison, edge: str, data: Kind) -> Made:
        if pair.difference is None or pair.newcombe is None or pair.mcnemar is None:
            return Made(None, [], f"{pair.second} was not asked")
        both = {pair.first: pair.both + pair.first_only, pair.second: pair.both + pair.second_only}
        counts = [Count(name, right, pair.n, self._comparisons_file) for name, right in both.items()]
        low, high = (round(100 * bound, 4) for bound in pair.newcombe)
        apart = (
            f"{pair.first_only:,} right by {pair.first} alone, {pair.second_only:,} by {pair.second} alone"
        )
        how = {
            "": f"paired difference: {apart}, of {pair.n:,}",
            "low": f"low bound of Newcombe's interval, method 10: {apart}, of {pair.n:,}",
            "high": f"high bound of Newcombe's interval, method 10: {apart}, of {pair.n:,}",
            "p": f"McNemar's exact two-sided p: {apart}",
        }[edge]
        value = {"": 100 * pair.difference, "low": low, "high": high, "p": pair.mcnemar}[edge]
        return Made(value, counts, how, pair.n, None if edge else (low, high), data)

    def _of_all(self, benchmark: str) -> Made:
        scores = [
            score
            for name in BENCHMARKS[benchmark].numbers
            if name.endswith("/per_question") and (score := self._scores.get(name)) and score.n
        ]
        if not scores:
            return Made(None, [], "not measured")
        counts, total = [self._count(score) for score in scores], sum(score.n for score in scores)
        return Made(total, counts, "questions of all subsets", total, None, scores[0].data)

    def _of_perfect(self, number: str, what: str) -> Made:
        """Tasks of bAbI that are all right, and how many tasks there are."""
        scores = [
            score
            for name, score in self._scores.items()
            if re.fullmatch(r"babi/qa\d+/accuracy", name) and score.n
        ]
        if not scores or what == "perfect/accuracy":
            return Made(None, [], "not measured" if not scores else "the accuracy that makes a task count")
        perfect = [score for score in scores if score.correct == score.n]
        counted = perfect if what == "perfect" else scores
        how = "tasks without a wrong answer" if what == "perfect" else "tasks"
        return Made(
            len(counted), [self._count(one) for one in counted], how, len(scores), None, scores[0].data
        )

    def _count(self, score: Score) -> Count:
        return Count(score.name, score.correct, score.n, self._score_file(score.name))

    def _is_derived(self, name: str) -> bool:
        number, what = self.split_name(name)
        if number not in self._scores:
            return False
        return what in ("n", *_EDGES) or (what.startswith(MINUS) and self.made(name).how != "not measured")

    def _figure(self, name: str) -> Figure | None:
        return self.figures.get(name) or published().accuracies(name).get(own(name))

    def _table(self, number: str) -> str:
        return next((one.table[0].name for one in BENCHMARKS.values() if number in one.numbers), "numbers")

    def _rows(self) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        for table in self._tables:
            yield from zip(table["rows"], table["numbers"], strict=True)

    def _score_file(self, name: str) -> str:
        return f"artifacts/{self.workspace.settings.profile}/scores/{score_file(name)}"

    def _read_score(self, name: str) -> Score | None:
        path = self.workspace.path(self._score_file(name))
        return msgspec.json.decode(path.read_bytes(), type=Score) if path.is_file() else None

    def _relative(self, path: Any) -> str:
        inside = path.relative_to(self.workspace.artifacts).as_posix()
        return f"artifacts/{self.workspace.settings.profile}/{inside}"
