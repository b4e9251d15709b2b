"""`substrate paper`: a paper's source with a link at each printed figure."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from orchestration.cli.console import ProfileOption
from substrate.cli.console import argument, option, say, voiced

if TYPE_CHECKING:
    from orchestration.lineage.listing import Listing
    from research.exporters.paper import Meaning


@voiced
def paper(
    source: Annotated[Path, argument("A paper's TeX source.", metavar="FILE")],
    out: Annotated[Path, option("--out", "A folder for the pages.", metavar="DIR")],
    profile: ProfileOption = None,
) -> None:
    """Write a paper whose figures lead to their evidence."""
    from orchestration.lineage.listing import Listing
    from orchestration.project import open_workspace
    from orchestration.scoring.published import published
    from research.exporters.paper import summary, write_paper

    workspace = open_workspace(profile)
    report = workspace.artifacts / "report"
    look = partial(_beside, Listing(workspace), os.path.relpath(report, out), report)
    written = write_paper(source, out, published(), look)
    counts = ", ".join(f"{count} {what}" for what, count in summary(written).items())
    say(f"{out / 'index.html'}: {counts}")
    for figure in written:
        if not figure.meanings:
            say(f"  unknown: {figure.text} in {figure.place}")


def _beside(listing: Listing, to_report: str, report: Path, name: str) -> Meaning:
    from orchestration.rendering.report.page import number_page
    from research.exporters.paper import Meaning

    entry, made = listing.entry(name), listing.made(name)
    ours = None
    if entry.measured is not None:
        bounds = f" [{entry.interval[0]:.2f}, {entry.interval[1]:.2f}]" if entry.interval else ""
        ours = f"{entry.measured:g}{bounds} ({entry.data} data)"
    page = number_page(listing.split_figure(name)[0])
    return Meaning(name, ours, made.how, f"{to_report}/{page}" if (report / page).is_file() else None)
