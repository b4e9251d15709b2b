"""Question templates: each looks at the things of a scene and yields questions with their true answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from substrate.domains.gqa.format import Step
from substrate.generators.gqa._phrases import Phrase, Speaker, joined
from substrate.generators.gqa._things import ATTRIBUTES, GENDER, HEIGHT, KINDS, PLACES, WEATHER, WIDTH, Thing


class Draft(NamedTuple):
    """A question without its number: structural type, wording, program, answer."""

    structural: str
    words: str
    steps: tuple[Step, ...]
    answer: str


Asker = Callable[[Speaker, Callable[[Thing], "Phrase | None"]], Iterator[Draft]]
"""A template: yields questions about a scene, naming things with the function it is given."""

Refer = Callable[[Thing], "Phrase | None"]
_MARGIN = 0.05


def yes(holds: object) -> str:
    """A truth as an answer."""
    return "yes" if holds else "no"


def _op(verb: str, family: str) -> str:
    return f"{verb} {family}".strip()


def _attributes(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Questions for a value, for its presence, and for one of two values."""
    for thing in speaker.room.things:
        phrase = refer(thing)
        if phrase is None:
            continue
        for family, value in thing.attributes.items():
            if any(step.argument == value for step in phrase.steps):
                continue
            other = speaker.rng.choice([v for v in ATTRIBUTES[thing.top][family] if v != value])
            if family:
                yield Draft(
                    "query", f"What is the {family} of {phrase.words}?", phrase.then("query", family), value
                )
            asked = speaker.rng.choice((value, other))
            yield Draft(
                "verify",
                f"Is {phrase.words} {asked}?",
                phrase.then(_op("verify", family), f"{asked} "),
                yes(asked == value),
            )
            one, two = speaker.rng.sample((value, other), 2)
            yield Draft(
                "choose",
                f"Is {phrase.words} {one} or {two}?",
                phrase.then(_op("choose", family), f"{one}|{two}"),
                value,
            )


def _both(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Two attributes of one thing."""
    for thing in speaker.room.things:
        phrase = refer(thing)
        if phrase is None or len(thing.attributes) < 2:
            continue
        asked = []
        for family, value in speaker.rng.sample(sorted(thing.attributes.items()), 2):
            asked.append(
                (
                    family,
                    value,
                    speaker.rng.choice((value, value, speaker.rng.choice(ATTRIBUTES[thing.top][family]))),
                )
            )
        steps = phrase.steps + tuple(
            Step(_op("verify", family), said, [phrase.last]) for family, _, said in asked
        )
        steps += (Step("and", "", [phrase.last + 1, phrase.last + 2]),)
        yield Draft(
            "logical",
            f"Is {phrase.words} {asked[0][2]} and {asked[1][2]}?",
            steps,
            yes(all(value == said for _, value, said in asked)),
        )


def _positions(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for thing in speaker.room.things:
        phrase = refer(thing)
        if phrase is None:
            continue
        x, y = thing.centre
        if abs(x / WIDTH - 0.5) > _MARGIN and not any("hposition" in step.operation for step in phrase.steps):
            side = "left" if x < WIDTH / 2 else "right"
            yield Draft(
                "query",
                f"On which side of the image is {phrase.words}?",
                phrase.then("query", "hposition"),
                side,
            )
            yield Draft(
                "choose",
                f"Is {phrase.words} on the left or on the right?",
                phrase.then("choose hposition", "left|right"),
                side,
            )
        if abs(y / HEIGHT - 0.5) > _MARGIN:
            part = "top" if y < HEIGHT / 2 else "bottom"
            yield Draft(
                "choose",
                f"Is {phrase.words} in the top or in the bottom?",
                phrase.then("choose vposition", "top|bottom"),
                part,
            )
            yield Draft(
                "verify",
                f"Is {phrase.words} in the top part of the image?",
                phrase.then("verify vposition", "top"),
                yes(part == "top"),
            )


def _relations(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Questions about a relation: its name, its truth, and one relation further on."""
    room = speaker.room
    by_number = {thing.number: thing for thing in room.things}
    for s, relation, o in sorted(room.relations):
        subject, target = by_number[s], by_number[o]
        for known, asked, direction in ((target, subject, "s"), (subject, target, "o")):
            phrase = refer(known)
            if phrase is None:
                continue
            fits = room.subjects(relation, known) if direction == "s" else room.objects(known, relation)
            for name in ("_", asked.top):
                alike = [thing for thing in fits if name == "_" or name in thing.kinds]
                if len(alike) != 1:
                    continue
                steps = phrase.then("relate", f"{name},{relation},{direction} ({speaker.carried(alike)})")
                where = (
                    f"is {relation} {phrase.words}" if direction == "s" else f"{phrase.words} is {relation}"
                )
                last = len(steps) - 1
                yield Draft(
                    "query",
                    f"What {'' if name == '_' else name + ' '}{where}?",
                    (*steps, Step("query", "name", [last])),
                    asked.name,
                )
                for family, value in asked.attributes.items():
                    if family and name != "_":
                        yield Draft(
                            "query",
                            f"What {family} is the {name} that {where}?",
                            (*steps, Step("query", family, [last])),
                            value,
                        )
                further = [r for r in ("wearing", "holding", "on") if len(room.objects(asked, r)) == 1]
                for r in further:
                    end = room.objects(asked, r)[0]
                    if end is known or name == "_":
                        continue
                    tail = (
                        *steps,
                        Step("relate", f"_,{r},o ({speaker.carried([end])})", [last]),
                        Step("query", "name", [last + 1]),
                    )
                    yield Draft("query", f"What is the {name} that {where} {r}?", tail, end.name)
            yield from _is_related(speaker, phrase, asked, relation, direction, fits)


def _is_related(
    speaker: Speaker, phrase: Phrase, asked: Thing, relation: str, direction: str, fits: list[Thing]
) -> Iterator[Draft]:
    name = speaker.rng.choice(
        (asked.name, speaker.rng.choice([n for n in sorted(KINDS) if KINDS[n][-1] == asked.top]))
    )
    found = [thing for thing in fits if name in thing.kinds]
    ids = speaker.carried(found or speaker.called(name)[:1])
    words = (
        f"{speaker.article(name)} {relation} {phrase.words}"
        if direction == "s"
        else f"{phrase.words} {relation} {speaker.article(name)}"
    )
    yield Draft(
        "verify",
        f"Is {words}?",
        phrase.then("verify rel", f"{name},{relation},{direction} ({ids})"),
        yes(found),
    )
    steps = phrase.then("relate", f"{name},{relation},{direction} ({ids})")
    yield Draft(
        "verify",
        f"Do you see {speaker.article(name)} such that {words}?",
        (*steps, Step("exist", "?", [len(steps) - 1])),
        yes(found),
    )


def _which_relation(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    room = speaker.room
    said = {"to the left of": "left", "to the right of": "right", "in front of": "front", "behind": "behind"}
    opposite = {
        "to the left of": "to the right of",
        "to the right of": "to the left of",
        "in front of": "behind",
        "behind": "in front of",
    }
    for s, relation, o in sorted(room.relations):
        subject, target = room.things[s], room.things[o]
        phrase = refer(target)
        if relation not in said or phrase is None or len(speaker.called(subject.name)) > 1:
            continue
        if opposite[relation] in {r for a, r, b in room.relations if (a, b) == (s, o)}:
            continue
        one, two = speaker.rng.sample((relation, opposite[relation]), 2)
        steps = phrase.then("choose rel", f"{subject.name},{one}|{two},s ({speaker.carried([subject])})")
        yield Draft("choose", f"Is the {subject.name} {one} or {two} {phrase.words}?", steps, said[relation])


def _names(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for thing in speaker.room.things:
        kind = thing.kinds[1]
        if len(speaker.called(kind)) == 1:
            phrase = speaker.bare(thing, kind)
            yield Draft("query", f"What kind of {kind} is it?", phrase.then("query", "name"), thing.name)
            others = [
                name
                for name in sorted(KINDS)
                if kind in KINDS[name] and name not in thing.kinds and thing.name not in KINDS[name]
            ]
            other = speaker.rng.choice(others or ["rock"])
            one, two = speaker.rng.sample((thing.name, other), 2)
            yield Draft(
                "choose",
                f"Is the {kind} a {one} or a {two}?",
                phrase.then("choose name", f"{one}|{two}"),
                thing.name,
            )
        for family, value in thing.attributes.items():
            alike = [other for other in speaker.called(thing.top) if other.attributes.get(family) == value]
            if len(alike) == 1:
                steps = (
                    *speaker.bare(thing, thing.top).then(_op("filter", family), value),
                    Step("query", "name", [1]),
                )
                yield Draft("query", f"What {thing.top} is {value}?", steps, thing.name)


def _existence(speaker: Speaker, _: Refer) -> Iterator[Draft]:
    names = speaker.rng.sample(sorted(KINDS), 4) + [
        thing.name for thing in speaker.rng.sample(speaker.room.things, 2)
    ]
    for name, other in zip(names, reversed(names), strict=True):
        one, two = speaker.called(name), speaker.called(other)
        select = Step("select", f"{name} ({speaker.carried(one)})", [])
        yield Draft(
            "verify", f"Is there {speaker.article(name)}?", (select, Step("exist", "?", [0])), yes(one)
        )
        family = speaker.rng.choice([f for f in ATTRIBUTES[KINDS[name][-1]] if f])
        value = speaker.rng.choice(ATTRIBUTES[KINDS[name][-1]][family])
        steps = (select, Step(f"filter {family}", value, [0]), Step("exist", "?", [1]))
        yield Draft(
            "verify",
            f"Is there {speaker.article(name)} that is {value}?",
            steps,
            yes([t for t in one if t.attributes.get(family) == value]),
        )
        if name != other:
            steps = (
                select,
                Step("exist", "?", [0]),
                Step("select", f"{other} ({speaker.carried(two)}) ", []),
                Step("exist", "?", [2]),
            )
            yield Draft(
                "logical",
                f"Are there both {name}s and {other}s?",
                (*steps, Step("and", "", [1, 3])),
                yes(one and two),
            )
            yield Draft(
                "logical",
                f"Is there either {speaker.article(name)} or {speaker.article(other)}?",
                (*steps, Step("or", "", [1, 3])),
                yes(one or two),
            )


def _comparisons(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    """Same, different, in common."""
    room = speaker.room
    for one in room.things:
        for other in speaker.rng.sample(room.things, min(4, len(room.things))):
            first, second = refer(one), refer(other)
            if first is None or second is None or one is other:
                continue
            steps, a, b = joined(first, second)
            shared = [family for family in one.attributes if family in other.attributes and family]
            for family in shared:
                same = one.attributes[family] == other.attributes[family]
                pair = f"{first.words} and {second.words}"
                yield Draft(
                    "compare",
                    f"Are {pair} the same {family}?",
                    (*steps, Step(f"same {family}", "", [a, b])),
                    yes(same),
                )
                yield Draft(
                    "compare",
                    f"Do {pair} differ in {family}?",
                    (*steps, Step(f"different {family}", "", [a, b])),
                    yes(not same),
                )
            alike = [
                family for family in one.attributes if one.attributes[family] == other.attributes.get(family)
            ]
            if len(alike) == 1 and alike[0] in ("color", "material", "shape") and one.top != "person":
                yield Draft(
                    "compare",
                    f"What do {first.words} and {second.words} have in common?",
                    (*steps, Step("common", "", [a, b])),
                    alike[0],
                )


def _ages(speaker: Speaker, refer: Refer) -> Iterator[Draft]:
    for one in speaker.room.things:
        for other in speaker.room.things:
            ages = [one.attributes.get("age"), other.attributes.get("age")]
            if ages != ["old", "young"] or one.name == other.name:
                continue
            first, second = refer(one), refer(other)
            if first is None or second is None:
                continue
            for word, winner in (("older", one), ("younger", other)):
                one_said, two_said = speaker.rng.sample((first, second), 2)
                steps, a, b = joined(one_said, two_said)
                yield Draft(
                    "compare",
                    f"Who is {word}, {one_said.words} or {two_said.words}?",
                    (*steps, Step(f"choose {word}", "", [a, b])),
                    winner.name,
                )


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
            steps = (Step("select", f"{kind} ({speaker.carried(members)})", []),)
            yield Draft(
                "compare",
                f"Are all the {kind}s of the same {word}?",
                (*steps, Step("same", family, [0])),
                yes(len(marks) == 1),
            )
            yield Draft(
                "compare",
                f"Do the {kind}s differ in {word}?",
                (*steps, Step("different", family, [0])),
                yes(len(marks) > 1),
            )
    for one in speaker.room.things:
        twins = [
            t
            for t in speaker.room.things
            if t is not one
            and t.attributes.get("color") == one.attributes.get("color", "")
            and t.top == "furniture"
        ]
        phrase = speaker.bare(one)
        if len(twins) == 1 and phrase.unique:
            steps = phrase.then("relate", f"furniture,same color,s ({speaker.carried(twins)})")
            yield Draft(
                "query",
                f"What furniture has the same color as {phrase.words}?",
                (*steps, Step("query", "name", [1])),
                twins[0].name,
            )


def _whole(speaker: Speaker, _: Refer) -> Iterator[Draft]:
    """The scene itself: place, indoors or outdoors, weather."""
    room = speaker.room
    scene = (Step("select", "scene", []),)
    if room.place:
        asked = "place" if room.setting == "outdoors" else "room"
        yield Draft("query", f"Which {asked} is it?", (*scene, Step("query", asked, [0])), room.place)
    one, two = speaker.rng.sample(sorted(PLACES), 2)
    yield Draft(
        "choose",
        f"Is it {one} or {two}?",
        (*scene, Step("choose location", f"{one}|{two}", [0])),
        room.setting,
    )
    yield Draft(
        "verify", f"Is it {one}?", (*scene, Step("verify location", one, [0])), yes(one == room.setting)
    )
    if room.weather:
        guess = speaker.rng.choice(WEATHER)
        yield Draft("query", "How is the weather?", (*scene, Step("query", "weather", [0])), room.weather)
        yield Draft(
            "verify",
            f"Is the weather {guess}?",
            (*scene, Step("verify weather", guess, [0])),
            yes(guess == room.weather),
        )


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
