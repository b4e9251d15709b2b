"""The captions of tables, with their data and their citations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestration.base.templates import text_template
from orchestration.benchmarks.benchmark import Source
from orchestration.scoring.comparability import marked
from orchestration.scoring.published import published
from orchestration.workspace.dataset_files import kind_of, read_named, trusted_on_first_use
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import names_of


def caption(layout: str, **about: Any) -> str:
    """Fill a macro of ``captions.txt.j2``, and join its lines.

    Args:
        layout: the name of the macro.
        about: its arguments.

    >>> "CPL-Gt (tracks of ground truth; split validation)" in caption(
    ...     "by_number", data=["ComPhy"], benchmarks=["comphy"], systems=["substrate"], answering={}
    ... )
    True
    """
    template = text_template(__file__, "captions.txt.j2", cited=cited)
    macros: Any = template.make_module({"rivals": published().rivals})
    return getattr(macros, layout)(**about).removesuffix("\n").replace("\n", " ")


def cited(systems: Iterable[str]) -> str:
    """List systems with their inputs and citations."""
    return "; ".join(f"{marked(who)}: {published().systems[who].citation}" for who in systems)


def source_of(source: Source, workspace: Workspace) -> str:
    """Describe a profile's data of a source in words."""
    folder, names = workspace.data / source.name, names_of(workspace, source)
    files = {"named": read_named(folder), "names": names, "trusted": trusted_on_first_use(folder)}
    kind = kind_of(workspace, source)
    return caption("source_of", source=source, settings=workspace.settings, kind=kind, **files)
