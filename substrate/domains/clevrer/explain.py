"""Why an answer is what it is: the program step by step, with the queries, triples and ticks behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from substrate.domains.clevrer.deltas import scene_iri
from substrate.domains.clevrer.format import Question
from substrate.domains.clevrer.interpreter import choice_program
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import OPCODES, Kind, Step, World, run
from substrate.domains.clevrer.scene import QUERIES, Event, Scene
from substrate.errors import ProgramError
from substrate.log import EventLog


class Evidence(NamedTuple):
    """A delta behind a step: its tick, what it did, and its triple as N-Triples terms."""

    tick: int
    op: str
    triple: str


class ExplainedStep(NamedTuple):
    """A token of a program, what it took and gave, the query that read the state, and the deltas behind what it gave."""

    place: int
    token: str
    took: list[str]
    gave: str
    query: str
    evidence: list[Evidence]


class Explanation(NamedTuple):
    """One program's run: which part of the question it answers, its steps, its answer or why there is none."""

    part: str
    steps: list[ExplainedStep]
    answer: str


def explain(log: EventLog, scene_index: int, question: Question, parameters: Parameters) -> Iterator[Explanation]:
    """Explain a question: one explanation, or one for each of its choices.

    Args:
        log: the scene's event log.
        scene_index: the scene's number.
    """
    world = World(Scene(log), parameters)
    programs = [(f"choice {c.choice_id}: {c.choice}", choice_program(question, c)) for c in question.choices or ()]
    for part, program in programs or [(question.question, question.program)]:
        steps: list[ExplainedStep] = []
        try:
            answer = run(program, world, trace=lambda step: steps.append(_explained(step, scene_index, log)))  # noqa: B023  # called before the loop goes on
        except ProgramError as error:
            answer = f"error: {error}"
        yield Explanation(part, steps, answer)


def _explained(step: Step, scene: int, log: EventLog) -> ExplainedStep:
    opcode = OPCODES.get(step.token)
    names = _individuals(step, scene) if opcode else []
    evidence = [Evidence(tick, op.name.lower(), " ".join(map(str, triple))) for tick, op, triple in log if str(triple[0])[1:-1] in names] if names else []
    if opcode and opcode.query == "motion":
        frame = step.arguments[1]
        last = log.last_tick if frame == "null" else frame
        evidence = [e for e in evidence if e.tick <= last and any(word in e.triple for word in (":motion>", ":inView>", ":moved>"))]
    query = f"at tick {_tick(step, log)}:\n{QUERIES[opcode.query]}" if opcode and opcode.query else ""
    return ExplainedStep(step.place, step.token, [_text(a) for a in step.arguments], _text(step.result), query, evidence)


def _tick(step: Step, log: EventLog) -> int:
    frame = step.arguments[1] if step.token in ("filter_moving", "filter_stationary", "filter_resting") else None
    return frame if isinstance(frame, int) else log.last_tick


def _individuals(step: Step, scene: int) -> set[str]:
    """The IRIs a step's result is about."""
    result: Any = step.result
    if step.kind in Kind.OBJECT | Kind.OBJECTS:
        numbers = [result] if step.kind is Kind.OBJECT else result
        return {f"{scene_iri(scene)}:object:{number}" for number in numbers}
    if step.kind in Kind.EVENT | Kind.EVENTS:
        events = [result] if step.kind is Kind.EVENT else result
        return {event.iri for event in events if event.iri}
    return set()


def _text(value: Any) -> str:
    if isinstance(value, Event):
        frame = "" if value.frame is None else f" at frame {value.frame}"
        objects = f" of {', '.join(map(str, sorted(value.objects)))}" if value.objects else ""
        return f"{value.kind}{objects}{frame}"
    if isinstance(value, list | tuple):
        return "[" + "; ".join(_text(v) for v in value) + "]"
    return str(value)
