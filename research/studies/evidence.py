"""Evidence: the recorded, simulated or missing events that right answers rest on, by their explanations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from orchestration.benchmarks import babi, clevrer, comphy, gqa, twin
from orchestration.benchmarks.benchmark import Case, Explained, Logs
from orchestration.code import Declared
from orchestration.studies.study import Part, Study
from research.benchmarks import GENERATED, perceived
from research.benchmarks.comphy_inferred import COMPHY_INFERRED
from research.domains.evidence import (
    ABSENT,
    FACTS,
    IMAGINED,
    RECORDED,
    RULED,
    Decider,
    rests_on,
    rests_on_video,
)
from research.studies.robustness import EVERYTHING
from research.studies.shares import Cell, Shares, Weighed, tabled
from research.studies.sizes import SIZES
from substrate.cause.explanation import OWN, ExplainedPart, Explanation
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.domains.rows import Row

KEY = "evidence"
NEAR = 5
"""Frames within which an event of the true record counts as near."""
OFF = (f"{RECORDED}, in the same frame", f"{RECORDED}, within {NEAR} frames", f"{RECORDED}, further off")
UNTRUE = "an event that the true record lacks"
PLACES = (RECORDED, *OFF, UNTRUE, IMAGINED, RULED, ABSENT, FACTS)
"""The conditions of the table, in its order.

If the true record is not the log's own, an event's condition is its distance to the true event.
"""


def frames_off(event: str, seen: Scene, true: Scene) -> int | None:
    """The frames between an event of a log and the record's nearest event of its kind and participants.

    ``None`` if the record has no such event. Both identify objects by their looks.
    """

    def described(e: SceneEvent, scene: Scene) -> tuple[str, frozenset[tuple[str, str, str]]]:
        things = (scene.objects[number] for number in e.objects)
        return e.kind, frozenset((thing.color, thing.material, thing.shape) for thing in things)

    event_seen = next(e for e in seen.events if e.iri == event)
    wanted = described(event_seen, seen)
    frames = [e.frame for e in true.events if described(e, true) == wanted]
    return min((abs((frame or 0) - (event_seen.frame or 0)) for frame in frames), default=None)


@dataclass(frozen=True)
class Subject(Declared):
    """A benchmark whose right answers are explained.

    Attributes:
        base: the benchmark.
        decides: finds what decides a part of an explained answer.
        setting: gives the setting that a row counts for.
        truth: gives the true record of a case in a split; ``None`` if it is the log's own.
    """

    base: Explained
    decides: Callable[[Explanation, ExplainedPart], Decider] = rests_on
    setting: Callable[[Row], str] = lambda row: row.subset
    truth: Callable[[Case, str], Scene | None] = lambda *_: None


def rows(subject: Subject, case: Case, logs: Logs, parameters: Any, split: str) -> Iterator[Weighed]:
    """Count the right answers of a case by setting and by what decides them, in one row each."""
    base, true = subject.base, subject.truth(case, split)
    counts: Counter[Cell] = Counter()
    for row in base.rows(case, logs, parameters, split):
        chosen = () if row.choices is msgspec.UNSET else row.choices
        right = [choice.predicted == choice.expected for choice in chosen] or [bool(row.correct)]
        why = base.explain(case, logs, parameters, row.subset, base.asked(row)) if any(right) else None
        if why is None:
            continue
        setting = subject.setting(row) + (", choices" if chosen else "")
        for part, correct in zip(why.parts, right, strict=True):
            if correct:
                counts[Cell(setting, _condition(subject.decides(why, part), why, true))] += 1
    for cell, n in sorted(counts.items()):
        yield Weighed(base.name, split, cell.subset, case.scene, n)


def _condition(decider: Decider, why: Explanation, true: Scene | None) -> str:
    """The condition of an answer: one of :data:`PLACES`."""
    if true is None or not decider.event:
        return decider.kind
    off = frames_off(decider.event, Scene.of(why.logs[OWN]), true)
    return UNTRUE if off is None else OFF[0 if off == 0 else 1 if off <= NEAR else 2]


def _as_filmed(case: Case, split: str) -> Scene | None:
    """The true record of a generated video: its annotation, which the detector never saw."""
    log = perceived.truth_of(case) if split == "generated" else None
    return Scene(log) if log else None


def _part(subject: Subject) -> Part:
    base = subject.base
    return Part(
        name=base.name,
        base=base,
        about=f"{base.title}: how many right answers rest on a recorded event, a simulated one, one by a "
        "rule, on nothing happening, or on facts alone.",
        rows=partial(rows, subject),
        # Nobody knows before how many answers will be right; that none is would be a fault.
        never_empty=True,
        calls=(base.rows, base.explain, base.asked, subject.decides, subject.setting, subject.truth),
        size_key=KEY,
    )


TABLE = Shares(
    "What right answers rest on",
    "Evidence: of the right answers of each benchmark's first cases (right choices, where there are "
    "choices), how many rest on what. A log that is written from a record holds its events in their own "
    "frames; a perceived log's are looked for in the generated record that the detector never saw.",
    ("benchmark", "asked", "the answer rests on", "so many", "right answers", "share", "95 % interval"),
    PLACES,
    pooled=True,
)
EVIDENCE = Study(
    name=KEY,
    profiles=GENERATED,
    parts=(
        _part(Subject(clevrer.CLEVRER, rests_on_video)),
        _part(Subject(perceived.PERCEIVED, rests_on_video, truth=_as_filmed)),
        _part(Subject(comphy.COMPHY, rests_on_video)),
        _part(Subject(COMPHY_INFERRED, partial(rests_on_video, imagines=IMAGINED))),
        _part(Subject(babi.BABI, setting=lambda _: EVERYTHING)),
        _part(Subject(gqa.GQA, partial(rests_on, recorded=FACTS, absent=FACTS))),
        _part(Subject(twin.TWIN)),
    ),
    parameters=SIZES,
    **tabled(KEY, TABLE),
)
