"""`substrate paper`: a paper's source with a link at each printed figure, and macros for one's own paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestration.cli.console import ProfileOption
from substrate.cli.console import argument, failing, option, say, voiced
from substrate.cli.notices import others_apart


@voiced
def paper(
    source: Annotated[
        Path | None,
        argument(
            "A paper's TeX source, or with --check its numbers.tex or the folder of it; without one, "
            "macros and tables are written to artifacts/PROFILE/paper.",
            metavar="[FILE]",
        ),
    ] = None,
    out: Annotated[Path | None, option("--out", "A folder for the pages.", metavar="DIR")] = None,
    figures: Annotated[
        Path | None, option("--figures", "The figures of another paper, as published.yaml.", metavar="FILE")
    ] = None,
    check: Annotated[
        bool, option("--check", "Exit 1 where a figure of FILE is not what was measured.")
    ] = False,
    profile: ProfileOption = None,
) -> None:
    """Write a paper with a link at each printed figure, and TeX macros of our numbers."""
    if (check == (out is not None)) if source else check:
        raise typer.BadParameter("give FILE with --out DIR or --check, or no FILE")
    with failing():
        with others_apart():
            from research.cli._paper import check_macros, print_paper, write_macros

        if source is None:
            say(f"{write_macros(profile, out)}: macros and tables")
        elif out is not None:
            print_paper(source, out, figures, profile)
        elif not check_macros(source, profile):
            raise typer.Exit(1)
