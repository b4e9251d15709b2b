"""Descriptive questions: every template yields all its questions about a video, each with its answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

from substrate.domains.clevrer.format import FRAMES
from substrate.generators.clevrer.events import Event, EventType, Film
from substrate.generators.clevrer.phrases import ATTRIBUTES, Group, Names, Phrase

SUBTYPES = {"count": 27, "exist": 25, "query_color": 18, "query_material": 13, "query_shape": 17}
"""Subtypes, with the per cent of questions that have each."""

_STATES = ("moving", "stationary")
_STATED: dict[str, tuple[str, ...]] = {
    "count": ("How many {0.plural} are {1} {2}?",),
    "exist": ("Are there any {1} {0.plural} {2}?", "Is there any {1} {0.singular} {2}?"),
}
_THROUGHOUT = ("How many {1} {0.plural} are there?", "How many {0.plural} are {1}?")
_VERBS: dict[EventType, tuple[str, str]] = {
    "in": ("enters the scene", "enter the scene"),
    "out": ("exits the scene", "exit the scene"),
}
_CROSSED = ("Are there any {0.plural} that {2}{3}?", "Is there any {0.singular} that {1}{3}?")
_COLLIDED = {
    "count": ("How many collisions happen{0}?", "How many collisions are there{0}?"),
    "exist": ("Are there any collisions{0}?", "Is there any collision{0}?"),
}
_ORDERS = {"first": 0, "second": 1, "last": -1}
_QUERIES = ("What {0} is {1}?", "What is the {0} of {1}?")


@dataclass(frozen=True)
class Descriptive:
    """A question without its number."""

    subtype: str
    text: str
    program: str
    answer: str


@dataclass(frozen=True)
class Moment:
    """A moment of the video: the program of its frame, the objects in each state, the objects it names."""

    text: str
    program: str
    members: dict[str, frozenset[int] | None]
    named: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """A part of the video: the program of its events, its events of one kind, and the objects it names."""

    text: str
    program: str
    events: list[Event]
    named: tuple[int, ...]


@dataclass(frozen=True)
class Tale:
    """The input of a template: a film, its objects' names, and the random numbers of the wording."""

    film: Film
    names: Names
    rng: Random

    def event(self, event: Event) -> Phrase:
        """Word an event, with the program that finds it."""
        return self.names.event(event, self.rng)

    def moments(self) -> Iterator[Moment]:
        """The beginning, the end and the moment of each event."""
        yield self._moment(Phrase(f"when the video {self.rng.choice(('begins', 'starts'))}", "start"), 0, ())
        if self.film.end_is_clear:
            yield self._moment(Phrase("when the video ends", "end"), FRAMES - 1, ())
        for event in self.film.events:
            phrase = self.event(event)
            yield self._moment(Phrase(f"when {phrase.text}", phrase.program), event.frame, event.objects)

    def _moment(self, phrase: Phrase, frame: int, named: tuple[int, ...]) -> Moment:
        members = {state: self.film.in_state(state, frame) for state in _STATES}
        return Moment(phrase.text, f"{phrase.program} get_frame", members, named)

    def worded(self, wordings: Sequence[str], *parts: object) -> str:
        """A wording at random, with its parts."""
        return (self.rng.choice(wordings) if len(wordings) > 1 else wordings[0]).format(*parts)

    def states(self) -> Iterator[tuple[Moment, str, Group, frozenset[int]]]:
        """Moments, states and groups, each with the group's objects in that state at that moment."""
        for moment in self.moments():
            for state, members in moment.members.items():
                for group in self.names.groups if members is not None else ():
                    yield moment, state, group, group.members & (members or frozenset())

    def spans(self, kind: EventType) -> Iterator[Span]:
        """The whole video, then the parts before and after each event.

        A span is left out if an event of the kind coincides with the event that bounds it.
        """
        events = self.film.of_type(kind)
        yield Span("", "events", events, ())
        for bound in self.film.events:
            others = [event for event in events if event != bound]
            if any(event.frame == bound.frame for event in others):
                continue
            for word, inside in (
                ("before", [e for e in others if e.frame < bound.frame]),
                ("after", [e for e in others if e.frame > bound.frame]),
            ):
                phrase = self.event(bound)
                program = f"events {phrase.program} filter_{word}"
                yield Span(f" {word} {phrase.text}", program, inside, bound.objects)


Template = Callable[[Tale], Iterator[Descriptive]]


def _states(subtype: str) -> Template:
    """How many of a group are in a state at a moment, or whether any is."""

    def template(tale: Tale) -> Iterator[Descriptive]:
        for moment, state, group, members in tale.states():
            text = tale.worded(_STATED[subtype], group, state, moment.text)
            program = f"{group.program} {moment.program} filter_{state} {subtype}"
            yield Descriptive(subtype, text, program, _ANSWERS[subtype](members))

    return template


def _count_states_throughout(tale: Tale) -> Iterator[Descriptive]:
    for state in _STATES:
        members = tale.film.in_state_throughout(state)
        for group in tale.names.groups if members is not None else ():
            text = tale.worded(_THROUGHOUT, group, state)
            program = f"{group.program} null filter_{state} count"
            yield Descriptive("count", text, program, _length(group.members & (members or frozenset())))


def _count_crossings(tale: Tale) -> Iterator[Descriptive]:
    for kind, (_, verb) in _VERBS.items():
        for span in tale.spans(kind):
            for group in tale.names.groups:
                count = sum(event.objects[0] in group.members for event in span.events)
                program = f"{span.program} {group.program} filter_{kind} count"
                yield Descriptive("count", f"How many {group.plural} {verb}{span.text}?", program, str(count))


def _collisions(subtype: str) -> Template:
    """How many collisions there are, or whether there is any."""

    def template(tale: Tale) -> Iterator[Descriptive]:
        for span in tale.spans("collision"):
            text = tale.worded(_COLLIDED[subtype], span.text)
            program = f"{span.program} objects filter_collision {subtype}"
            yield Descriptive(subtype, text, program, _ANSWERS[subtype](span.events))

    return template


def _exist_crossings(tale: Tale) -> Iterator[Descriptive]:
    for kind, verbs in _VERBS.items():
        for span in tale.spans(kind):
            crossing = {event.objects[0] for event in span.events}
            for group in tale.names.groups:
                text = tale.worded(_CROSSED, group, *verbs, span.text)
                program = f"{span.program} {group.program} filter_{kind} exist"
                yield Descriptive("exist", text, program, yes(group.members & crossing))
            for thing in tale.names.properties:
                phrase = tale.names.of(thing.object_id, tale.rng)
                text = f"Does {phrase.text} {verbs[1]}{span.text}?"
                program = f"{span.program} {phrase.program} filter_{kind} exist"
                yield Descriptive("exist", text, program, yes(thing.object_id in crossing))


def _exist_meetings(tale: Tale) -> Iterator[Descriptive]:
    met = {event.objects for event in tale.film.of_type("collision")}
    for pair in combinations(range(len(tale.names.properties)), 2):
        a, b = (tale.names.of(number, tale.rng) for number in tale.rng.sample(pair, 2))
        program = f"events {a.program} filter_collision {b.program} filter_collision exist"
        yield Descriptive("exist", f"Does {a.text} collide with {b.text}?", program, yes(pair in met))


def _query_states(tale: Tale) -> Iterator[Descriptive]:
    for moment, state, group, members in tale.states():
        # An object that the moment names would give its own answer away.
        if len(members) == 1 and not members & set(moment.named):
            words = f"the {state} {group.singular} {moment.text}"
            phrase = Phrase(words, f"{group.program} {moment.program} filter_{state} unique")
            yield from _queries(tale, phrase, *members, known=[attribute for attribute, _ in group.looks])


def _query_crossings(tale: Tale) -> Iterator[Descriptive]:
    for kind, (third, verb) in _VERBS.items():
        for span in tale.spans(kind):
            source = f"{span.program} objects filter_{kind}"
            for order, event in _ordered(span.events):
                program = f"{source} {order} filter_order get_object"
                phrase = Phrase(f"the {order} object to {verb}{span.text}", program)
                yield from _queries(tale, phrase, event.objects[0], named=span.named)
            if len(span.events) == 1:
                words = tale.worded(
                    ("the object that {0}{2}", "the object to {1}{2}"), third, verb, span.text
                )
                phrase = Phrase(words, f"{source} unique get_object")
                yield from _queries(tale, phrase, span.events[0].objects[0], named=span.named)


def _query_partners(tale: Tale) -> Iterator[Descriptive]:
    for span in tale.spans("collision"):
        for thing in tale.names.properties:
            hits = [event for event in span.events if thing.object_id in event.objects]
            phrase = tale.names.of(thing.object_id, tale.rng)
            source = f"{span.program} {phrase.program} filter_collision"
            partner, of_whom = f"{phrase.program} get_col_partner", f"with {phrase.text}{span.text}"
            for order, event in _ordered(hits):
                program = f"{source} {order} filter_order {partner}"
                partnered = Phrase(f"the {order} object to collide {of_whom}", program)
                yield from _queries(tale, partnered, _partner(event, thing.object_id), named=span.named)
            if len(hits) == 1:
                words = f"the object {tale.rng.choice(('to collide', 'that collides'))} {of_whom}"
                partnered = Phrase(words, f"{source} unique {partner}")
                yield from _queries(tale, partnered, _partner(hits[0], thing.object_id), named=span.named)


def _queries(
    tale: Tale, phrase: Phrase, number: int, *, known: Sequence[str] = (), named: Sequence[int] = ()
) -> Iterator[Descriptive]:
    """Ask about each attribute of an object, except ``known`` attributes and ``named`` objects, which the
    phrase itself gives away.
    """
    for attribute in ATTRIBUTES if number not in named else ():
        if attribute not in known:
            text, kind = tale.worded(_QUERIES, attribute, phrase.text), f"query_{attribute}"
            answer = getattr(tale.names.properties[number], attribute)
            yield Descriptive(kind, text, f"{phrase.program} {kind}", answer)


def _ordered(events: list[Event]) -> Iterator[tuple[str, Event]]:
    """First, second and last of at least two events, if no other event has the same frame."""
    for order, place in _ORDERS.items() if len(events) > 1 else ():
        if sum(event.frame == events[place].frame for event in events) == 1:
            yield order, events[place]


def _partner(event: Event, number: int) -> int:
    first, second = event.objects
    return second if first == number else first


def yes(holds: object) -> str:
    """A truth as an answer."""
    return "yes" if holds else "no"


def _length(things: Sized) -> str:
    return str(len(things))


_ANSWERS: dict[str, Callable[[Any], str]] = {"count": _length, "exist": yes}
_TEMPLATES: tuple[Template, ...] = (
    _states("count"),
    _count_states_throughout,
    _count_crossings,
    _collisions("count"),
    _states("exist"),
    _exist_crossings,
    _collisions("exist"),
    _exist_meetings,
    _query_states,
    _query_crossings,
    _query_partners,
)


def ask(film: Film, names: Names, rng: Random, number: int) -> list[Descriptive]:
    """Draw ``number`` different questions: subtype, then template, then answer, so that answers balance."""
    tale = Tale(film, names, rng)
    shelves: dict[str, dict[Template, dict[str, list[Descriptive]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for template in _TEMPLATES:
        for question in template(tale):
            shelves[question.subtype][template][question.answer].append(question)
    by_text: dict[str, Descriptive] = {}
    while len(by_text) < number:
        by_template = shelves[rng.choices(list(SUBTYPES), list(SUBTYPES.values()))[0]]
        by_answer = by_template[rng.choice(list(by_template))] if by_template else {}
        if by_answer:
            question = rng.choice(by_answer[rng.choice(list(by_answer))])
            by_text.setdefault(question.text, question)
    return sorted(by_text.values(), key=lambda question: list(SUBTYPES).index(question.subtype))
