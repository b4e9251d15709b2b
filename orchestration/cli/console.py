"""The shared parts of the platform's commands: options, the events of stages, and a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from substrate.cli.console import note, option
from substrate.cli.notices import Voice, descriptor

ProfileOption = Annotated[
    str | None,
    option("--profile", "sample, beyond, full, paper, real or local; by default the profile of params.yaml."),
]
SetOption = Annotated[
    list[str], option("--set", "Override a key of params.yaml; may be repeated.", metavar="KEY=VALUE")
]
NOTHING_SET: list[str] = []


@contextmanager
def stages_told(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Send the events of a run of some stages.

    Yields, for each ended stage, how it came to its outs: ``computed`` or ``reused``.
    """
    from orchestration.base.progress import hearing
    from substrate.cli.events import speaking

    how: dict[str, str] = {}
    with speaking("run") as told:

        def end(stage: str, made: str, rows: int | None) -> None:
            if stage not in how:  # a retried stage may end twice
                how[stage] = made
                told.end(stage, made, rows)

        told.plan(len(names), "stage" if len(names) == 1 else "stages")
        with hearing(advance=told.advance, end=end, **({"say": note} if Voice.verbose else {})):
            yield how


@contextmanager
def running() -> Iterator[None]:
    """Run the block as a run of the pipeline; print one line on the terminal if it is interrupted."""
    from orchestration.base.stopping import ends_when_told

    with ends_when_told(descriptor("stderr")):
        yield
