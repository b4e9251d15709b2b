"""Questions ► answers by SPARQL over a story's state, supporting facts from its log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from substrate.base.errors import FormatError, ProgramError
from substrate.domains._facts import text_of_term
from substrate.domains.babi._reading import Reader, UnknownError
from substrate.domains.babi._telling import event
from substrate.domains.babi.deltas import REASON, story_log
from substrate.domains.babi.format import Question, Story
from substrate.domains.babi.queries import parse_question
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog
from substrate.log.replay import Replay


def answer_story(story: Story, log: EventLog | None = None, split: str | None = None) -> Iterator[Row]:
    """Every question of a story, answered from the state at its tick, in order.

    A row's subset is its story's task, its scene the story's number; it names the supporting facts by their
    ticks.

    Args:
        story: the story; its gold is compared with the answers and seen by nothing else.
        log: its event log, where it was made before.
        split: the rows' split, where it is not the story's own.

    A question that cannot be read, and one after a sentence that cannot, is answered ``error`` with the
    reason: the row counts as wrong, and no other story suffers for it.

    >>> from substrate.domains.babi.format import parse_stories
    >>> text = "1 Mary went to the park.\\n2 Where is Mary? \\tpark\\t1\\n"
    >>> (story,) = parse_stories(text, file="f", subset="qa1")
    >>> [(row.predicted, row.supporting) for row in answer_story(story)]
    [('park', (1,))]
    """
    log = story_log(story) if log is None else log
    replay, reader, digest = Replay(log), Reader(log), log.digest
    for question in story.questions:
        reader.turn_to(question.id, replay.seek(question.id))
        reply = answer_question(story, question, reader)
        yield Row(
            benchmark="babi",
            split=story.split if split is None else split,
            subset=story.subset,
            scene=story.scene,
            question=question.id,
            predicted=reply.answer,
            expected=question.answer,
            correct=None if question.answer is None else reply.answer == question.answer,
            log=digest,
            error=reply.error or msgspec.UNSET,
            supporting=reader.supporting,
            expected_supporting=question.supporting,
        )


class Reply(NamedTuple):
    """A question's answer, ``error`` with the reason where there is none; ``unknown`` where the story does
    not say, with what was ``missed``.
    """

    answer: str
    asked: str
    """The query that was asked, or the question itself where it could not be read."""
    missed: str = ""
    error: str = ""


def answer_question(story: Story, question: Question, reader: Reader) -> Reply:
    """The answer to a question; its evidence is left with the reader."""
    query_text, file, line = question.text, *story.where(question)[:2]
    try:
        tick = reader.unread
        if tick is not None and tick <= reader.tick:
            (sentence,) = (statement for statement in story.statements if statement.id == tick)
            reason = "".join(map(text_of_term, reader.facts.objects(event(tick), REASON)))
            raise FormatError(reason, where=story.where(sentence)[:2])
        try:
            query = parse_question(question.text)
        except FormatError as error:
            raise error.within(file, line) from error
        query_text = repr(query)
        return Reply(query.answer(reader, **query.roles), query_text)
    except UnknownError as unknown:
        return Reply("unknown", query_text, missed=str(unknown))
    except (FormatError, ProgramError) as fault:
        return Reply(
            "error", query_text, error=str(fault if fault.where else fault.within(*story.where(question)))
        )
