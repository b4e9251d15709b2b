"""Evidence: what the right answers of each benchmark rest on, counted from their explanations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from orchestration.benchmarks import babi, clevrer, comphy, gqa, perceived, twin
from orchestration.benchmarks.benchmark import Case, Explained
from orchestration.studies.robustness import ROBUSTNESS
from orchestration.studies.study import Part, Shares, Study, Weighed
from substrate.cause.evidence import ABSENT, FACTS, IMAGINED, RECORDED, RULED, Rest
from substrate.cause.explanation import OWN, ExplainedPart, Explanation
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.evidence import frames_off
from substrate.domains.clevrer.scene import Scene
from substrate.generators.clevrer import generate_annotation
from substrate.log.event_log import EventLog

KEY = "evidence"
NEAR = 5
"""Frames within which an event of the true record is near."""
OFF = (f"{RECORDED}, in the same frame", f"{RECORDED}, within {NEAR} frames", f"{RECORDED}, further off")
UNTRUE = "an event that the true record lacks"
PLACES = (RECORDED, *OFF, UNTRUE, IMAGINED, RULED, ABSENT, FACTS)
"""The conditions of the table, in its order: an event is placed in the true record where that is another
record than the log's own.
"""


class _Right(NamedTuple):
    """A right answer: the setting it counts for, and the explanation that it is a part of."""

    setting: str
    why: Explanation
    part: ExplainedPart


def rows(
    of: str, seed: int, case: Case, logs: Sequence[EventLog], parameters: Any, split: str
) -> Iterator[Weighed]:
    """A row for each thing that right answers of a case rest on: how many there are.

    Args:
        of: the benchmark's name.
        seed: the seed of a generated world, whose true events are those of the video without a detector.
    """
    base, true = AUDITED[of], None
    if of == perceived.NAME and split == "generated":
        true = Scene(annotation_log(generate_annotation(int(case.scene), seed)))
    counts: Counter[tuple[str, str]] = Counter()
    for setting, why, part in _right(base, case, logs, parameters, split):
        counts[setting, _placed(base.rests(why, part), why, true)] += 1
    for (setting, on), n in sorted(counts.items()):
        yield Weighed(base.name, split, f"{setting}: {on}", case.scene, n)


def _placed(rest: Rest, why: Explanation, true: Scene | None) -> str:
    if true is None or not rest.event:
        return rest.on
    off = frames_off(rest.event, Scene(why.logs[OWN]), true)
    return UNTRUE if off is None else OFF[0 if off == 0 else 1 if off <= NEAR else 2]


def _right(
    base: Explained, case: Case, logs: Sequence[EventLog], parameters: Any, split: str
) -> Iterator[_Right]:
    """The right answers of a case; of a question with choices, each right choice."""
    for row in base.rows(case, logs, parameters, split):
        chosen = () if row.choices is msgspec.UNSET else row.choices
        right = [choice.predicted == choice.expected for choice in chosen] or [bool(row.correct)]
        why = base.explain(case, logs, parameters, row.subset, base.asked(row)) if any(right) else None
        if why is not None:
            setting = "all tasks" if base.name == babi.BABI.name else row.subset
            setting += ", choices" if chosen else ""
            yield from (
                _Right(setting, why, part) for part, correct in zip(why.parts, right, strict=True) if correct
            )


def _expected(case: Case) -> Mapping[str, int]:
    return {"": 1} if case.questions else {}


AUDITED: Mapping[str, Explained] = {
    base.name: base
    for base in (
        clevrer.CLEVRER,
        perceived.PERCEIVED,
        comphy.COMPHY,
        comphy.COMPHY_INFERRED,
        babi.BABI,
        gqa.GQA,
        twin.TWIN,
    )
}
"""By name, in the order of the report."""
EVIDENCE = Study(
    name=KEY,
    parts=tuple(
        Part(
            name=base.name,
            base=base,
            about=f"{base.title}: how many right answers rest on a recorded event, a simulated one, one by a "
            "rule, on nothing happening, or on facts alone.",
            rows=partial(rows, base.name),
            expected=_expected,
            calls=(base.rows, base.explain, base.rests, base.asked),
            file=f"artifacts/{{profile}}/{KEY}/{base.name}.jsonl",
            seeded=True,
            first=KEY,
            free=None,
        )
        for base in AUDITED.values()
    ),
    parameters=ROBUSTNESS.parameters,
    shares=Shares(
        "What right answers rest on",
        "Evidence: of the right answers of each benchmark's first cases (right choices, where there are "
        "choices), how many rest on what. A log that is written from a record holds its events in their own "
        "frames; a perceived log's are looked for in the generated record that the detector never saw.",
        ("benchmark", "asked", "the answer rests on", "so many", "right answers", "share", "95 % interval"),
        PLACES,
        pooled=True,
    ),
)
