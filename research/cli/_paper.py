"""`substrate paper`: a paper's source with a link at each printed figure."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from orchestration.lineage.listing import Listing
from orchestration.project import open_workspace
from orchestration.rendering.page import number_page
from orchestration.scoring.published import published
from research.exporters.paper import Meaning, summary, write_paper
from substrate.cli.console import say


def print_paper(source: Path, out: Path, profile: str | None) -> None:
    """Write a paper as HTML, and say how many figures were found."""
    workspace = open_workspace(profile)
    listing = Listing(workspace)
    report = workspace.artifacts / "report"
    written = write_paper(
        source, out, published(), partial(_beside, listing, os.path.relpath(report, out), report)
    )
    counts = ", ".join(f"{count} {what}" for what, count in summary(written).items())
    say(f"{out / 'index.html'}: {counts}")
    for figure in written:
        if not figure.meanings:
            say(f"  unknown: {figure.text} in {figure.place}")


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
