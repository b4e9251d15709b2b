"""Why an answer is what it is: the program step by step, with the queries, triples and ticks behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, get_args

from substrate.domains.clevrer.counterfactual import Ground, judge
from substrate.domains.clevrer.deltas import NAMESPACE, SAMPLED_FRAMES, scene_iri
from substrate.domains.clevrer.emitter import without
from substrate.domains.clevrer.format import Choice, Question
from substrate.domains.clevrer.interpreter import choice_program
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import OPCODES, Kind, Step, World, possible_collisions, run, unseen
from substrate.domains.clevrer.scene import QUERIES, Event, Scene
from substrate.errors import ProgramError
from substrate.log import EventLog

GROUNDS: tuple[Ground, ...] = get_args(Ground)
"""From the surest to the least sure."""
_REMOVALS = ("get_counterfact", "filter_counterfact", "counterfact_events")
_SAID = re.compile(
    f"<{NAMESPACE}(simulated|Object)>"
)  # of a fork's deltas about objects: who was taken out, who is simulated from when
POSE = f"<{NAMESPACE}pose>"
"""The predicate of poses, which only simulation and projection read."""


class Evidence(NamedTuple):
    """A delta behind a step: its tick, what it did, and its triple as N-Triples terms."""

    tick: int
    op: str
    triple: str


class ExplainedStep(NamedTuple):
    """A token of a program, what it took and gave, the query that read the state, and the deltas behind what
    it gave.
    """

    place: int
    token: str
    took: list[str]
    gave: str
    query: str
    evidence: list[Evidence]


class Explanation(NamedTuple):
    """One program's run: which part of the question it answers, its steps, its answer or why there is none,
    and the answer's ground, if said.
    """

    part: str
    steps: list[ExplainedStep]
    answer: str
    ground: str = ""


def explain(
    log: EventLog, scene_index: int, question: Question, parameters: Parameters
) -> Iterator[Explanation]:
    """Explain a question: one explanation, or one for each of its choices.

    Args:
        log: the scene's event log.
        scene_index: the scene's number.
    """
    world = World(Scene(log), parameters)
    scene = scene_iri(scene_index)
    return explanations(
        question,
        lambda program, trace: run(program, world, trace),
        lambda step: _explained(step, scene, world),
        lambda steps: _ground(steps, world),
    )


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


def explanations(
    question: Asked,
    execute: Callable[[list[str], Callable[[Step], None]], str],
    explained: Callable[[Step], ExplainedStep],
    ground: Callable[[list[Step]], str] = lambda steps: "",
) -> Iterator[Explanation]:
    """An explanation of each program a question runs.

    Args:
        execute: runs a program, calling its second argument with every step.
        explained: what there is to say of a step.
        ground: what the answer that the steps lead to rests on.
    """
    programs = [
        (f"choice {c.choice_id}: {c.choice}", choice_program(question.program, c))
        for c in question.choices or ()
    ]
    for part, program in programs or [(question.question, question.program)]:
        steps: list[Step] = []
        try:
            answer = execute(program, steps.append)
            rests = ground(steps)
        except ProgramError as error:
            answer, rests = f"error: {error}", ""
        yield Explanation(part, [explained(step) for step in steps], answer, rests)


def _ground(steps: list[Step], world: World) -> str:
    """Of a yes, the surest ground of an event that makes it one; of a no, the least sure of those that might
    have.
    """
    for step in reversed(steps):
        if step.token == "unseen_events":
            return "heuristic" if world.parameters.predictive.kinematics else "simulated"
        if step.token in _REMOVALS:
            asked = next(
                (
                    later.arguments[0]
                    for later in steps
                    if later.token == "belong_to" and later.place > step.place
                ),
                None,
            )
            *events, removed = step.arguments
            imagined = events[0] if events else possible_collisions(world.scene)
            about = (
                [asked]
                if isinstance(asked, Event)
                else [event for event in imagined if asked is None or asked in event.objects]
            )
            verdicts = [judge(world.scene, event, removed, world.parameters) for event in about]
            occurring = [GROUNDS.index(verdict.ground) for verdict in verdicts if verdict.occurs]
            return GROUNDS[
                min(occurring)
                if occurring
                else max((GROUNDS.index(verdict.ground) for verdict in verdicts), default=0)
            ]
    return GROUNDS[0]


def _branch(step: Step, world: World) -> Scene | None:
    """The simulated fork behind a step."""
    if step.token == "unseen_events" and world.parameters.predictive.kinematics is None:
        return unseen(world.scene, world.parameters)
    if step.token in _REMOVALS and world.parameters.counterfactual.method == "simulated":
        return without(world.scene, step.arguments[-1], world.parameters.engine)
    return None


def _explained(step: Step, scene: str, world: World) -> ExplainedStep:
    opcode = OPCODES.get(step.token)
    branch = _branch(step, world)
    log = branch.log if branch else world.scene.log
    names = individuals(step.result, step.kind, scene) if opcode else set()
    evidence: list[Evidence] = []
    if branch:
        evidence = [
            e
            for e in _evidence(log)
            if ":event:" in e.triple or (e.tick >= (log.branch_tick or 0) and _SAID.search(e.triple))
        ]
    elif opcode and opcode.query == "poses":
        evidence = [e for e in _evidence(log) if e.tick > log.last_tick - SAMPLED_FRAMES and POSE in e.triple]
    elif names:
        evidence = [
            e for e in _evidence(log) if e.triple.partition(" ")[0][1:-1] in names and POSE not in e.triple
        ]
    if opcode and opcode.query == "motion":
        frame = step.arguments[1]
        last = log.last_tick if frame == "null" else frame
        evidence = [
            e
            for e in evidence
            if e.tick <= last and any(word in e.triple for word in (":motion>", ":inView>", ":moved>"))
        ]
    query = f"at tick {_tick(step, log)}:\n{QUERIES[opcode.query]}" if opcode and opcode.query else ""
    if branch:
        query = f"fork at tick {log.branch_tick} of {log.parent_digest}: {log.digest}\n" + query
    return ExplainedStep(
        step.place, step.token, [shown(a) for a in step.arguments], shown(step.result), query, evidence
    )


def _evidence(log: EventLog) -> Iterator[Evidence]:
    return (Evidence(tick, op.name.lower(), " ".join(map(str, triple))) for tick, op, triple in log)


def _tick(step: Step, log: EventLog) -> int:
    frame = (
        step.arguments[1] if step.token in ("filter_moving", "filter_stationary", "filter_resting") else None
    )
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
