"""Why an answer is what it is: the sentences it rests on, and the query that read the state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from substrate.base.errors import FormatError, ProgramError
from substrate.cause.explanation import Evidence, ExplainedPart, ExplainedStep, Explanation
from substrate.domains.babi._reading import Insertions, Reader
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.format import Story
from substrate.domains.babi.interpreter import located, parsed, reply, require_read
from substrate.log.event_log import EventLog


def explain_answer(story: Story, question: int, log: EventLog | None = None) -> Explanation:
    """Why a question's answer is what it is: a step for each sentence that it rests on, then the query.

    Args:
        story: the story.
        question: the question's number in the story.
        log: the story's event log, where it was made before.

    Raises:
        FormatError: the story has no question of that number.

    >>> from substrate.domains.babi.format import parse_stories
    >>> (story,) = parse_stories("1 Mary went to the park.\\n2 Where is Mary?\\n", file="f", subset="qa1")
    >>> [(step.name, step.gave) for step in explain_answer(story, 2).parts[0].steps]
    [('Mary went to the park.', 'tick 1'), ("WhereIs(entity='Mary')", 'park')]
    """
    asked = next((line for line in story.questions if line.id == question), None)
    if asked is None:
        raise FormatError(
            f"no question {question}",
            where=(story.file, f"story {story.scene}"),
            hint=f"Name one of {[line.id for line in story.questions]}",
        )
    log = story_log(story) if log is None else log
    reader, name = Reader(log.state(question), Insertions(log), question), asked.text
    try:
        require_read(reader, story)
        query = parsed(story, asked)
        name = str(query)
        answer = said = reply(reader, query)
    except (FormatError, ProgramError) as fault:
        answer, said = "error", f"error: {located(fault, story, asked)}"
    told = tuple(_told(story, log, reader.positions))
    numbers = tuple(f"sentence {tick}" for tick in reader.supporting)
    last = ExplainedStep(
        name=name, took=numbers, gave=said, query="\n".join(reader.queries), missed=tuple(reader.missed)
    )
    part = ExplainedPart("", (*told, last), said, rule="the query over what the story told before it")
    return Explanation(asked.text, answer, (part,), {"": log})


def _told(story: Story, log: EventLog, positions: Iterable[int]) -> Iterator[ExplainedStep]:
    """A step for each sentence, and for common knowledge, that some deltas come from."""
    sentences = {line.id: line.text for line in story.statements}
    for tick, group in groupby(sorted(positions), key=lambda position: log[position].tick):
        name = sentences.get(tick, "common knowledge" if tick == 0 else "not told by the story")
        evidence = tuple(Evidence(position) for position in group)
        yield ExplainedStep(name=name, gave=f"tick {tick}", evidence=evidence)
