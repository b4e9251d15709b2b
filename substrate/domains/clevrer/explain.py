"""Why an answer is what it is: the program step by step, with the queries and deltas behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, get_args

import msgspec
from pyoxigraph import NamedNode

from substrate.base.errors import ProgramError
from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import ERROR, OWN, Evidence, ExplainedPart, ExplainedStep, Explanation
from substrate.domains.clevrer._chances import REMOVALS, Chances
from substrate.domains.clevrer.counterfactual import Ground, judge
from substrate.domains.clevrer.deltas import NAMESPACE, SAMPLED_FRAMES, scene_iri
from substrate.domains.clevrer.emitter import without
from substrate.domains.clevrer.format import RECORDED_AFTER, Choice, Question
from substrate.domains.clevrer.interpreter import choice_program, in_order, judged_choices
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import (
    OPCODES,
    Kind,
    Opcode,
    Step,
    World,
    possible_collisions,
    run,
    unseen,
)
from substrate.domains.clevrer.scene import Event, Scene
from substrate.log.event_log import EventLog, Op

GROUNDS: tuple[Ground, ...] = get_args(Ground)
"""From the surest to the least sure."""
_OBJECTS = Kind.OBJECT | Kind.OBJECTS
_EVENTS = Kind.EVENT | Kind.EVENTS
_TYPE = RDF_TYPE.value


def explain(log: EventLog, scene_index: int, question: Question, parameters: Parameters) -> Explanation:
    """Explain a question: the steps of its program, or of one program for each of its choices.

    Args:
        log: the scene's event log.
        scene_index: the scene's number.

    The logs of simulated forks are among the explanation's, each named by what it imagines.
    """
    world = World(Scene.of(log), parameters)
    reading = reading_of(world.scene, scene_iri(scene_index))
    logs = {OWN: log}

    def explained(step: Step) -> ExplainedStep:
        evidence = list(_observed(step, reading))
        branch = _branch(step, world)
        if branch:
            name, fork = branch
            logs[name] = fork
            evidence += [Evidence(position, name) for position in _forked(fork)]
        return reading.step(step, OPCODES.get(step.token), evidence)

    return explanation(
        question,
        lambda program, trace: run(program, world, trace),
        explained,
        logs,
        {NAMESPACE: ":", f"{scene_iri(scene_index)}:": ""},
        lambda steps: ground_of(steps, world),
        Chances(world, ground_of).of,
        lambda steps: rule_of(steps, world.parameters),
        reading.words,
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


def explanation(
    question: Asked,
    execute: Callable[[list[str], Callable[[Step], None]], str],
    explained: Callable[[Step], ExplainedStep],
    logs: Mapping[str, EventLog],
    names: Mapping[str, str],
    ground: Callable[[list[Step]], str] = lambda steps: "",
    chance: Callable[[list[str], str], float | None] = lambda program, answer: None,
    rule: Callable[[list[Step]], str] = lambda steps: "",
    called: Mapping[str, str] = MappingProxyType({}),
) -> Explanation:
    """The explanation of a question: a part for each program that it runs.

    Args:
        execute: runs a program, calling its second argument with every step.
        explained: what there is to say of a step.
        logs: what the evidence points into; steps may add to it.
        names: short names for IRIs.
        ground: what the answer that the steps lead to rests on.
        chance: how probable the answer of a program is, where that is known.
        rule: the rule that the steps leave the answer to.
        called: objects and events in words, by IRI.
    """

    def part(program: list[str], title: str, said: str) -> tuple[ExplainedPart, str | ProgramError]:
        steps: list[Step] = []
        rests, probability = "", None
        try:
            outcome: str | ProgramError = execute(program, steps.append)
            rests, probability = ground(steps), chance(program, outcome)
        except ProgramError as error:
            outcome = error
        answer = f"{ERROR}{outcome}" if isinstance(outcome, ProgramError) else outcome
        told = tuple(map(explained, steps))
        return ExplainedPart(title, told, answer, rests, said, probability, rule(steps)), outcome

    if not question.choices:
        whole, _ = part(question.program, "", "")
        return Explanation(question.question, whole.answer, (whole,), logs, names, called)
    choices = in_order(question.choices)
    parts: list[ExplainedPart] = []
    outcomes: list[str | ProgramError] = []
    for choice in choices:
        made, outcome = part(
            choice_program(question.program, choice), f"choice {choice.choice_id}", choice.choice
        )
        parts.append(made)
        outcomes.append(outcome)
    fields = judged_choices(choices, outcomes)
    answer = fields["predicted"] if fields["error"] is msgspec.UNSET else f"{ERROR}{fields['error']}"
    return Explanation(question.question, answer, tuple(parts), logs, names, called)


_FRAMES = {
    "event": "each event's own (Definition 1)",
    "printed": "as Algorithm 1 prints it",
    "global": "the target's",
}


def rule_of(steps: Iterable[Step], parameters: Parameters) -> str:
    """The rule that decided, by its name, with the parameters that it takes."""
    tokens = {step.token for step in steps}
    predictive = parameters.predictive
    if tokens & set(REMOVALS):
        return parameters.counterfactual.words
    if "unseen_events" in tokens:
        if kinematics := predictive.kinematics:
            frames, tau, horizon = kinematics.frames, kinematics.tau, kinematics.horizon
            line = f"{frames} frames averaged, nearer than tau = {tau:g} within a horizon of {horizon} frames"
            return f"Algorithm 3, configuration {predictive.configuration}: straight lines, {line}"
        horizon = RECORDED_AFTER if predictive.horizon is None else predictive.horizon
        return f"configuration S: the calibrated simulator, to a horizon of {horizon} frames after the video"
    if "filter_ancestor" in tokens:
        return f"ancestry, frame of reference {_FRAMES[parameters.explanatory.reference_frame]}"
    return "the program, read from what was filmed"


_HAPPENS = {
    "Collision": "the collision of {0} and {1}",
    "Entry": "the entry of {0}",
    "Exit": "the exit of {0}",
}


def called(scene: Scene, prefix: str) -> dict[str, str]:
    """The objects and events of a scene in words, by IRI.

    Args:
        prefix: the scene's IRI, with which those of its objects begin.
    """
    objects = {number: f"the {one.color} {one.material} {one.shape}" for number, one in scene.objects.items()}
    found = {f"{prefix}:object:{number}": said for number, said in objects.items()}
    for event in scene.events:
        who = [objects[number] for number in sorted(event.objects)]
        found[event.iri] = f"{happening(event.kind, who)} at frame {event.frame}"
    return found


def happening(kind: str, who: Sequence[str]) -> str:
    """An event in words.

    >>> happening("Collision", ["the red metal cube", "the gray rubber sphere"])
    'the collision of the red metal cube and the gray rubber sphere'
    """
    return _HAPPENS.get(kind, f"the {kind.lower()} of the video").format(*who)


class Standing(NamedTuple):
    """A triple that holds at a tick: the position of the delta that made it true, and its property."""

    position: int
    predicate: str
    value: str


class Reading:
    """A scene's log as its queries read it: which deltas made true what holds at a tick.

    Attributes:
        log: a log of :mod:`substrate.domains.clevrer.deltas`.
        scene: the scene's IRI.
        queries: the texts of the queries, by name.
        words: objects and events in words, by IRI.
    """

    def __init__(self, scene: Scene, iri: str) -> None:
        self.log = scene.log
        self.scene = iri
        self.queries = scene.queries
        self.words = called(scene, iri)
        self._holding: dict[int, dict[str, list[Standing]]] = {}

    def tick(self, step: Step, opcode: Opcode | None) -> int:
        """The tick at which a step's query is asked: the frame that it names, or the last one."""
        if opcode and opcode.query in ("motion", "direction") and isinstance(step.arguments[1], int):
            return step.arguments[1]
        return self.log.last_tick

    def holding(self, tick: int) -> dict[str, list[Standing]]:
        """By subject, what holds at a tick, in the order of the log."""
        if tick not in self._holding:
            made: dict[tuple[str, str, str], int] = {}
            held = self.log[: self.log.position(tick)]
            for position, (_, op, (subject, predicate, value)) in enumerate(held):
                triple = (_iri(subject), predicate.value, _iri(value))
                if op is Op.RETRACT:
                    made.pop(triple, None)
                else:
                    made.setdefault(triple, position)
            found: dict[str, list[Standing]] = {}
            for (subject, predicate, value), position in made.items():
                found.setdefault(subject, []).append(Standing(position, predicate, value))
            self._holding[tick] = found
        return self._holding[tick]

    def evidence(self, subjects: Iterable[str], predicates: Sequence[str], tick: int) -> list[Evidence]:
        """The deltas by which some properties of some individuals hold at a tick."""
        holding = self.holding(tick)
        found = {
            standing.position
            for subject in subjects
            for standing in holding.get(subject, ())
            if standing.predicate in predicates
        }
        return list(map(Evidence, sorted(found)))

    def all_of(self, class_: str) -> list[str]:
        """The individuals of a class, such as ``Object`` or ``Collision``, by IRI."""
        wanted = (_TYPE, NAMESPACE + class_)
        return [
            subject
            for subject, facts in self.holding(self.log.last_tick).items()
            if any((fact.predicate, fact.value) == wanted for fact in facts)
        ]

    def individuals(self, value: Any, kind: Kind) -> list[str]:
        """The IRIs that a value on the stack is about; of an event that the log does not hold, none."""
        if kind in _OBJECTS:
            numbers = [value] if isinstance(value, int) else value
            return [f"{self.scene}:object:{number}" for number in numbers]
        if kind in _EVENTS:
            events = [value] if isinstance(value, Event) else value
            return [event.iri for event in events if event.iri]
        return []

    def subjects(self, step: Step, opcode: Opcode, wanted: Kind) -> list[str]:
        """The individuals of a kind that a step came to; where it came to none of them, those it took.

        A single event that others were compared with is always one of them.
        """
        kinds = [kind & wanted for kind in opcode.takes]
        came = self.individuals(step.result, step.kind) if step.kind & wanted else []
        for argument, kind in zip(step.arguments, kinds, strict=True):
            if kind and (not step.kind & wanted or isinstance(argument, Event)):
                came += self.individuals(argument, _kind_of(argument, kind))
        return came

    def step(self, step: Step, opcode: Opcode | None, evidence: Iterable[Evidence]) -> ExplainedStep:
        """A step in words, with the query behind it and what it rests on."""
        query = ""
        if opcode and opcode.query:
            query = f"at tick {self.tick(step, opcode)}:\n{self.queries[opcode.query]}"
        return ExplainedStep(
            step.token,
            self.shown(step.result),
            tuple(map(self.shown, step.arguments)),
            query,
            tuple(evidence),
            about=tuple(self._about(step)),
        )

    def shown(self, value: Any) -> str:
        """A value on the stack, for a reader."""
        if isinstance(value, Event):
            if value.iri in self.words:
                return self.words[value.iri]
            who = [self.words.get(f"{self.scene}:object:{n}", str(n)) for n in sorted(value.objects)]
            frame = "" if value.frame is None else f" at frame {value.frame}"
            return happening(value.kind, who) + frame
        if isinstance(value, list | tuple):
            return "[" + "; ".join(map(self.shown, value)) + "]"
        return str(value)

    def _about(self, step: Step) -> list[tuple[str, ...]]:
        if step.kind in _EVENTS:
            events = [step.result] if isinstance(step.result, Event) else step.result
            return [
                (event.iri,)
                if event.iri
                else tuple(f"{self.scene}:object:{number}" for number in sorted(event.objects))
                for event in events
            ]
        return [(iri,) for iri in self.individuals(step.result, step.kind)]


@lru_cache(maxsize=1)
def reading_of(scene: Scene, iri: str) -> Reading:
    """The reading of a scene; the last one is kept, as :meth:`Scene.of` keeps the scene."""
    return Reading(scene, iri)


def _kind_of(value: Any, kind: Kind) -> Kind:
    """The kind of a value among those that an operand may have."""
    if isinstance(value, Event):
        return Kind.EVENT
    if isinstance(value, int):
        return Kind.OBJECT
    return kind & (Kind.OBJECTS | Kind.EVENTS)


def _iri(term: object) -> str:
    return term.value if isinstance(term, NamedNode) else str(term)


ATTRIBUTES = ("color", "material", "shape")
_READ: Mapping[str, tuple[str, ...]] = {
    "objects": (_TYPE, *(NAMESPACE + name for name in ("number", *ATTRIBUTES))),
    "events": (_TYPE, f"{NAMESPACE}frame", f"{NAMESPACE}participant"),
    "motion": (f"{NAMESPACE}inView", f"{NAMESPACE}motion"),
}
"""By query: the properties of an individual that it reads."""


def properties(token: str, query: str) -> tuple[str, ...]:
    """The properties that a step reads: those of its query, or the one attribute that it is about.

    >>> properties("filter_color", "objects")
    ('urn:substrate:clevrer:color',)
    """
    attribute = token.rpartition("_")[2]
    return (NAMESPACE + attribute,) if attribute in ATTRIBUTES else _READ.get(query, ())


def observed(step: Step, opcode: Opcode, reading: Reading) -> list[Evidence]:
    """The parts of the film that a step of CLEVRER's language rests on."""
    read, tick = properties(step.token, opcode.query), reading.tick(step, opcode)
    if opcode.query == "motion" and not isinstance(step.arguments[1], int):
        read = (f"{NAMESPACE}moved",)
    if opcode.query == "events":
        return reading.evidence(reading.subjects(step, opcode, _EVENTS), read, tick)
    if opcode.query == "poses":
        return sampled_poses(reading)
    if step.token == "all_events":
        return reading.evidence(reading.all_of("Object"), (_TYPE,), tick)
    return reading.evidence(reading.subjects(step, opcode, _OBJECTS), read, tick)


def sampled_poses(reading: Reading) -> list[Evidence]:
    """The poses of the last frames, which the future is told from."""
    first = reading.log.position(reading.log.last_tick - SAMPLED_FRAMES)
    pose = f"{NAMESPACE}pose"
    last = enumerate(reading.log[first:], first)
    return [Evidence(position) for position, delta in last if delta.triple[1].value == pose]


def removal(reading: Reading, number: int) -> list[Evidence]:
    """The parts of the log that are read to imagine the scene without an object, or with it changed.

    These are the delta by which the object is there, and the collisions that were filmed.
    """
    tick = reading.log.last_tick
    there = reading.evidence([f"{reading.scene}:object:{number}"], (_TYPE,), tick)
    return sorted({*there, *reading.evidence(reading.all_of("Collision"), _READ["events"], tick)})


def _observed(step: Step, reading: Reading) -> list[Evidence]:
    opcode = OPCODES.get(step.token)
    if opcode is None or not opcode.query:
        return []
    evidence = observed(step, opcode, reading)
    if step.token in REMOVALS:
        evidence = sorted({*evidence, *removal(reading, step.arguments[-1])})
    return evidence


def _branch(step: Step, world: World) -> tuple[str, EventLog] | None:
    """The simulated fork behind a step, with its name."""
    if step.token == "unseen_events" and world.parameters.predictive.kinematics is None:
        return "the future", unseen(world.scene, world.parameters).log
    if step.token in REMOVALS and world.parameters.counterfactual.method == "simulated":
        gone = step.arguments[-1]
        said = world.parameters
        branch = without(world.scene, gone, said.engine, said.counterfactual.horizon)
        return f"the fork without object {gone}", branch.log
    return None


def _forked(fork: EventLog) -> list[int]:
    """A fork's own deltas about events, and about who was taken out and who is simulated from when on."""
    found: list[int] = []
    first = fork.position((fork.branch_tick or 0) - 1)
    for position, (_, _, (subject, predicate, value)) in enumerate(fork[first:], first):
        said_of_object = predicate.value == f"{NAMESPACE}simulated" or _iri(value) == f"{NAMESPACE}Object"
        if ":event:" in _iri(subject) or said_of_object:
            found.append(position)
    return found


class Said(NamedTuple):
    """The stated probability that a choice of a question is correct."""

    question: int
    choice: int
    probability: float


def said_of(world: World, questions: Iterable[Question]) -> list[Said]:
    """The probability of every choice of some questions, as far as an ensemble says one; gold is not read."""
    chances = Chances(world, ground_of)
    found: list[Said] = []
    for question in questions:
        for choice in in_order(question.choices or ()):
            program = choice_program(question.program, choice)
            try:
                answer = run(program, world)
            except ProgramError:
                continue
            chance = chances.of(program, answer)
            if chance is not None:
                correct = chance if answer == "yes" else 1 - chance
                found.append(Said(question.question_id, choice.choice_id, round(correct, 3)))
    return found


def ground_of(steps: list[Step], world: World) -> str:
    """The grounds of an answer.

    Of a yes it is the surest ground of an event that makes it one; of a no, the least sure of those that
    might have.
    """
    for step in reversed(steps):
        if step.token == "unseen_events":
            return "heuristic" if world.parameters.predictive.kinematics else "simulated"
        if step.token in REMOVALS:
            return _removal_ground(step, _asked_after(step, steps), world)
    return GROUNDS[0]


def _asked_after(step: Step, steps: list[Step]) -> Event | int | None:
    """The event or object that a later ``belong_to`` looks for; ``None`` where there is none."""
    for later in steps:
        if later.token == "belong_to" and later.place > step.place:
            return later.arguments[0]
    return None


def _removal_ground(step: Step, asked: Event | int | None, world: World) -> Ground:
    *events, gone = step.arguments
    about = events[0] if events else possible_collisions(world.scene)
    if isinstance(asked, Event):
        about = [asked]
    elif asked is not None:
        about = [event for event in about if asked in event.objects]
    said = world.parameters
    verdicts = [judge(world.scene, event, gone, said.counterfactual, said.engine) for event in about]
    occurring = [GROUNDS.index(verdict.ground) for verdict in verdicts if verdict.occurs]
    if occurring:
        return GROUNDS[min(occurring)]
    return GROUNDS[max((GROUNDS.index(verdict.ground) for verdict in verdicts), default=0)]
