"""Descriptions of a drift for a terminal and in Markdown: numbers, then answers, then the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from itertools import groupby

from orchestration.base.templates import text_template
from orchestration.ledger.acceptance import Acceptance, told
from orchestration.ledger.drift import Difference
from orchestration.ledger.moved import ComparedNumber, ComparedRow, Moved
from orchestration.ledger.verification import Report
from orchestration.registry import BENCHMARKS, EXPLAINED
from orchestration.rendering.tables import drawn
from orchestration.scoring.counting import split_name
from orchestration.scoring.formatting import share

_SHOWN, _LISTED = 20, 5
"""The most cells of a stage that are listed, and the most items of any other kind."""
_SAMPLED = 10
_HEADS = ("number", "n", "before", "after", "difference", "won", "lost", "p")


def moved_lines(moved: Moved, *, markdown: bool = False) -> list[str]:
    """Describe the numbers before and after, with the questions won and lost and McNemar's p; then the
    changed answers, with a sample. Every command and page about a drift begins with these lines.

    >>> moved_lines(Moved())
    []
    """
    lines: list[str] = []
    if moved.numbers:
        style = "github" if markdown else "simple"
        rows = [_number_cells(number) for number in moved.numbers]
        lines += [*drawn(_HEADS, rows, style, words=True).splitlines(), ""]
    if moved.rows:
        ways = ", ".join(f"{count:,} {way}" for way, count in moved.changes.items())
        lines += [f"{_counted(moved.rows, 'answer')} changed: {ways}", ""]
        sampled = moved.rows[:_SAMPLED]
        lines += [_answer_line(row, markdown=markdown) for row in sampled]
        more = len(moved.rows) - len(sampled)
        lines += [f"and {more:,} more; --json has all", ""] if more else [""]
    return lines


def _number_cells(number: ComparedNumber) -> list[str]:
    before, after = number.before, number.after
    n = f"{after.n:,}" if before.n == after.n else f"{before.n:,} -> {after.n:,}"
    shares = [share(of.correct, of.n) if of.n else "none" for of in (before, after)]
    return [number.name, n, *shares, *difference_cells(number)]


def difference_cells(number: ComparedNumber) -> list[str]:
    """The difference of a number, the questions won and lost, and McNemar's p; empty if it has none."""
    before, after, apart = number.before, number.after, ""
    if number.difference is not None:
        # Computed from the counts, so that no rounded share is rounded again.
        apart = f"{100 * (after.correct / after.n - before.correct / before.n):+.2f} pp"
    ways = ["" if of is None else f"{of:,}" for of in (number.won, number.lost)]
    return [apart, *ways, "" if number.mcnemar is None else f"{number.mcnemar:.2g}"]


def both_said(row: ComparedRow) -> str:
    """An answer before and after."""
    return " -> ".join("no row" if of is None else f'"{of}"' for of in (row.before, row.after))


def _answer_line(row: ComparedRow, *, markdown: bool) -> str:
    """An answer before and after, the gold, and the command that explains it."""
    answers = both_said(row)
    gold = "" if row.expected is None else f'; gold "{row.expected}"'
    if row.benchmark in EXPLAINED:
        command = f"substrate explain {row.answer}"
    else:
        numbers = BENCHMARKS[row.benchmark].numbers
        own = (name for name in numbers if split_name(name)[0] in ("", "mean", row.subset))
        number = next(own, numbers[0])  # a subset that is no longer counted has no number
        command = f"substrate trace {number} --question {row.answer}"
    if markdown:
        return f"- {row.change}: {_escape(answers + gold)}: `{command}`"
    return f"{row.change}: {command}: {answers}{gold}"


def render_text(report: Report) -> str:
    """Describe the moved numbers and answers, the other differences, the causes, and the verdict."""
    lines = [*moved_lines(report.moved), *_capped(_others(report), str)]
    for title, listed in _sections(report):
        lines += [f"{title}:", *(f"  {line}" for line in listed)]
    for entry in report.accepted:
        lines += [_accepted(entry), *(f"  {line}" for line in told(entry))]
    return "\n".join([*lines, verdict(report)]) + "\n"


def _others(report: Report) -> list[Difference]:
    """The differences, without scores that are among the moved numbers."""
    numbers = {number.name for number in report.moved.numbers}
    return [d for d in report.differences if d.here or d.kind != "score" or d.what not in numbers]


def _sections(report: Report) -> list[tuple[str, list[str]]]:
    """The other messages under titles; sections without a message are left out."""
    unaccepted = {
        False: "changed since the results were pinned, and not yet computed (`substrate reproduce` does)",
        True: "changed since the results were pinned, but changed no byte",
    }
    sections = (
        ("not looked at, since these official files are not there", report.absent),
        ("because", list(map(str, report.causes))),
        (unaccepted[report.recomputed], list(map(str, report.unaccepted))),
        (f"changed in the pins since {report.since}, and nobody accepted it", report.unrecorded),
    )
    return [(title, lines) for title, lines in sections if lines]


def _accepted(entry: Acceptance) -> str:
    return f"accepted on {entry.date}{f' in {entry.commit}' if entry.commit else ''}: {entry.reason}"


def verdict(report: Report) -> str:
    """The outcome of a verification in one line."""
    if report.differences:
        return f"{_counted(report.differences, 'difference')} from the pins"
    if not report.fits:
        return f"{_counted(report.unrecorded or report.unaccepted, 'change')} that nobody accepted"
    looked_at = "every artifact that could be looked at" if report.absent else "every artifact"
    return f"{looked_at} is what was pinned" + (
        ", and computes to the same bytes again" if report.recomputed else ""
    )


def _counted(items: Sized, noun: str) -> str:
    return f"{len(items)} {noun}" + ("" if len(items) == 1 else "s")


def render_markdown(report: Report) -> str:
    """Describe a report's drift in Markdown, with the acceptances and their reasons."""
    title = "No result drifted" if report.fits else verdict(report)
    if report.differences:
        title = f"{_counted(report.differences, 'result')} drifted"
    row = "| {} | {} | {} | {} |"
    template = text_template(
        __file__,
        "drift.md.j2",
        e=_escape,
        accepted=_accepted,
        capped=lambda differences: _capped(
            differences, lambda d: row.format(d.stage, *map(_escape, (d.what, d.old, d.new)))
        ),
    )
    moved, others = moved_lines(report.moved, markdown=True), _others(report)
    return template.render(
        report=report, title=title, titles=_TITLES, moved=moved, others=others, sections=_sections(report)
    )


_TITLES = {"cell": "table cells", "score": "scores", "row": "rows", "input": "inputs", "file": "files"}


def _capped(differences: Sequence[Difference], line: Callable[[Difference], str]) -> list[str]:
    """The first lines of each stage and kind, and the number of further lines."""
    lines: list[str] = []
    for (stage, kind), of_stage in groupby(differences, key=lambda d: (d.stage, d.kind)):
        alike = list(of_stage)
        most = _SHOWN if kind == "cell" else _LISTED
        lines += map(line, alike[:most])
        lines += [f"{stage}: and {len(alike) - most} more like these; --json has all"] * (len(alike) > most)
    return lines


def _escape(text: str) -> str:
    """Escape a text for a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
