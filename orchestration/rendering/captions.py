"""The captions of tables, with their data and their citations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestration.base.templates import text_template
from orchestration.benchmarks.benchmark import Source
from orchestration.scoring.comparability import NOT_MEASURED, marked
from orchestration.scoring.published import published
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import kind_of, read_named, trusted_on_first_use
from orchestration.workspace.real import names_of


def caption(layout: str, **about: Any) -> str:
    """Fill a macro of ``captions.txt.j2``, and join its lines.

    Args:
        layout: the name of the macro.
        about: its arguments.

    >>> "CPL-Gt (tracks of ground truth; split validation)" in caption(
    ...     "by_number", data=["ComPhy"], benchmarks=["comphy"], systems=["substrate"], models=[]
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
    settings, kind, folder = workspace.settings, kind_of(workspace, source), workspace.data / source.name
    profile = f"(profile {settings.profile})"
    if kind == "local":
        named = [f"{what} {file.name} {_hash(file.sha256)}" for what, file in read_named(folder).items()]
        return f"official files of the user, {', '.join(named)} {profile}"
    if names := names_of(workspace, source):
        return f"official files {', '.join(names.values())} {profile}"
    if kind == "official":
        firsts = trusted_on_first_use(folder)
        trusted = [f"; {file.name} trusted on first use, {_hash(file.sha256)}" for file in firsts]
        return f"official {source.official.words} {profile}{''.join(trusted)}"
    if kind == "generated":
        size = source.size(settings.data(source.name))
        return f"generated world, not the official data: {size}, seed {settings.seed} {profile}"
    return NOT_MEASURED


def _hash(digest: str) -> str:
    return f"sha256 {digest.removeprefix('sha256:')[:12]}"
