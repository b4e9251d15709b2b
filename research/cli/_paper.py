"""`substrate paper`: a paper's source with a link at each printed figure, and macros for one's own paper."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

from orchestration.lineage.listing import Listing
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.rendering.page import number_page
from orchestration.scoring.published import read_published
from research.exporters.paper import Meaning, macros, stale, summary, write_paper
from substrate.base.inputs import read_text
from substrate.cli.console import say

NUMBERS = "numbers.tex"
"""The file of macros in a paper's folder."""


def print_paper(source: Path, out: Path, figures: Path | None, profile: str | None) -> None:
    """Write a paper as HTML and its macros, and say how many figures were found."""
    workspace = open_workspace(profile)
    listing = Listing(workspace)
    report = workspace.artifacts / "report"
    written = write_paper(
        source, out, read_published(figures), partial(_beside, listing, os.path.relpath(report, out), report)
    )
    (out / NUMBERS).write_text(macros(_values(listing)) + "\n", "utf-8")
    counts = ", ".join(f"{count} {what}" for what, count in summary(written).items())
    say(f"{out / 'index.html'}: {counts}")
    for figure in written:
        if not figure.meanings:
            say(f"  unknown: {figure.text} in {figure.place}")


def write_macros(profile: str | None, out: Path | None = None) -> Path:
    """Write macros of all numbers for a paper of one's own, and the tables in TeX beside them.

    Args:
        profile: the profile whose numbers they are.
        out: a folder; `artifacts/PROFILE/paper` unless given.
    """
    workspace = open_workspace(profile)
    folder = out or workspace.artifacts / "paper"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NUMBERS).write_text(macros(_values(Listing(workspace))) + "\n", "utf-8")
    for table in sorted((workspace.artifacts / "tables").glob("*.tex")):
        shutil.copyfile(table, folder / table.name)
    return folder


def check_macros(given: Path, profile: str | None) -> bool:
    """Say what is stale in a file of macros, or in a folder of macros and tables; true where nothing is."""
    workspace = open_workspace(profile)
    file = given / NUMBERS if given.is_dir() else given
    faults = stale(read_text(file), _values(Listing(workspace)))
    for table in sorted(given.glob("*.tex")) if given.is_dir() else ():
        made = workspace.artifacts / "tables" / table.name
        if table.name != NUMBERS and made.is_file() and read_text(table) != read_text(made):
            faults.append(f"{table.name}: not the table that was made here")
    for fault in faults:
        say(fault)
    say(f"{given}: {len(faults)} stale" if faults else f"{given}: every figure is what was measured")
    return not faults


def _values(listing: Listing) -> dict[str, str]:
    made = {name: listing.made(name) for benchmark in BENCHMARKS.values() for name in benchmark.numbers}
    return {name: f"{number.value:.2f}" for name, number in made.items() if number.value is not None}


def _beside(listing: Listing, to_report: str, report: Path, name: str) -> Meaning:
    if name not in listing.figures:
        return Meaning(name, "not measured here", "no benchmark of this platform has it", None)
    entry, made = listing.entry(name), listing.made(name)
    if entry.measured is None:
        ours = "not measured here"
    else:
        bounds = f" [{entry.interval[0]:.2f}, {entry.interval[1]:.2f}]" if entry.interval else ""
        ours = f"{entry.measured:g}{bounds} ({entry.data} data)"
    page = number_page(listing.split_name(name)[0])
    return Meaning(name, ours, made.how, f"{to_report}/{page}" if (report / page).is_file() else None)
