"""One grammar for all tasks: a sentence to a typed fact, a question to a typed query.

Names and nouns are open; verbs, prepositions, pronouns and adverbs are the closed classes below. A
sentence is tried against every pattern and must fit one as a whole, after an opening ("After that")
and a time ("yesterday", at either end) have been taken off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from substrate.errors import FormatError


class Pronoun(NamedTuple):
    """A subject whose antecedent stands in an earlier sentence: ``he``, ``she`` or ``they``."""

    word: str


Who = tuple[str, ...] | Pronoun
"""The people of a sentence: their names, or a pronoun."""


class Moved(NamedTuple):
    """People go to a place, or are said to be there; ``period`` is the time of day, where it is told."""

    who: Who
    place: str
    period: str | None = None


class Absent(NamedTuple):
    """People are not, or no longer, at a place."""

    who: Who
    place: str


class Either(NamedTuple):
    """People are at one of several places."""

    who: Who
    places: tuple[str, ...]


class Took(NamedTuple):
    """Someone picks a thing up."""

    who: Who
    thing: str


class Dropped(NamedTuple):
    """Someone puts a thing down."""

    who: Who
    thing: str


class Gave(NamedTuple):
    """Someone hands a thing to someone."""

    who: Who
    thing: str
    receiver: str


class Related(NamedTuple):
    """``subject`` stands in ``relation`` (a predicate of the TBox) to ``object``: direction, position or
    size.
    """

    subject: str
    relation: str
    object: str


class Fears(NamedTuple):
    """A kind of animal is afraid of a kind; both in the singular."""

    kind: str
    feared: str


class Belongs(NamedTuple):
    """An individual is of a kind."""

    individual: str
    kind: str


class Quality(NamedTuple):
    """Someone has a quality: a colour, or a state of mind or body that makes one act."""

    individual: str
    quality: str


Fact = Moved | Absent | Either | Took | Dropped | Gave | Related | Fears | Belongs | Quality


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
    """Who gave what to whom: the role asked for, and the roles that are told."""

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

PERIODS = {
    "yesterday": "yesterday",
    "this morning": "morning",
    "this afternoon": "afternoon",
    "this evening": "evening",
}
RELATIONS = {
    "north of": "northOf", "south of": "southOf", "east of": "eastOf", "west of": "westOf",
    "above": "above", "below": "below", "to the left of": "leftOf", "to the right of": "rightOf",
    "bigger than": "biggerThan", "smaller than": "fitsIn",
}  # fmt: skip
_IRREGULAR = {"mice": "mouse", "sheep": "sheep", "geese": "goose"}

_OPENING = re.compile(r"(?:after that|afterwards|following that|then),? ", re.IGNORECASE)
_TIME = "|".join(PERIODS)
_TIME_FIRST = re.compile(rf"({_TIME}),? (.+)", re.IGNORECASE)
_TIME_LAST = re.compile(rf"(.+) ({_TIME})", re.IGNORECASE)

_GAPS = {
    "name": r"[^\W\d_][\w'-]*",
    "noun": r"[^\W\d_][\w' -]*?",
    "word": r"[^\W\d_][\w'-]*",
    "who": r"(?:he|she|they|[^\W\d_][\w'-]*(?:(?:, | and |, and )[^\W\d_][\w'-]*)*)",
    "one": r"[^\W\d_][\w'-]*",
    "relation": "|".join(RELATIONS),
    "go": r"(?:moved|went|went back|journeyed|travelled|traveled) to",
    "get": r"(?:got|took|grabbed|picked up)",
    "drop": r"(?:dropped|left|discarded|put down)",
    "give": r"(?:gave|handed|passed)",
    "base_get": r"(?:get|take|grab|pick up)",
    "base_go": r"(?:go|go back|move|travel|journey) to",
}


def _pattern(text: str) -> re.Pattern[str]:
    """A pattern's gaps: ``<role:class>`` captures, ``<class>`` does not."""

    def gap(match: re.Match[str]) -> str:
        role, _, kind = match[1].rpartition(":")
        return f"(?P<{role}>{_GAPS[kind]})" if role else f"(?:{_GAPS[kind]})"

    return re.compile(re.sub(r"<([\w:]+)>", gap, text), re.IGNORECASE)


def _relation(relation: str) -> str:
    return RELATIONS[relation.lower()]


def singular(plural: str) -> str:
    """The singular of a plural noun, in lower case.

    >>> [singular(word) for word in ("Mice", "wolves", "cats", "sheep")]
    ['mouse', 'wolf', 'cat', 'sheep']
    """
    word = plural.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return word[:-3] + "f" if word.endswith("lves") else word.removesuffix("s")


def _who(text: str) -> Who:
    return (
        Pronoun(text.lower())
        if text.lower() in ("he", "she", "they")
        else tuple(re.split(r", and |, | and ", text))
    )


def _fears(kind: str, feared: str) -> Fears:
    return Fears(singular(kind), singular(feared))


_FACTS: tuple[tuple[re.Pattern[str], Callable[..., Fact]], ...] = tuple(
    (_pattern(pattern), build)
    for pattern, build in (
        ("<who:who> <go> the <place:noun>", lambda who, place: Moved(_who(who), place)),
        ("<who:who> (?:is|are) in the <place:noun>", lambda who, place: Moved(_who(who), place)),
        (
            "<who:who> (?:is|are) (?:not|no longer) in the <place:noun>",
            lambda who, place: Absent(_who(who), place),
        ),
        (
            "<who:who> (?:is|are) either in the <first:noun> or (?:in )?the <second:noun>",
            lambda who, first, second: Either(_who(who), (first, second)),
        ),
        ("<who:one> <get> the <thing:noun>(?: there)?", lambda who, thing: Took(_who(who), thing)),
        ("<who:one> <drop> the <thing:noun>(?: there)?", lambda who, thing: Dropped(_who(who), thing)),
        (
            "<who:one> <give> the <thing:noun> to <receiver:name>",
            lambda who, thing, receiver: Gave(_who(who), thing, receiver),
        ),
        (
            "the <subject:noun> is <relation:relation> the <object:noun>",
            lambda subject, relation, object: Related(subject, _relation(relation), object),
        ),
        (
            "the <subject:noun> fits (?:inside|in) the <object:noun>",
            lambda subject, object: Related(subject, "fitsIn", object),
        ),
        ("<kind:word> are afraid of <feared:word>", _fears),
        ("<individual:name> is an? <kind:word>", lambda individual, kind: Belongs(individual, kind.lower())),
        (
            "<individual:name> is <quality:word>",
            lambda individual, quality: Quality(individual, quality.lower()),
        ),
    )
)

_QUERIES: tuple[tuple[re.Pattern[str], Callable[..., Query]], ...] = tuple(
    (_pattern(pattern), build)
    for pattern, build in (
        ("where is (?:the )?<entity:noun>", WhereIs),
        ("where was (?:the )?<entity:noun> before the <before:noun>", WhereWas),
        ("is <entity:name> in the <place:noun>", IsIn),
        ("is the <entity:noun> in the <place:noun>", IsIn),
        ("what is <agent:name> carrying", WhatCarries),
        ("how many (?:objects|things) is <agent:name> carrying", CountCarried),
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
        ("why did <agent:name> <base_go> the <place:noun>", WhyMoved),
        ("why did <agent:name> <base_get> the <thing:noun>", WhyTook),
    )
)


def parse_fact(text: str) -> Fact:
    """The fact a sentence tells.

    >>> parse_fact("Then they went back to the kitchen.")
    Moved(who=Pronoun(word='they'), place='kitchen', period=None)
    >>> parse_fact("Yesterday Julie travelled to the park.")
    Moved(who=('Julie',), place='park', period='yesterday')

    Raises:
        FormatError: the sentence is none of the grammar's.
    """
    clause = (
        _OPENING.sub("", text.strip().removesuffix("."), count=1)
        if _OPENING.match(text.strip())
        else text.strip().removesuffix(".")
    )
    period = None
    if match := _TIME_FIRST.fullmatch(clause):
        period, clause = match[1], match[2]
    elif match := _TIME_LAST.fullmatch(clause):
        clause, period = match[1], match[2]
    fact = _first(_FACTS, clause)
    if fact is None or (period and not isinstance(fact, Moved)):
        raise FormatError(
            f"unknown sentence {text!r}",
            hint="The grammar has no such sentence; correct it, or add a pattern",
        )
    return fact._replace(period=PERIODS[period.lower()]) if period and isinstance(fact, Moved) else fact


def parse_question(text: str) -> Query:
    """The query a question asks.

    >>> parse_question("Where was the apple before the garden?")
    WhereWas(entity='apple', before='garden')
    >>> parse_question("Is the box bigger than the box of chocolates?")
    DoesRelate(subject='box', relation='biggerThan', object='box of chocolates')

    Raises:
        FormatError: the question is none of the grammar's.
    """
    query = _first(_QUERIES, text.strip().removesuffix("?").strip())
    if query is None:
        raise FormatError(
            f"unknown question {text!r}",
            hint="The grammar has no such question; correct it, or add a pattern",
        )
    return query


T = TypeVar("T")


def _first(table: tuple[tuple[re.Pattern[str], Callable[..., T]], ...], clause: str) -> T | None:
    for pattern, build in table:
        if match := pattern.fullmatch(clause):
            roles: Mapping[str, str | None] = match.groupdict()
            return build(**roles)
    return None
