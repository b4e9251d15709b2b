"""Explain an answer: its program step by step, with the queries and deltas behind each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from substrate.base.errors import ProgramError
from substrate.cause.explanation import ERROR, OWN, Evidence, ExplainedPart, ExplainedStep, Explanation
from substrate.domains.clevrer._chances import REMOVALS, Chances, lacking_positions
from substrate.domains.clevrer.counterfactual import GROUNDS, Ground, judge
from substrate.domains.clevrer.deltas import NAMESPACE, scene_iri
from substrate.domains.clevrer.emitter import without
from substrate.domains.clevrer.evidence import Reading, observed, reading_of, removal, text_of
from substrate.domains.clevrer.format import RECORDED_AFTER, Question
from substrate.domains.clevrer.interpreter import Asked, choice_program, in_order, judged_choices
from substrate.domains.clevrer.motion.draws import VOTERS
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import OPCODES, ProgramStep, World, run, unseen
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.log.event_log import EventLog


def explain(log: EventLog, scene_index: int, question: Question, parameters: Parameters) -> Explanation:
    """Explain a question by the steps of its program, or of one program per choice.

    Args:
        log: the scene's event log.
        scene_index: the scene's number.

    The explanation also has the log of each simulated fork, named by its imagined change.
    """
    world = World.of(Scene.of(log), parameters)
    reading = reading_of(world.scene, scene_iri(scene_index))
    logs = {OWN: log}

    def explained(step: ProgramStep) -> ExplainedStep:
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
        lambda steps: _rule(steps, world),
        reading.words,
    )


def explanation(
    question: Asked,
    execute: Callable[[list[str], Callable[[ProgramStep], None]], str],
    explained: Callable[[ProgramStep], ExplainedStep],
    logs: Mapping[str, EventLog],
    names: Mapping[str, str],
    ground: Callable[[list[ProgramStep]], str] = lambda steps: "",
    chance: Callable[[list[str], str], float | None] = lambda program, answer: None,
    rule: Callable[[list[ProgramStep]], str] = lambda steps: "",
    called: Mapping[str, str] = MappingProxyType({}),
) -> Explanation:
    """Explain a question: one part for each program that it runs.

    Args:
        execute: runs a program, calling its second argument with every step.
        explained: explains a step.
        logs: the logs that the evidence points into, by name; ``explained`` may add some.
        names: short names for IRIs.
        ground: gives the ground of the answer that the steps lead to.
        chance: gives the probability of a program's answer, if known.
        rule: gives the rule by which the steps decide the answer.
        called: words for objects and events, by IRI.
    """

    def part(program: list[str], title: str, text: str) -> tuple[ExplainedPart, str | ProgramError]:
        steps: list[ProgramStep] = []
        answer_ground, probability = "", None
        try:
            outcome: str | ProgramError = execute(program, steps.append)
            answer_ground, probability = ground(steps), chance(program, outcome)
        except ProgramError as error:
            outcome = error
        answer = f"{ERROR}{outcome}" if isinstance(outcome, ProgramError) else outcome
        in_words = tuple(map(explained, steps))
        return ExplainedPart(title, in_words, answer, answer_ground, text, probability, rule(steps)), outcome

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


def _rule(steps: Sequence[ProgramStep], world: World) -> str:
    """The rule that decided the answer, and what tracked positions add to it."""
    scene, parameters = world
    tokens = {step.token for step in steps}
    votes = scene.tracked and Chances(world, ground_of).simulates(tokens)
    added = [f"by the majority of {VOTERS} draws of the positions' errors"] if votes else []
    return "; ".join(filter(None, [rule_of(steps, parameters), *added, lacking_positions(tokens, scene)]))


def rule_of(steps: Iterable[ProgramStep], parameters: Parameters) -> str:
    """The name of the rule that decided the answer, with its parameters."""
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


def _observed(step: ProgramStep, reading: Reading) -> list[Evidence]:
    opcode = OPCODES.get(step.token)
    if opcode is None or not opcode.query:
        return []
    evidence = observed(step, opcode, reading)
    if step.token in REMOVALS:
        evidence = sorted({*evidence, *removal(reading, step.arguments[-1])})
    return evidence


def _branch(step: ProgramStep, world: World) -> tuple[str, EventLog] | None:
    """The simulated fork behind a step, with its name."""
    if step.token == "unseen_events" and world.parameters.predictive.kinematics is None:
        return "the future", unseen(world.scene, world.parameters).log
    if step.token in REMOVALS and world.parameters.counterfactual.method == "simulated":
        gone = step.arguments[-1]
        parameters = world.parameters
        branch = without(world.scene, gone, parameters.engine, parameters.counterfactual.horizon)
        return f"the fork without object {gone}", branch.log
    return None


def _forked(fork: EventLog) -> list[int]:
    """The positions of a fork's own deltas about events, or about objects removed or simulated."""
    positions: list[int] = []
    first = fork.position((fork.branch_tick or 0) - 1)
    for position, (_, _, (subject, predicate, value)) in enumerate(fork[first:], first):
        of_object = predicate.value == f"{NAMESPACE}simulated" or text_of(value) == f"{NAMESPACE}Object"
        if ":event:" in text_of(subject) or of_object:
            positions.append(position)
    return positions


def ground_of(steps: list[ProgramStep], world: World) -> str:
    """The ground of an answer.

    A yes has the surest ground among the events that make it true. A no has the least sure ground among the
    events that could have made it a yes.
    """
    for step in reversed(steps):
        if step.token == "unseen_events":
            return "heuristic" if world.parameters.predictive.kinematics else "simulated"
        if step.token in REMOVALS:
            return _removal_ground(step, _sought(step, steps), world)
    return GROUNDS[0]


def _sought(step: ProgramStep, steps: list[ProgramStep]) -> SceneEvent | int | None:
    """The event or object that a later ``belong_to`` looks for, if any."""
    for later in steps:
        if later.token == "belong_to" and later.place > step.place:
            return later.arguments[0]
    return None


def _removal_ground(step: ProgramStep, subject: SceneEvent | int | None, world: World) -> Ground:
    *events, gone = step.arguments
    candidates = events[0] if events else world.scene.pairs
    if isinstance(subject, SceneEvent):
        candidates = [subject]
    elif subject is not None:
        candidates = [event for event in candidates if subject in event.objects]
    parameters = world.parameters
    verdicts = [
        judge(world.scene, event, gone, parameters.counterfactual, parameters.engine) for event in candidates
    ]
    occurring = [GROUNDS.index(verdict.ground) for verdict in verdicts if verdict.occurs]
    if occurring:
        return GROUNDS[min(occurring)]
    return GROUNDS[max((GROUNDS.index(verdict.ground) for verdict in verdicts), default=0)]
