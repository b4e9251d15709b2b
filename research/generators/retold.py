"""Change stories by rule and by chance: other wording, added asides, missing sentences.

``retold.toml`` has the wordings and the asides. Questions and answers do not change. An answer is that of the
whole story, so a missing sentence may make it wrong. The supporting facts of a question are left out: they
are numbers of lines, and the lines get new numbers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from random import Random

import msgspec

from substrate.domains.babi.format import Question, Statement, Story

Line = Statement | Question

_PRONOUNS = re.compile(r"\b(he|she|they)\b")


class _Paraphrase(msgspec.Struct, frozen=True):
    """A pattern of a whole sentence, and templates that say the same in other words."""

    pattern: str
    wordings: list[str]


class _Words(msgspec.Struct, frozen=True):
    paraphrases: list[_Paraphrase]
    asides: list[str]
    """Sentences about people, things and places that no story mentions."""


_FILE = files("research.generators") / "retold.toml"
_WORDS = msgspec.convert(tomllib.loads(_FILE.read_text("utf-8")), _Words)


def with_lines(story: Story, lines: Iterable[Line]) -> Story:
    """A story with other lines, renumbered."""
    numbered = [
        Statement(number, number, line.text)
        if isinstance(line, Statement)
        else Question(number, number, line.text, line.answer)
        for number, line in enumerate(lines, start=1)
    ]
    return Story(story.file, story.subset, story.split, story.scene, tuple(numbered))


def has_pronoun(line: Line) -> bool:
    """Tell whether a line is a sentence with a pronoun, so that no aside may come before it."""
    return isinstance(line, Statement) and bool(_PRONOUNS.search(line.text))


def paraphrased(story: Story, rng: Random) -> Story:
    """The story with each sentence that fits a template reworded."""

    def reworded(line: Line) -> Line:
        for paraphrase in _WORDS.paraphrases if isinstance(line, Statement) else ():
            if match := re.fullmatch(paraphrase.pattern, line.text):
                return Statement(line.id, line.line, match.expand(rng.choice(paraphrase.wordings)))
        return line

    return with_lines(story, map(reworded, story.lines))


def distracted(story: Story, rng: Random) -> Story:
    """The story with added sentences about people, things and places that it does not mention."""
    lines: list[Line] = []
    for line in story.lines:
        if rng.random() < 0.5 and not has_pronoun(line):
            lines.append(Statement(0, 0, rng.choice(_WORDS.asides)))
        lines.append(line)
    return with_lines(story, lines)


def shortened(story: Story, share: float, rng: Random) -> Story:
    """The story without a share of its sentences."""
    return with_lines(
        story, (line for line in story.lines if isinstance(line, Question) or rng.random() >= share)
    )
