"""The real scene graphs of a public release, with its questions about them.

GraphVQA (Liang et al., MAI at NAACL 2021) ships four scene graphs of GQA with its code, and questions
about two of them. Each question has a program in GraphVQA's own form: `[722335]=relate_inv([1], on)`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.gqa import GQA, cases_of
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.benchmarks.transfer import TRANSFER
from substrate.base.errors import FormatError
from substrate.domains.gqa.format import Operation, Question, read_scene_graphs

NAME = "gqa_scenes"
_CALL = re.compile(r"(?:\[[\d, ]*\]|\?)=(\w+)\((?:\[(\d+)\])?(?:, )?(.*?)\)")
_STEPS = {
    "select": ("select", "{}"),
    "filter": ("filter", "{}"),
    "verify": ("verify", "{}"),
    "relate": ("relate", "_,{},o"),
    "relate_inv": ("relate", "_,{},s"),
    "query_n": ("query", "name"),
    "exist": ("exist", "?"),
}
"""By GraphVQA's operation: GQA's operation, and the form of its argument."""


def step_of(call: str) -> Operation:
    """Turn a call of GraphVQA into a step of a GQA program.

    Raises:
        FormatError: it is no call, or its operation is unknown.

    >>> step_of("[722335]=relate_inv([1], on)")
    Operation(operation='relate', argument='_,on,s', dependencies=[1])
    """
    match = _CALL.fullmatch(call)
    if not match or match[1] not in _STEPS:
        raise FormatError(f"unknown call {call!r}", hint=f"Use {', '.join(_STEPS)}")
    operation, argument = _STEPS[match[1]]
    return Operation(operation, argument.format(match[3]), [int(match[2])] if match[2] else [])


def read_programs(path: Path) -> dict[str, dict[str, Question]]:
    """Read the questions of a file, by image and number, each with its program in GQA's form."""
    by_image: dict[str, dict[str, Question]] = {}
    for image, text, calls, number, answer, *_ in msgspec.json.decode(
        path.read_bytes(), type=list[list[Any]]
    ):
        program = [step_of(call) for call in calls]
        by_image.setdefault(image, {})[number] = Question(image, text, program, answer)
    return by_image


class ScenesData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The release's two files."""

    scene_graphs: str | None = None
    programs: str | None = None


def cases(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """The scene graphs with questions, and the questions as GQA writes them."""
    graphs, by_image = read_scene_graphs(files["scene_graphs"]), read_programs(files["programs"])
    images = bm.chosen(sorted(graphs if unasked else by_image), only)
    encoded = {image: msgspec.json.encode(questions) for image, questions in by_image.items()}
    return cases_of(graphs, images, lambda image: encoded.get(image, b""))


SCENES = bm.Source(
    name=NAME,
    title="GQA's real scene graphs",
    about="Scene graphs of GQA that GraphVQA shows, and its questions about them.",
    data=ScenesData,
    inputs={"scene_graphs": ("sceneGraphs.json",), "programs": ("programs.json",)},
    cases=cases,
    official=bm.Release("shown", "scene graphs that are shown"),
    profiles=("real",),
)
GQA_SCENES = replace(
    GQA,
    name=NAME,
    title="GQA, real scene graphs",
    numbers=tuple(number.replace("gqa/", f"{NAME}/") for number in GQA.numbers),
    form=f"{NAME}/by_name|by_id/IMAGE/QUESTION",
    table=(TRANSFER, 10),
    source=SCENES,
    logger=replace(GQA.logger, name=NAME, source=SCENES),
    rows=partial(bm.named_rows, NAME, GQA.rows),
    examples={},
    declared={},
    about={**GQA.about, MEASURED_ON: "all the public questions with a real scene graph that could be had"},
)
