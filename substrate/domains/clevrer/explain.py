"""Explain an answer: its program step by step, with the queries and deltas behind each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from substrate.base.errors import ProgramError
from substrate.cause.explanation import ERROR, OWN, Evidence, ExplainedPart, ExplainedStep, Explanation
from substrate.domains.clevrer._chances import Chances, lacking_positions
from substrate.domains.clevrer.answers import Asked, choice_program, in_order, judged_choices
from substrate.domains.clevrer.counterfactual import GROUNDS, Ground, judge
from substrate.domains.clevrer.deltas import NAMESPACE, scene_iri
from substrate.domains.clevrer.emitter import without
from substrate.domains.clevrer.evidence import Reading, observed, reading_of, removal, text_of
from substrate.domains.clevrer.format import RECORDED_AFTER, Question
from substrate.domains.clevrer.motion.draws import VOTERS
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import OPCODES, REMOVALS, ProgramStep, World, run, unseen
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.log.event_log import EventLog


def explain(log: EventLog, scene_index: int, question: Question, parameters: Parameters) -> Explanation:
    """Explain a question by the steps of its program, or of one program per choice.

    Args:
        log: the scene's event log.
        scene_index: the scene's number.

    The explanation also has the log of each simulated fork, named by its imagined change.
    """
    return Explainer(log, World.of(Scene.of(log), parameters), scene_iri(scene_index)).explain(question)


class Explainer:
    """Explains the questions about a scene. A language that extends CLEVRER's overrides steps and grounds.

    Attributes:
        world: the scene and the parameters.
        reading: the scene's log, as queries read it.
        logs: the logs that the evidence points into, by name; a simulated fork is added when a step needs it.
        names: short names for IRIs.
    """

    def __init__(self, log: EventLog, world: World, iri: str) -> None:
        self.world, self.reading = world, reading_of(world.scene, iri)
        self.logs, self.names = {OWN: log}, {NAMESPACE: ":", f"{iri}:": ""}

    def run(self, program: list[str], trace: Callable[[ProgramStep], None]) -> str:
        """The answer of a program; ``trace`` is called with every step."""
        return run(program, self.world, trace)

    def explained(self, step: ProgramStep) -> ExplainedStep:
        """A step with its evidence."""
        evidence = list(_observed(step, self.reading))
        if branch := _branch(step, self.world):
            name, self.logs[name] = branch
            evidence += [Evidence(position, name) for position in _forked(self.logs[name])]
        return self.reading.step(step, OPCODES.get(step.token), evidence)

    def ground(self, steps: list[ProgramStep]) -> str:
        """The ground of the answer that the steps lead to; empty if it is not known."""
        return ground_of(steps, self.world)

    def probability(self, program: list[str], answer: str) -> float | None:
        """The probability of a program's answer, if known."""
        return Chances(self.world, ground_of).of(program, answer)

    def rule(self, steps: list[ProgramStep]) -> str:
        """The rule by which the steps decide the answer."""
        return _rule(steps, self.world)

    def explain(self, question: Asked) -> Explanation:
        """Explain a question: one part for each program that it runs."""
        words, choices = self.reading.words, in_order(question.choices or ())
        if not choices:
            whole, _ = self._part(question.program, "", "")
            return Explanation(question.question, whole.answer, (whole,), self.logs, self.names, words)
        parts: list[ExplainedPart] = []
        outcomes: list[str | ProgramError] = []
        for choice in choices:
            program = choice_program(question.program, choice)
            part, outcome = self._part(program, f"choice {choice.choice_id}", choice.choice)
            parts.append(part)
            outcomes.append(outcome)
        fields = judged_choices(choices, outcomes)
        answer = fields["predicted"] if fields["error"] is msgspec.UNSET else f"{ERROR}{fields['error']}"
        return Explanation(question.question, answer, tuple(parts), self.logs, self.names, words)

    def _part(self, program: list[str], title: str, text: str) -> tuple[ExplainedPart, str | ProgramError]:
        steps: list[ProgramStep] = []
        ground, probability = "", None
        try:
            outcome: str | ProgramError = self.run(program, steps.append)
            ground, probability = self.ground(steps), self.probability(program, outcome)
        except ProgramError as error:
            outcome = error
        answer = f"{ERROR}{outcome}" if isinstance(outcome, ProgramError) else outcome
        explained = tuple(map(self.explained, steps))
        return ExplainedPart(title, explained, answer, ground, text, probability, self.rule(steps)), outcome


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
