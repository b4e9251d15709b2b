"""The best trivial method for each measured number, on the same questions."""

from __future__ import annotations

from collections import defaultdict
from functools import cache, partial

from orchestration.benchmarks.benchmark import Table
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import graded_rows, rows_of, split_name
from orchestration.scoring.scores import Score
from orchestration.scoring.trivial import best
from orchestration.workspace.folders import Workspace
from substrate.domains.rows import Row

BEST_TRIVIAL = "best trivial method"
PAIRED = "paired with it"


class BestTrivial:
    """The best trivial method for each number of some benchmarks, on the same questions."""

    def __init__(self, table: Table, workspace: Workspace) -> None:
        self._rows = cache(partial(graded, workspace))
        self._others = defaultdict[tuple[str, ...], list[tuple[str, Row]]](list)
        """By subset, scene and question, the trivial methods of a study, each with its row."""
        files = [workspace.artifacts / f"{stage}.jsonl" for stage in table.trivial]
        for row in (row for file in files if file.is_file() for row in rows_of(file)):
            subset, _, method = row.subset.partition(": ")
            self._others[subset, str(row.scene), str(row.question)].append((method, row))

        self._best = cache(self._of)

    def __call__(self, score: Score) -> str:
        """The share and name of the best method; empty for a model's number and for one without questions."""
        return self._best(score.name, score.n)[0]

    def paired(self, score: Score) -> str:
        """The paired test of a number and the best method; empty if the number does not count questions."""
        return self._best(score.name, score.n)[1]

    def _of(self, number: str, n: int) -> tuple[str, str]:
        benchmark, (subset, metric) = BENCHMARKS[number.partition("/")[0]], split_name(number)
        if benchmark.by_model or not n:
            return "", ""
        every = self._rows(benchmark.name)
        rows = [row for row in every if subset in ("", "mean", row.subset)]
        questions = {(row.subset.partition(".")[0], str(row.scene), str(row.question)) for row in rows}
        others = defaultdict[str, list[Row]](list)
        for question in questions & self._others.keys():
            for method, row in self._others[question]:
                others[method].append(row)
        places = {question[1:] for question in questions}
        for key, method in benchmark.trivial.items():
            for row in every:
                place = str(row.scene), str(row.question).removesuffix(key)
                if row.subset in (key, subset + key) and place in places:
                    others[method].append(row)
        return best(rows, benchmark.metrics[metric], others)


def graded(workspace: Workspace, name: str) -> list[Row]:
    """The rows of a benchmark that have gold; none if the benchmark was not run."""
    answers = workspace.answers(name)
    return list(graded_rows(answers)) if answers.is_file() else []
