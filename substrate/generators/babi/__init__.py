"""A story teller: official-format files of all 20 tasks, with gold from the teller's own account.

The teller shares only the format with the interpreter. A task's text depends only on the seed, the task and
the number of questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from substrate.base.errors import ParameterError
from substrate.base.files import replacing
from substrate.domains.babi.format import Question, Statement, render_stories
from substrate.generators.babi import _people, _relations
from substrate.generators.babi._tale import Tale


class Task(NamedTuple):
    """The task's name in a file's name, and the function that tells one of its stories."""

    name: str
    tell: Callable[[Tale], None]


TASKS: Mapping[str, Task] = {
    "qa1": Task("single-supporting-fact", _people.where_is_someone),
    "qa2": Task("two-supporting-facts", _people.where_is_something),
    "qa3": Task("three-supporting-facts", _people.where_was_something),
    "qa4": Task("two-arg-relations", _relations.two_rooms),
    "qa5": Task("three-arg-relations", _people.who_gave_what),
    "qa6": Task("yes-no-questions", _people.is_someone_there),
    "qa7": Task("counting", _people.how_many),
    "qa8": Task("lists-sets", _people.what_list),
    "qa9": Task("simple-negation", _people.negation),
    "qa10": Task("indefinite-knowledge", _people.indefinite),
    "qa11": Task("basic-coreference", partial(_people.group_moves, size=1, pronoun=True)),
    "qa12": Task("conjunction", partial(_people.group_moves, size=2, pronoun=False)),
    "qa13": Task("compound-coreference", partial(_people.group_moves, size=2, pronoun=True)),
    "qa14": Task("time-reasoning", _people.times_of_day),
    "qa15": Task("basic-deduction", _relations.deduction),
    "qa16": Task("basic-induction", _relations.induction),
    "qa17": Task("positional-reasoning", _relations.positions),
    "qa18": Task("size-reasoning", _relations.sizes),
    "qa19": Task("path-finding", _relations.way),
    "qa20": Task("agents-motivations", _people.motives),
}


def tell_task(subset: str, *, questions: int = 1000, seed: int = 0) -> str:
    """Write a task's file as text: whole stories, the last one cut after the last question.

    >>> print(tell_task("qa4", questions=1, seed=1), end="")  # doctest: +ELLIPSIS
    1 The ... is ... of the ...
    2 The ... is ... of the ...
    3 What is ...

    Raises:
        ParameterError: the task is unknown, or the number of questions is not positive.
    """
    if subset not in TASKS or questions < 1:
        raise ParameterError(
            f"cannot write {questions} questions of task {subset!r}",
            hint=f"Name one of {', '.join(TASKS)} and a number from 1",
        )
    stories: list[list[Statement | Question]] = []
    left = questions
    while left:
        tale = Tale(Random(f"{seed} {subset} {len(stories)}"))
        TASKS[subset].tell(tale)
        places = [index for index, line in enumerate(tale.lines) if isinstance(line, Question)][:left]
        stories.append(tale.lines[: places[-1] + 1] if places else [])
        left -= len(places)
    return render_stories(stories)


def write_texts(out: Path, texts: Iterable[tuple[str, str]], split: str = "test") -> list[Path]:
    """Write files ``qaN_NAME_SPLIT.txt`` into a folder, which is made if absent; return their paths.

    Args:
        out: the folder.
        texts: tasks, each a key of :data:`TASKS` and its text.
        split: ``train``, ``valid`` or ``test``, for the name.
    """
    out.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for subset, text in texts:
        paths.append(out / f"{subset}_{TASKS[subset].name}_{split}.txt")
        with replacing(paths[-1]) as fresh:
            fresh.write_text(text, "utf-8")
    return paths
