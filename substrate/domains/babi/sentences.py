"""The grammar of all tasks: a sentence to the facts that it tells.

    sentence   = [opening] [time] clause {("and" | "then" | ",") (clause | predicate)} [time] "."
    clause     = people predicate | "the" noun "is" relation "the" noun | kinds "are afraid of" kinds | …
    predicate  = "is" state | verb [particle] [things] [particle] {preposition (places | people)} ["there"]

The whole of a sentence is read or none of it: what no rule covers is an error that names it.
"""

from __future__ import annotations

from substrate.domains.babi._lexicon import (
    OPENINGS,
    PERIODS,
    PRONOUNS,
    RELATIONS,
    Kinds,
    Verb,
    lexicon,
)
from substrate.domains.babi._phrases import Complement, Phrases
from substrate.domains.babi.facts import (
    Absent,
    Belongs,
    Departed,
    Dropped,
    Either,
    Fact,
    Fears,
    Gave,
    Moved,
    Pronoun,
    Quality,
    Related,
    Took,
    Who,
)

_IRREGULAR = {"mice": "mouse", "sheep": "sheep", "geese": "goose"}
_PARTICLES = ("up", "down", "back", "over")
_PREPOSITIONS = {
    "to": "to", "into": "to", "from": "from", "out of": "from", "in": "in", "at": "in", "inside": "in",
    "with": "with", "together with": "with", "for": "for",
}  # fmt: skip
_CARRIED, _RIDDEN = "Thing", "Vehicle"


def parse_sentence(text: str, kinds: Kinds | None = None) -> list[Fact]:
    """The facts that a sentence tells, in order.

    Args:
        text: the sentence.
        kinds: the classes that nouns are known to have; the TBox's words where it is left out.

    Raises:
        FormatError: a part of the sentence is none of the grammar's; names that part.

    >>> parse_sentence("Then they went back to the kitchen.")
    [Moved(who=Pronoun(word='they'), place='kitchen', period=None)]
    >>> [(fact.who, fact.thing) for fact in parse_sentence("Mary picked up the apple and the milk.")]
    [(('Mary',), 'apple'), (('Mary',), 'milk')]
    >>> parse_sentence("Yesterday Julie travelled to the park.")
    [Moved(who=('Julie',), place='park', period='yesterday')]
    """
    return _Sentence(text, kinds or lexicon().kinds).read()


def singular(plural: str) -> str:
    """The singular of a plural noun, in lower case.

    >>> [singular(word) for word in ("Mice", "wolves", "cats", "sheep")]
    ['mouse', 'wolf', 'cat', 'sheep']
    """
    word = plural.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return word[:-3] + "f" if word.endswith("lves") else word.removesuffix("s")


class _Sentence(Phrases):
    """A sentence being read."""

    # Sentences and clauses

    def read(self) -> list[Fact]:
        """All facts of the sentence."""
        self.take(*(opening for opening in OPENINGS))
        self.take(",")
        period = self.take(*PERIODS)
        self.take(",")
        facts = self.clause()
        last = self.take(*PERIODS)
        if period and last:
            self.fail(f"{period!r} and {last!r} are two times")
        period = period or last
        while self.next():
            facts += self.continuation(facts[-1])
        if not period:
            return facts
        if len(facts) != 1 or not isinstance(facts[0], Moved):
            self.fail(f"{period!r} is read with a single move only")
        return [facts[0]._replace(period=PERIODS[period])]

    def continuation(self, before: Fact) -> list[Fact]:
        """A sentence's addition by "and" or "then": another clause, or more of the same people."""
        self.take(",")
        if not self.take("and then", "and", "then"):
            self.fail()
        who = getattr(before, "who", None)
        if who and self.is_predicate():
            return self.predicate(who)
        if isinstance(before, Moved) and self.next() in ("to", "into"):
            return self.moved(who or (), (), self.complements())
        return self.clause()

    def is_predicate(self) -> bool:
        return self.next() in lexicon().verbs or self.next() in ("is", "are")

    def clause(self) -> list[Fact]:
        """A subject and what is said of it."""
        if self.next() == "the":
            subject = self.noun()
            if self.is_predicate() and self.next() != "is":
                self.fail(f"'the {subject}' can be no subject of {self.next()!r}")
            return [self.relation(subject)]
        if self.next(1) == "are" and self.next(2) == "afraid":
            kind = self.plain()
            self.expect("are afraid of")
            return [Fears(singular(kind), singular(self.plain()))]
        return self.predicate(self.people())

    def relation(self, subject: str) -> Fact:
        """A thing's or a place's relation to another."""
        if self.take("fits inside", "fits in"):
            return Related(subject, "fitsIn", self.noun())
        self.expect("is")
        relation = self.expect(*RELATIONS)
        return Related(subject, RELATIONS[relation], self.noun())

    def people(self) -> Who:
        """A pronoun, or names."""
        if self.next() in PRONOUNS:
            return Pronoun(self.word().lower())
        return self.names(subject=True)

    def predicate(self, who: Who) -> list[Fact]:
        """A statement of what people are, or do."""
        if self.take("is", "are"):
            return self.state(who)
        uses = lexicon().verbs.get(self.next())
        if not uses:
            self.fail()
        self.read_so_far += 1
        return self.deed(who, uses)

    # What people are

    def state(self, who: Who) -> list[Fact]:
        """The rest of a sentence after "is"."""
        self.take("now", "back")
        if self.take("either in", "either at"):
            return [Either(who, self.alternatives())]
        if self.take("not in", "not at", "no longer in", "no longer at"):
            return [Absent(who, self.place(self.noun()))]
        if self.take("in", "at", "inside"):
            places = self.alternatives()
            companions = self.names() if self.take("with", "together with") else ()
            groups = _together(who, companions)
            if len(places) > 1:
                return [Either(group, places) for group in groups]
            return [Moved(group, place) for group in groups for place in places]
        individual = self.one_by_name(who)
        if self.take("a", "an"):
            return [Belongs(individual, self.plain().lower())]
        return [Quality(individual, self.plain().lower())]

    def alternatives(self) -> tuple[str, ...]:
        """Places joined by "or"."""
        places = [self.place(self.noun())]
        while self.take("or in", "or at", "or"):
            places.append(self.place(self.noun()))
        return tuple(places)

    # What people do

    def complements(self) -> dict[str, Complement]:
        """The objects of the prepositions that follow, each once."""
        found: dict[str, Complement] = {}
        while preposition := self.take(*_PREPOSITIONS):
            role = _PREPOSITIONS[preposition]
            if role in found:
                self.fail(f"{preposition!r} comes twice")
            found[role] = self.nouns() if self.next() == "the" else Complement(names=self.names())
        return found

    def deed(self, who: Who, uses: tuple[Verb, ...]) -> list[Fact]:
        """The rest of a sentence after a verb."""
        start = self.read_so_far - 1
        particles = [self.word().lower()] if self.next() in _PARTICLES else []
        receiver = ""
        gives = any(use.effect == "Give" for use in uses)
        if gives and self.next() != "the":
            receiver = self.name()
        objects = self.nouns() if self.next() == "the" else Complement()
        if objects.nouns and not particles and self.next() in _PARTICLES:
            particles = [self.word().lower()]
        there = bool(self.take("there"))
        others = self.complements()
        there = bool(self.take("there")) or there
        if self.next() not in ("", ",", "and", "then", "yesterday", "this"):
            self.fail()
        if objects.joined == "or":
            self.fail("one of several things is told", start)
        fitting = [use for use in uses if self.fits(use, particles, objects.nouns, others)]
        if len(fitting) != 1:
            words = " ".join(self.words[start : self.read_so_far])
            unclear = f"{words!r} may be read in two ways"
            strange = [noun for noun in objects.nouns if not self.kinds(noun)]
            if strange and not fitting:
                unclear = f"{words!r} cannot be read before it is told what the {strange[0]} is"
            self.fail(unclear if fitting or strange else f"{words!r} cannot be read", start)
        effect = fitting[0].effect
        if there and effect not in ("Take", "Drop"):
            self.fail(f"'there' is not read after {uses[0].past!r}")
        if receiver:
            if "to" in others:
                self.fail("two receivers are told")
            others["to"] = Complement(names=(receiver,))
        return _EFFECTS[effect](self, who, objects.nouns, others)

    def fits(
        self, use: Verb, particles: list[str], objects: tuple[str, ...], others: dict[str, Complement]
    ) -> bool:
        """Tell whether a verb is used that way here."""
        if not set(use.particles) <= set(particles):
            return False
        extra = set(particles) - set(use.particles)
        if extra - ({"back", "over"} if use.effect == "Move" and not objects else {"back"}):
            return False
        if extra and use.effect not in ("Move", "Give"):
            return False
        if not use.object:
            return not objects
        if use.effect == "Departure":
            if not objects:
                return "for" in others
            return all("Thing" not in self.kinds(noun) for noun in objects) and (
                "Place" in self.kinds(objects[0]) or use.base != "leave" or "for" in others
            )
        if not objects:
            return False
        if use.base == "leave":
            return all("Place" not in self.kinds(noun) and self.kinds(noun) for noun in objects)
        return use.effect != "Placement" or ("in" in others and not particles)

    def place(self, noun: str, *, known: bool = False) -> str:
        """A noun that names a place."""
        kinds = self.kinds(noun)
        if "Place" not in kinds and ("Thing" in kinds or _RIDDEN in kinds or known):
            wrong = "is a thing" if kinds else "is not known to be a place"
            self.fail(f"the {noun} {wrong}")
        return noun

    def thing(self, noun: str) -> str:
        """A noun that names a thing."""
        kinds = self.kinds(noun)
        if "Place" in kinds and "Thing" not in kinds:
            self.fail(f"the {noun} is a place")
        return noun

    def only(self, others: dict[str, Complement], *roles: str) -> None:
        """Refuse prepositions that mean nothing here."""
        for role in others:
            if role not in roles:
                self.fail(f"{role!r} is not read with that verb")

    def one_place(self, others: dict[str, Complement], role: str, *, known: bool = False) -> str | None:
        """The one place that a preposition brings, if any."""
        if role not in others:
            return None
        found = others[role]
        if len(found.nouns) != 1:
            self.fail(f"{role!r} is not followed by one place")
        return self.place(found.nouns[0], known=known)

    def one_name(self, others: dict[str, Complement], role: str) -> str:
        """The one person that a preposition brings."""
        found = others.get(role, Complement())
        if len(found.names) != 1:
            self.fail(f"{role!r} is not followed by one name")
        return found.names[0]

    def one_by_name(self, who: Who) -> str:
        """The one person that a subject names."""
        if isinstance(who, Pronoun) or len(who) != 1:
            self.fail("the sentence is read of one person by name only")
        return "".join(who)

    def one_agent(self, who: Who) -> Who:
        """Refuse several who would have to hold one thing."""
        if len(who) > 1 or who == Pronoun("they"):
            self.fail("several people cannot hold one thing")
        return who

    def moved(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "to", "from", "with")
        if objects:
            self.only(others, "with")
            goals = Complement(nouns=objects)
        else:
            goals = others.get("to", Complement())
        origin = self.one_place(others, "from")
        company = others.get("with", Complement())
        groups = _together(who, company.names)
        left: list[Fact] = [Departed(group, origin) for group in groups] if origin else []
        if left and "to" not in others and not company.nouns:
            return left
        if not goals.nouns or (len(goals.nouns) > 1 and goals.joined != "or"):
            self.fail("the sentence names not one place to go to")
        places = tuple(self.place(noun) for noun in goals.nouns)
        taken: list[Fact] = [Took(self.one_agent(who), self.thing(noun)) for noun in company.nouns]
        if len(places) > 1:
            return [*taken, *left, *(Either(group, places) for group in groups)]
        return [*taken, *left, *(Moved(group, place) for group in groups for place in places)]

    def departed(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "for", "to", "with")
        company = others.get("with", Complement())
        if len(objects) > 1 or company.nouns or {"for", "to"} <= set(others):
            self.fail()
        groups = _together(who, company.names)
        goal = self.one_place(others, "for" if "for" in others else "to")
        left: list[Fact] = [Departed(group, self.place(noun)) for noun in objects for group in groups]
        return [*left, *(Moved(group, goal) for group in groups if goal)]

    def took(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        if len(objects) == 1 and self.kinds(objects[0]) == {_RIDDEN}:
            return self.moved(who, (), others)
        if "to" in others:
            return self.carried(who, objects, others)
        self.only(others, "from", "in")
        who = self.one_agent(who)
        place = self.one_place(others, "in", known=True)
        source = others.get("from", Complement())
        if source.nouns and place:
            self.fail("two places are told")
        if source.nouns:
            place = self.one_place(others, "from", known=True)
        holder = self.one_name(others, "from") if source.names else None
        return [Took(who, self.thing(noun), place, holder) for noun in objects]

    def carried(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "to", "from", "with")
        origin = self.one_place(others, "from", known=True)
        if "to" not in others:
            self.fail("the sentence does not say where to")
        taken: list[Fact] = [Took(self.one_agent(who), self.thing(noun), origin) for noun in objects]
        company = {role: brought for role, brought in others.items() if role == "with"}
        return [*taken, *self.moved(who, (), {"to": others["to"], **company})]

    def dropped(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "in")
        place = self.one_place(others, "in", known=True)
        return [Dropped(self.one_agent(who), self.thing(noun), place) for noun in objects]

    def gave(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "to")
        receiver = self.one_name(others, "to")
        return [Gave(self.one_agent(who), self.thing(noun), receiver) for noun in objects]

    def received(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "from")
        giver = (self.one_name(others, "from"),)
        receiver = self.one_by_name(who)
        return [Gave(giver, self.thing(noun), receiver) for noun in objects]


def _together(who: Who, companions: tuple[str, ...]) -> list[Who]:
    """People and who is with them, as one group where all are named."""
    if isinstance(who, Pronoun):
        return [who, companions] if companions else [who]
    return [tuple(dict.fromkeys((*who, *companions)))]


_EFFECTS = {
    "Move": _Sentence.moved,
    "Departure": _Sentence.departed,
    "Take": _Sentence.took,
    "Carriage": _Sentence.carried,
    "Drop": _Sentence.dropped,
    "Placement": _Sentence.dropped,
    "Give": _Sentence.gave,
    "Receipt": _Sentence.received,
}
