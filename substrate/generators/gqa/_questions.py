"""Question templates: each reads the things of a scene and yields questions with their gold answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from substrate.domains.gqa.format import Operation
from substrate.generators.gqa._phrases import Phrase, Speaker, Steps, joined, then
from substrate.generators.gqa._things import ATTRIBUTES, GENDER, HEIGHT, KINDS, PLACES, WEATHER, WIDTH, Thing


class Draft(NamedTuple):
    """A question without its number: structural type, wording, program, answer."""

    structural: str
    words: str
    steps: Steps
    answer: str


# Names a thing by a phrase; ``None`` if no phrase means this thing alone
Refer = Callable[[Thing], "Phrase | None"]
Asker = Callable[[Speaker, Refer], Iterator[Draft]]
"""A template: yields questions about a scene, and names things with the given function."""
_MARGIN = 0.05  # the share of the image beside its middle in which no question asks for a side


def yes(holds: object) -> str:
    """A truth value as an answer."""
    return "yes" if holds else "no"


def _op(verb: str, family: str) -> str:
    """An operation's name with its attribute family; some values have no family."""
    return f"{verb} {family}".strip()


def _named(speaker: Speaker, refer: Refer) -> Iterator[tuple[Thing, Phrase]]:
    """The things of a scene that ``refer`` can name, with their phrases."""
    for thing in speaker.room.things:
        if phrase := refer(thing):
            yield thing, phrase


def _attributes(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Ask for a value, for its presence, and for one of two values."""
    rng = speaker.rng
    for thing, phrase in _named(speaker, refer):
        words = phrase.words
        for family, value in thing.attributes.items():
            if any(step.argument == value for step in phrase.steps):
                continue
            other = rng.choice([v for v in ATTRIBUTES[thing.top][family] if v != value])
            if family:
                yield Draft("query", f"What is the {family} of {words}?", phrase.then("query", family), value)
            guess = rng.choice((value, other))
            verified = phrase.then(_op("verify", family), f"{guess} ")
            yield Draft("verify", f"Is {words} {guess}?", verified, yes(guess == value))
            first, second = rng.sample((value, other), 2)
            chosen = phrase.then(_op("choose", family), f"{first}|{second}")
            yield Draft("choose", f"Is {words} {first} or {second}?", chosen, value)


def _both(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Ask about two attributes of one thing."""
    rng = speaker.rng
    for thing, phrase in _named(speaker, refer):
        if len(thing.attributes) < 2:
            continue
        steps, values, right = phrase.steps, [], True
        for family, value in rng.sample(sorted(thing.attributes.items()), 2):
            values.append(rng.choice((value, value, rng.choice(ATTRIBUTES[thing.top][family]))))
            steps = then(steps, _op("verify", family), values[-1], phrase.last)
            right = right and values[-1] == value
        steps = then(steps, "and", "", phrase.last + 1, phrase.last + 2)
        yield Draft("logical", f"Is {phrase.words} {values[0]} and {values[1]}?", steps, yes(right))


def _positions(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for thing, phrase in _named(speaker, refer):
        words, (x, y) = phrase.words, thing.centre
        if abs(x / WIDTH - 0.5) > _MARGIN and not any("hposition" in step.operation for step in phrase.steps):
            steps = phrase.then("query", "hposition")
            yield Draft("query", f"On which side of the image is {words}?", steps, thing.side)
            steps = phrase.then("choose hposition", "left|right")
            yield Draft("choose", f"Is {words} on the left or on the right?", steps, thing.side)
        if abs(y / HEIGHT - 0.5) > _MARGIN:
            part = "top" if y < HEIGHT / 2 else "bottom"
            steps = phrase.then("choose vposition", "top|bottom")
            yield Draft("choose", f"Is {words} in the top or in the bottom?", steps, part)
            steps = phrase.then("verify vposition", "top")
            yield Draft("verify", f"Is {words} in the top part of the image?", steps, yes(part == "top"))


def _relations(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Ask for a relation's end, for its truth, and for the end of a further relation."""
    room = speaker.room
    for s, relation, o in sorted(room.relations):
        subject, target = room.things[s], room.things[o]
        for known, sought, direction in ((target, subject, "s"), (subject, target, "o")):
            phrase = refer(known)
            if phrase is None:
                continue
            fits = room.subjects(relation, known) if direction == "s" else room.objects(known, relation)
            for name in ("_", sought.top):
                alike = [thing for thing in fits if name == "_" or name in thing.kinds]
                if len(alike) == 1:
                    steps = phrase.then("relate", f"{name},{relation},{direction} ({speaker.carried(alike)})")
                    verb = f"is {relation}"
                    where = f"{verb} {phrase.words}" if direction == "s" else f"{phrase.words} {verb}"
                    yield from _about_related(speaker, steps, where, name, sought, known)
            yield from _is_related(speaker, phrase, sought, relation, direction, fits)


def _about_related(
    speaker: Speaker, steps: Steps, where: str, name: str, sought: Thing, known: Thing
) -> Iterator[Draft]:
    """Ask about the only thing with a relation."""
    room, what = speaker.room, "" if name == "_" else f"{name} "
    yield Draft("query", f"What {what}{where}?", then(steps, "query", "name"), sought.name)
    if name == "_":
        return
    for family, value in sought.attributes.items():
        if family:
            words = f"What {family} is the {name} that {where}?"
            yield Draft("query", words, then(steps, "query", family), value)
    for further in ("wearing", "holding", "on"):
        ends = room.objects(sought, further)
        if len(ends) == 1 and ends[0] is not known:
            tail = then(steps, "relate", f"_,{further},o ({speaker.carried(ends)})")
            words = f"What is the {name} that {where} {further}?"
            yield Draft("query", words, then(tail, "query", "name"), ends[0].name)


def _is_related(
    speaker: Speaker, phrase: Phrase, sought: Thing, relation: str, direction: str, fits: list[Thing]
) -> Iterator[Draft]:
    """Ask whether a thing has a relation: the sought thing, or another of its top kind.

    Args:
        direction: the role of that thing, as in GQA's programs: ``s`` for subject, ``o`` for object.
        fits: the things that do have the relation.
    """
    kind = speaker.rng.choice([n for n in sorted(KINDS) if KINDS[n][-1] == sought.top])
    name = speaker.rng.choice((sought.name, kind))
    fitting = [thing for thing in fits if name in thing.kinds]
    argument = f"{name},{relation},{direction} ({speaker.carried(fitting or speaker.called(name)[:1])})"
    a_thing = speaker.article(name)
    ends = (a_thing, phrase.words) if direction == "s" else (phrase.words, a_thing)
    words = f" {relation} ".join(ends)
    yield Draft("verify", f"Is {words}?", phrase.then("verify rel", argument), yes(fitting))
    steps = then(phrase.then("relate", argument), "exist", "?")
    yield Draft("verify", f"Do you see {a_thing} such that {words}?", steps, yes(fitting))


_OPPOSITE = {
    "to the left of": "to the right of",
    "to the right of": "to the left of",
    "in front of": "behind",
    "behind": "in front of",
}
_ANSWERED = {"to the left of": "left", "to the right of": "right", "in front of": "front", "behind": "behind"}


def _which_relation(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    room = speaker.room
    for s, relation, o in sorted(room.relations):
        subject, opposite = room.things[s], _OPPOSITE.get(relation)
        phrase = refer(room.things[o])
        if opposite is None or phrase is None or len(speaker.called(subject.name)) > 1:
            continue
        if (s, opposite, o) not in room.relations:
            first, second = speaker.rng.sample((relation, opposite), 2)
            argument = f"{subject.name},{first}|{second},s ({speaker.carried([subject])})"
            words = f"Is the {subject.name} {first} or {second} {phrase.words}?"
            yield Draft("choose", words, phrase.then("choose rel", argument), _ANSWERED[relation])


def _names(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for thing in speaker.room.things:
        name, kind = thing.name, thing.kinds[1]
        if len(speaker.called(kind)) == 1:
            phrase = speaker.bare(thing, kind)
            yield Draft("query", f"What kind of {kind} is it?", phrase.then("query", "name"), name)
            of_kind = [other for other in sorted(KINDS) if kind in KINDS[other]]
            others = [other for other in of_kind if other not in thing.kinds and name not in KINDS[other]]
            first, second = speaker.rng.sample((name, speaker.rng.choice(others or ["rock"])), 2)
            steps = phrase.then("choose name", f"{first}|{second}")
            yield Draft("choose", f"Is the {kind} a {first} or a {second}?", steps, name)
        for family, value in thing.attributes.items():
            alike = [other for other in speaker.called(thing.top) if other.attributes.get(family) == value]
            if len(alike) == 1:
                steps = speaker.bare(thing, thing.top).then(_op("filter", family), value)
                yield Draft("query", f"What {thing.top} is {value}?", then(steps, "query", "name"), name)


def _existence(speaker: Speaker, _: Refer) -> Iterator[Draft]:
    rng = speaker.rng
    names = rng.sample(sorted(KINDS), 4) + [thing.name for thing in rng.sample(speaker.room.things, 2)]
    for name, other in zip(names, reversed(names), strict=True):
        things, others, a_thing = speaker.called(name), speaker.called(other), speaker.article(name)
        select = speaker.select(name, things)
        exist = then(select, "exist", "?")
        yield Draft("verify", f"Is there {a_thing}?", exist, yes(things))
        families = ATTRIBUTES[KINDS[name][-1]]
        family = rng.choice([family for family in families if family])
        value = rng.choice(families[family])
        steps = then(then(select, f"filter {family}", value), "exist", "?")
        having = [thing for thing in things if thing.attributes.get(family) == value]
        yield Draft("verify", f"Is there {a_thing} that is {value}?", steps, yes(having))
        if name != other:
            second = Operation("select", f"{other} ({speaker.carried(others)}) ", [])
            steps = then((*exist, second), "exist", "?")
            a, b = len(exist) - 1, len(steps) - 1
            both = then(steps, "and", "", a, b)
            yield Draft("logical", f"Are there both {name}s and {other}s?", both, yes(things and others))
            either = f"Is there either {a_thing} or {speaker.article(other)}?"
            yield Draft("logical", either, then(steps, "or", "", a, b), yes(things or others))


def _comparisons(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Ask for same, different and common attributes."""
    room = speaker.room
    for thing in room.things:
        for other in speaker.rng.sample(room.things, min(4, len(room.things))):
            first, second = refer(thing), refer(other)
            if first is None or second is None or thing is other:
                continue
            steps, a, b = joined(first, second)
            pair = f"{first.words} and {second.words}"
            having = thing.attributes
            alike = [family for family in having if having[family] == other.attributes.get(family)]
            for family in having:
                if family and family in other.attributes:
                    same = then(steps, f"same {family}", "", a, b)
                    yield Draft("compare", f"Are {pair} the same {family}?", same, yes(family in alike))
                    differ = then(steps, f"different {family}", "", a, b)
                    yield Draft("compare", f"Do {pair} differ in {family}?", differ, yes(family not in alike))
            if len(alike) == 1 and alike[0] in ("color", "material", "shape") and thing.top != "person":
                steps = then(steps, "common", "", a, b)
                yield Draft("compare", f"What do {pair} have in common?", steps, alike[0])


def _ages(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for elder, younger in product(speaker.room.things, repeat=2):
        ages = [thing.attributes.get("age") for thing in (elder, younger)]
        if ages != ["old", "young"] or elder.name == younger.name:
            continue
        first, second = refer(elder), refer(younger)
        if first is None or second is None:
            continue
        for word, winner in (("older", elder), ("younger", younger)):
            this, that = speaker.rng.sample((first, second), 2)
            steps, a, b = joined(this, that)
            words = f"Who is {word}, {this.words} or {that.words}?"
            yield Draft("compare", words, then(steps, f"choose {word}", "", a, b), winner.name)


def _groups(speaker: Speaker, _: Refer) -> Iterator[Draft]:
    for kind, family, word in (
        ("person", "gender", "gender"),
        ("animal", "type", "species"),
        ("fruit", "type", "kind"),
        ("vehicle", "type", "kind"),
    ):
        members = speaker.called(kind)
        if len(members) > 1:
            marks = {GENDER[thing.name] if family == "gender" else thing.name for thing in members}
            same, differ = (
                then(speaker.select(kind, members), operation, family) for operation in ("same", "different")
            )
            yield Draft("compare", f"Are all the {kind}s of the same {word}?", same, yes(len(marks) == 1))
            yield Draft("compare", f"Do the {kind}s differ in {word}?", differ, yes(len(marks) > 1))
    for thing in speaker.room.things:
        color, phrase = thing.attributes.get("color", ""), speaker.bare(thing)
        pieces = [other for other in speaker.room.things if other is not thing and other.top == "furniture"]
        twins = [piece for piece in pieces if piece.attributes.get("color") == color]
        if len(twins) == 1 and phrase.unique:
            steps = phrase.then("relate", f"furniture,same color,s ({speaker.carried(twins)})")
            words = f"What furniture has the same color as {phrase.words}?"
            yield Draft("query", words, then(steps, "query", "name"), twins[0].name)


def _whole(speaker: Speaker, _: Refer) -> Iterator[Draft]:
    """Ask about the scene itself: place, indoors or outdoors, weather."""
    room, scene = speaker.room, (Operation("select", "scene", []),)
    if room.place:
        noun = "place" if room.setting == "outdoors" else "room"
        yield Draft("query", f"Which {noun} is it?", then(scene, "query", noun), room.place)
    this, that = speaker.rng.sample(sorted(PLACES), 2)
    chosen = then(scene, "choose location", f"{this}|{that}")
    yield Draft("choose", f"Is it {this} or {that}?", chosen, room.setting)
    yield Draft("verify", f"Is it {this}?", then(scene, "verify location", this), yes(this == room.setting))
    if room.weather:
        guess = speaker.rng.choice(WEATHER)
        yield Draft("query", "How is the weather?", then(scene, "query", "weather"), room.weather)
        verified = then(scene, "verify weather", guess)
        yield Draft("verify", f"Is the weather {guess}?", verified, yes(guess == room.weather))


TEMPLATES: tuple[Asker, ...] = (
    _attributes,
    _both,
    _positions,
    _relations,
    _which_relation,
    _names,
    _existence,
    _comparisons,
    _ages,
    _groups,
    _whole,
)
"""Every template, in the order in which a scene draws from them."""
