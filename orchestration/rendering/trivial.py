"""The best trivial method beside each measured number, on the same questions."""

from __future__ import annotations

from orchestration.benchmarks.benchmark import Table
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import graded_rows, rows_of
from orchestration.scoring.scores import Score
from orchestration.scoring.trivial import best
from orchestration.workspace.folders import Workspace
from substrate.domains.rows import Row

BEST_TRIVIAL = "best trivial method"


class BestTrivial:
    """The best trivial method beside each number of some benchmarks, on the same questions."""

    def __init__(self, table: Table, workspace: Workspace) -> None:
        self._workspace = workspace
        self._rows: dict[str, list[Row]] = {}
        files = [workspace.artifacts / f"{stage}.jsonl" for stage in table.trivial]
        self._others = [row for file in files if file.is_file() for row in rows_of(file)]

    def __call__(self, score: Score) -> str:
        """The share of the best one and its name; empty where a model answers, or nothing was asked."""
        name, of = score.name.partition("/")[0], BENCHMARKS[score.name.partition("/")[0]]
        if of.by_model or not score.n:
            return ""
        if name not in self._rows:
            self._rows[name] = graded(self._workspace, name)
        rows = [row for row in self._rows[name] if score.subset in ("", "mean", row.subset)]
        questions = {(row.subset.partition(".")[0], str(row.scene), str(row.question)) for row in rows}
        others: dict[str, list[Row]] = {}
        for row in self._others:
            kind, _, method = row.subset.partition(": ")
            if (kind, str(row.scene), str(row.question)) in questions:
                others.setdefault(method, []).append(row)
        for key, method in of.trivial.items():
            same = (row for row in self._rows[name] if row.subset in (key, score.subset + key))
            asked_too = {(scene, question) for _, scene, question in questions}
            own = [r for r in same if (str(r.scene), str(r.question).removesuffix(key)) in asked_too]
            others |= {method: own} if own else {}
        return best(rows, of.metrics[score.metric], others)


def graded(workspace: Workspace, name: str) -> list[Row]:
    """The rows of a benchmark that have gold; none where the benchmark was not run."""
    answers = workspace.artifacts / name / "answers.jsonl"
    return list(graded_rows(answers)) if answers.is_file() else []
