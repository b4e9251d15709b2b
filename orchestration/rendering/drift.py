"""Descriptions of a drift or an experiment as text: numbers, then answers, then the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from orchestration.base.templates import text_template
from orchestration.drift.as_pinned import Difference
from orchestration.drift.moved_numbers import Changes, ComparedNumber, ComparedRow
from orchestration.experiments.comparison import Compared
from orchestration.experiments.experiment import Experiment
from orchestration.registry import BENCHMARKS, EXPLAINED
from orchestration.rendering.tables import drawn
from orchestration.scoring.formatting import bounds, bracketed, counted, share
from orchestration.scoring.names import name_of
from orchestration.scoring.scores import Count
from orchestration.verification.verify import Report
from substrate.base import words

# The most listed cells of a stage, items of any other kind, and changed answers.
_SHOWN, _LISTED, _SAMPLED = 20, 5, 10
_HEADS = ("number", "n", "before", "after", "difference", "won", "lost", "p")


def change_lines(moved: Changes) -> list[str]:
    """Describe the numbers before and after, with the questions won and lost and McNemar's p; then the
    changed answers, with a sample. Every command and page about a drift begins with these lines.

    >>> change_lines(Changes())
    []
    """
    lines: list[str] = []
    if moved.numbers:
        rows = map(_number_cells, moved.numbers)
        lines += [*drawn(_HEADS, rows, "simple", words=True).splitlines(), ""]
    if moved.rows:
        ways = ", ".join(f"{count:,} {way}" for way, count in moved.changes.items())
        lines += [f"{words.counted(len(moved.rows), 'answer')} changed: {ways}", ""]
        lines += map(_answer_line, moved.rows[:_SAMPLED])
        more = len(moved.rows) - _SAMPLED
        lines += [f"and {more:,} more; --json has all", ""] if more > 0 else [""]
    return lines


def fenced(lines: Sequence[str]) -> str:
    """The same lines for a page in Markdown; no block if there are none."""
    text = "\n".join(" ".join(line.splitlines()) for line in lines).replace("```", "'''")
    return f"```\n{text}\n```" if lines else ""


def _number_cells(number: ComparedNumber) -> list[str]:
    """A number's row under :data:`_HEADS`; the difference of paired questions has an interval.

    >>> from orchestration.scoring.scores import count_of
    >>> _number_cells(ComparedNumber("meadow/joint", count_of(153, 300), count_of(0, 0), False, None))
    ['meadow/joint', '300 -> 0', '51.00 %', 'none', '', '', '', '']
    """
    before, after, apart = number.before, number.after, ""
    n = f"{after.n:,}" if before.n == after.n else f"{before.n:,} -> {after.n:,}"
    shares = [share(of.correct, of.n) if of.n else "none" for of in (before, after)]
    if number.difference is not None:
        # Computed from the counts, so that no rounded share is rounded again.
        apart = f"{100 * (after.correct / after.n - before.correct / before.n):+.2f} pp"
        apart += f" {bracketed(*number.newcombe)}" if number.newcombe else ""
    ways = ["" if of is None else f"{of:,}" for of in (number.won, number.lost)]
    return [number.name, n, *shares, apart, *ways, "" if number.mcnemar is None else f"{number.mcnemar:.2g}"]


def _answer_line(row: ComparedRow) -> str:
    """An answer before and after, the gold, and the command that explains it."""
    answers = " -> ".join("no row" if of is None else f'"{of}"' for of in (row.before, row.after))
    gold = "" if row.expected is None else f'; gold "{row.expected}"'
    if row.benchmark in EXPLAINED:
        command = f"substrate explain {row.answer}"
    else:
        numbers = BENCHMARKS[row.benchmark].numbers
        own = (name for name in numbers if name_of(name).covers(row.subset))
        number = next(own, numbers[0])  # a subset that is no longer counted has no number
        command = f"substrate trace {number} --question {row.answer}"
    return f"{row.change}: {command}: {answers}{gold}"


def _text(macro: str, *about: Any) -> str:
    template = text_template(__file__, "drift.txt.j2", counted=words.counted)
    return getattr(template.make_module(), macro)(*about)


def render_text(report: Report) -> str:
    """Describe the moved numbers and answers, the other differences, the causes, and the verdict."""
    lines = [*change_lines(report.moved), *_capped(_others(report))]
    return _text("verified", report, lines, change_lines(report.accepted_moved))


def compared_text(compared: Compared) -> str:
    """Describe a comparison: its causes, the numbers that differ, and the changed answers."""
    return _text("compared", compared, change_lines(compared), _SHOWN)


def experiment_text(experiment: Experiment, numbers: Mapping[str, Count]) -> str:
    """Describe an experiment: its parameters and its numbers."""
    computed = [name for name, how in experiment.stages.items() if how == "computed"]
    rows = [[name, f"{counted(of.correct, of.n)} {bounds(of.correct, of.n)}"] for name, of in numbers.items()]
    return _text("experiment", experiment, computed, drawn(("number", "here"), rows, "simple", words=True))


def _others(report: Report) -> list[Difference]:
    """The differences, without scores that are among the moved numbers."""
    numbers = {number.name for number in report.moved.numbers}
    return [d for d in report.differences if d.here or d.kind != "score" or d.what not in numbers]


def verdict(report: Report) -> str:
    """The outcome of a verification in one line."""
    return _text("verdict", report)


def _capped(differences: Sequence[Difference]) -> list[str]:
    """The first lines of each stage and kind, and the number of further lines."""
    lines: list[str] = []
    for (stage, kind), of_stage in groupby(differences, key=lambda d: (d.stage, d.kind)):
        alike = list(of_stage)
        most = _SHOWN if kind == "cell" else _LISTED
        lines += map(str, alike[:most])
        lines += [f"{stage}: and {len(alike) - most} more like these; --json has all"] * (len(alike) > most)
    return lines
