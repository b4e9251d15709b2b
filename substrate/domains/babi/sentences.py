"""The grammar of all tasks: the patterns of sentences, each with the function that gives its facts.

A sentence is read as a whole or not at all. Its verbs are the TBox's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple, NoReturn

from substrate.base.errors import FormatError
from substrate.domains.babi import facts
from substrate.domains.babi._lexicon import OPENINGS, PERIODS, PRONOUNS, RELATIONS, Kinds, lexicon
from substrate.domains.babi._patterns import Pattern
from substrate.domains.babi._telling import Pronoun, Who
from substrate.domains.babi.facts import Fact

_IRREGULAR = {"mice": "mouse", "sheep": "sheep", "geese": "goose"}
_PERIODS = "|".join(PERIODS)
_FRAME = re.compile(
    rf"(?:(?:{'|'.join(OPENINGS)}),? )?(?:({_PERIODS}),? )?(.*?)(?: ({_PERIODS}))?", re.IGNORECASE
)
_JOINT = re.compile(r",? (?:and then|and|then) ")
Names = tuple[str, ...]


def parse_sentence(text: str, kinds: Kinds | None = None) -> list[Fact]:
    """The facts that a sentence tells, in order.

    Args:
        text: the sentence.
        kinds: gives the known classes of a noun; by default the TBox's words.

    Raises:
        FormatError: the grammar has no such sentence; the error names it.

    >>> parse_sentence("Then they went back to the kitchen.")
    [Moved(who=Pronoun(word='they'), place='kitchen', period=None)]
    >>> [(fact.who, fact.thing) for fact in parse_sentence("Mary picked up the apple and the milk.")]
    [(('Mary',), 'apple'), (('Mary',), 'milk')]
    >>> parse_sentence("Yesterday Julie travelled to the park.")
    [Moved(who=('Julie',), place='park', period='yesterday')]
    """
    sentence = _Sentence(text, kinds or lexicon().kinds)
    frame = _FRAME.fullmatch(" ".join(text.split()).removesuffix(".").rstrip())
    assert frame, "the frame takes any text"
    first, words, last = frame.groups()
    told = sentence.clauses(words) or sentence.fail("no pattern fits it")
    if not (first or last):
        return told
    move = told[0]
    if (first and last) or len(told) > 1 or not isinstance(move, facts.Moved):
        sentence.fail("a time of day is read with a single move only")
    return [move._replace(period=PERIODS[(first or last).lower()])]


def singular(plural: str) -> str:
    """The singular of a plural noun, in lower case.

    >>> [singular(word) for word in ("Mice", "wolves", "cats", "sheep")]
    ['mouse', 'wolf', 'cat', 'sheep']
    """
    word = plural.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return word[:-3] + "f" if word.endswith("lves") else word.removesuffix("s")


class _Sentence(NamedTuple):
    """A sentence in reading, and the known classes of nouns."""

    text: str
    kinds: Kinds

    def fail(self, what: str) -> NoReturn:
        """Refuse the sentence."""
        hint = "The grammar has no such sentence; correct it, or add to the grammar"
        raise FormatError(f"unknown sentence {self.text!r}: {what}", hint=hint)

    def clauses(self, words: str) -> list[Fact]:
        """The facts of clauses joined by "and" or "then"; none if there is a part that no pattern fits."""
        for pattern, tell in _patterns():
            fillers: dict[str, Any] | None = pattern.read(words)
            if fillers is not None:
                if "who" in fillers:
                    fillers["who"] = self.who(fillers["who"])
                if told := tell(self, **fillers):
                    return told
        for joint in _JOINT.finditer(words):
            told, rest = self.clauses(words[: joint.start()]), words[joint.end() :]
            # More may be told of the same people: another deed, or another place to go to
            who = getattr(told[-1], "who", ()) if told else ()
            again = who.word if isinstance(who, Pronoun) else " and ".join(who)
            for text in (rest, f"{again} {rest}", f"{again} went {rest}") if told else ():
                if more := self.clauses(text):
                    return told + more
        return []

    def who(self, names: Names) -> Who:
        """The people of a sentence: a pronoun, or names."""
        word = names[0].lower()
        return Pronoun(word) if word in PRONOUNS else self.people(names)

    def people(self, names: Names) -> Names:
        """Check that names are not written in lower case."""
        if strange := [name for name in names if name[0].islower()]:
            self.fail(f"{strange[0]!r} is no name")
        return names

    def holder(self, who: Who) -> Who:
        """Refuse several people who would have to hold one thing."""
        if len(who) > 1 or who == Pronoun("they"):
            self.fail("several people cannot hold one thing")
        return who

    def noun(self, noun: str, wrong: frozenset[str], right: str) -> str:
        """Check that a noun is not of a wrong class, and does not go on after a known noun."""
        kinds, words = self.kinds(noun), noun.split()
        if right not in kinds and kinds & wrong:
            self.fail(f"the {noun} is no {right.lower()}")
        known = [end for end in range(1, len(words)) if self.kinds(" ".join(words[:end]))]
        if known and not kinds:
            self.fail(f"{' '.join(words[known[-1] :])!r} cannot be read")
        return noun

    def known_place(self, place: Names) -> str | None:
        """Check that a noun, if there is one, is known to name a place."""
        if place and "Place" not in self.kinds(place[0]):
            self.fail(f"the {place[0]} is not known to be a place")
        return place[0] if place else None

    def place(self, noun: str) -> str:
        """Check that a noun may name a place."""
        return self.noun(noun, frozenset({"Thing", "Vehicle"}), "Place")

    def thing(self, noun: str) -> str:
        """Check that a noun may name a thing."""
        return self.noun(noun, frozenset({"Place"}), "Thing")


def _moved(
    sentence: _Sentence,
    who: Who,
    place: Names,
    company: Names = (),
    brought: Names = (),
    origin: Names = (),
    vehicle: Names = (),
) -> list[Fact]:
    if any(sentence.kinds(noun) != {"Vehicle"} for noun in vehicle):
        return []
    groups = _together(who, sentence.people(company))
    places = tuple(map(sentence.place, place))
    left = [facts.Departed(group, sentence.place(noun)) for noun in origin for group in groups]
    if len(places) > 1:
        return [*left, *(facts.Either(group, places) for group in groups)]
    moved = [facts.Moved(group, noun) for noun in places for group in groups]
    return [*(_took(sentence, who, brought) if brought else ()), *left, *moved]


def _together(who: Who, company: Names) -> list[Who]:
    """People with their company, in one group if all are named."""
    if isinstance(who, Pronoun):
        return [who, company] if company else [who]
    return [tuple(dict.fromkeys((*who, *company)))]


def _left(sentence: _Sentence, who: Who, things: Names, place: Names = ()) -> list[Fact]:
    """Read "left": a place is left, a known thing is put down."""
    kinds = [sentence.kinds(noun) for noun in things]
    if not all(kinds):
        sentence.fail(f"it cannot be read before it is told what the {things[kinds.index(frozenset())]} is")
    if "Place" in kinds[0] and len(things) == 1 and not place:
        return _moved(sentence, who, (), origin=things)
    return _dropped(sentence, who, things, place=place)


def _took(
    sentence: _Sentence, who: Who, things: Names, apart: Names = (), place: Names = (), source: Names = ()
) -> list[Fact]:
    at, holder = sentence.known_place(place), "".join(sentence.people(source)) or None
    return [facts.Took(sentence.holder(who), sentence.thing(noun), at, holder) for noun in things or apart]


def _dropped(
    sentence: _Sentence, who: Who, things: Names, apart: Names = (), place: Names = ()
) -> list[Fact]:
    at = sentence.known_place(place)
    return [facts.Dropped(sentence.holder(who), sentence.thing(noun), at) for noun in things or apart]


def _gave(sentence: _Sentence, who: Who, things: Names, receiver: Names) -> list[Fact]:
    (to,) = sentence.people(receiver)
    return [facts.Gave(who, sentence.thing(noun), to) for noun in things]


def _received(sentence: _Sentence, who: Who, things: Names, giver: Names) -> list[Fact]:
    if isinstance(who, Pronoun):
        sentence.fail("a gift is read of someone by name only")
    return _gave(sentence, sentence.people(giver), things, who)


def _described(sentence: _Sentence, who: Who, kind: Names = (), quality: Names = ()) -> list[Fact]:
    if isinstance(who, Pronoun) or len(who) != 1:
        sentence.fail("it is read of one person by name only")
    (word,) = kind or quality
    return [(facts.Belongs if kind else facts.Quality)(who[0], word.lower())]


def _absent(sentence: _Sentence, who: Who, place: Names) -> list[Fact]:
    return [facts.Absent(who, sentence.place(place[0]))]


def _fear(_: _Sentence, kind: Names, feared: Names) -> list[Fact]:
    return [facts.Fears(singular(kind[0]), singular(feared[0]))]


def _related(_: _Sentence, subject: Names, object: Names, relation: Names = ()) -> list[Fact]:
    return [facts.Related(subject[0], RELATIONS[relation[0].lower()] if relation else "fitsIn", object[0])]


def _past(effect: str, object: str = "", *particles: str) -> str:
    """A pattern of the past forms of the verbs with an effect, an object and particles."""
    forms = sorted(
        past
        for past, uses in lexicon().verbs.items()
        for use in uses
        if (use.effect, use.object, use.particles) == (effect, object, particles)
    )
    return f"(?:{'|'.join(forms)})"


@cache
def _patterns() -> tuple[tuple[Pattern, Callable[..., list[Fact]]], ...]:
    """A pattern, and the function that gives the facts of its sentences."""
    go, give, things = _past("Move"), _past("Give", "Thing"), "<things:nouns>"
    take, drop = (
        f"(?:(?:{_past(effect, 'Thing')}|{apart} {particle}) {things}|{apart} <apart:nouns> {particle})"
        for effect, particle in (("Take", "up"), ("Drop", "down"))
        for apart in [_past(effect, "Thing", particle)]
    )
    carry, place, at = (
        f"(?:{_past('Carriage', 'Thing')}|took)",
        _past("Placement", "Thing"),
        "(?:in|at|inside)",
    )
    with_, leave = "(?: with (?:<company:names>|<brought:nouns>))?", _past("Departure", "Place")
    patterns: tuple[tuple[str, Callable[..., list[Fact]]], ...] = (
        (f"<who:who> {go}(?: back| over)? (?:to|into) the <place:noun>{with_}", _moved),
        (f"<who:who> {take}(?: there)?", _took),
        (f"<who:who> left {things}(?: there| {at} the <place:noun>)?", _left),
        (f"<who:who> {drop}(?: there| {at} the <place:noun>)?", _dropped),
        (f"<who:who> (?:is|are)(?: now| back)? {at} the <place:noun>(?: with <company:names>)?", _moved),
        (f"<who:who> {give} {things}(?: back)? to <receiver:name>", _gave),
        ("<who:who> (?:is|are) either (?:in|at) <place:choice>", _moved),
        ("<who:who> (?:is|are) (?:not|no longer) (?:in|at) the <place:noun>", _absent),
        ("the <subject:noun> is <relation:relation> the <object:noun>", _related),
        ("the <subject:noun> fits (?:inside|in) the <object:noun>", _related),
        ("<kind:name> are afraid of <feared:name>", _fear),
        ("<who:who> is an? <kind:name>", _described),
        ("<who:who> is <quality:name>", _described),
        (f"<who:who> {go} with <company:names> to the <place:noun>", _moved),
        (f"<who:who> {go}(?: back)? (?:to|into) <place:choice>", _moved),
        (f"<who:who> {go} from the <origin:noun> (?:to|into) the <place:noun>", _moved),
        (f"<who:who> {_past('Move', 'Place')} the <place:noun>", _moved),
        ("<who:who> took the <vehicle:noun> to the <place:noun>", _moved),
        (f"<who:who> {carry} <brought:nouns> to the <place:noun>", _moved),
        (f"<who:who> {leave} the <origin:noun> (?:for|to) the <place:noun>", _moved),
        (f"<who:who> {go}(?: back)? (?:out of|from) the <origin:noun>", partial(_moved, place=())),
        (f"<who:who> {leave} the <origin:noun>", partial(_moved, place=())),
        (f"<who:who> {take} (?:from|in|at) the <place:noun>", _took),
        (f"<who:who> {take} from <source:name>", _took),
        (f"<who:who> {place} {things} {at} the <place:noun>", _dropped),
        (f"<who:who> {give} <receiver:name> {things}", _gave),
        (f"<who:who> {_past('Receipt', 'Thing')} {things} from <giver:name>", _received),
    )
    return tuple((Pattern(text), tell) for text, tell in patterns)
