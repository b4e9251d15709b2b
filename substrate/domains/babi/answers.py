"""The answers to a story's questions, as rows: by SPARQL over its state, with supporting facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from substrate.base.errors import FormatError, ProgramError
from substrate.domains._facts import text_of_term
from substrate.domains.babi._reading import Reader, UnknownError
from substrate.domains.babi._terms import event
from substrate.domains.babi.deltas import REASON, story_log
from substrate.domains.babi.format import Question, Story
from substrate.domains.babi.queries import parse_question
from substrate.domains.rows import Row, graded
from substrate.log.event_log import EventLog
from substrate.log.replay import Replay


def answer_story(story: Story, log: EventLog | None = None, split: str | None = None) -> Iterator[Row]:
    """Answer every question of a story from the state at its tick, in order.

    A row's subset is its story's task, its scene the story's number; it lists the ticks of the supporting
    facts.

    Args:
        story: the story; its gold is only compared with the answers.
        log: its event log, if already made.
        split: the rows' split, by default the story's own.

    A question gets the answer ``error`` with the reason if it, or a sentence before it, cannot be read. The
    row counts as wrong; no other story is affected.

    >>> from substrate.domains.babi.format import parse_stories
    >>> text = "1 Mary went to the park.\\n2 Where is Mary? \\tpark\\t1\\n"
    >>> (story,) = parse_stories(text, file="f", subset="qa1")
    >>> [(row.predicted, row.supporting) for row in answer_story(story)]
    [('park', (1,))]

    If a sentence has several parts, the first names who is meant, so that it leads to the antecedent:

    >>> text = "1 Ann went to the park.\\n2 Then she went to the hall and took the milk.\\n3 Where is Ann?\\n"
    >>> (story,) = parse_stories(text, file="f", subset="qa1")
    >>> [(row.predicted, row.supporting) for row in answer_story(story)]
    [('hall', (1, 2))]
    """
    log = story_log(story) if log is None else log
    replay, reader, digest = Replay(log), Reader(log), log.digest
    split = story.split if split is None else split
    place = {"benchmark": "babi", "split": split, "subset": story.subset, "scene": story.scene}
    for question in story.questions:
        reader.turn_to(question.id, replay.seek(question.id))
        reply = answer_question(story, question, reader)
        facts = {"supporting": reader.supporting, "expected_supporting": question.supporting, "log": digest}
        yield graded(reply.answer, question.answer, reply.error, question=question.id, **place, **facts)


class Reply(NamedTuple):
    """A question's answer, or ``error`` with its reason; or ``unknown``, with what was ``missed``, if the
    story does not say.
    """

    answer: str
    asked: str
    """The query, or the question itself if it could not be read."""
    missed: str = ""
    error: str = ""


def answer_question(story: Story, question: Question, reader: Reader) -> Reply:
    """Answer a question; the reader gathers the evidence."""
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
