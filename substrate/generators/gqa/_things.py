"""The things of this world: their kinds, possible values, and a sampled scene."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations, permutations
from random import Random

from substrate.domains.gqa.format import Relation, SceneGraph, SceneObject

WIDTH, HEIGHT = 640, 480

_TABLES = tomllib.loads((files("substrate.generators.gqa") / "things.toml").read_text("utf-8"))
ATTRIBUTES: dict[str, dict[str, list[str]]] = {
    top: {f: _TABLES["shared"][v] if isinstance(v, str) else v for f, v in families.items()}
    for top, families in _TABLES["attributes"].items()
}
"""The values by top kind and attribute family; plain attributes have an empty family."""
_NAMES: dict[str, list[str]] = _TABLES["names"]
KINDS: dict[str, tuple[str, ...]] = {
    name: (_TABLES["between"][name], top) if name in _TABLES["between"] else (top,)
    for top, names in _NAMES.items()
    for name in names
}
"""A name's other names, the top kind last."""
GENDER: dict[str, str] = _TABLES["gender"]
PLACES: dict[str, list[str]] = _TABLES["places"]
WEATHER: list[str] = _TABLES["weather"]
_SEATS: list[str] = _TABLES["seats"]


@dataclass(frozen=True)
class Thing:
    """An object: its number in the scene, name, box (x, y, width, height in pixels), and value by family."""

    number: int
    name: str
    box: tuple[int, int, int, int]
    attributes: dict[str, str]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The thing's possible names, its own first."""
        return (self.name, *KINDS[self.name])

    @property
    def top(self) -> str:
        """The widest of its kinds."""
        return self.kinds[-1]

    @property
    def centre(self) -> tuple[float, float]:
        """The centre of its box, in pixels."""
        x, y, w, h = self.box
        return x + w / 2, y + h / 2

    @property
    def side(self) -> str:
        """The half of the image with its centre."""
        return "left" if self.centre[0] < WIDTH / 2 else "right"


@dataclass(frozen=True)
class Room:
    """A sampled scene: its things, their relations, the place and the weather.

    ``place`` is ``None`` if only the setting, indoors or outdoors, is known.
    """

    things: tuple[Thing, ...]
    place: str | None
    setting: str
    weather: str | None
    relations: frozenset[tuple[int, str, int]]

    def subjects(self, relation: str, target: Thing) -> list[Thing]:
        """The things that have a relation to ``target``, by number."""
        return [thing for thing in self.things if (thing.number, relation, target.number) in self.relations]

    def objects(self, source: Thing, relation: str) -> list[Thing]:
        """The things to which ``source`` has a relation, by number."""
        return [thing for thing in self.things if (source.number, relation, thing.number) in self.relations]


def sample_room(rng: Random) -> Room:
    """Sample a scene of up to two dozen things, some with the same name."""
    setting = rng.choice(sorted(PLACES))
    bodies = [rng.choice(_TABLES["bodies"][setting]) for _ in range(rng.randint(5, 9))]
    things: list[Thing] = []
    edges: set[tuple[int, str, int]] = set()

    def add(name: str, box: tuple[int, int, int, int]) -> int:
        families = ATTRIBUTES[KINDS[name][-1]].items()
        attributes = {family: rng.choice(values) for family, values in families if rng.random() < 0.75}
        things.append(Thing(len(things), name, box, attributes))
        return things[-1].number

    def inside(body: Thing) -> tuple[int, int, int, int]:
        x, y, w, h = body.box
        width, height = rng.randint(8, max(9, w // 3)), rng.randint(8, max(9, h // 3))
        return x + rng.randint(0, w - width), y + rng.randint(0, h - height), width, height

    for name in bodies:
        w, h = rng.randint(50, 130), rng.randint(60, 180)
        add(name, (rng.randint(0, WIDTH - w), rng.randint(0, HEIGHT - h), w, h))
    for body in tuple(things):
        if body.top == "person":
            for worn in rng.sample(_NAMES["clothing"], rng.randint(0, 2)):
                edges.add((body.number, "wearing", add(worn, inside(body))))
            if rng.random() < 0.5:
                edges.add((body.number, "holding", add(rng.choice(_TABLES["held"]), inside(body))))
            taken = {seat for _, relation, seat in edges if relation == "sitting on"}
            seats = [thing for thing in things if thing.name in _SEATS and thing.number not in taken]
            if seats and rng.random() < 0.5:
                edges.add((body.number, "sitting on", rng.choice(seats).number))
        elif body.name in _TABLES["supports"]:
            for name in rng.sample(_TABLES["on_top"], rng.randint(0, 3)):
                edges.add((add(name, inside(body)), "on", body.number))
    edges |= _sides(things)
    pairs = list(combinations(range(len(bodies)), 2))
    for first, second in rng.sample(pairs, min(3, len(pairs))):
        if rng.random() < 0.5:
            edges |= {(first, "behind", second), (second, "in front of", first)}
        else:
            edges |= {(first, "near", second), (second, "near", first)}
    weather = rng.choice(WEATHER) if setting == "outdoors" and rng.random() < 0.8 else None
    place = rng.choice(PLACES[setting]) if rng.random() < 0.6 else None
    return Room(tuple(things), place, setting, weather, frozenset(edges))


def _sides(things: list[Thing]) -> set[tuple[int, str, int]]:
    """The left and right relations: between boxes that are level and do not overlap sideways."""
    edges: set[tuple[int, str, int]] = set()
    for first, second in permutations(things, 2):
        x, y, w, h = first.box
        x2, y2, _, h2 = second.box
        if x + w <= x2 and y < y2 + h2 and y2 < y + h:
            left, right = first.number, second.number
            edges |= {(left, "to the left of", right), (right, "to the right of", left)}
    return edges


def scene_graph(room: Room, ids: dict[int, str]) -> SceneGraph:
    """The scene in the official format; ``ids`` are the objects' ids by number."""
    objects: dict[str, SceneObject] = {}
    for thing in room.things:
        relations = [Relation(name, ids[o]) for s, name, o in sorted(room.relations) if s == thing.number]
        attributes = list(thing.attributes.values())
        objects[ids[thing.number]] = SceneObject(thing.name, *thing.box, attributes, relations)
    return SceneGraph(WIDTH, HEIGHT, objects, room.place or room.setting, room.weather)
