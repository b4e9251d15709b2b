"""The drift, as text for a terminal and as Markdown for a comment on a change."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from itertools import groupby

from orchestration.ledger.acceptance import Acceptance, told
from orchestration.ledger.drift import Difference
from orchestration.ledger.verification import Report

_SHOWN = 20


def render_text(report: Report) -> str:
    """A line a difference, then the causes, then one line that closes."""
    lines = _capped(report.differences, str)
    for title, listed in _sections(report):
        lines += [f"{title}:", *(f"  {line}" for line in listed)]
    for entry in report.accepted:
        lines += [_accepted(entry), *(f"  {line}" for line in told(entry))]
    return "\n".join([*lines, verdict(report)]) + "\n"


def _sections(report: Report) -> list[tuple[str, list[str]]]:
    """What else is to be said, under titles; those under which there is nothing are left out."""
    unaccepted = {
        False: "changed since the results were pinned, and not computed with (`substrate reproduce` does)",
        True: "changed since the results were pinned, without a change of any byte",
    }
    found = (
        ("because", list(map(str, report.causes))),
        (unaccepted[report.recomputed], list(map(str, report.unaccepted))),
        (f"changed in the pins since {report.since}, and nobody accepted it", report.unrecorded),
    )
    return [(title, lines) for title, lines in found if lines]


def _accepted(entry: Acceptance) -> str:
    in_commit = f" in {entry.commit}" if entry.commit else ""
    return f"accepted on {entry.date}{in_commit}: {entry.reason}"


def verdict(report: Report) -> str:
    """The outcome of a verification, in a line."""
    if report.differences:
        return f"{_counted(report.differences, 'difference')} from the pins"
    if not report.fits:
        return f"{_counted(report.unrecorded or report.unaccepted, 'change')} that nobody accepted"
    return "every artifact is what was pinned" + (
        ", and computes to the same bytes again" if report.recomputed else ""
    )


def _counted(items: Sized, noun: str) -> str:
    return f"{len(items)} {noun}" + ("" if len(items) == 1 else "s")


def render_markdown(report: Report) -> str:
    """A heading, a table of each kind of difference, the causes, and what was accepted with its reasons."""
    title = "No result drifted" if report.fits else verdict(report)
    if report.differences:
        title = f"{_counted(report.differences, 'result')} drifted"
    parts = [f"### {title} (profile {report.profile})", *_tables(report.differences)]
    for heading, listed in _sections(report):
        changes = "\n".join(f"- {_escape(line)}" for line in listed)
        parts.append(f"**{heading.capitalize()}**\n\n{changes}")
    if report.differences or report.unrecorded:
        parts.append("If the new results are right, `substrate accept REASON` pins them and records why.")
    if report.accepted or report.accepted_differences:
        parts += [
            "### Accepted in this change",
            "\n".join(f"- {_escape(_accepted(entry))}" for entry in report.accepted)
            or "No reason is recorded.",
        ]
        parts += _tables(report.accepted_differences)
    return "\n\n".join(parts) + "\n"


def _tables(differences: Sequence[Difference]) -> list[str]:
    """Cells in the open, the rest folded."""
    tables = []
    for kind, of_kind in groupby(
        sorted(differences, key=lambda d: list(_TITLES).index(d.kind)), key=lambda d: d.kind
    ):
        found = list(of_kind)
        rows = _capped(
            found, lambda d: f"| {d.stage} | {_escape(d.what)} | {_escape(d.old)} | {_escape(d.new)} |"
        )
        rows = [row if row.startswith("|") else f"| | {row} | | |" for row in rows]
        listed = "\n".join(["| stage | which | was | is |", "|---|---|---|---|", *rows])
        title = f"{len(found)} {_TITLES[kind]}"
        tables.append(
            f"**{title}**\n\n{listed}"
            if kind == "cell"
            else f"<details><summary>{title}</summary>\n\n{listed}\n\n</details>"
        )
    return tables


_TITLES = {"cell": "table cells", "score": "scores", "row": "rows", "input": "inputs", "file": "files"}


def _capped(differences: Sequence[Difference], line: Callable[[Difference], str]) -> list[str]:
    """The first lines of each stage and kind, and how many more there are."""
    lines: list[str] = []
    for (stage, _), of_stage in groupby(differences, key=lambda d: (d.stage, d.kind)):
        found = list(of_stage)
        lines += map(line, found[:_SHOWN])
        lines += [f"{stage}: and {len(found) - _SHOWN} more like these"] * (len(found) > _SHOWN)
    return lines


def _escape(text: str) -> str:
    """Text that a Markdown table leaves as it is."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
