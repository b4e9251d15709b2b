"""The queries that a question may ask, typed, and the patterns that read them.

As in a sentence, no gap of a pattern takes a function word: "Where is the milk with John?" is no question
after a "milk with John".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from substrate.base.errors import FormatError
from substrate.domains.babi._lexicon import RELATIONS, is_adverb, is_function_word, lexicon


class WhereIs(NamedTuple):
    """Where is someone or something?"""

    entity: str


class WhereWas(NamedTuple):
    """Where was someone or something before a place?"""

    entity: str
    before: str


class IsIn(NamedTuple):
    """Is someone or something at a place?"""

    entity: str
    place: str


class WhatCarries(NamedTuple):
    """What is someone carrying?"""

    agent: str


class CountCarried(NamedTuple):
    """How many objects is someone carrying?"""

    agent: str


class Transfer(NamedTuple):
    """A query for who gave what to whom: the role asked for, and the roles that are told."""

    asked: str
    agent: str | None = None
    thing: str | None = None
    receiver: str | None = None


class WhatRelates(NamedTuple):
    """What stands in a relation to something?"""

    relation: str
    object: str


class RelatesToWhat(NamedTuple):
    """To what does something stand in a relation?"""

    subject: str
    relation: str


class DoesRelate(NamedTuple):
    """Does ``subject`` stand in ``relation`` to ``object``?"""

    subject: str
    relation: str
    object: str


class Route(NamedTuple):
    """How do you go from a place to a place?"""

    start: str
    goal: str


class WhatFears(NamedTuple):
    """What is an individual afraid of?"""

    individual: str


class WhatColor(NamedTuple):
    """What colour is an individual?"""

    individual: str


class WhereWill(NamedTuple):
    """Where will someone go?"""

    agent: str


class WhyMoved(NamedTuple):
    """Why did someone go to a place?"""

    agent: str
    place: str


class WhyTook(NamedTuple):
    """Why did someone get a thing?"""

    agent: str
    thing: str


Query = (
    WhereIs
    | WhereWas
    | IsIn
    | WhatCarries
    | CountCarried
    | Transfer
    | WhatRelates
    | RelatesToWhat
    | DoesRelate
    | Route
    | WhatFears
    | WhatColor
    | WhereWill
    | WhyMoved
    | WhyTook
)

_GAPS = {
    "name": r"[^\W\d_][\w'-]*",
    "noun": r"[^\W\d_][\w' -]*?",
    "relation": "|".join(RELATIONS),
}


def _bases(effect: str) -> str:
    """The base forms of the verbs that have an effect, with their particles, as a pattern."""
    uses = [use for uses in lexicon().verbs.values() for use in uses if use.effect == effect]
    return "|".join(sorted({" ".join((use.base, *use.particles)) for use in uses}))


def _pattern(text: str) -> re.Pattern[str]:
    """A pattern's gaps: ``<role:class>`` captures, ``<class>`` does not."""

    def gap(match: re.Match[str]) -> str:
        role, _, kind = match[1].rpartition(":")
        return f"(?P<{role}>{_GAPS[kind]})"

    return re.compile(re.sub(r"<([\w:]+)>", gap, text), re.IGNORECASE)


def _relation(relation: str) -> str:
    return RELATIONS[relation.lower()]


_PLACE = "(?:in|at|inside) the <place:noun>"
_GOES = f"(?:{_bases('Move')})(?: back)? to the <place:noun>"
_GETS = f"(?:{_bases('Take')}) the <thing:noun>"

_QUERIES: tuple[tuple[re.Pattern[str], Callable[..., Query]], ...] = tuple(
    (_pattern(pattern), build)
    for pattern, build in (
        ("where is <entity:name>(?: now)?", WhereIs),
        ("where is the <entity:noun>(?: now)?", WhereIs),
        ("where was <entity:name> before the <before:noun>", WhereWas),
        ("where was the <entity:noun> before the <before:noun>", WhereWas),
        (f"is <entity:name> {_PLACE}", IsIn),
        (f"is the <entity:noun> {_PLACE}", IsIn),
        ("what is <agent:name> (?:carrying|holding)", WhatCarries),
        ("how many (?:objects|things) is <agent:name> (?:carrying|holding)", CountCarried),
        (
            "who gave the <thing:noun>(?: to <receiver:name>)?",
            lambda thing, receiver: Transfer("agent", None, thing, receiver),
        ),
        (
            "who received the <thing:noun>(?: from <agent:name>)?",
            lambda thing, agent: Transfer("receiver", agent, thing),
        ),
        (
            "what did <agent:name> give to <receiver:name>",
            lambda agent, receiver: Transfer("thing", agent, None, receiver),
        ),
        (
            "who did <agent:name> give the <thing:noun> to",
            lambda agent, thing: Transfer("receiver", agent, thing),
        ),
        (
            "what is <relation:relation> the <object:noun>",
            lambda relation, object: WhatRelates(_relation(relation), object),
        ),
        (
            "what is the <subject:noun> <relation:relation>",
            lambda subject, relation: RelatesToWhat(subject, _relation(relation)),
        ),
        (
            "is the <subject:noun> <relation:relation> the <object:noun>",
            lambda subject, relation, object: DoesRelate(subject, _relation(relation), object),
        ),
        (
            "does the <subject:noun> fit (?:inside|in) the <object:noun>",
            lambda subject, object: DoesRelate(subject, "fitsIn", object),
        ),
        ("how do you go from the <start:noun> to the <goal:noun>", Route),
        ("what is <individual:name> afraid of", WhatFears),
        ("what colou?r is <individual:name>", WhatColor),
        ("where will <agent:name> go", WhereWill),
        (f"why did <agent:name> {_GOES}", WhyMoved),
        (f"why did <agent:name> {_GETS}", WhyTook),
    )
)


def parse_question(text: str) -> Query:
    """The query a question asks.

    >>> parse_question("Where was the apple before the garden?")
    WhereWas(entity='apple', before='garden')
    >>> parse_question("Is the box bigger than the box of chocolates?")
    DoesRelate(subject='box', relation='biggerThan', object='box of chocolates')

    Raises:
        FormatError: the question is none of the grammar's.
    """
    asked = text.strip().removesuffix("?").strip()
    for pattern, build in _QUERIES:
        if (match := pattern.fullmatch(asked)) and not _holds_function_word(match):
            return build(**match.groupdict())
    raise FormatError(
        f"unknown question {text!r}",
        hint="The grammar has no such question; correct it, or add a pattern",
    )


def _holds_function_word(match: re.Match[str]) -> bool:
    """Tell whether a gap of a pattern has taken a word that is no part of a name or a noun."""
    fillers = [filler for role, filler in match.groupdict().items() if filler and role != "relation"]
    words = [word for filler in fillers for word in filler.split() if word != "of"]
    several = [word for filler in fillers if " " in filler for word in filler.split()]
    return any(map(is_function_word, words)) or any(map(is_adverb, several))
