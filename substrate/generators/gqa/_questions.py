"""Question templates: each looks at the things of a scene and yields questions with their true answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

from substrate.domains.gqa.format import Step
from substrate.generators.gqa._phrases import Phrase, Speaker, Steps, joined, then
from substrate.generators.gqa._things import ATTRIBUTES, GENDER, HEIGHT, KINDS, PLACES, WEATHER, WIDTH, Thing


class Draft(NamedTuple):
    """A question without its number: structural type, wording, program, answer."""

    structural: str
    words: str
    steps: Steps
    answer: str


Refer = Callable[[Thing], "Phrase | None"]
Asker = Callable[[Speaker, Refer], Iterator[Draft]]
"""A template: yields questions about a scene, naming things with the function it is given."""
_MARGIN = 0.05


def yes(holds: object) -> str:
    """A truth as an answer."""
    return "yes" if holds else "no"


def _op(verb: str, family: str) -> str:
    return f"{verb} {family}".strip()


def _named(speaker: Speaker, refer: Refer) -> Iterator[tuple[Thing, Phrase]]:
    """The things of a scene that have a name, with it."""
    for thing in speaker.room.things:
        if phrase := refer(thing):
            yield thing, phrase


def _attributes(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Questions for a value, for its presence, and for one of two values."""
    rng = speaker.rng
    for thing, phrase in _named(speaker, refer):
        said = phrase.words
        for family, value in thing.attributes.items():
            if any(step.argument == value for step in phrase.steps):
                continue
            other = rng.choice([v for v in ATTRIBUTES[thing.top][family] if v != value])
            if family:
                yield Draft("query", f"What is the {family} of {said}?", phrase.then("query", family), value)
            asked = rng.choice((value, other))
            verified = phrase.then(_op("verify", family), f"{asked} ")
            yield Draft("verify", f"Is {said} {asked}?", verified, yes(asked == value))
            one, two = rng.sample((value, other), 2)
            chosen = phrase.then(_op("choose", family), f"{one}|{two}")
            yield Draft("choose", f"Is {said} {one} or {two}?", chosen, value)


def _both(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Two attributes of one thing."""
    rng = speaker.rng
    for thing, phrase in _named(speaker, refer):
        if len(thing.attributes) < 2:
            continue
        steps, asked, right = phrase.steps, [], True
        for family, value in rng.sample(sorted(thing.attributes.items()), 2):
            asked.append(rng.choice((value, value, rng.choice(ATTRIBUTES[thing.top][family]))))
            steps = then(steps, _op("verify", family), asked[-1], phrase.last)
            right = right and asked[-1] == value
        steps = then(steps, "and", "", phrase.last + 1, phrase.last + 2)
        yield Draft("logical", f"Is {phrase.words} {asked[0]} and {asked[1]}?", steps, yes(right))


def _positions(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for thing, phrase in _named(speaker, refer):
        said, (x, y) = phrase.words, thing.centre
        if abs(x / WIDTH - 0.5) > _MARGIN and not any("hposition" in step.operation for step in phrase.steps):
            steps = phrase.then("query", "hposition")
            yield Draft("query", f"On which side of the image is {said}?", steps, thing.side)
            steps = phrase.then("choose hposition", "left|right")
            yield Draft("choose", f"Is {said} on the left or on the right?", steps, thing.side)
        if abs(y / HEIGHT - 0.5) > _MARGIN:
            part = "top" if y < HEIGHT / 2 else "bottom"
            steps = phrase.then("choose vposition", "top|bottom")
            yield Draft("choose", f"Is {said} in the top or in the bottom?", steps, part)
            steps = phrase.then("verify vposition", "top")
            yield Draft("verify", f"Is {said} in the top part of the image?", steps, yes(part == "top"))


def _relations(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Questions about a relation: its name, its truth, and one relation further on."""
    room = speaker.room
    for s, relation, o in sorted(room.relations):
        subject, target = room.things[s], room.things[o]
        for known, asked, direction in ((target, subject, "s"), (subject, target, "o")):
            phrase = refer(known)
            if phrase is None:
                continue
            fits = room.subjects(relation, known) if direction == "s" else room.objects(known, relation)
            for name in ("_", asked.top):
                alike = [thing for thing in fits if name == "_" or name in thing.kinds]
                if len(alike) == 1:
                    steps = phrase.then("relate", f"{name},{relation},{direction} ({speaker.carried(alike)})")
                    said = f"is {relation}"
                    where = f"{said} {phrase.words}" if direction == "s" else f"{phrase.words} {said}"
                    yield from _about_related(speaker, steps, where, name, asked, known)
            yield from _is_related(speaker, phrase, asked, relation, direction, fits)


def _about_related(
    speaker: Speaker, steps: Steps, where: str, name: str, asked: Thing, known: Thing
) -> Iterator[Draft]:
    """Questions about the one thing that stands in a relation."""
    room, what = speaker.room, "" if name == "_" else f"{name} "
    yield Draft("query", f"What {what}{where}?", then(steps, "query", "name"), asked.name)
    if name == "_":
        return
    for family, value in asked.attributes.items():
        if family:
            words = f"What {family} is the {name} that {where}?"
            yield Draft("query", words, then(steps, "query", family), value)
    for further in ("wearing", "holding", "on"):
        ends = room.objects(asked, further)
        if len(ends) == 1 and ends[0] is not known:
            tail = then(steps, "relate", f"_,{further},o ({speaker.carried(ends)})")
            words = f"What is the {name} that {where} {further}?"
            yield Draft("query", words, then(tail, "query", "name"), ends[0].name)


def _is_related(
    speaker: Speaker, phrase: Phrase, asked: Thing, relation: str, direction: str, fits: list[Thing]
) -> Iterator[Draft]:
    kind = speaker.rng.choice([n for n in sorted(KINDS) if KINDS[n][-1] == asked.top])
    name = speaker.rng.choice((asked.name, kind))
    found = [thing for thing in fits if name in thing.kinds]
    argument = f"{name},{relation},{direction} ({speaker.carried(found or speaker.called(name)[:1])})"
    a_thing = speaker.article(name)
    ends = (a_thing, phrase.words) if direction == "s" else (phrase.words, a_thing)
    words = f" {relation} ".join(ends)
    yield Draft("verify", f"Is {words}?", phrase.then("verify rel", argument), yes(found))
    steps = then(phrase.then("relate", argument), "exist", "?")
    yield Draft("verify", f"Do you see {a_thing} such that {words}?", steps, yes(found))


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
            one, two = speaker.rng.sample((relation, opposite), 2)
            argument = f"{subject.name},{one}|{two},s ({speaker.carried([subject])})"
            words = f"Is the {subject.name} {one} or {two} {phrase.words}?"
            yield Draft("choose", words, phrase.then("choose rel", argument), _ANSWERED[relation])


def _names(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for thing in speaker.room.things:
        name, kind = thing.name, thing.kinds[1]
        if len(speaker.called(kind)) == 1:
            phrase = speaker.bare(thing, kind)
            yield Draft("query", f"What kind of {kind} is it?", phrase.then("query", "name"), name)
            of_kind = [other for other in sorted(KINDS) if kind in KINDS[other]]
            others = [other for other in of_kind if other not in thing.kinds and name not in KINDS[other]]
            one, two = speaker.rng.sample((name, speaker.rng.choice(others or ["rock"])), 2)
            steps = phrase.then("choose name", f"{one}|{two}")
            yield Draft("choose", f"Is the {kind} a {one} or a {two}?", steps, name)
        for family, value in thing.attributes.items():
            alike = [other for other in speaker.called(thing.top) if other.attributes.get(family) == value]
            if len(alike) == 1:
                steps = speaker.bare(thing, thing.top).then(_op("filter", family), value)
                yield Draft("query", f"What {thing.top} is {value}?", then(steps, "query", "name"), name)


def _existence(speaker: Speaker, _: Refer) -> Iterator[Draft]:
    rng = speaker.rng
    names = rng.sample(sorted(KINDS), 4) + [thing.name for thing in rng.sample(speaker.room.things, 2)]
    for name, other in zip(names, reversed(names), strict=True):
        one, two, a_thing = speaker.called(name), speaker.called(other), speaker.article(name)
        select = speaker.select(name, one)
        exist = then(select, "exist", "?")
        yield Draft("verify", f"Is there {a_thing}?", exist, yes(one))
        families = ATTRIBUTES[KINDS[name][-1]]
        family = rng.choice([family for family in families if family])
        value = rng.choice(families[family])
        steps = then(then(select, f"filter {family}", value), "exist", "?")
        having = [thing for thing in one if thing.attributes.get(family) == value]
        yield Draft("verify", f"Is there {a_thing} that is {value}?", steps, yes(having))
        if name != other:
            second = Step("select", f"{other} ({speaker.carried(two)}) ", [])
            steps = then((*exist, second), "exist", "?")
            both = then(steps, "and", "", 1, 3)
            yield Draft("logical", f"Are there both {name}s and {other}s?", both, yes(one and two))
            either = f"Is there either {a_thing} or {speaker.article(other)}?"
            yield Draft("logical", either, then(steps, "or", "", 1, 3), yes(one or two))


def _comparisons(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Same, different, in common."""
    room = speaker.room
    for one in room.things:
        for other in speaker.rng.sample(room.things, min(4, len(room.things))):
            first, second = refer(one), refer(other)
            if first is None or second is None or one is other:
                continue
            steps, a, b = joined(first, second)
            pair = f"{first.words} and {second.words}"
            having = one.attributes
            alike = [family for family in having if having[family] == other.attributes.get(family)]
            for family in having:
                if family and family in other.attributes:
                    same = then(steps, f"same {family}", "", a, b)
                    yield Draft("compare", f"Are {pair} the same {family}?", same, yes(family in alike))
                    differ = then(steps, f"different {family}", "", a, b)
                    yield Draft("compare", f"Do {pair} differ in {family}?", differ, yes(family not in alike))
            if len(alike) == 1 and alike[0] in ("color", "material", "shape") and one.top != "person":
                steps = then(steps, "common", "", a, b)
                yield Draft("compare", f"What do {pair} have in common?", steps, alike[0])


def _ages(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for one, other in product(speaker.room.things, repeat=2):
        ages = [thing.attributes.get("age") for thing in (one, other)]
        if ages != ["old", "young"] or one.name == other.name:
            continue
        first, second = refer(one), refer(other)
        if first is None or second is None:
            continue
        for word, winner in (("older", one), ("younger", other)):
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
    for one in speaker.room.things:
        color, phrase = one.attributes.get("color", ""), speaker.bare(one)
        pieces = [other for other in speaker.room.things if other is not one and other.top == "furniture"]
        twins = [piece for piece in pieces if piece.attributes.get("color") == color]
        if len(twins) == 1 and phrase.unique:
            steps = phrase.then("relate", f"furniture,same color,s ({speaker.carried(twins)})")
            words = f"What furniture has the same color as {phrase.words}?"
            yield Draft("query", words, then(steps, "query", "name"), twins[0].name)


def _whole(speaker: Speaker, _: Refer) -> Iterator[Draft]:
    """The scene itself: place, indoors or outdoors, weather."""
    room, scene = speaker.room, (Step("select", "scene", []),)
    if room.place:
        asked = "place" if room.setting == "outdoors" else "room"
        yield Draft("query", f"Which {asked} is it?", then(scene, "query", asked), room.place)
    one, two = speaker.rng.sample(sorted(PLACES), 2)
    chosen = then(scene, "choose location", f"{one}|{two}")
    yield Draft("choose", f"Is it {one} or {two}?", chosen, room.setting)
    yield Draft("verify", f"Is it {one}?", then(scene, "verify location", one), yes(one == room.setting))
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
"""Every template, in the order a scene draws from them."""
