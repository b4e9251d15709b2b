"""bAbI's larger files: every tenth story of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

from orchestration.benchmarks import babi
from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from research.benchmarks import REAL

NAME = "babi_10k"
EVERY = 10
"""The step of the stories asked about."""


def every_tenth(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """Every tenth story of each task."""
    given = [case for case in babi.cases(files, only, unasked).each if int(case.scene) % EVERY == 0]
    return bm.Cases(len(given), iter(given))


_STORIES = replace(
    babi.STORIES,
    name=NAME,
    title="bAbI, ten times as many",
    about="The files of bAbI's larger release that a user has; every tenth story of them is asked.",
    cases=every_tenth,
    world=(),
    profiles=REAL,
)
BABI_10K = replace(
    babi.BABI,
    name=NAME,
    title="bAbI, larger files",
    numbers=tuple(number.replace("babi/", "babi_10k/") for number in babi.BABI.numbers),
    form="babi_10k/TASK/STORY/QUESTION",
    source=_STORIES,
    logger=replace(babi.BABI.logger, name=NAME, source=_STORIES),
    rows=partial(bm.named_rows, NAME, babi.BABI.rows),
    examples={},
    declared={},
    about={
        **babi.BABI.about,
        # The profile `real` names the files, and leaves out task 3's (params.yaml).
        MEASURED_ON: "every tenth story of the training files of en-10k, without task 3",
    },
)
