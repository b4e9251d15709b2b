"""Why an answer is what it is: as CLEVRER's, and for what is hidden, which reference video showed it and
when.
"""

from __future__ import annotations

from collections.abc import Iterator

from substrate.domains.clevrer.explain import (
    POSE,
    Evidence,
    ExplainedStep,
    Explanation,
    explanations,
    individuals,
    shown,
)
from substrate.domains.clevrer.program import Step, World
from substrate.domains.comphy.deltas import target_iri
from substrate.domains.comphy.format import Question
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.program import OPCODES, run
from substrate.domains.comphy.scene import QUERIES, TargetScene
from substrate.log import EventLog

_PREDICATES = {
    "mass": ("#type>", ":mass>", ":evidence>", ":ratio>", ":video>", ":since>", ":until>"),
    "charge": ("#type>", ":charge>", ":evidence>", ":strength>", ":video>", ":since>", ":until>"),
    "direction": (":direction>", ":inView>"),
    "motion": (":motion>", ":inView>", ":moved>"),
}
"""What of an individual's deltas a query rests on; of another query, all."""
_HIDDEN = ("mass", "charge")


def explain(
    log: EventLog, scene_index: int, question: Question, parameters: Parameters
) -> Iterator[Explanation]:
    """Explain a question: one explanation, or one for each of its choices.

    Args:
        log: the target's event log.
        scene_index: the target's number.
    """
    world = World(TargetScene(log), parameters)
    deltas: dict[str, list[Evidence]] = {}
    for tick, op, triple in log:
        if POSE not in (said := " ".join(map(str, triple))):
            deltas.setdefault(str(triple[0])[1:-1], []).append(Evidence(tick, op.name.lower(), said))
    return explanations(
        question,
        lambda program, trace: run(program, world, trace),
        lambda step: _explained(step, target_iri(scene_index), log, deltas),
    )


def _explained(step: Step, scene: str, log: EventLog, deltas: dict[str, list[Evidence]]) -> ExplainedStep:
    opcode = OPCODES.get(step.token)
    source = opcode.query if opcode else ""
    evidence: list[Evidence] = []
    tick = log.last_tick
    if opcode:
        frames = (
            [argument for argument in step.arguments[1:] if isinstance(argument, int)]
            if source in ("motion", "direction")
            else []
        )
        tick = frames[-1] if frames else tick
        names = individuals(step.result, step.kind, scene)
        if source in (*_HIDDEN, "direction"):
            names |= {
                name
                for argument, kind in zip(step.arguments, opcode.takes, strict=True)
                for name in individuals(argument, kind, scene)
            }
        if source in _HIDDEN:
            names |= {
                delta.triple.rsplit("<", 1)[1][:-1]
                for name in names
                for delta in deltas.get(name, ())
                if ":evidence>" in delta.triple
            }
        wanted = _PREDICATES.get(source, ("",))
        evidence = [
            delta
            for name in sorted(names)
            for delta in deltas.get(name, ())
            if delta.tick <= tick and any(word in delta.triple for word in wanted)
        ]
    query = f"at tick {tick}:\n{QUERIES[source]}" if source else ""
    return ExplainedStep(
        step.place,
        step.token,
        [shown(argument) for argument in step.arguments],
        shown(step.result),
        query,
        evidence,
    )
