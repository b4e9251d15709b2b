"""Why an answer is what it is: the program step by step, with the queries, triples and ticks behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from substrate.domains.clevrer.deltas import scene_iri
from substrate.domains.clevrer.format import Choice, Question
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
    return explanations(question, lambda program, trace: run(program, world, trace), lambda step: _explained(step, scene_iri(scene_index), log))


class Asked(Protocol):
    """A question as it is explained: its words, its program, and its choices where it has some."""

    @property
    def question(self) -> str:
        """The words."""
        ...

    @property
    def program(self) -> list[str]:
        """The program."""
        ...

    @property
    def choices(self) -> list[Choice] | None:
        """The choices, if any."""
        ...


def explanations(question: Asked, execute: Callable[[list[str], Callable[[Step], None]], str], explained: Callable[[Step], ExplainedStep]) -> Iterator[Explanation]:
    """An explanation of each program a question runs.

    Args:
        execute: runs a program, calling its second argument with every step.
        explained: what there is to say of a step.
    """
    programs = [(f"choice {c.choice_id}: {c.choice}", choice_program(question.program, c)) for c in question.choices or ()]
    for part, program in programs or [(question.question, question.program)]:
        steps: list[Step] = []
        try:
            answer = execute(program, steps.append)
        except ProgramError as error:
            answer = f"error: {error}"
        yield Explanation(part, [explained(step) for step in steps], answer)


def _explained(step: Step, scene: str, log: EventLog) -> ExplainedStep:
    opcode = OPCODES.get(step.token)
    names = individuals(step.result, step.kind, scene) if opcode else set()
    evidence = [Evidence(tick, op.name.lower(), " ".join(map(str, triple))) for tick, op, triple in log if str(triple[0])[1:-1] in names] if names else []
    if opcode and opcode.query == "motion":
        frame = step.arguments[1]
        last = log.last_tick if frame == "null" else frame
        evidence = [e for e in evidence if e.tick <= last and any(word in e.triple for word in (":motion>", ":inView>", ":moved>"))]
    query = f"at tick {_tick(step, log)}:\n{QUERIES[opcode.query]}" if opcode and opcode.query else ""
    return ExplainedStep(step.place, step.token, [shown(a) for a in step.arguments], shown(step.result), query, evidence)


def _tick(step: Step, log: EventLog) -> int:
    frame = step.arguments[1] if step.token in ("filter_moving", "filter_stationary", "filter_resting") else None
    return frame if isinstance(frame, int) else log.last_tick


def individuals(value: Any, kind: Kind, scene: str) -> set[str]:
    """The IRIs that a value on the stack is about."""
    if kind in Kind.OBJECT | Kind.OBJECTS:
        return {f"{scene}:object:{number}" for number in ([value] if isinstance(value, int) else value)}
    if kind in Kind.EVENT | Kind.EVENTS:
        return {event.iri for event in ([value] if isinstance(value, Event) else value) if event.iri}
    return set()


def shown(value: Any) -> str:
    """A value on the stack, for a reader."""
    if isinstance(value, Event):
        frame = "" if value.frame is None else f" at frame {value.frame}"
        objects = f" of {', '.join(map(str, sorted(value.objects)))}" if value.objects else ""
        return f"{value.kind}{objects}{frame}"
    if isinstance(value, list | tuple):
        return "[" + "; ".join(map(shown, value)) + "]"
    return str(value)
