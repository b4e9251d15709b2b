"""Change stories by rule and by chance: other wording, added asides, missing sentences.

Questions and gold do not change. The gold is the whole story's: a missing sentence may make it wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from random import Random

from substrate.domains.babi.format import Question, Statement, Story

Line = Statement | Question

_PRONOUNS = re.compile(r"\b(he|she|they)\b")
_GO = "(?:moved|went|went back|journeyed|travelled) to"
_PARAPHRASES: Sequence[tuple[str, Sequence[str]]] = (
    (
        rf"([A-Z]\w+) {_GO} the (\w+)\.",
        (
            r"\1 walked to the \2.",
            r"\1 headed over to the \2.",
            r"\1 took the bus to the \2.",
            r"\1 got to the \2.",
            r"\1 entered the \2.",
            r"Later, \1 returned to the \2.",
            r"\1 ran into the \2.",
        ),
    ),
    (
        rf"([A-Z]\w+) and ([A-Z]\w+) {_GO} the (\w+)\.",
        (r"\1 went to the \3 with \2.", r"\1 went with \2 to the \3.", r"\2 and \1 hurried to the \3."),
    ),
    (
        r"([A-Z]\w+) (?:got|took|grabbed|picked up) the (\w+)(?: there)?\.",
        (r"\1 picked the \2 up.", r"\1 grabbed the \2.", r"Then \1 got the \2 there."),
    ),
    (
        r"([A-Z]\w+) (?:dropped|left|discarded|put down) the (\w+)(?: there)?\.",
        (r"\1 put the \2 down.", r"\1 set down the \2 there.", r"\1 left the \2 there."),
    ),
    (
        r"([A-Z]\w+) (?:gave|handed|passed) the (\w+) to ([A-Z]\w+)\.",
        (r"\1 gave \3 the \2.", r"\3 received the \2 from \1.", r"\1 handed the \2 back to \3."),
    ),
    (
        r"([A-Z]\w+) is in the (\w+)\.",
        (r"\1 is now in the \2.", r"\1 is at the \2.", r"\1 is inside the \2."),
    ),
    (
        r"([A-Z]\w+) is (?:no longer|not) in the (\w+)\.",
        (r"\1 is not at the \2.", r"\1 is no longer at the \2."),
    ),
    (r"The (.+) is bigger than the (.+)\.", (r"The \2 is smaller than the \1.", r"The \2 fits in the \1.")),
)
_ASIDES = (
    "Ophelia went to the lighthouse.",
    "Ophelia picked up the violin and the drum.",
    "Ophelia walked out of the lighthouse.",
    "Ophelia gave the drum to Barnaby.",
    "Ophelia and Barnaby took the train to the observatory.",
    "Barnaby is either in the casino or the bakery.",
    "Barnaby is a walrus.",
    "Walruses are afraid of crocodiles.",
    "The lighthouse is south of the observatory.",
    "The violin is to the left of the drum.",
    "The drum is bigger than the violin.",
)


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
        for pattern, templates in _PARAPHRASES if isinstance(line, Statement) else ():
            if match := re.fullmatch(pattern, line.text):
                return Statement(line.id, line.line, match.expand(rng.choice(templates)))
        return line

    return with_lines(story, map(reworded, story.lines))


def distracted(story: Story, rng: Random) -> Story:
    """The story with added sentences about people, things and places that it does not mention."""
    lines: list[Line] = []
    for line in story.lines:
        if rng.random() < 0.5 and not has_pronoun(line):
            lines.append(Statement(0, 0, rng.choice(_ASIDES)))
        lines.append(line)
    return with_lines(story, lines)


def shortened(story: Story, share: float, rng: Random) -> Story:
    """The story without a share of its sentences."""
    return with_lines(
        story, (line for line in story.lines if isinstance(line, Question) or rng.random() >= share)
    )
