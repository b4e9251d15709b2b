"""The best trivial method for each measured number, on the same questions."""

from __future__ import annotations

from collections import defaultdict
from functools import cache, partial

from orchestration.benchmarks.benchmark import Table as DeclaredTable
from orchestration.lineage.number import NUMBERS
from orchestration.rendering.tables import Column
from orchestration.scoring.counting import graded_rows, rows_of
from orchestration.scoring.names import kind_and_variant, name_of
from orchestration.scoring.trivial import best
from orchestration.workspace.folders import Workspace
from substrate.domains.rows import Row

BEST_TRIVIAL = "best trivial method"
PAIRED = "paired with it"


def trivial_columns(table: DeclaredTable, workspace: Workspace) -> tuple[Column, Column]:
    """Two columns of a table of scores: the share and name of the best trivial method, and the paired test.

    The first is empty for a model's number and for a number without questions, the second also for a number
    that does not count questions.
    """
    rows_here = cache(partial(graded, workspace))
    # By subset, scene and question, the trivial methods of a study, each with its row.
    methods = defaultdict[tuple[str, ...], list[tuple[str, Row]]](list)
    files = [workspace.artifacts / f"{stage}.jsonl" for stage in table.trivial]
    for row in (row for file in files if file.is_file() for row in rows_of(file)):
        subset, _, method = row.subset.partition(": ")
        methods[subset, str(row.scene), str(row.question)].append((method, row))

    @cache
    def best_of(number: str, n: int) -> tuple[str, str]:
        benchmark, name = NUMBERS[number], name_of(number)
        if benchmark.by_model or not n:
            return "", ""
        every = rows_here(benchmark.name)
        rows = [row for row in every if name.covers(row.subset)]
        questions = {(kind_and_variant(row.subset)[0], str(row.scene), str(row.question)) for row in rows}
        others = defaultdict[str, list[Row]](list)
        for question in questions & methods.keys():
            for method, row in methods[question]:
                others[method].append(row)
        places = {question[1:] for question in questions}
        for key, method in benchmark.trivial.items():
            for row in every:
                place = str(row.scene), str(row.question).removesuffix(key)
                if row.subset in (key, name.subset + key) and place in places:
                    others[method].append(row)
        return best(rows, benchmark.metrics[name.metric], others)

    return (
        Column(BEST_TRIVIAL, lambda score: best_of(score.name, score.n)[0]),
        Column(PAIRED, lambda score: best_of(score.name, score.n)[1], place="detail"),
    )


def graded(workspace: Workspace, name: str) -> list[Row]:
    """The rows of a benchmark that have gold; none if the benchmark was not run."""
    answers = workspace.answers(name)
    return list(graded_rows(answers)) if answers.is_file() else []
