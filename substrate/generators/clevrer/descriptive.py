"""Descriptive questions: every template yields all its questions about a video, each with its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from substrate.domains.clevrer.format import FRAMES
from substrate.domains.clevrer.grammar import Phrase
from substrate.domains.clevrer.questions import GRAMMAR
from substrate.generators.clevrer.events import EventType, Film, WorldEvent
from substrate.generators.clevrer.phrases import ATTRIBUTES, CROSS, CROSSES, Group, Names

SUBTYPES = ("count", "exist", "query_color", "query_material", "query_shape")


class Kind(NamedTuple):
    """A question's verb (``count``, ``exist`` or ``query``), and its matter, ``states`` or ``events``."""

    verb: str
    about: str


_KINDS = {
    Kind("count", "states"): 2,
    Kind("count", "events"): 2,
    Kind("exist", "states"): 1,
    Kind("exist", "events"): 1,
    Kind("query", "states"): 2,
    Kind("query", "events"): 3,
}
"""Questions of each kind per scene.

Of all 109,952 official questions about 10,000 training scenes, 40,000 count, 20,000 ask for existence, and
49,952 need a state of motion; 22,301 ask about a partner. These are the round numbers that give such sums.
"""
_SHARES: Mapping[str, float] = {
    # Programs of all official questions: the moment of a state, the subject of another query.
    "always": 10_251,
    "start": 11_432,
    "end": 12_606,
    "event": 15_663,
    "partner": 22_301,
    "crosser": 7_699,
    # Of 30,000 questions about a partner or a crossing object, 19,502 ask for the first, second or last.
    "only": 0.7,
    # These make numbers as frequent as in all official questions, though few videos have large ones.
    "0": 0.8,
    "3": 1.6,
    "4": 1.3,
    "5": 0.1,
    # 311 official questions: counted are entries and exits, or collisions.
    "crossings": 3,
    "collisions": 1,
    # All official questions: the attributes that are asked for.
    "query_color": 18_454,
    "query_material": 14_614,
    "query_shape": 16_884,
}
"""Weights of some values by which questions are drawn (:data:`_STEPS`); the others have the weight 1."""
_STATES = ("moving", "stationary")
_ORDERS = {"first": 0, "second": 1, "last": -1}


@dataclass(frozen=True)
class Descriptive:
    """A question without its number."""

    subtype: str
    text: str
    program: str
    answer: str


class Candidate(NamedTuple):
    """A question with the properties by which it is drawn.

    Attributes:
        kind: one of :data:`_KINDS`.
        sort: its moment or matter, such as ``partner`` in :data:`_SHARES`.
        form: the attributes by which it describes a group, or the order of its event, such as ``only``.
    """

    kind: Kind
    sort: str
    form: str
    question: Descriptive


@dataclass(frozen=True)
class Moment:
    """A moment of the video, or all of it: its sort, the objects in each state, the objects it names."""

    sort: str
    phrase: Phrase
    members: dict[str, frozenset[int] | None]
    named: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """A part of the video: the program of its events, its events of one kind, and the objects it names."""

    phrase: Phrase
    events: list[WorldEvent]
    named: tuple[int, ...]


@dataclass(frozen=True)
class Video:
    """The input of a template: a film, its objects' names, and the random numbers of the wording."""

    film: Film
    names: Names
    rng: Random

    def event(self, event: WorldEvent) -> Phrase:
        """Word an event, with the program that finds it."""
        return self.names.event(event, self.rng)

    def worded(self, rule: str, **slots: Phrase) -> Phrase:
        """A wording of a rule at random."""
        return GRAMMAR.write(rule, self.rng, **slots)

    def moments(self) -> Iterator[Moment]:
        """The whole video, its beginning, its end and the moment of each event."""
        always = {state: self.film.in_state_throughout(state) for state in _STATES}
        yield Moment("always", GRAMMAR.word("moment", ""), always, ())
        yield self._moment("start", GRAMMAR.word("moment", " when the video begins"), 0, ())
        if self.film.end_is_clear:
            yield self._moment("end", GRAMMAR.word("moment", " when the video ends"), FRAMES - 1, ())
        for event in self.film.events:
            phrase = self.worded("during", clause=self.event(event))
            yield self._moment("event", phrase, event.frame, event.objects)

    def _moment(self, sort: str, phrase: Phrase, frame: int, named: tuple[int, ...]) -> Moment:
        return Moment(sort, phrase, {state: self.film.in_state(state, frame) for state in _STATES}, named)

    def states(self, groups: Sequence[Group]) -> Iterator[tuple[Moment, str, Group, frozenset[int]]]:
        """Moments, states and groups, each with the group's objects in that state at that moment."""
        for moment in self.moments():
            for state, members in moment.members.items():
                for group in groups if members is not None else ():
                    yield moment, state, group, group.members & (members or frozenset())

    def spans(self, kind: EventType) -> Iterator[Span]:
        """The whole video, then the parts before and after each event.

        A span is left out if an event of the kind coincides with the event that bounds it.
        """
        events = self.film.of_type(kind)
        yield Span(GRAMMAR.word("span", ""), events, ())
        for bound in self.film.events:
            others = [event for event in events if event != bound]
            if any(event.frame == bound.frame for event in others):
                continue
            for word, inside in (
                ("before", [e for e in others if e.frame < bound.frame]),
                ("after", [e for e in others if e.frame > bound.frame]),
            ):
                yield Span(self.worded(word, clause=self.event(bound)), inside, bound.objects)


def _states(video: Video) -> Iterator[Candidate]:
    """Count a group's objects in a state at a moment, or ask whether there are any."""
    for moment, state, group, members in video.states(video.names.described):
        slots = {"group": group.phrase, "state": GRAMMAR.word("state", state), "moment": moment.phrase}
        for subtype, answer in (("count", str(len(members))), ("exist", yes(members))):
            if subtype == "count" or group.looks:
                phrase = video.worded(f"{subtype}_states", **slots)
                yield _asked(Kind(subtype, "states"), moment.sort, group, phrase, answer)


def _crossings(video: Video) -> Iterator[Candidate]:
    """Count a group's objects that enter or leave the scene, or ask whether there are any."""
    kinds: tuple[EventType, ...] = ("in", "out")
    for kind in kinds:
        cross = GRAMMAR.word("cross", CROSS[kind])
        for span in video.spans(kind):
            crossing = {event.objects[0] for event in span.events}
            for group in [*video.names.described, *video.names.shaped]:
                slots = {"group": group.phrase, "cross": cross, "span": span.phrase}
                number = sum(event.objects[0] in group.members for event in span.events)
                counted = video.worded("count_crossings", **slots)
                yield _asked(Kind("count", "events"), "crossings", group, counted, str(number))
                if group.looks:
                    answer, exist = yes(group.members & crossing), video.worded("exist_crossings", **slots)
                    yield _asked(Kind("exist", "events"), "crossings", group, exist, answer)


def _collisions(video: Video) -> Iterator[Candidate]:
    """Count the collisions."""
    for span in video.spans("collision"):
        phrase = video.worded("count_collisions", span=span.phrase)
        yield _asked(Kind("count", "events"), "collisions", None, phrase, str(len(span.events)))


def _asked(kind: Kind, sort: str, group: Group | None, phrase: Phrase, answer: str) -> Candidate:
    form = "" if group is None else " ".join(attribute for attribute, _ in group.looks)
    return Candidate(kind, sort, form, Descriptive(kind.verb, phrase.text, phrase.program, answer))


def _query_states(video: Video) -> Iterator[Candidate]:
    for moment, state, group, members in video.states(video.names.groups):
        # An object that the moment names would give its own answer away.
        if len(members) == 1 and not members & set(moment.named):
            slots = {"group": group.phrase, "state": GRAMMAR.word("state", state), "moment": moment.phrase}
            target = video.worded("state_target", **slots)
            known = [attribute for attribute, _ in group.looks]
            (number,) = members
            yield from _queries(video, "states", moment.sort, target, number, known=known)


def _query_crossings(video: Video) -> Iterator[Candidate]:
    kinds: tuple[EventType, ...] = ("in", "out")
    anything = video.names.group([]).phrase
    for kind in kinds:
        for span in video.spans(kind):
            slots = {
                "group": anything,
                "crosses": GRAMMAR.word("crosses", CROSSES[kind]),
                "span": span.phrase,
            }
            for order, event in _ordered(span.events):
                target = video.worded(_target("crossing_target", order), order=_order(order), **slots)
                number = event.objects[0]
                yield from _queries(video, "events", "crosser", target, number, order, named=span.named)


def _query_partners(video: Video) -> Iterator[Candidate]:
    for span in video.spans("collision"):
        for thing in video.names.properties:
            hits = [event for event in span.events if thing.object_id in event.objects]
            for order, event in _ordered(hits):
                target = video.worded(
                    _target("partner_target", order),
                    order=_order(order),
                    colliding=video.worded("colliding"),
                    thing=video.names.of(thing.object_id, video.rng),
                    span=span.phrase,
                )
                number = _partner(event, thing.object_id)
                yield from _queries(video, "events", "partner", target, number, order, named=span.named)


def _queries(
    video: Video,
    about: str,
    sort: str,
    target: Phrase,
    number: int,
    form: str = "",
    *,
    known: Sequence[str] = (),
    named: Sequence[int] = (),
) -> Iterator[Candidate]:
    """Ask about each attribute of an object, except ``known`` attributes and ``named`` objects, which the
    phrase itself gives away.
    """
    for attribute in ATTRIBUTES if number not in named else ():
        if attribute not in known:
            phrase = video.worded("query", attribute=GRAMMAR.word("attribute", attribute), target=target)
            answer = getattr(video.names.properties[number], attribute)
            question = Descriptive(f"query_{attribute}", phrase.text, phrase.program, answer)
            yield Candidate(Kind("query", about), sort, form, question)


def _ordered(events: list[WorldEvent]) -> Iterator[tuple[str, WorldEvent]]:
    """The only event, or the first, second and last of several, if no other event has the same frame."""
    if len(events) == 1:
        yield "only", events[0]
    for order, place in _ORDERS.items() if len(events) > 1 else ():
        if sum(event.frame == events[place].frame for event in events) == 1:
            yield order, events[place]


def _target(rule: str, order: str) -> str:
    return rule if order == "only" else f"ordered_{rule}"


def _order(order: str) -> Phrase:
    return Phrase("", "") if order == "only" else GRAMMAR.word("order", order)


def _partner(event: WorldEvent, number: int) -> int:
    first, second = event.objects
    return second if first == number else first


def yes(holds: object) -> str:
    """A truth as an answer."""
    return "yes" if holds else "no"


_TEMPLATES: tuple[Callable[[Video], Iterator[Candidate]], ...] = (
    _states,
    _crossings,
    _collisions,
    _query_states,
    _query_crossings,
    _query_partners,
)


def ask(film: Film, names: Names, rng: Random, number: int) -> list[Descriptive]:
    """Draw ``number`` different questions: of each kind as many as :data:`_KINDS` says, repeated as needed.

    A video may have no question of a kind: nothing moves alone, nothing collides, or its motion is not known.
    Then a question of another kind with the same verb (count, exist or query) is drawn, else any other.
    """
    video = Video(film, names, rng)
    pool = [candidate for template in _TEMPLATES for candidate in template(video)]
    every = [kind for kind, times in _KINDS.items() for _ in range(times)]
    kinds = [kind for _ in range(number // len(every)) for kind in every]
    kinds += rng.sample(every, number % len(every))
    questions: list[Descriptive] = []
    for kind in kinds:
        fitting = [candidate for candidate in pool if candidate.kind == kind]
        alike = fitting or [candidate for candidate in pool if candidate.kind.verb == kind.verb]
        if candidates := alike or pool:
            questions.append(_drawn(rng, candidates))
            pool = [candidate for candidate in pool if candidate.question.program != questions[-1].program]
    return sorted(questions, key=lambda question: SUBTYPES.index(question.subtype))


# The properties of a candidate, in the order in which they are drawn
_STEPS: tuple[Callable[[Candidate], str], ...] = (
    lambda candidate: candidate.question.subtype,
    lambda candidate: candidate.sort,
    lambda candidate: candidate.question.answer,
    lambda candidate: candidate.form,
)


def _drawn(rng: Random, candidates: Sequence[Candidate]) -> Descriptive:
    """Draw a question: its attribute, its sort, its answer, how it describes objects, then one of these."""
    for step in _STEPS:
        by_value: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            by_value.setdefault(step(candidate), []).append(candidate)
        values = sorted(by_value)
        candidates = by_value[rng.choices(values, [_SHARES.get(value, 1) for value in values])[0]]
    return rng.choice(candidates).question
