"""Explain an answer: the sentences it rests on, and the query that read the state."""

from __future__ import annotations

from itertools import groupby

from substrate.base.errors import FormatError
from substrate.cause.explanation import ERROR, Evidence, ExplainedPart, ExplainedStep, Explanation
from substrate.domains.babi._reading import Reader
from substrate.domains.babi.answers import answer_question
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.format import Story
from substrate.log.event_log import EventLog


def explain_answer(story: Story, question: int, log: EventLog | None = None) -> Explanation:
    """Explain a question's answer: one step for each sentence that it rests on, then the query.

    Args:
        story: the story.
        question: the question's number in the story.
        log: the story's event log, if already made.

    Raises:
        FormatError: the story has no question with this number.

    >>> from substrate.domains.babi.format import parse_stories
    >>> (story,) = parse_stories("1 Mary went to the park.\\n2 Where is Mary?\\n", file="f", subset="qa1")
    >>> [(step.name, step.gave) for step in explain_answer(story, 2).parts[0].steps]
    [('Mary went to the park.', 'tick 1'), ("WhereIs(entity='Mary')", 'park')]
    """
    questions = {line.id: line for line in story.questions}
    if question not in questions:
        where, hint = (story.file, f"story {story.scene}"), f"Name one of {list(questions)}"
        raise FormatError(f"no question {question}", where=where, hint=hint)
    log = story_log(story) if log is None else log
    reader = Reader(log)
    reader.turn_to(question, log.state(question))
    reply = answer_question(story, questions[question], reader)
    answer = f"{ERROR}{reply.error}" if reply.error else reply.answer
    sentences = {0: "common knowledge"} | {line.id: line.text for line in story.statements}
    steps: list[ExplainedStep] = []
    for tick, positions in groupby(sorted(reader.positions), key=lambda place: log.tick_and_op(place)[0]):
        name, evidence = sentences.get(tick, "not told by the story"), tuple(map(Evidence, positions))
        steps.append(ExplainedStep(name=name, gave=f"tick {tick}", evidence=evidence))
    last = ExplainedStep(
        name=reply.asked,
        took=tuple(f"sentence {tick}" for tick in reader.supporting),
        gave=answer,
        query="\n".join(reader.queries),
        missed=(reply.missed,) if reply.missed else (),
    )
    part = ExplainedPart("", (*steps, last), answer, rule="the query over what the story told before it")
    return Explanation(questions[question].text, reply.answer, (part,), {"": log})
