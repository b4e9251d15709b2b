"""`substrate cluster check`: a line for each part of a cluster, and the way out where one does not fit."""

from __future__ import annotations

from collections.abc import Sequence

from orchestration.project import open_workspace
from substrate.cli.console import say
from substrate.cli.notices import others_apart
from substrate.cli.printing import print_json


def print_findings(profile: str | None, changes: Sequence[str], *, json: bool) -> bool:
    """Print what was found; true where all of it fits."""
    from orchestration.pipeline.cluster import findings

    with others_apart():
        found = list(findings(open_workspace(profile, tuple(changes))))
    if json:
        print_json([one._asdict() for one in found])
    else:
        for one in found:
            say(f"{'fits ' if one.fits else 'FAILS'}  {one.what}: {one.said}")
            if one.hint:
                say(f"       {one.hint}")
    return all(one.fits for one in found)
