"""The story teller: official format, all 20 tasks, reproducible, and a gold that does not come from the
interpreter.
"""

from pathlib import Path

import pytest

from substrate.base.errors import ParameterError
from substrate.domains.babi.answers import answer_story
from substrate.domains.babi.format import parse_stories, read_tasks
from substrate.generators.babi import TASKS, tell_task, write_texts

SEEDS = (0, 1, 20260)


def test_files_read_back_with_as_many_questions_as_asked_for(tmp_path: Path) -> None:
    paths = write_texts(tmp_path / "tasks", ((task, tell_task(task, questions=7, seed=5)) for task in TASKS))
    stories = read_tasks(tmp_path / "tasks")
    assert [path.name.split("_")[0] for path in paths] == list(TASKS)
    for subset in TASKS:
        assert sum(len(story.questions) for story in stories if story.subset == subset) == 7
    assert all(question.answer and question.supporting for story in stories for question in story.questions)


@pytest.mark.parametrize("subset", TASKS)
def test_the_interpreter_agrees_with_the_teller(subset: str) -> None:
    for seed in SEEDS:
        stories = parse_stories(tell_task(subset, questions=120, seed=seed), file="told.txt", subset=subset)
        answers = [(story, answer) for story in stories for answer in answer_story(story)]
        assert [(story.lines, answer) for story, answer in answers if not answer.correct] == []
        assert [
            (story.lines, answer)
            for story, answer in answers
            if answer.supporting != tuple(sorted(set(answer.expected_supporting or ())))
        ] == []


@pytest.mark.parametrize(("subset", "questions"), [("qa21", 5), ("qa1", 0)])
def test_a_wrong_request_is_refused(subset: str, questions: int) -> None:
    with pytest.raises(ParameterError, match=subset):
        tell_task(subset, questions=questions)
