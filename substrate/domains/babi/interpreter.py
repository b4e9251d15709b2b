"""Questions ► answers by SPARQL over a story's state, supporting facts from its log.

Each kind of question has one handler: it queries the state at the question's tick, returns the
answer and leaves with the reader the evidence it rests on: triples of the state, or events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from substrate.base.errors import FormatError, ProgramError
from substrate.domains.babi._hands import count_carried, transfer, what_carries
from substrate.domains.babi._orders import does_relate, relates_to_what, route, what_relates
from substrate.domains.babi._reading import Insertions, Reader
from substrate.domains.babi._reasons import what_color, what_fears, where_will, why_moved, why_took
from substrate.domains.babi._whereabouts import is_in, where_is, where_was
from substrate.domains.babi.deltas import story_log, unread
from substrate.domains.babi.format import Question, Story
from substrate.domains.babi.queries import (
    CountCarried,
    DoesRelate,
    IsIn,
    Query,
    RelatesToWhat,
    Route,
    Transfer,
    WhatCarries,
    WhatColor,
    WhatFears,
    WhatRelates,
    WhereIs,
    WhereWas,
    WhereWill,
    WhyMoved,
    WhyTook,
    parse_question,
)
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog
from substrate.log.replay import Replay

_ANSWERS: dict[type, Callable[..., str]] = {
    WhereIs: where_is,
    WhereWas: where_was,
    IsIn: is_in,
    WhatCarries: what_carries,
    CountCarried: count_carried,
    Transfer: transfer,
    WhatRelates: what_relates,
    RelatesToWhat: relates_to_what,
    DoesRelate: does_relate,
    Route: route,
    WhatFears: what_fears,
    WhatColor: what_color,
    WhereWill: where_will,
    WhyMoved: why_moved,
    WhyTook: why_took,
}


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
    replay, insertions, digest = Replay(log), Insertions(log), log.digest
    for question in story.questions:
        reader = Reader(replay.seek(question.id), insertions, question.id)
        try:
            require_read(reader, story)
            predicted, error = reply(reader, parsed(story, question)), None
        except (FormatError, ProgramError) as fault:
            predicted, error = "error", located(fault, story, question)
        yield Row(
            benchmark="babi",
            split=story.split if split is None else split,
            subset=story.subset,
            scene=story.scene,
            question=question.id,
            predicted=predicted,
            expected=question.answer,
            correct=None if question.answer is None else predicted == question.answer,
            log=digest,
            error=msgspec.UNSET if error is None else error,
            supporting=reader.supporting,
            expected_supporting=question.supporting,
        )


def parsed(story: Story, question: Question) -> Query:
    """A story's question as a typed query.

    Raises:
        FormatError: the question is none of the grammar's; names file and line.
    """
    try:
        return parse_question(question.text)
    except FormatError as error:
        raise error.within(*story.where(question)[:2]) from error


def located(fault: FormatError | ProgramError, story: Story, question: Question) -> str:
    """Why a question has no answer, with file and line: those that the fault names, or the question's."""
    return str(fault if fault.where else fault.within(*story.where(question)))


def require_read(reader: Reader, story: Story) -> None:
    """Refuse to answer after a sentence that could not be read.

    Raises:
        FormatError: names file, line and text of the sentence.
    """
    first = reader.insertions.unread
    failed = None if first is None or first > reader.tick else unread(reader.state)
    if failed is None:
        return
    tick, reason = failed
    (sentence,) = (statement for statement in story.statements if statement.id == tick)
    raise FormatError(reason, where=story.where(sentence)[:2])


def reply(reader: Reader, query: Query) -> str:
    """The answer to a query; its evidence is left with the reader.

    Raises:
        ProgramError: the story does not say.
    """
    return _ANSWERS[type(query)](reader, query)
