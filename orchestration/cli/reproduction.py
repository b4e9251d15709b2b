"""The outcome of `substrate reproduce`, and the request for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from orchestration.base.templates import text_template
from substrate.base.words import counted


class Request(NamedTuple):
    """The options of `substrate reproduce`.

    Attributes:
        profile: the profile; by default that of `params.yaml`.
        only: one benchmark instead of all.
        overrides: ``KEY=VALUE`` on top of `params.yaml`; with any, the graph is always run.
        force: run stages even if nothing they depend on has changed.
        name: the experiment's name; by default made from the overrides.
    """

    profile: str | None
    only: str | None
    overrides: tuple[str, ...]
    force: bool
    name: str


class Reproduction(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a reproduction: the document of `--json`, from which the command prints its lines.

    The ledger keeps it too, so that a later run with nothing to do repeats it without loading the graph.

    Attributes:
        profile: the profile.
        stages: its stages, in order.
        ran: true if the graph was run; false if there was nothing to do.
        seconds: its duration.
        tables: in Markdown.
        printed: the same tables as `--tables` prints them.
        conclusion: a summary of the numbers, in a few lines.
        report: the report's path in the project, if everything was reproduced.
        checks: the messages of failed checks that stopped nothing.
        lacking: the missing official files, each with a way to get it.
        real: the folder of official files that the environment named.
        compared: whether its results are held against pins; under other parameters they are not.
        unpinned: the stages whose results had no pin to compare with.
        pinned: the number of stages whose results were compared with their pins.
        drifted: by path, how the file differs from its pin.
        moved: a description of the changed numbers and answers.
        experiment: the experiment's name, if the run was one.
        computed: the stages that were computed; the others were reused.
    """

    profile: str
    stages: Sequence[str]
    ran: bool = True
    seconds: float = 0.0
    tables: Sequence[str] = ()
    printed: Sequence[str] = ()
    conclusion: Sequence[str] = ()
    report: str | None = None
    checks: Sequence[str] = ()
    lacking: Sequence[str] = ()
    real: str = ""
    compared: bool = False
    unpinned: Sequence[str] = ()
    pinned: int = 0
    drifted: Mapping[str, str] = {}
    moved: Sequence[str] = ()
    experiment: str | None = None
    computed: Sequence[str] = ()

    def line(self) -> str:
        """Return the last line that the command prints."""
        return text_template(__file__, "reproduced.txt.j2", counted=counted).render(run=self).strip()
