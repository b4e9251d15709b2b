"""bAbI's stories changed by rule: they keep their answers, or are refused; none is misread.

The stories are generated with a seed that nothing else uses.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

import pytest

from research.generators.retold import Line, distracted, paraphrased, with_lines
from substrate.domains.babi.answers import answer_story
from substrate.domains.babi.format import Question, Statement, Story, parse_stories
from substrate.generators.babi import TASKS, tell_task

SEED, QUESTIONS = 4711, 25

# Kitchen, bedroom and garden keep their names: common knowledge says who goes there.
NEW_WORDS = {
    "Mary": "Zoe", "Sandra": "Ines", "Julie": "Noor", "Lily": "Thea", "Emily": "Uma", "Gertrude": "Ada",
    "Jessica": "Vera", "Winona": "Wanda", "John": "Hugo", "Daniel": "Omar", "Bill": "Kofi", "Fred": "Nils",
    "Jeff": "Ravi", "Bernhard": "Pavel", "Brian": "Tomas", "Greg": "Yusuf", "Julius": "Xavi",
    "Sumit": "Quinn", "Antoine": "Rafael", "Jason": "Stellan", "Yann": "Igor",
    "bathroom": "boathouse", "hallway": "lobby", "office": "wine cellar", "park": "harbour",
    "school": "chapel", "cinema": "foundry", "apple": "lantern", "football": "tin whistle", "milk": "rope",
    "suitcase": "trunk", "container": "urn", "chest": "hamper", "square": "hexagon", "sphere": "cone",
    "triangle": "crescent", "rectangle": "arrow",
}  # fmt: skip


def with_text(line: Line, text: str, answer: str | None = None) -> Line:
    if isinstance(line, Statement):
        return Statement(line.id, line.line, text)
    return Question(line.id, line.line, text, answer)


def renamed(story: Story, _: Random) -> Story:
    return with_lines(story, (rename(line, NEW_WORDS) for line in story.lines))


def rename(line: Line, words: Mapping[str, str]) -> Line:
    def other(match: re.Match[str]) -> str:
        word = match[0]
        if word in words:
            return words[word]
        return words[word.capitalize()].lower() if word.capitalize() in words else word

    # `words` lacks the letters of paths, and the words of motives, kinds and colours: in an answer they stay
    answer = line.answer if isinstance(line, Question) else None
    return with_text(line, re.sub(r"\w+", other, line.text), answer and re.sub(r"\w+", other, answer))


def reordered(story: Story, rng: Random) -> Story:
    """The facts that come before the first question, shuffled, in the tasks that tell no course of events."""
    if story.subset not in ("qa4", "qa15", "qa17", "qa18", "qa19"):
        return story
    first = next(index for index, line in enumerate(story.lines) if isinstance(line, Question))
    facts = list(story.lines[:first])
    rng.shuffle(facts)
    return with_lines(story, [*facts, *story.lines[first:]])


def stories_of(subset: str) -> list[Story]:
    return parse_stories(tell_task(subset, questions=QUESTIONS, seed=SEED), file="told.txt", subset=subset)


VARIANTS: Sequence[Callable[[Story, Random], Story]] = (
    renamed, paraphrased, reordered, distracted
)  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.__name__)
@pytest.mark.parametrize("subset", TASKS)
def test_a_changed_story_is_answered_right_or_refused(
    variant: Callable[[Story, Random], Story], subset: str
) -> None:
    rng = Random(f"{SEED} {variant.__name__} {subset}")
    right = total = 0
    for story in stories_of(subset):
        changed = variant(story, rng)
        total += len(changed.questions)
        rows = list(answer_story(changed))
        texts = [line.text for line in changed.lines]
        misread = [
            (texts, row.question, row.predicted, row.expected)
            for row in rows
            if not row.correct and row.predicted != "error"
        ]
        assert misread == []
        right += sum(bool(row.correct) for row in rows)
    assert right >= 0.9 * total
