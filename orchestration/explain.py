"""From an answer's name to its explanation, in a profile or in a user's own files."""

from __future__ import annotations

from pathlib import Path

from orchestration.answer import clevrer_logs
from orchestration.clevrer import log_name, questions_of
from orchestration.settings import clevrer_parameters
from orchestration.workspace import open_workspace
from substrate.domains.clevrer.explain import Explanation, explain
from substrate.domains.clevrer.format import read_questions
from substrate.errors import ParameterError
from substrate.log import EventLog


def explain_answer(
    answer: str, profile: str | None, annotations: Path | None, events: Path | None, questions: Path | None, overrides: tuple[str, ...]
) -> tuple[str, list[Explanation]]:
    """The question's text and an explanation of each program it runs.

    Args:
        answer: ``clevrer/SCENE/QUESTION``.
        profile: whose logs and questions to read, where no files are given.

    Raises:
        ParameterError: the name is not of that form, or there is no such question.
    """
    benchmark, _, rest = answer.partition("/")
    scene_text, _, question_text = rest.partition("/")
    if benchmark != "clevrer" or not (scene_text.isdigit() and question_text.isdigit()):
        raise ParameterError(f"no answer is named {answer!r}", hint="Write BENCHMARK/SCENE/QUESTION, such as clevrer/10000/12")
    scene, number = int(scene_text), int(question_text)
    if questions is None:
        workspace = open_workspace(profile, overrides)
        questions, parameters = questions_of(workspace.data / "clevrer"), workspace.settings.clevrer
        log = EventLog.read(workspace.artifacts / "clevrer" / "logs" / log_name(scene))
    else:
        parameters = clevrer_parameters(overrides)
        input_, there, logs = clevrer_logs(annotations, events)
        if scene not in there:
            raise ParameterError(f"no scene {scene}", where=(input_,), hint="Name a scene that is there")
        log = next(logs([scene]))[1]
    record = read_questions(questions).get(scene)
    question = next((q for q in record.questions if q.question_id == number), None) if record else None
    if question is None:
        raise ParameterError(f"no question {number} about scene {scene}", where=(questions,), hint="Name a question that is there")
    return question.question, list(explain(log, scene, question, parameters))


def render_text(question: str, explanations: list[Explanation]) -> str:
    """An explanation as indented text."""
    lines = [question]
    for explanation in explanations:
        if explanation.part != question:
            lines += ["", explanation.part]
        shown: set[str] = set()
        for step in explanation.steps:
            lines.append(f"  {step.place:>3} {step.token:<18} {', '.join(step.took)}{' => ' if step.took else '=> '}{step.gave}")
            if step.query and step.query not in shown:
                shown.add(step.query)
                lines += ["", *(f"          {line}" for line in step.query.splitlines()), ""]
            lines += [f"          tick {e.tick:>3}  {e.op:<7} {e.triple}" for e in step.evidence]
        lines.append(f"  answer: {explanation.answer}")
    return "\n".join(lines) + "\n"
