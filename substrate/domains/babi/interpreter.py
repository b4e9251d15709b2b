"""Questions ► answers by SPARQL over a story's state, supporting facts from its log.

Each kind of question has one handler: it queries the state at the question's tick, returns the
answer and leaves with the reader the evidence it rests on: triples of the state, or events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from substrate.base.errors import FormatError, ProgramError
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.format import Question, Story
from substrate.domains.babi.hands import count_carried, transfer, what_carries
from substrate.domains.babi.orders import does_relate, relates_to_what, route, what_relates
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
from substrate.domains.babi.reading import Insertions, Reader
from substrate.domains.babi.reasons import what_color, what_fears, where_will, why_moved, why_took
from substrate.domains.babi.whereabouts import is_in, where_is, where_was
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

    Raises:
        FormatError: a sentence or a question is none of the grammar's; names file, line and text.

    >>> from substrate.domains.babi.format import parse_stories
    >>> text = "1 Mary went to the park.\\n2 Where is Mary? \\tpark\\t1\\n"
    >>> (story,) = parse_stories(text, file="f", subset="qa1")
    >>> [(row.predicted, row.supporting) for row in answer_story(story)]
    [('park', (1,))]
    """
    queries = [(question, parsed(story, question)) for question in story.questions]
    log = story_log(story) if log is None else log
    replay, insertions, digest = Replay(log), Insertions(log), log.digest
    for question, query in queries:
        reader = Reader(replay.seek(question.id), insertions, question.id)
        try:
            predicted, error = reply(reader, query), None
        except ProgramError as fault:
            predicted, error = "error", str(fault.within(*story.where(question)))
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


def reply(reader: Reader, query: Query) -> str:
    """The answer to a query; its evidence is left with the reader.

    Raises:
        ProgramError: the story does not say.
    """
    return _ANSWERS[type(query)](reader, query)
