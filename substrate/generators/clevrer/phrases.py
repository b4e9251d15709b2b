"""Names of objects and events, in words and as the parts of programs that find them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, compress
from random import Random

from substrate.domains.clevrer.format import COLORS, MATERIALS, SHAPES, ObjectProperty
from substrate.domains.clevrer.grammar import Phrase
from substrate.domains.clevrer.questions import GRAMMAR
from substrate.generators.clevrer.events import WorldEvent

VALUES = {"color": COLORS, "material": MATERIALS, "shape": SHAPES}
ATTRIBUTES = tuple(VALUES)


@dataclass(frozen=True)
class Group:
    """The objects that share the given attribute values; without values, all objects."""

    looks: tuple[tuple[str, str], ...]
    members: frozenset[int]

    @cached_property
    def phrase(self) -> Phrase:
        """A member of the group in words, and the program that selects the group."""
        values = dict(self.looks)
        worded = {name: f"{values[name]} " if name in values else "" for name in ("color", "material")}
        worded["shape"] = values.get("shape", "object")
        slots = {name: GRAMMAR.word(name, word) for name, word in worded.items()}
        return GRAMMAR.write("group", Random(), **slots)


@dataclass(frozen=True)
class Names:
    """The possible names of a scene's objects.

    >>> cube, ball = ObjectProperty(0, "red", "metal", "cube"), ObjectProperty(1, "red", "metal", "sphere")
    >>> names = Names((cube, ball))
    >>> names.of(1, Random(0))
    Phrase(text='the sphere', program='objects sphere filter_shape unique')
    """

    properties: tuple[ObjectProperty, ...]

    def group(self, looks: Sequence[tuple[str, str]]) -> Group:
        """The objects that have all of the given looks."""
        has_looks = (all(getattr(o, name) == value for name, value in looks) for o in self.properties)
        return Group(tuple(looks), frozenset(o.object_id for o in compress(self.properties, has_looks)))

    @cached_property
    def groups(self) -> list[Group]:
        """All objects, and the objects of each attribute value that occurs."""
        return [group for group in self.described if group.members]

    @cached_property
    def described(self) -> list[Group]:
        """All objects, and the objects of each attribute value, also of values that do not occur."""
        looks = [(attribute, value) for attribute, values in VALUES.items() for value in sorted(values)]
        return [self.group([]), *(self.group([look]) for look in looks)]

    @cached_property
    def shaped(self) -> list[Group]:
        """The objects of each shape and colour or material that occurs."""
        looks = {
            ((attribute, getattr(o, attribute)), ("shape", o.shape))
            for o in self.properties
            for attribute in ("color", "material")
        }
        return [self.group(look) for look in sorted(looks)]

    @cached_property
    def _minimal(self) -> dict[int, list[Group]]:
        """For each object, the descriptions that fit it alone with the fewest of colour and material."""
        return {o.object_id: next(filter(None, self._unique(o))) for o in self.properties}

    def _unique(self, thing: ObjectProperty) -> Iterator[list[Group]]:
        """The descriptions that fit an object alone, by the number of colour and material in them."""
        for size in range(3):
            chosen = [
                (*rest, *shape) for rest in combinations(ATTRIBUTES[:2], size) for shape in ((), ("shape",))
            ]
            groups = (self.group([(name, getattr(thing, name)) for name in names]) for names in chosen)
            yield [group for group in groups if len(group.members) == 1]

    def of(self, number: int, rng: Random) -> Phrase:
        """A unique description of an object, with as few of colour and material as possible.

        Of the 5,900 names in 818 official questions, nine in ten are of this kind, and an object's names of
        this kind are about equally frequent; in particular the noun is its shape or "object" where either
        will do.
        """
        return GRAMMAR.write("thing", rng, group=self.group_of(number, rng))

    def group_of(self, number: int, rng: Random) -> Phrase:
        """The group of a unique description of an object, as :meth:`of` draws it."""
        return rng.choice(self._minimal[number]).phrase

    def event(self, event: WorldEvent, rng: Random, *, clause: bool = True) -> Phrase:
        """An observed event, as a clause ("the cube enters the scene") or a name ("the cube's entrance")."""
        slots = self._things(event.objects, rng)
        if not clause:
            return GRAMMAR.write(event.type, rng, **slots)
        if event.type == "collision":
            return GRAMMAR.write("clause", rng, meeting=GRAMMAR.write("meeting", rng, **slots))
        return GRAMMAR.write("clause", rng, crosses=GRAMMAR.word("crosses", CROSSES[event.type]), **slots)

    def possible_collision(self, pair: Sequence[int], rng: Random) -> Phrase:
        """A collision that may or may not happen, as a sentence without its full stop."""
        meeting = GRAMMAR.write("meeting", rng, **self._things(pair, rng))
        return sentence(GRAMMAR.write("counterfactual_choice", rng, meeting=meeting))

    def _things(self, numbers: Sequence[int], rng: Random) -> dict[str, Phrase]:
        """Objects in random order, by the slot that each fills."""
        things = [self.of(number, rng) for number in rng.sample(numbers, len(numbers))]
        return dict(zip(("thing", "thing2"), things, strict=False))


CROSSES = {"in": "enters the scene", "out": "exits the scene"}
CROSS = {"in": "enter the scene", "out": "exit the scene"}


def sentence(phrase: Phrase) -> Phrase:
    """A phrase that begins with a capital letter."""
    return Phrase(phrase.text[:1].upper() + phrase.text[1:], phrase.program)
