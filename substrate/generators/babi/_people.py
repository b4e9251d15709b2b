"""Tasks about people who move and handle things; the teller moves them and keeps its own account."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

from substrate.generators.babi._tale import DROP, GET, GIVE, GO, PEOPLE, PLACES, THINGS, TOWN, TOWNSFOLK, Tale

QUESTIONS = 5
AFTERWARDS: tuple[str, ...] = ("After that", "Afterwards", "Following that", "Then")
PERIODS: tuple[str, ...] = ("yesterday", "this morning", "this afternoon", "this evening")
RESTLESS: tuple[str, ...] = ("Antoine", "Jason", "Sumit", "Yann")
MOTIVES: dict[str, tuple[str, str]] = {
    "hungry": ("kitchen", "apple"),
    "thirsty": ("kitchen", "milk"),
    "tired": ("bedroom", "pajamas"),
    "bored": ("garden", "football"),
}


class Gift(NamedTuple):
    """A gift, with the sentence that tells it."""

    tick: int
    giver: str
    thing: str
    receiver: str


class Stage:
    """The true places of all people and things, and the part that the reader knows.

    People and things start at places unknown to the reader. People whose places are unknown handle only
    things whose places are unknown, so that a known place stays known.

    Attributes:
        place: the true place of each person and thing.
        arrived: the sentence that told each person's present place, once the reader knows it.
        holder: who holds a thing.
        handled: the last sentence in which a thing was handled.
        trail: a thing's known places in order, each with the sentence that told its bearer's arrival there.
        hands: each person's handlings: the sentence and the thing.
        gifts: each gift, in the order of the story.
    """

    def __init__(self, tale: Tale, people: tuple[str, ...] = tuple(PEOPLE)) -> None:
        self.tale, self.people = tale, people
        choice = tale.rng.choice
        self.place = {name: choice(PLACES) for name in (*people, *THINGS)}
        self.arrived: dict[str, int] = {}
        self.holder: dict[str, str] = {}
        self.handled: dict[str, int] = {}
        self.trail: dict[str, list[tuple[str, int]]] = {thing: [] for thing in THINGS}
        self.hands: dict[str, list[tuple[int, str]]] = {name: [] for name in people}
        self.gifts: list[Gift] = []

    def held(self, person: str) -> list[str]:
        """The things that a person holds, in the order in which the person first handled them."""
        order = list(dict.fromkeys(thing for _, thing in self.hands[person]))
        return [thing for thing in order if self.holder.get(thing) == person]

    def _mark(self, thing: str, person: str) -> None:
        """Add a person's place to a thing's trail, if the reader knows it.

        The person who handles a thing last determines its place.
        """
        place = self.place[thing] = self.place[person]
        if person in self.arrived:
            trail = self.trail[thing]
            if trail and trail[-1][0] == place:  # a second stay at the same place replaces the first
                trail = trail[:-1]
            self.trail[thing] = [*trail, (place, self.arrived[person])]

    def move(self) -> None:
        """Move someone to a different place, with everything they hold."""
        rng = self.tale.rng
        person = rng.choice(self.people)
        self.place[person] = rng.choice([place for place in PLACES if place != self.place[person]])
        self.arrived[person] = self.tale.say(f"{person} {rng.choice(GO)} the {self.place[person]}.")
        for thing in self.held(person):
            self._mark(thing, person)

    def take(self) -> bool:
        """Let someone pick up a thing that nobody holds; return whether anyone could."""
        lying = [thing for thing in THINGS if thing not in self.holder]
        able = [
            (person, thing, None)
            for person, thing in product(self.people, lying)
            if self.place[thing] == self.place[person] and (person in self.arrived or not self.trail[thing])
        ]
        return self._handle(able, GET)

    def drop(self) -> bool:
        """Let someone put something down; return whether anyone could."""
        return self._handle([(person, thing, None) for thing, person in sorted(self.holder.items())], DROP)

    def give(self) -> bool:
        """Let someone hand something to a person in the same place; return whether anyone could."""
        able = [
            (giver, thing, other)
            for (thing, giver), other in product(sorted(self.holder.items()), self.people)
            if other != giver
            and self.place[other] == self.place[giver]
            and (other in self.arrived) == (giver in self.arrived)
        ]
        return self._handle(able, GIVE)

    def _handle(self, able: Sequence[tuple[str, str, str | None]], verbs: tuple[str, ...]) -> bool:
        """Let one of the able people handle a thing."""
        if not able:
            return False
        tale = self.tale
        person, thing, receiver = tale.rng.choice(able)
        clause = f"{person} {tale.rng.choice(verbs)} the {thing}"
        tick = tale.say(f"{clause} to {receiver}." if receiver else f"{clause}{tale.there()}.")
        self.handled[thing] = tick
        self.hands[person].append((tick, thing))
        self._mark(thing, person)
        self.holder[thing] = receiver or person
        if verbs is DROP:
            del self.holder[thing]
        if receiver:
            self.hands[receiver].append((tick, thing))
            self.gifts.append(Gift(tick, person, thing, receiver))
        return True

    def go_on(self, *acts: Callable[[], bool]) -> None:
        """Tell a sentence: a possible act, or a move."""
        rng = self.tale.rng
        if not (acts and rng.random() < 0.5 and rng.choice(acts)()):
            self.move()


def where_is_someone(tale: Tale) -> None:
    """Task 1."""
    stage = Stage(tale)
    while tale.asked < QUESTIONS:
        stage.go_on()
        stage.go_on()
        person = tale.rng.choice(sorted(stage.arrived))
        tale.ask(f"Where is {person}?", stage.place[person], stage.arrived[person])


def where_is_something(tale: Tale) -> None:
    """Task 2."""
    stage = Stage(tale)
    while tale.asked < QUESTIONS:
        stage.go_on(stage.take, stage.drop)
        if (placed := [thing for thing in THINGS if stage.trail[thing]]) and tale.rng.random() < 0.4:
            thing = tale.rng.choice(placed)
            supporting = stage.handled[thing], _brought(stage, thing)
            tale.ask(f"Where is the {thing}?", stage.place[thing], *supporting)


def _brought(stage: Stage, thing: str) -> int:
    """The move that brought a thing, or the last person to handle it, to its place."""
    if holder := stage.holder.get(thing):
        return stage.arrived[holder]
    handled = stage.handled[thing]
    person = next(person for person in stage.people if (handled, thing) in stage.hands[person])
    own = [line for line in stage.tale.lines[: handled - 1] if line.text.startswith(f"{person} ")]
    return [line.id for line in own if any(verb in line.text for verb in GO)][-1]


def where_was_something(tale: Tale) -> None:
    """Task 3."""
    stage = Stage(tale)
    while tale.asked < QUESTIONS:
        stage.go_on(stage.take, stage.drop)
        travelled = [thing for thing in THINGS if len(stage.trail[thing]) > 1]
        if travelled and tale.rng.random() < 0.3:
            thing = tale.rng.choice(travelled)
            trail = stage.trail[thing]
            # The last stay at a place is asked for, unless it is the first of all: nothing comes before it
            last = {place: index for index, (place, _) in enumerate(trail)}
            index = tale.rng.choice(sorted(index for index in last.values() if index))
            (place, came), (before, was) = trail[index], trail[index - 1]
            tale.ask(f"Where was the {thing} before the {place}?", before, stage.handled[thing], came, was)


_ABOUT_GIFTS: Sequence[tuple[str, str, Sequence[str]]] = (
    ("What did {giver} give to {receiver}?", "thing", ("giver", "receiver")),
    ("Who gave the {thing}?", "giver", ("thing",)),
    ("Who gave the {thing} to {receiver}?", "giver", ("thing", "receiver")),
    ("Who received the {thing}?", "receiver", ("thing",)),
    ("Who did {giver} give the {thing} to?", "receiver", ("giver", "thing")),
)
"""Questions about a gift: the text, the role that is asked for, and the roles that the text names."""


def who_gave_what(tale: Tale) -> None:
    """Task 5."""
    stage = Stage(tale, ("Bill", "Fred", "Jeff", "Mary"))
    while tale.asked < QUESTIONS:
        stage.go_on(stage.take, stage.give, stage.give, stage.drop)
        if not stage.gifts or tale.rng.random() < 0.6:
            continue
        gift = tale.rng.choice(stage.gifts)
        text, asked, named = tale.rng.choice(_ABOUT_GIFTS)
        roles = gift._asdict()
        alike = [other for other in stage.gifts if all(getattr(other, role) == roles[role] for role in named)]
        # A question means the last gift that fits it.
        if alike[-1] == gift:
            tale.ask(text.format(**roles), roles[asked], gift.tick)


def is_someone_there(tale: Tale) -> None:
    """Task 6."""
    stage = Stage(tale)
    while tale.asked < QUESTIONS:
        stage.go_on(stage.take, stage.drop)
        if stage.arrived:
            person = tale.rng.choice(sorted(stage.arrived))
            here = stage.place[person]
            place = tale.rng.choice((here, tale.rng.choice(PLACES)))
            answer = "yes" if here == place else "no"
            tale.ask(f"Is {person} in the {place}?", answer, stage.arrived[person])


def how_many(tale: Tale) -> None:
    """Task 7."""
    numbers = ("none", "one", "two", "three")
    _in_hands(tale, "How many objects is {} carrying?", lambda held: numbers[len(held)], giving=True)


def what_list(tale: Tale) -> None:
    """Task 8."""
    _in_hands(tale, "What is {} carrying?", lambda held: ",".join(held) or "nothing", giving=False)


def _in_hands(tale: Tale, question: str, answer: Callable[[list[str]], str], *, giving: bool) -> None:
    stage = Stage(tale)
    while tale.asked < QUESTIONS:
        stage.go_on(stage.take, stage.take, stage.drop, *([stage.give] if giving else []))
        if (busy := [person for person in stage.people if stage.hands[person]]) and tale.rng.random() < 0.4:
            person = tale.rng.choice(busy)
            ticks = (tick for tick, _ in stage.hands[person])
            tale.ask(question.format(person), answer(stage.held(person)), *ticks)


def negation(tale: Tale) -> None:
    """Task 9: ``known`` has a person's place, whether they are there, and the sentence that says so."""
    known: dict[str, tuple[str, bool, int]] = {}
    rng = tale.rng
    while tale.asked < QUESTIONS:
        person, place = rng.choice(tuple(PEOPLE)), rng.choice(PLACES)
        last, there, _ = known.get(person, (place, True, 0))
        if there and rng.random() < 0.5:
            denied = f"{person} is {rng.choice(('not', 'no longer'))} in the {last}."
            known[person] = (last, False, tale.say(denied))
        else:
            known[person] = (place, True, tale.say(f"{person} {rng.choice((*GO, 'is in'))} the {place}."))
        if tale.next_id % 3 == 0:
            person = rng.choice(sorted(known))
            place, there, tick = known[person]
            guess = rng.choice((place, rng.choice(PLACES))) if there else place
            tale.ask(f"Is {person} in the {guess}?", "yes" if there and guess == place else "no", tick)


def indefinite(tale: Tale) -> None:
    """Task 10: ``known`` has the places where a person may be, and the sentence that says so."""
    known: dict[str, tuple[list[str], int]] = {}
    rng = tale.rng
    while tale.asked < QUESTIONS:
        person = rng.choice(TOWNSFOLK)
        places = rng.sample(TOWN, rng.choice((1, 2)))
        verb = "is either in" if len(places) == 2 else rng.choice((*GO, "is in"))
        known[person] = (places, tale.say(f"{person} {verb} the {' or the '.join(places)}."))
        if tale.next_id % 3 == 0:
            person = rng.choice(sorted(known))
            places, tick = known[person]
            guess = rng.choice((*places, rng.choice(TOWN)))
            answer = "no" if guess not in places else "maybe" if len(places) == 2 else "yes"
            tale.ask(f"Is {person} in the {guess}?", answer, tick)


def group_moves(tale: Tale, *, size: int, pronoun: bool) -> None:
    """Tasks 11 to 13: ``size`` people go somewhere, then, with ``pronoun``, somewhere again.

    ``last`` has the place of each person, and the sentences that say so.
    """
    last: dict[str, tuple[str, tuple[int, ...]]] = {}
    rng = tale.rng
    while tale.asked < QUESTIONS:
        group = rng.sample(sorted(PEOPLE), size)
        first, then = rng.choice(PLACES), rng.choice(PLACES)
        ticks = [tale.say(f"{' and '.join(group)} {rng.choice(GO)} the {first}.")]
        if pronoun:
            subject = f"{rng.choice(AFTERWARDS)} {'they' if size > 1 else PEOPLE[group[0]]}"
            ticks.append(tale.say(f"{subject} {rng.choice(GO)} the {then}."))
        last.update({person: (then if pronoun else first, tuple(ticks)) for person in group})
        person = rng.choice(sorted(last))
        tale.ask(f"Where is {person}?", last[person][0], *last[person][1])


def times_of_day(tale: Tale) -> None:
    """Task 14: every day is planned first, then told out of order."""
    rng = tale.rng
    days = {
        person: dict(zip(PERIODS, rng.sample(TOWN, len(PERIODS)), strict=True))
        for person in TOWNSFOLK[: rng.randint(2, 4)]
    }
    visits = [(person, period) for person in days for period in PERIODS]
    rng.shuffle(visits)
    told: dict[str, dict[str, int]] = {person: {} for person in days}
    for person, period in visits:
        clause = f"{person} {rng.choice(GO)} the {days[person][period]}"
        sentence = rng.choice((f"{clause} {period}.", f"{period.capitalize()} {clause}."))
        told[person][period] = tale.say(sentence)
        able = sorted(name for name in told if len(told[name]) > 1)
        if able and tale.asked < QUESTIONS and rng.random() < 0.6:
            name = rng.choice(able)
            known = [period for period in PERIODS if period in told[name]]
            index = rng.randrange(1, len(known))
            day, later, earlier = days[name], known[index], known[index - 1]
            supporting = told[name][later], told[name][earlier]
            tale.ask(f"Where was {name} before the {day[later]}?", day[earlier], *supporting)


def motives(tale: Tale) -> None:
    """Task 20: people with a motive go where it leads, and take what helps."""
    rng = tale.rng
    plans = dict(zip(rng.sample(RESTLESS, 4), rng.sample(sorted(MOTIVES), 4), strict=True))
    steps = [person for person in plans for _ in range(3)]
    rng.shuffle(steps)
    begun: dict[str, list[int]] = {person: [] for person in plans}
    for person in steps:
        motive, (place, thing) = plans[person], MOTIVES[plans[person]]
        name, done = person.lower(), begun[person]
        if not done:
            done.append(tale.say(f"{person} is {motive}."))
            tale.ask(f"Where will {name} go?", place, done[0])
        elif len(done) == 1:
            done.append(tale.say(f"{person} {rng.choice(GO)} the {place}."))
            tale.ask(f"Why did {name} go to the {place}?", motive, done[0])
        else:
            tale.say(f"{person} {rng.choice(GET)} the {thing} there.")
            tale.ask(f"Why did {name} get the {thing}?", motive, done[0])
