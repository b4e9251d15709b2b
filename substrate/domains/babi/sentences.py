"""The grammar of all tasks: from a sentence to the facts that it tells.

    sentence   = [opening] [time] clause {("and" | "then" | ",") (clause | predicate)} [time] "."
    clause     = people predicate | "the" noun "is" relation "the" noun | kinds "are afraid of" kinds | …
    predicate  = "is" state | verb [particle] [things] [particle] {preposition (places | people)} ["there"]

A sentence is read as a whole or not at all: an error names the part that no rule covers.
"""

from __future__ import annotations

from substrate.domains.babi import facts
from substrate.domains.babi._lexicon import OPENINGS, PERIODS, PRONOUNS, RELATIONS, Kinds, Verb, lexicon
from substrate.domains.babi._phrases import Complement, Phrases
from substrate.domains.babi._telling import Pronoun, Who
from substrate.domains.babi.facts import Fact

_IRREGULAR = {"mice": "mouse", "sheep": "sheep", "geese": "goose"}
_PARTICLES = ("up", "down", "back", "over")
_PREPOSITIONS = {
    "to": "to", "into": "to", "from": "from", "out of": "from", "in": "in", "at": "in", "inside": "in",
    "with": "with", "together with": "with", "for": "for",
}  # fmt: skip


def parse_sentence(text: str, kinds: Kinds | None = None) -> list[Fact]:
    """The facts that a sentence tells, in order.

    Args:
        text: the sentence.
        kinds: gives the known classes of a noun; by default the TBox's words.

    Raises:
        FormatError: the grammar lacks a part of the sentence; the error names that part.

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
        self.take(*OPENINGS)
        self.take(",")
        period = self.take(*PERIODS)
        self.take(",")
        parsed = self.clause()
        last = self.take(*PERIODS)
        if period and last:
            self.fail(f"{period!r} and {last!r} are two times")
        period = period or last
        while self.next():
            parsed += self.continuation(parsed[-1])
        if not period:
            return parsed
        if len(parsed) != 1 or not isinstance(move := parsed[0], facts.Moved):
            self.fail(f"{period!r} is read with a single move only")
        return [move._replace(period=PERIODS[period])]

    def continuation(self, before: Fact) -> list[Fact]:
        """Read an addition by "and" or "then": another clause, or more about the same people."""
        self.take(",")
        self.expect("and then", "and", "then")
        who = getattr(before, "who", None)
        if who and self.is_predicate():
            return self.predicate(who)
        if isinstance(before, facts.Moved) and self.next() in ("to", "into"):
            return self.moved(before.who, (), self.complements())
        return self.clause()

    def is_predicate(self) -> bool:
        return self.next() in lexicon().verbs or self.next() in ("is", "are")

    def clause(self) -> list[Fact]:
        """Read a subject and the statement about it."""
        if self.next() == "the":
            subject = self.noun()
            if self.is_predicate() and self.next() != "is":
                self.fail(f"'the {subject}' can be no subject of {self.next()!r}")
            if self.take("fits inside", "fits in"):
                return [facts.Related(subject, "fitsIn", self.noun())]
            self.expect("is")
            return [facts.Related(subject, RELATIONS[self.expect(*RELATIONS)], self.noun())]
        if (self.next(1), self.next(2)) == ("are", "afraid"):
            kind = self.plain()
            self.expect("are afraid of")
            return [facts.Fears(singular(kind), singular(self.plain()))]
        pronoun = self.next() in PRONOUNS
        return self.predicate(Pronoun(self.word().lower()) if pronoun else self.names(subject=True))

    def predicate(self, who: Who) -> list[Fact]:
        """Read a statement of what people are, or do."""
        if self.take("is", "are"):
            return self.state(who)
        uses = lexicon().verbs.get(self.next()) or self.fail()
        self.read_so_far += 1
        return self.deed(who, uses)

    # What people are

    def state(self, who: Who) -> list[Fact]:
        """Read the rest of a sentence after "is"."""
        self.take("now", "back")
        if self.take("either in", "either at"):
            return [facts.Either(who, self.alternatives())]
        if self.take("not in", "not at", "no longer in", "no longer at"):
            return [facts.Absent(who, self.place(self.noun()))]
        if self.take("in", "at", "inside"):
            places = self.alternatives()
            return _arrived(
                _together(who, self.names() if self.take("with", "together with") else ()), places
            )
        individual = self.one_by_name(who)
        if self.take("a", "an"):
            return [facts.Belongs(individual, self.plain().lower())]
        return [facts.Quality(individual, self.plain().lower())]

    def alternatives(self) -> tuple[str, ...]:
        """Read places joined by "or"."""
        places = [self.place(self.noun())]
        while self.take("or in", "or at", "or"):
            places.append(self.place(self.noun()))
        return tuple(places)

    # What people do

    def complements(self) -> dict[str, Complement]:
        """Read the objects of the prepositions that follow, each preposition once."""
        by_role: dict[str, Complement] = {}
        while preposition := self.take(*_PREPOSITIONS):
            role = _PREPOSITIONS[preposition]
            if role in by_role:
                self.fail(f"{preposition!r} comes twice")
            by_role[role] = self.nouns() if self.next() == "the" else Complement(names=self.names())
        return by_role

    def deed(self, who: Who, uses: tuple[Verb, ...]) -> list[Fact]:
        """Read the rest of a sentence after a verb."""
        start = self.read_so_far - 1
        particle = self.take(*_PARTICLES)
        gives = any(use.effect == "Give" for use in uses)
        receiver = self.name() if gives and self.next() != "the" else ""
        objects = self.nouns() if self.next() == "the" else Complement()
        if objects.nouns and not particle:
            particle = self.take(*_PARTICLES)
        there = self.take("there")
        others = self.complements()
        there = self.take("there") or there
        if self.next() not in ("", ",", "and", "then", "yesterday", "this"):
            self.fail()
        if objects.joined == "or":
            self.fail("one of several things is told", start)
        fitting = [use for use in uses if self.fits(use, particle, objects.nouns, others)]
        if len(fitting) != 1:
            words = " ".join(self.words[start : self.read_so_far])
            strange = [noun for noun in objects.nouns if not self.kinds(noun)]
            if fitting:
                self.fail(f"{words!r} may be read in two ways", start)
            if strange:
                self.fail(f"{words!r} cannot be read before it is told what the {strange[0]} is", start)
            self.fail(f"{words!r} cannot be read", start)
        effect = fitting[0].effect
        if there and effect not in ("Take", "Drop"):
            self.fail(f"'there' is not read after {uses[0].past!r}")
        if receiver:
            if "to" in others:
                self.fail("two receivers are told")
            others["to"] = Complement(names=(receiver,))
        return _EFFECTS[effect](self, who, objects.nouns, others)

    def fits(self, use: Verb, particle: str, objects: tuple[str, ...], others: dict[str, Complement]) -> bool:
        """Tell whether this use of a verb fits the words here."""
        # Particles that a verb may have without declaring them: "went back".
        loose = {"Move": {"back"} if objects else {"back", "over"}, "Give": {"back"}}
        extra = {particle} - {"", *use.particles}
        if not set(use.particles) <= {particle} or extra - loose.get(use.effect, set()):
            return False
        if not use.object:
            return not objects
        if use.effect == "Departure":
            if not objects:
                return "for" in others
            # People leave a place or a thing: the noun's class decides.
            is_place = "Place" in self.kinds(objects[0]) or use.base != "leave" or "for" in others
            return is_place and all("Thing" not in self.kinds(noun) for noun in objects)
        if not objects:
            return False
        if use.base == "leave":
            return all("Place" not in self.kinds(noun) and self.kinds(noun) for noun in objects)
        return use.effect != "Placement" or ("in" in others and not particle)

    def place(self, noun: str, *, known: bool = False) -> str:
        """Check that a noun names a place."""
        kinds = self.kinds(noun)
        if "Place" not in kinds and (known or kinds & {"Thing", "Vehicle"}):
            self.fail(f"the {noun} {'is a thing' if kinds else 'is not known to be a place'}")
        return noun

    def thing(self, noun: str) -> str:
        """Check that a noun names a thing."""
        kinds = self.kinds(noun)
        if "Place" in kinds and "Thing" not in kinds:
            self.fail(f"the {noun} is a place")
        return noun

    def only(self, others: dict[str, Complement], *roles: str) -> None:
        """Refuse prepositions that the verb does not take."""
        for role in others:
            if role not in roles:
                self.fail(f"{role!r} is not read with that verb")

    def one_place(self, others: dict[str, Complement], role: str, *, known: bool = False) -> str | None:
        """The only place that a preposition gives, if any."""
        if role not in others:
            return None
        if len(others[role].nouns) != 1:
            self.fail(f"{role!r} is not followed by one place")
        return self.place(others[role].nouns[0], known=known)

    def one_name(self, others: dict[str, Complement], role: str) -> str:
        """The only person that a preposition gives."""
        names = others.get(role, Complement()).names
        return names[0] if len(names) == 1 else self.fail(f"{role!r} is not followed by one name")

    def one_by_name(self, who: Who) -> str:
        """The only person that a subject names."""
        if isinstance(who, Pronoun) or len(who) != 1:
            self.fail("the sentence is read of one person by name only")
        return who[0]

    def one_agent(self, who: Who) -> Who:
        """Refuse several people who would have to hold one thing."""
        if len(who) > 1 or who == Pronoun("they"):
            self.fail("several people cannot hold one thing")
        return who

    def moved(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, *(("with",) if objects else ("to", "from", "with")))
        goals = Complement(nouns=objects) if objects else others.get("to", Complement())
        origin = self.one_place(others, "from")
        company = others.get("with", Complement())
        groups = _together(who, company.names)
        exits: list[Fact] = [facts.Departed(group, origin) for group in groups] if origin else []
        if exits and "to" not in others and not company.nouns:
            return exits
        if not goals.nouns or (len(goals.nouns) > 1 and goals.joined != "or"):
            self.fail("the sentence names not one place to go to")
        places = tuple(self.place(noun) for noun in goals.nouns)
        taken = [facts.Took(self.one_agent(who), self.thing(noun)) for noun in company.nouns]
        return [*taken, *exits, *_arrived(groups, places)]

    def departed(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "for", "to", "with")
        company = others.get("with", Complement())
        if len(objects) > 1 or company.nouns or {"for", "to"} <= set(others):
            self.fail()
        groups = _together(who, company.names)
        goal = self.one_place(others, "for" if "for" in others else "to")
        exits = [facts.Departed(group, self.place(noun)) for noun in objects for group in groups]
        return [*exits, *_arrived(groups, (goal,) if goal else ())]

    def took(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        if len(objects) == 1 and self.kinds(objects[0]) == {"Vehicle"}:
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
        return [facts.Took(who, self.thing(noun), place, holder) for noun in objects]

    def carried(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "to", "from", "with")
        origin = self.one_place(others, "from", known=True)
        if "to" not in others:
            self.fail("the sentence does not say where to")
        taken = [facts.Took(self.one_agent(who), self.thing(noun), origin) for noun in objects]
        onward = {role: complement for role, complement in others.items() if role != "from"}
        return [*taken, *self.moved(who, (), onward)]

    def dropped(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "in")
        place = self.one_place(others, "in", known=True)
        return [facts.Dropped(self.one_agent(who), self.thing(noun), place) for noun in objects]

    def gave(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "to")
        receiver = self.one_name(others, "to")
        return [facts.Gave(self.one_agent(who), self.thing(noun), receiver) for noun in objects]

    def received(self, who: Who, objects: tuple[str, ...], others: dict[str, Complement]) -> list[Fact]:
        self.only(others, "from")
        giver, receiver = (self.one_name(others, "from"),), self.one_by_name(who)
        return [facts.Gave(giver, self.thing(noun), receiver) for noun in objects]


def _together(who: Who, companions: tuple[str, ...]) -> list[Who]:
    """People with their companions, in one group if all are named."""
    if isinstance(who, Pronoun):
        return [who, companions] if companions else [who]
    return [tuple(dict.fromkeys((*who, *companions)))]


def _arrived(groups: list[Who], places: tuple[str, ...]) -> list[Fact]:
    """Groups of people who are now at a place, or at one of several."""
    if len(places) > 1:
        return [facts.Either(group, places) for group in groups]
    return [facts.Moved(group, place) for group in groups for place in places]


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
