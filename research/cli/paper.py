"""`substrate paper`: a paper's source with a link at each printed figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from orchestration.cli.console import ProfileOption
from substrate.cli.console import argument, option, voiced


@voiced
def paper(
    source: Annotated[Path, argument("A paper's TeX source.", metavar="FILE")],
    out: Annotated[Path, option("--out", "A folder for the pages.", metavar="DIR")],
    profile: ProfileOption = None,
) -> None:
    """Write a paper whose figures lead to their evidence."""
    from research.cli._paper import print_paper

    print_paper(source, out, profile)
