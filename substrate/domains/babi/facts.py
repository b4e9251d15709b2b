"""The facts that a sentence may tell: one typed fact for each thing that happens or holds."""

from __future__ import annotations

from typing import NamedTuple


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


class Departed(NamedTuple):
    """People leave a place; where they go is not told."""

    who: Who
    place: str


class Absent(NamedTuple):
    """People are not, or no longer, at a place."""

    who: Who
    place: str


class Either(NamedTuple):
    """People are at one of several places."""

    who: Who
    places: tuple[str, ...]


class Took(NamedTuple):
    """Someone picks a thing up; ``place`` is where and ``source`` from whom, if that is told."""

    who: Who
    thing: str
    place: str | None = None
    source: str | None = None


class Dropped(NamedTuple):
    """Someone puts a thing down; ``place`` is where, if that is told."""

    who: Who
    thing: str
    place: str | None = None


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


Fact = Moved | Departed | Absent | Either | Took | Dropped | Gave | Related | Fears | Belongs | Quality
