"""From an answer's name to its explanation, in a profile or in a user's own files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from orchestration.benchmarks import babi, clevrer, gqa
from orchestration.benchmarks.answer import clevrer_logs
from orchestration.benchmarks.twin import log_name as twin_log_name
from orchestration.benchmarks.twin import specs_of
from orchestration.settings import parameters_of
from orchestration.workspace import Workspace, open_workspace
from substrate.domains.babi.deltas import ENTITY as BABI_ENTITIES
from substrate.domains.babi.deltas import NAMESPACE as BABI_TERMS
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.format import Story, read_tasks
from substrate.domains.babi.interpreter import explain_answer as explain_story
from substrate.domains.clevrer.explain import explain
from substrate.domains.clevrer.format import read_questions
from substrate.domains.clevrer.parameters import Parameters as ClevrerParameters
from substrate.domains.comphy.deltas import target_log
from substrate.domains.comphy.explain import explain as explain_target
from substrate.domains.comphy.format import read_questions as read_comphy_questions
from substrate.domains.comphy.format import read_target, target_names
from substrate.domains.comphy.parameters import Parameters as ComphyParameters
from substrate.domains.gqa.explain import explain as explain_image
from substrate.domains.gqa.format import read_questions as read_gqa_questions
from substrate.domains.gqa.format import read_scene_graphs
from substrate.domains.gqa.interpreter import SUBSETS, Resolve
from substrate.domains.gqa.scene import Scene
from substrate.domains.smallville.format import read_specs
from substrate.domains.smallville.twin import ARMS, Twin, replay_twin
from substrate.domains.smallville.twin_explain import explain as explain_arm
from substrate.errors import ParameterError
from substrate.explanation import OWN, Evidence, ExplainedPart, ExplainedStep, Explanation
from substrate.log import EventLog, Op


class Input(NamedTuple):
    """Where the answer was computed: a profile, or a user's own files."""

    profile: str | None = None
    overrides: tuple[str, ...] = ()
    annotations: Path | None = None
    events: Path | None = None
    tasks: Path | None = None
    scene_graphs: Path | None = None
    questions: Path | None = None
    specs: Path | None = None
    opened: Workspace | None = None
    """The profile's workspace, where it is open already."""

    @property
    def workspace(self) -> Workspace:
        """The profile's workspace."""
        return self.opened or open_workspace(self.profile, self.overrides)


def explain_answer(answer: str, given: Input) -> Explanation:
    """Explain the answer of a name such as ``clevrer/10000/12``.

    In a profile the logs are those that its rows were computed from.

    Raises:
        ParameterError: the name is not of its benchmark's form, or there is no such question.
    """
    benchmark, *parts = answer.split("/")
    if benchmark not in EXPLAINERS or len(parts) != EXPLAINERS[benchmark][0].count("/"):
        raise ParameterError(
            f"no answer is named {answer!r}",
            hint=f"Write {', or '.join(form for form, _ in EXPLAINERS.values())}",
        )
    form, explainer = EXPLAINERS[benchmark]
    found = explainer(given, *parts)
    if found is None:
        raise ParameterError(
            f"no question is named {answer!r}", hint=f"Write {form} of a question that is there"
        )
    return found


def _log(given: Input, benchmark: str, file: str) -> EventLog:
    return EventLog.read(given.workspace.artifacts / benchmark / "logs" / file)


def _clevrer(given: Input, scene_text: str, question_text: str) -> Explanation | None:
    if not (scene_text.isdigit() and question_text.isdigit()):
        return None
    scene, number = int(scene_text), int(question_text)
    if given.questions is None:
        questions = clevrer.questions_of(given.workspace.data / "clevrer")
        parameters = given.workspace.settings.clevrer
    else:
        questions, parameters = given.questions, parameters_of(ClevrerParameters, "clevrer", given.overrides)
    record = read_questions(questions).get(scene)
    question = next((q for q in record.questions if q.question_id == number), None) if record else None
    if question is None:
        return None
    if given.questions is None:
        log = _log(given, "clevrer", clevrer.log_name(scene))
    else:
        input_, there, logs = clevrer_logs(given.annotations, given.events)
        ((_, log),) = logs(clevrer.require_scenes([scene], there, questions, input_))
    return explain(log, scene, question, parameters)


def _comphy(benchmark: str) -> Callable[[Input, str, str], Explanation | None]:
    """The explainer of ComPhy's answers in one setting."""

    def explainer(given: Input, target_text: str, question_text: str) -> Explanation | None:
        if not (target_text.isdigit() and question_text.isdigit()):
            return None
        number = int(target_text)
        if given.questions and given.annotations:
            questions, parameters = (
                given.questions,
                parameters_of(ComphyParameters, benchmark, given.overrides),
            )
        else:
            questions = given.workspace.data / "comphy" / "questions.json"
            parameters = getattr(given.workspace.settings, benchmark)
        record = read_comphy_questions(questions).get(number)
        asked = record.questions if record else ()
        question = next((q for q in asked if str(q.question_id) == question_text), None)
        if question is None:
            return None
        if given.questions and given.annotations:
            target = read_target(given.annotations, number, target_names(given.annotations)[number])
            log = target_log(target, infer_properties=parameters.infer_properties)
        else:
            log = _log(given, benchmark, clevrer.log_name(number))
        return explain_target(log, number, question, parameters)

    return explainer


def _babi(given: Input, task: str, story_text: str, question_text: str) -> Explanation | None:
    stories = read_tasks(given.tasks or given.workspace.data / "babi")
    story = next((s for s in stories if s.subset == task and str(s.scene) == story_text), None)
    if story is None or not any(str(q.id) == question_text for q in story.questions):
        return None
    log = story_log(story) if given.tasks else _log(given, "babi", babi.log_name(story))
    return _story_explanation(story, int(question_text), log)


def _story_explanation(story: Story, question: int, log: EventLog) -> Explanation:
    """A story's reasons, which come as triples with the ticks at which they became true, as positions."""
    why = explain_story(story, question, log)
    positions: dict[tuple[str, int], int] = {}
    for position, (tick, op, triple) in enumerate(log):
        if op is Op.INSERT:
            positions[" ".join(map(str, triple)), tick] = position
    evidence = tuple(sorted({Evidence(positions[piece]) for piece in why.evidence}))
    told = tuple(f"sentence {number}: {sentence}" for number, sentence in why.sentences)
    step = ExplainedStep("look up", why.predicted, told, why.query, evidence)
    part = ExplainedPart("", (step,), why.predicted)
    names = {BABI_TERMS: ":", BABI_ENTITIES: ""}
    return Explanation(why.question, why.predicted, (part,), {OWN: log}, names)


def _gqa(given: Input, subset: str, image: str, question_id: str) -> Explanation | None:
    resolve: Resolve | None = next((how for how, name in SUBSETS.items() if name == subset), None)
    if resolve is None:
        return None
    questions = given.questions or gqa.questions_of(given.workspace.data / "gqa")
    question = read_gqa_questions(questions).get(image, {}).get(question_id)
    if question is None:
        return None
    if given.questions is None and given.scene_graphs is None:
        scene = Scene(image, _log(given, "gqa", gqa.log_name(image)))
    else:
        graphs = read_scene_graphs(given.scene_graphs or gqa.scene_graphs_of(questions.parent))
        if image not in graphs:
            return None
        scene = Scene.of(image, graphs[image])
    return explain_image(scene, question, resolve=resolve)


def _twin(given: Input, number: str, arm: str) -> Explanation | None:
    specs = given.specs or specs_of(given.workspace.data / "twin")
    spec = next((s for s in read_specs(specs) if str(s.spec) == number), None)
    if spec is None or arm not in ARMS:
        return None
    if given.specs:
        return explain_arm(spec, arm, replay_twin(spec))
    logs = (_log(given, "twin", twin_log_name(spec.spec, each)) for each in ARMS)
    return explain_arm(spec, arm, Twin(*logs))


EXPLAINERS: dict[str, tuple[str, Callable[..., Explanation | None]]] = {
    "clevrer": ("clevrer/SCENE/QUESTION", _clevrer),
    "comphy": ("comphy/TARGET/QUESTION", _comphy("comphy")),
    "comphy_inferred": ("comphy_inferred/TARGET/QUESTION", _comphy("comphy_inferred")),
    "babi": ("babi/TASK/STORY/QUESTION", _babi),
    "gqa": ("gqa/by_name|by_id/IMAGE/QUESTION", _gqa),
    "twin": ("twin/SPEC/ARM", _twin),
}
"""By benchmark: the form of an answer's name, and what explains one."""
