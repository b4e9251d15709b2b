"""The story teller: official format, all 20 tasks, reproducible, and a gold that does not come from the
interpreter.
"""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from substrate.base.errors import ParameterError
from substrate.domains.babi.format import parse_stories, read_tasks
from substrate.domains.babi.interpreter import answer_story
from substrate.generators.babi import TASKS, tell_task, write_tasks

SEEDS = (0, 1, 20260)


def test_the_teller_imports_neither_grammar_nor_deltas_nor_interpreter() -> None:
    spec = importlib.util.find_spec("substrate.generators.babi")
    assert spec is not None
    assert spec.origin is not None
    files = sorted(Path(spec.origin).parent.glob("*.py"))
    modules = {
        node.module
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    }
    assert files
    assert {module for module in modules if module and ".domains." in module} == {
        "substrate.domains.babi.format"
    }


def test_files_read_back_with_as_many_questions_as_asked_for(tmp_path: Path) -> None:
    paths = write_tasks(tmp_path / "tasks", questions=7, seed=5)
    stories = read_tasks(tmp_path / "tasks")
    assert [path.name.split("_")[0] for path in paths] == list(TASKS)
    for subset in TASKS:
        assert sum(len(story.questions) for story in stories if story.subset == subset) == 7
    assert all(question.answer and question.supporting for story in stories for question in story.questions)


def test_same_seed_same_bytes_in_another_process_and_another_seed_others() -> None:
    code = (
        "from substrate.generators.babi import TASKS, tell_task\n"
        "for task in TASKS: print(tell_task(task, questions=9, seed=4), end='')"
    )
    paths = ":".join(sys.path)
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        )
        for seed in "12"
    ]
    told = [run.stdout.decode() for run in runs]
    here = "".join(tell_task(task, questions=9, seed=4) for task in TASKS)
    assert told == [here, here]
    assert here != "".join(tell_task(task, questions=9, seed=5) for task in TASKS)


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
