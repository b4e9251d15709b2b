"""Answers to a user's own files, by the pipeline's functions but without the pipeline; and their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Case, Files, Interpreted
from substrate.base.files import replacing
from substrate.domains.rows import Row, encode

# Called with the number of finished cases and the number of all cases.
Advance = Callable[[int, int], None]


class AnswerCounts(msgspec.Struct):
    """Counts of an outcome: questions, rows and choices, those with gold, those that agree with it, and those
    that could not run.

    A question with two rows, such as GQA's by name and by id, counts as one question; graded and right
    answers are counted in rows. ``subsets`` has, by subset, the number of rows with gold, and the number of
    right ones among them.
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

    def count(self, row: Row) -> None:
        """Count a row; the caller counts the questions."""
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
        """The last line that a command prints."""
        parts = [f"{self.questions} questions"]
        if self.rows > self.questions:
            for subset, (graded, right) in self.subsets.items():
                parts.append(f"{subset} {_share(right, graded)}")
        elif self.graded:
            parts.append(_share(self.correct, self.graded))
        if self.choices_graded:
            parts.append(_share(self.choices_correct, self.choices_graded, "choices correct"))
        if self.graded < self.rows:
            what = "rows " if self.rows > self.questions else ""
            parts.append(f"{self.rows - self.graded} {what}without gold")
        if self.errors:
            parts.append(f"{self.errors} could not run")
        return ", ".join(parts)


def _share(right: int, n: int, what: str = "correct") -> str:
    return f"{right} of {n} {what} ({right / n:.2%})"


def write_rows(rows: Iterable[Row], out: Path, counts: AnswerCounts) -> None:
    """Write rows to a file, which appears only when it is complete, and count them."""
    with replacing(out) as fresh, fresh.open("wb") as file:
        for row in rows:
            counts.count(row)
            file.write(encode(row) + b"\n")


def answer_files(
    benchmark: Interpreted,
    files: Files,
    parameters: Any,
    out: Path,
    advance: Advance = lambda done, total: None,
    worlds: int | None = None,
    submission: Path | None = None,
) -> AnswerCounts:
    """Answer a user's files and write the rows; if an input is refused, nothing is written.

    Args:
        files: the benchmark's inputs, by role.
        parameters: the benchmark's parameters; ``None`` if it takes none.
        worlds: answer each case from possible logs, at most this many; ``None`` to use its own log.
        submission: a file for the same answers in the layout of the benchmark's server, if it has one.
    """
    cases, counts = benchmark.source.cases(files, None, False), AnswerCounts()
    parts: list[bytes] = []

    def answer(case: Case) -> Iterable[Row]:
        if worlds is not None and benchmark.possible:
            return benchmark.possible(case, worlds, parameters, split_of(files))
        return benchmark.rows(case, benchmark.logs(case, parameters), parameters, split_of(files))

    def rows() -> Iterator[Row]:
        for done, case in enumerate(cases.each, start=1):
            answered = list(answer(case))
            if submission and benchmark.submission:
                parts.append(msgspec.json.encode(benchmark.submission(answered)))
            # Not the rows: a question of GQA has two.
            counts.questions += sum(1 for _ in benchmark.wordings(case))
            yield from answered
            advance(done, cases.total)

    with replacing(submission) if submission else nullcontext() as fresh:
        write_rows(rows(), out, counts)
        if fresh:
            fresh.write_bytes(b"[\n" + b",\n".join(parts) + b"\n]\n")
    return counts


def split_of(files: Files) -> str:
    """The split for the rows of a user's files: the name of the question file, or empty."""
    return files["questions"].name.partition(".")[0] if "questions" in files else ""
