"""Twin-EventLog: a village, and a question to each of two arms, without an intervention and with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from orchestration.benchmarks import benchmark as bm
from orchestration.scoring.counting import RIGHT, Metric
from substrate.base.errors import InterventionError
from substrate.cause.explanation import OWN, Explanation
from substrate.cause.pictures import Pictured, pictured
from substrate.domains.rows import Row
from substrate.domains.smallville.experiment import Experiment, spec_twin, village_twin
from substrate.domains.smallville.format import ARMS, Gold, Spec, read_gold, read_specs
from substrate.domains.smallville.joint import MOST, judge
from substrate.domains.smallville.picture import arm_timeline
from substrate.domains.smallville.twin import answer_spec, parent_log, replay_twin, twin_rows, village_tbox
from substrate.domains.smallville.twin_explain import explain as explain_arm
from substrate.generators.smallville.release import WORLD
from substrate.rules.fixpoint import RuleEmitter

_spec = msgspec.json.Decoder(Spec)
_gold = msgspec.json.Decoder(Gold | None)


class TwinData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The number of specifications of Twin-EventLog in a profile; the paper's own are not public."""

    source: Literal["generated", "official", "local", "none"] = "generated"
    specs: Annotated[int, bm.Natural] = 500


def cases(files: bm.Files, only: bm.Only = None, unasked: bool = False) -> bm.Cases:
    """Read Twin-EventLog's cases: a specification, and its gold if there is one."""
    path = files["specs"]
    specs = {spec.spec: spec for spec in read_specs(path)}
    gold = read_gold(path)
    numbers = bm.chosen(sorted(specs), only)

    def each() -> Iterator[bm.Case]:
        for number in numbers:
            record, questions = msgspec.json.encode(specs[number]), msgspec.json.encode(gold[number])
            yield bm.Case(number, f"{path}:specification {number}", record, questions)

    return bm.Cases(len(numbers), each())


def logs(case: bm.Case, _: Any = None) -> list[bm.NamedLog]:
    """Make the arms: the village forked at the branch tick, without the intervention and with it.

    Arm A's log equals the village's own, even in its digest, since nothing distinguishes that fork from its
    parent. An intervention without effect is refused; then the village's own log is the only one.
    """
    spec = _spec.decode(case.record)
    try:
        arms = replay_twin(spec)
    except InterventionError:
        return [bm.NamedLog(f"{spec.spec:05d}/{ARMS[0]}", parent_log(spec))]
    return [bm.NamedLog(f"{spec.spec:05d}/{arm}", log) for arm, log in zip(spec.arms, arms, strict=True)]


def rows(case: bm.Case, logs: bm.Logs, _: Any, split: str) -> Iterable[Row]:
    """Make a row per arm: the answer to the specification's question from the arm's log."""
    spec, gold = _spec.decode(case.record), _gold.decode(case.questions)
    if len(logs) < len(spec.arms):
        return answer_spec(spec, gold, split or "generated")
    return twin_rows(spec, gold, logs, split or "generated")


def explain(case: bm.Case, logs: bm.Logs, _: Any, subset: str, arm: str) -> Explanation | None:
    """Explain the answer of an arm; ``None`` if there is no such arm."""
    spec = _spec.decode(case.record)
    if arm not in spec.arms or len(logs) < len(spec.arms):
        return None
    return explain_arm(spec, arm, logs)


def picture(_: bm.Case, why: Explanation, row: Row) -> Pictured:
    """Draw an arm's events, and mark the evidence of its answer."""
    return pictured(arm_timeline(village_tbox(), why.logs[OWN], why.evidence()))


def wordings(case: bm.Case) -> Iterator[bm.Wording]:
    """The text of a specification's question, once for each arm."""
    spec = _spec.decode(case.record)
    yield from (bm.Wording(arm, spec.query.text) for arm in spec.arms)


def experiment(rows: Iterable[Row], files: bm.Files) -> Experiment:
    """The first specification whose news travels and whose answers differ between the arms; if there is none,
    the TBox's own village.
    """
    answers: dict[int, dict[str, str]] = {}
    for row in rows:
        answers.setdefault(int(row.scene), {})[ARMS[int(row.question)]] = row.predicted
    for spec in read_specs(files["specs"]) if answers else ():
        if spec.linkage == "propagation" and len(set(answers[spec.spec].values())) > 1:
            return spec_twin(spec, answers[spec.spec])
    return village_twin()


def _judged(metric: str, rows: Sequence[Any]) -> tuple[int, int]:
    """Compare all arms of a specification with its gold; without a row for each arm, nothing is right."""
    if len(rows) < len(ARMS):
        return 0, getattr(MOST, metric)
    judgement = judge([row.predicted for row in rows], [str(row.expected) for row in rows])
    return getattr(judgement, metric), getattr(MOST, metric)


# The stage that compares each language model with the substrate.
COMPARED = "twin/comparisons"
METRICS = {"per_arm": RIGHT} | {
    name: Metric(partial(_judged, name), together=True) for name in ("joint", "divergence")
}
TABLE = bm.Table(
    name="twin",
    title="Table 2: Twin-EventLog",
    about="Table 2: Twin-EventLog, the substrate beside two language-model baselines, and the paired "
    "difference.",
    layout="by metric",
    needs=(COMPARED, "twin/answers"),
    labels={
        "per_arm": "per-arm accuracy",
        "joint": "joint accuracy (A and B)",
        "divergence": "divergence detection",
    },
)
SPECS = bm.Source(
    name="twin",
    title="Twin-EventLog",
    about="Twin-EventLog's specifications with gold by SQL over the raw schedule, and their datasheet.",
    data=TwinData,
    inputs={"specs": ("specs.jsonl",)},
    cases=cases,
    world=(WORLD,),
)
TWIN = bm.Explained(
    name="twin",
    title="Twin-EventLog",
    numbers=tuple(f"twin/{metric}" for metric in METRICS),
    form="twin/SPEC/ARM",
    no_interval=("",),  # the subset of `twin/joint`
    table=(TABLE, 0),
    source=SPECS,
    logger=bm.Logger(
        name="twin",
        about="Two event logs a specification: its village without and with its change at the branch tick.",
        source=SPECS,
        logs=logs,
        shapes="village",
        emitter=lambda _: RuleEmitter(village_tbox()),
    ),
    rows=rows,
    explain=explain,
    picture=picture,
    wordings=wordings,
    asked=lambda row: ARMS[int(row.question)],
    examples={"Twin-EventLog, news that travels": "propagation"},
    exhibits=(bm.Exhibit("A twin experiment", "fork", experiment),),
    metrics=METRICS,
    whole=METRICS["joint"],
    declared={"answers": lambda data: 2 * data.specs},
    about={
        "answers": "A row an arm: the specification's question on each of its two logs.",
        "scores": "Accuracy by arm, of both arms at once, and of saying whether they differ, with intervals.",
    },
)
