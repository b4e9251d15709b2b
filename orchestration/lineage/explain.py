"""From an answer's name to its explanation, in a profile or in a user's own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orchestration.benchmarks import clevrer, gqa
from orchestration.benchmarks.answer import clevrer_logs
from orchestration.benchmarks.twin import specs_of
from orchestration.settings import parameters_of
from orchestration.workspace import Workspace, open_workspace
from substrate.domains.babi.explain import explain_answer as explain_story
from substrate.domains.babi.format import read_tasks
from substrate.domains.clevrer.explain import Explanation, explain
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
from substrate.domains.smallville.twin import ARMS
from substrate.domains.smallville.twin_explain import explain as explain_arm
from substrate.errors import ParameterError
from substrate.log import EventLog


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


class Explained(NamedTuple):
    """An explanation for a person, and the same for a machine."""

    text: str
    record: Any


def explain_answer(answer: str, given: Input) -> Explained:
    """Explain the answer of a name such as ``clevrer/10000/12``.

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


def _clevrer(given: Input, scene_text: str, question_text: str) -> Explained | None:
    if not (scene_text.isdigit() and question_text.isdigit()):
        return None
    scene, number = int(scene_text), int(question_text)
    if given.questions is None:
        workspace = given.workspace
        questions, parameters = clevrer.questions_of(workspace.data / "clevrer"), workspace.settings.clevrer
    else:
        questions, parameters = given.questions, parameters_of(ClevrerParameters, "clevrer", given.overrides)
    record = read_questions(questions).get(scene)
    question = next((q for q in record.questions if q.question_id == number), None) if record else None
    if question is None:
        return None
    if given.questions is None:
        log = EventLog.read(given.workspace.artifacts / "clevrer" / "logs" / clevrer.log_name(scene))
    else:
        _, there, logs = clevrer_logs(given.annotations, given.events)
        log = next(
            logs(
                clevrer.require_scenes(
                    [scene], there, questions, given.annotations or given.events or questions
                )
            )
        )[1]
    explanations = list(explain(log, scene, question, parameters))
    return Explained(
        _clevrer_text(question.question, explanations),
        {"question": question.question, "explanations": [_clevrer_record(e) for e in explanations]},
    )


def _clevrer_record(explanation: Explanation) -> dict[str, Any]:
    steps = [
        {**step._asdict(), "evidence": [e._asdict() for e in step.evidence]} for step in explanation.steps
    ]
    return {**explanation._asdict(), "steps": steps}


def _clevrer_text(question: str, explanations: Sequence[Explanation]) -> str:
    """Steps as indented text; a query is printed where it is first used."""
    lines = [question]
    for explanation in explanations:
        if explanation.part != question:
            lines += ["", explanation.part]
        shown: set[str] = set()
        for step in explanation.steps:
            lines.append(
                f"  {step.place:>3} {step.token:<18} {', '.join(step.took)}{' => ' if step.took else '=> '}{step.gave}"
            )
            if step.query and step.query not in shown:
                shown.add(step.query)
                lines += ["", *(f"          {line}" for line in step.query.splitlines()), ""]
            lines += [f"          tick {e.tick:>3}  {e.op:<7} {e.triple}" for e in step.evidence]
        lines.append(
            f"  answer: {explanation.answer}"
            + (f" (ground: {explanation.ground})" if explanation.ground else "")
        )
    return "\n".join(lines) + "\n"


def _comphy(benchmark: str) -> Callable[[Input, str, str], Explained | None]:
    """The explainer of ComPhy's answers in one setting."""

    def explainer(given: Input, target_text: str, question_text: str) -> Explained | None:
        if not (target_text.isdigit() and question_text.isdigit()):
            return None
        own = given.questions and given.annotations
        workspace = None if own else given.workspace
        parameters = (
            getattr(workspace.settings, benchmark)
            if workspace
            else parameters_of(ComphyParameters, benchmark, given.overrides)
        )
        questions = given.questions or (workspace.data if workspace else Path()) / "comphy" / "questions.json"
        record = read_comphy_questions(questions).get(int(target_text))
        question = (
            next((q for q in record.questions if str(q.question_id) == question_text), None)
            if record
            else None
        )
        if question is None:
            return None
        annotations = given.annotations or (workspace.data if workspace else Path()) / "comphy" / "annotation"
        target = read_target(annotations, int(target_text), target_names(annotations)[int(target_text)])
        explanations = list(
            explain_target(
                target_log(target, infer_properties=parameters.infer_properties),
                int(target_text),
                question,
                parameters,
            )
        )
        return Explained(
            _clevrer_text(question.question, explanations),
            {"question": question.question, "explanations": [_clevrer_record(e) for e in explanations]},
        )

    return explainer


def _babi(given: Input, task: str, story_text: str, question_text: str) -> Explained | None:
    stories = read_tasks(given.tasks or given.workspace.data / "babi")
    story = next((s for s in stories if s.subset == task and str(s.scene) == story_text), None)
    if story is None or not any(str(q.id) == question_text for q in story.questions):
        return None
    why = explain_story(story, int(question_text))
    return Explained(why.text(), why.record())


def _gqa(given: Input, subset: str, image: str, question_id: str) -> Explained | None:
    resolve: Resolve | None = next((how for how, name in SUBSETS.items() if name == subset), None)
    if resolve is None:
        return None
    folder = None if given.questions else given.workspace.data / "gqa"
    questions = given.questions or gqa.questions_of(folder or Path())
    graphs = read_scene_graphs(given.scene_graphs or gqa.scene_graphs_of(folder or questions.parent))
    question = read_gqa_questions(questions).get(image, {}).get(question_id)
    if question is None or image not in graphs:
        return None
    why = explain_image(Scene.of(image, graphs[image]), question, resolve=resolve)
    steps = [
        {**step._asdict(), "grounds": [ground._asdict() for ground in step.grounds]} for step in why.steps
    ]
    return Explained(
        why.text() + "\n", {"question": question.question, "text": why.text().splitlines(), "steps": steps}
    )


def _twin(given: Input, number: str, arm: str) -> Explained | None:
    specs = given.specs or specs_of(given.workspace.data / "twin")
    spec = next((s for s in read_specs(specs) if str(s.spec) == number), None)
    if spec is None or arm not in ARMS:
        return None
    why = explain_arm(spec, arm)
    return Explained(
        why.text(),
        {
            **why._asdict(),
            "happenings": [h._asdict() for h in why.happenings],
            "deltas": [d._asdict() for d in why.deltas],
        },
    )


EXPLAINERS: dict[str, tuple[str, Callable[..., Explained | None]]] = {
    "clevrer": ("clevrer/SCENE/QUESTION", _clevrer),
    "comphy": ("comphy/TARGET/QUESTION", _comphy("comphy")),
    "comphy_inferred": ("comphy_inferred/TARGET/QUESTION", _comphy("comphy_inferred")),
    "babi": ("babi/TASK/STORY/QUESTION", _babi),
    "gqa": ("gqa/by_name|by_id/IMAGE/QUESTION", _gqa),
    "twin": ("twin/SPEC/ARM", _twin),
}
"""By benchmark: the form of an answer's name, and what explains one."""
