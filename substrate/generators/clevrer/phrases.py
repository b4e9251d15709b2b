"""Names of objects and events, in words and as the parts of programs that find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from random import Random

from substrate.domains.clevrer.format import ObjectProperty
from substrate.generators.clevrer.events import Event

ATTRIBUTES = ("color", "material", "shape")

_EVENT_CLAUSES = {
    "in": ("{0} enters the scene",),
    "out": ("{0} exits the scene",),
    "collision": ("{0} and {1} collide", "{0} collides with {1}"),
}
_EVENT_NAMES = {
    "in": ("{0}'s entrance", "{0}'s entering the scene"),
    "out": ("{0}'s exit", "{0}'s exiting the scene"),
    "collision": ("the collision between {0} and {1}", "{0}'s colliding with {1}"),
}


@dataclass(frozen=True)
class Phrase:
    """Words, and the program that leaves the named object or event on the stack."""

    text: str
    program: str


@dataclass(frozen=True)
class Group:
    """The objects that share the given attribute values; without values, all objects."""

    looks: tuple[tuple[str, str], ...]
    members: frozenset[int]

    @property
    def program(self) -> str:
        """The program that selects the group."""
        return " ".join(["objects", *(f"{value} filter_{attribute}" for attribute, value in self.looks)])

    @property
    def singular(self) -> str:
        """A member of the group, in words."""
        words = [value for _, value in self.looks]
        return " ".join(
            words if any(attribute == "shape" for attribute, _ in self.looks) else [*words, "object"]
        )

    @property
    def plural(self) -> str:
        """The group, in words."""
        return self.singular + "s"


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
        return Group(
            tuple(looks),
            frozenset(
                o.object_id
                for o in self.properties
                if all(getattr(o, attribute) == value for attribute, value in looks)
            ),
        )

    @cached_property
    def groups(self) -> list[Group]:
        """All objects, and the objects of each attribute value that occurs."""
        looks = {(attribute, getattr(o, attribute)) for o in self.properties for attribute in ATTRIBUTES}
        return [self.group([]), *(self.group([look]) for look in sorted(looks))]

    @cached_property
    def _minimal(self) -> dict[int, list[Group]]:
        """For each object, the descriptions that fit only this object and have no superfluous part."""
        minimal: dict[int, list[Group]] = {}
        for o in self.properties:
            groups: list[Group] = []
            for size in range(1, len(ATTRIBUTES) + 1):
                for chosen in combinations(ATTRIBUTES, size):
                    group = self.group([(attribute, getattr(o, attribute)) for attribute in chosen])
                    if len(group.members) == 1 and not any(set(k.looks) <= set(group.looks) for k in groups):
                        groups.append(group)
            minimal[o.object_id] = groups
        return minimal

    def of(self, number: int, rng: Random) -> Phrase:
        """A minimal unique description of an object."""
        group = rng.choice(self._minimal[number])
        return Phrase(f"the {group.singular}", f"{group.program} unique")

    def event(self, event: Event, rng: Random, *, clause: bool = True) -> Phrase:
        """An observed event, as a clause ("the cube enters the scene") or a name ("the cube's entrance")."""
        objects = [self.of(number, rng) for number in rng.sample(event.objects, len(event.objects))]
        words = rng.choice((_EVENT_CLAUSES if clause else _EVENT_NAMES)[event.type])
        return Phrase(words.format(*(o.text for o in objects)), _event_program("events", event.type, objects))

    def possible_collision(self, pair: Sequence[int], rng: Random) -> Phrase:
        """A collision that may or may not happen, as a sentence without its full stop."""
        objects = [self.of(number, rng) for number in rng.sample(pair, 2)]
        text = rng.choice(_EVENT_CLAUSES["collision"]).format(*(o.text for o in objects))
        return Phrase(text[0].upper() + text[1:], _event_program("all_events", "collision", objects))


def _event_program(source: str, kind: str, objects: Sequence[Phrase]) -> str:
    return " ".join([source, *(f"{o.program} filter_{kind}" for o in objects), "unique"])
