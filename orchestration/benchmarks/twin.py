"""Twin-EventLog: a village, an intervention or two, and one question asked of each arm of a fork."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec

from orchestration.benchmarks.benchmark import (
    Benchmark,
    Case,
    Cases,
    Data,
    Files,
    NamedLog,
    Natural,
    Shown,
    Wording,
    chosen,
)
from substrate.base.errors import InterventionError
from substrate.cause.explanation import Explanation
from substrate.domains.rows import Row
from substrate.domains.smallville.format import ARMS, Gold, Spec, read_gold, read_specs
from substrate.domains.smallville.judging import Judgement
from substrate.domains.smallville.twin import answer_spec, parent_log, replay_twin, twin_rows
from substrate.domains.smallville.twin_explain import explain as explain_arm
from substrate.log.event_log import EventLog
from substrate.worlds.smallville.release import WORLD

_spec = msgspec.json.Decoder(Spec)
_gold = msgspec.json.Decoder(Gold | None)


class TwinData(Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How many specifications of Twin-EventLog a profile has; the paper's own are not public."""

    source: Literal["generated", "official", "local", "none"] = "generated"
    specs: Annotated[int, Natural] = 500


def cases(files: Files, only: Collection[Any] | None = None, unasked: bool = False) -> Cases:
    """Twin-EventLog's cases: a specification, and its gold where there is one."""
    path = files["specs"]
    specs = {spec.spec: spec for spec in read_specs(path)}
    gold = read_gold(path)
    numbers = chosen(sorted(specs), only)

    def each() -> Iterator[Case]:
        for number in numbers:
            record, questions = msgspec.json.encode(specs[number]), msgspec.json.encode(gold[number])
            yield Case(number, f"{path}:specification {number}", record, questions)

    return Cases(len(numbers), each())


def logs(case: Case, _: Any = None) -> list[NamedLog]:
    """The arms: the village forked at the branch tick without an intervention, and with each one.

    Arm A's log is the village's own, digest and all: a fork that nothing tells apart from its parent. Where
    the intervention would change nothing it is refused, and the village's own log is all there is.
    """
    spec = _spec.decode(case.record)
    try:
        arms = replay_twin(spec)
    except InterventionError:
        return [NamedLog(f"{spec.spec:05d}/{ARMS[0]}", parent_log(spec))]
    return [NamedLog(f"{spec.spec:05d}/{arm}", log) for arm, log in zip(spec.arms, arms, strict=True)]


def rows(case: Case, logs: Sequence[EventLog], _: Any, split: str) -> Iterable[Row]:
    """A row an arm: the specification's question on each of its logs."""
    spec, gold = _spec.decode(case.record), _gold.decode(case.questions)
    if len(logs) < len(spec.arms):
        return answer_spec(spec, gold, split or "generated")
    return twin_rows(spec, gold, logs, split or "generated")


def explain(case: Case, logs: Sequence[EventLog], _: Any, subset: str, arm: str) -> Explanation | None:
    """Why an arm's answer is what it is; ``None`` where there is no such arm."""
    spec = _spec.decode(case.record)
    if arm not in spec.arms or len(logs) < len(spec.arms):
        return None
    return explain_arm(spec, arm, logs)


def wordings(case: Case) -> Iterator[Wording]:
    """A specification's question, once for each arm."""
    spec = _spec.decode(case.record)
    yield from (Wording(arm, spec.query.text) for arm in spec.arms)


TWIN = Benchmark(
    name="twin",
    title="Twin-EventLog",
    numbers=tuple(f"twin/{metric}" for metric in Judgement._fields),
    form="twin/SPEC/ARM",
    example="twin/11/a",
    table=("twin", 0),
    data=TwinData,
    inputs={"specs": ("specs.jsonl",)},
    official="generated",
    world=WORLD,
    cases=cases,
    logs=logs,
    rows=rows,
    explain=explain,
    wordings=wordings,
    asked=lambda row: ARMS[int(row.question)],
    shown=(Shown("Twin-EventLog, news that travels", "propagation", "arm"),),
    paired=True,
    shapes="village",
    declared=("answers", lambda data: 2 * data.specs),
    size=lambda data: f"{data.specs:,} specifications",
    about={
        "dataset": "Twin-EventLog's specifications with gold by SQL over the raw schedule, and their "
        "datasheet.",
        "logs": "Two event logs a specification, its village forked at the branch tick without and with the "
        "intervention.",
        "answers": "A row an arm: the specification's question on each of its two logs.",
        "scores": "Accuracy by arm, of both arms at once, and of saying whether they differ, with Wilson's "
        "interval.",
    },
)
