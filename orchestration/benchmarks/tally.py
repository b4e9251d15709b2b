"""A user's own files ► rows, with the pipeline's functions but no pipeline; and what came out, counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Case, Files, Interpreted
from substrate.base.files import replacing
from substrate.domains.rows import Row, encode

Advance = Callable[[int, int], None]
"""Called with the cases done and their number."""


def _quiet(done: int, total: int) -> None:
    """Nobody watches."""


class Tally(msgspec.Struct):
    """Counts of the outcome: questions, rows and choices, how many have gold and agree with it, how many
    could not run.

    A question of which a benchmark gives two rows, such as GQA's by name and by id, counts as one question;
    what was graded and was right is of rows.
    """

    questions: int = 0
    rows: int = 0
    graded: int = 0
    correct: int = 0
    choices: int = 0
    choices_graded: int = 0
    choices_correct: int = 0
    errors: int = 0
    first_error: str = ""
    subsets: dict[str, tuple[int, int]] = {}
    """By subset: of how many rows with gold, and how many of them are right."""

    def count(self, row: Row) -> None:
        """Take a row in; how many questions there are is for the caller to say."""
        self.rows += 1
        if row.correct is not None:
            self.graded += 1
            self.correct += row.correct
            graded, right = self.subsets.get(row.subset, (0, 0))
            self.subsets[row.subset] = graded + 1, right + row.correct
        for choice in row.choices or ():
            self.choices += 1
            if choice.expected is not None:
                self.choices_graded += 1
                self.choices_correct += choice.predicted == choice.expected
        if row.error:
            self.errors += 1
            self.first_error = self.first_error or f"scene {row.scene}: question {row.question}: {row.error}"

    def line(self) -> str:
        """The one line a command closes with."""
        parts = [f"{self.questions} questions"]
        if self.rows > self.questions:
            for subset, (graded, right) in self.subsets.items():
                parts.append(f"{subset} {right} of {graded} correct ({right / graded:.2%})")
        elif self.graded:
            parts.append(f"{self.correct} of {self.graded} correct ({self.correct / self.graded:.2%})")
        if self.choices_graded:
            parts.append(
                f"{self.choices_correct} of {self.choices_graded} choices correct "
                f"({self.choices_correct / self.choices_graded:.2%})"
            )
        if self.graded < self.rows:
            what = "rows " if self.rows > self.questions else ""
            parts.append(f"{self.rows - self.graded} {what}without gold")
        if self.errors:
            parts.append(f"{self.errors} could not run")
        return ", ".join(parts)


def write_rows(rows: Iterable[Row], out: Path) -> Tally:
    """Write rows to a file, which appears only when all of them are there; each counts as a question."""
    return _write(((1, (row,)) for row in rows), out)


def _write(cases: Iterable[tuple[int, Iterable[Row]]], out: Path) -> Tally:
    """Write the rows of cases to a file, as :func:`write_rows`; each case says how many questions it has."""
    tally = Tally()
    with replacing(out) as fresh, fresh.open("wb") as file:
        for questions, rows in cases:
            tally.questions += questions
            for row in rows:
                tally.count(row)
                file.write(encode(row) + b"\n")
    return tally


def answer_files(
    benchmark: Interpreted,
    files: Files,
    parameters: Any,
    out: Path,
    advance: Advance = _quiet,
    worlds: int | None = None,
) -> Tally:
    """Answer a user's files and write the rows; nothing is written where an input is refused.

    Args:
        files: the benchmark's inputs, by what they are.
        parameters: the benchmark's parameters; ``None`` where it takes none.
        worlds: from at most how many possible logs of a case to answer; from its own log where ``None``.
    """
    cases = benchmark.source.cases(files, None, False)

    def answer(case: Case) -> Iterable[Row]:
        if worlds is not None and benchmark.possible:
            return benchmark.possible(case, worlds, parameters, split_of(files))
        logs = [named.log for named in benchmark.logs(case, parameters)]
        return benchmark.rows(case, logs, parameters, split_of(files))

    def rows() -> Iterator[tuple[int, Iterable[Row]]]:
        for done, case in enumerate(cases.each, start=1):
            yield sum(1 for _ in benchmark.wordings(case)), answer(case)
            advance(done, cases.total)

    return _write(rows(), out)


def split_of(files: Files) -> str:
    """The split that rows of a user's files name: what the question file is called, or nothing."""
    return files["questions"].name.partition(".")[0] if "questions" in files else ""
