"""Explain an answer as CLEVRER's, and cite the reference video and time that showed a hidden property."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import Evidence, ExplainedStep, Explanation
from substrate.domains.clevrer.deltas import NAMESPACE as FILMED
from substrate.domains.clevrer.evidence import Reading, observed, removal
from substrate.domains.clevrer.explain import Explainer, rule_of
from substrate.domains.clevrer.kinds import Kind
from substrate.domains.clevrer.program import IMAGINING, REMOVALS, ProgramStep, World
from substrate.domains.comphy.deltas import NAMESPACE, target_iri
from substrate.domains.comphy.format import Question
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.program import OPCODES, run
from substrate.domains.comphy.scene import Emitter, opened
from substrate.log.event_log import EventLog

_EVIDENCE = f"{NAMESPACE}evidence"
_CITED = (RDF_TYPE.value, *(NAMESPACE + name for name in ("first", "second", "video", "since", "until")))
_MEASURED = {"mass": f"{NAMESPACE}ratio", "charge": f"{NAMESPACE}strength"}
"""A reference video's measurement, by the hidden property that it shows."""
_OBJECTS = Kind.OBJECT | Kind.OBJECTS


def explain(
    log: EventLog,
    scene_index: int,
    question: Question,
    parameters: Parameters,
    simulator: Emitter | None = None,
) -> Explanation:
    """Explain a question by the steps of its program, or of one program per choice.

    Args:
        log: the target's event log.
        scene_index: the target's number.
        simulator: the emitter of ``emitter: motion``.
    """
    return _Explainer(log, opened(log, parameters, simulator), target_iri(scene_index)).explain(question)


class _Explainer(Explainer):
    """Explains by ComPhy's opcodes, and without grounds: no ensemble of simulations has charges."""

    def __init__(self, log: EventLog, world: World, iri: str) -> None:
        super().__init__(log, world, iri)
        self.names[NAMESPACE] = "c:"

    def run(self, program: list[str], trace: Callable[[ProgramStep], None]) -> str:
        return run(program, self.world, trace)

    def explained(self, step: ProgramStep) -> ExplainedStep:
        opcode = OPCODES.get(step.token)
        evidence = _evidence(step, self.reading) if opcode and opcode.query else ()
        return self.reading.step(step, opcode, evidence)

    def ground(self, steps: list[ProgramStep]) -> str:
        return ""

    def probability(self, program: list[str], answer: str) -> float | None:
        return None

    def rule(self, steps: list[ProgramStep]) -> str:
        return _rule(steps, cast("Parameters", self.world.parameters))


def _rule(steps: list[ProgramStep], parameters: Parameters) -> str:
    """The rule that decided; for a world that was not filmed, the rule that gives its collisions."""
    if any(step.token in IMAGINING for step in steps):
        if parameters.emitter == "motion":
            return f"motion simulated with mass and charge, to a horizon of {parameters.horizon} frames"
        return "straight lines and the ancestors of what was filmed (emitter: kinematic)"
    return rule_of(steps, parameters)


def _evidence(step: ProgramStep, reading: Reading) -> list[Evidence]:
    opcode = OPCODES[step.token]
    tick = reading.tick(step, opcode)
    if step.token in REMOVALS:  # these change an object here; none is removed
        return _changed(step, reading)
    if opcode.query in _MEASURED:
        return _hidden(opcode.query, _compared(step, reading), reading)
    if opcode.query == "direction":
        read = (f"{NAMESPACE}direction", f"{FILMED}inView")
        return reading.evidence(reading.individuals(step.arguments[0], Kind.OBJECT), read, tick)
    return observed(step, opcode, reading)


def _compared(step: ProgramStep, reading: Reading) -> list[str]:
    """The objects that a step gave and took: whether an object is heavy may depend on the others."""
    opcode = OPCODES[step.token]
    compared = set(reading.individuals(step.result, step.kind))
    for argument, kind in zip(step.arguments, opcode.takes, strict=True):
        single = isinstance(argument, int)
        compared.update(reading.individuals(argument, Kind.OBJECT if single else kind & _OBJECTS))
    return sorted(compared)


def _hidden(name: str, objects: list[str], reading: Reading) -> list[Evidence]:
    """The log's record of objects' hidden property, and of the videos that showed it."""
    tick = reading.log.last_tick
    measured = _MEASURED[name]
    evidence, measures = reading.scene.holding(_EVIDENCE), reading.scene.holding(measured)
    cited = {video for thing in objects for video in evidence.get(f"<{thing}>", ())}
    videos = [video[1:-1] for video in cited if measures.get(video)]
    own = reading.evidence(objects, (NAMESPACE + name,), tick)
    return sorted({*own, *reading.evidence(videos, (*_CITED, measured), tick)})


def _changed(step: ProgramStep, reading: Reading) -> list[Evidence]:
    """The deltas read to imagine an object changed, including its known properties."""
    number = step.arguments[-2]
    known = (f"{NAMESPACE}mass", f"{NAMESPACE}charge")
    thing = f"{reading.iri}:object:{number}"
    return sorted({*removal(reading, number), *reading.evidence([thing], known, reading.log.last_tick)})
