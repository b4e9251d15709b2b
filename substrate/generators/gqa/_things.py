"""The things of this world: kinds of things, the values they can have, and a sampled scene of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from substrate.domains.gqa.format import Relation, SceneGraph, SceneObject

WIDTH, HEIGHT = 640, 480

COLORS = ("red", "blue", "green", "yellow", "white", "black", "brown", "gray", "orange", "pink")
_MATTER = ("wood", "metal", "plastic")
_HEAD = {
    "age": ("young", "old"),
    "height": ("tall", "short"),
    "face expression": ("happy", "sad"),
    "activity": ("talking", "reading", "waiting", "eating"),
}
_CLOTH = {
    "color": COLORS,
    "material": ("cotton", "denim", "leather"),
    "pattern": ("striped", "plaid", "floral"),
    "": ("short sleeved", "long sleeved"),
}
_PIECE = {
    "color": COLORS,
    "material": _MATTER,
    "size": ("large", "small"),
    "shape": ("round", "square", "rectangular"),
}

ATTRIBUTES: dict[str, dict[str, tuple[str, ...]]] = {
    "person": _HEAD,
    "clothing": _CLOTH,
    "furniture": _PIECE,
    "animal": {
        "color": ("white", "black", "brown", "gray"),
        "size": ("large", "small"),
        "pose": ("standing", "lying"),
        "age": ("young", "old"),
    },
    "fruit": {
        "color": ("red", "green", "yellow", "orange"),
        "shape": ("round", "oval"),
        "size": ("large", "small"),
    },
    "vehicle": {
        "color": COLORS,
        "size": ("large", "small"),
        "cleanliness": ("clean", "dirty"),
        "": ("parked", "moving"),
    },
    "device": {"color": ("black", "white", "gray"), "size": ("large", "small"), "": ("on", "off")},
    "container": {"color": COLORS, "material": ("glass", "plastic", "ceramic"), "": ("empty", "full")},
    "plant": {"color": ("green", "brown"), "height": ("tall", "short"), "": ("leafy", "bare")},
}
"""Top kind to attribute family to values; the family of plain attributes is blank."""

KINDS: dict[str, tuple[str, ...]] = {
    "man": ("person",),
    "woman": ("person",),
    "boy": ("person",),
    "girl": ("person",),
    "shirt": ("clothing",),
    "jacket": ("clothing",),
    "skirt": ("clothing",),
    "hat": ("clothing",),
    "scarf": ("clothing",),
    "chair": ("furniture",),
    "office chair": ("chair", "furniture"),
    "table": ("furniture",),
    "coffee table": ("table", "furniture"),
    "desk": ("furniture",),
    "couch": ("furniture",),
    "bench": ("furniture",),
    "cabinet": ("furniture",),
    "dog": ("animal",),
    "cat": ("animal",),
    "horse": ("animal",),
    "zebra": ("animal",),
    "sheep": ("animal",),
    "apple": ("fruit",),
    "banana": ("fruit",),
    "pear": ("fruit",),
    "lemon": ("fruit",),
    "car": ("vehicle",),
    "truck": ("vehicle",),
    "bus": ("vehicle",),
    "bicycle": ("vehicle",),
    "laptop": ("device",),
    "cell phone": ("device",),
    "camera": ("device",),
    "television": ("device",),
    "bowl": ("container",),
    "vase": ("container",),
    "basket": ("container",),
    "tree": ("plant",),
    "bush": ("plant",),
    "palm tree": ("tree", "plant"),
}
"""Name to what else it may be called, the top kind last."""

GENDER = {"man": "male", "boy": "male", "woman": "female", "girl": "female"}
PLACES = {
    "outdoors": ("street", "beach", "park", "field"),
    "indoors": ("kitchen", "living room", "bedroom", "office"),
}
WEATHER = ("sunny", "cloudy", "rainy")
_BODIES = {
    "outdoors": (
        "man",
        "woman",
        "boy",
        "girl",
        "dog",
        "horse",
        "zebra",
        "sheep",
        "car",
        "truck",
        "bus",
        "bicycle",
        "bench",
        "tree",
        "bush",
        "palm tree",
    ),
    "indoors": (
        "man",
        "woman",
        "boy",
        "girl",
        "dog",
        "cat",
        "chair",
        "office chair",
        "table",
        "coffee table",
        "desk",
        "couch",
        "cabinet",
        "television",
    ),
}
_ON_TOP = ("apple", "banana", "pear", "lemon", "bowl", "vase", "basket", "laptop", "cell phone", "camera")
_WORN = ("shirt", "jacket", "skirt", "hat", "scarf")
_HELD = ("apple", "banana", "cell phone", "camera", "basket")
_SUPPORTS = ("table", "coffee table", "desk", "bench", "cabinet")
_SEATS = ("chair", "office chair", "couch", "bench")


@dataclass(frozen=True)
class Thing:
    """An object: number in the scene, name, box (x, y, width, height in pixels), family to value."""

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
        """Centre of its box, pixels."""
        x, y, w, h = self.box
        return x + w / 2, y + h / 2


@dataclass(frozen=True)
class Room:
    """A sampled scene: its things, who stands in which relation to whom, where and in which weather.

    ``place`` is ``None`` where only the setting, indoors or outdoors, is known.
    """

    things: tuple[Thing, ...]
    place: str | None
    setting: str
    weather: str | None
    relations: frozenset[tuple[int, str, int]] = field(default_factory=frozenset)

    def subjects(self, relation: str, target: Thing) -> list[Thing]:
        """The things that stand in a relation to one, by number."""
        return [thing for thing in self.things if (thing.number, relation, target.number) in self.relations]

    def objects(self, source: Thing, relation: str) -> list[Thing]:
        """The things one stands in a relation to, by number."""
        return [thing for thing in self.things if (source.number, relation, thing.number) in self.relations]


def sample_room(rng: Random) -> Room:
    """A scene of up to two dozen things, of which some share a name."""
    setting = rng.choice(sorted(PLACES))
    bodies = [rng.choice(_BODIES[setting]) for _ in range(rng.randint(5, 9))]
    things: list[Thing] = []
    edges: set[tuple[int, str, int]] = set()

    def add(name: str, box: tuple[int, int, int, int]) -> Thing:
        families = ATTRIBUTES[KINDS[name][-1]]
        thing = Thing(
            len(things),
            name,
            box,
            {family: rng.choice(values) for family, values in families.items() if rng.random() < 0.75},
        )
        things.append(thing)
        return thing

    for name in bodies:
        w, h = rng.randint(50, 130), rng.randint(60, 180)
        add(name, (rng.randint(0, WIDTH - w), rng.randint(0, HEIGHT - h), w, h))
    for body in tuple(things):
        if body.top == "person":
            for worn in rng.sample(_WORN, rng.randint(0, 2)):
                edges.add((body.number, "wearing", add(worn, _inside(body, rng)).number))
            if rng.random() < 0.5:
                edges.add((body.number, "holding", add(rng.choice(_HELD), _inside(body, rng)).number))
            seats = [
                thing
                for thing in things
                if thing.name in _SEATS
                and not any(r == "sitting on" and o == thing.number for _, r, o in edges)
            ]
            if seats and rng.random() < 0.5:
                edges.add((body.number, "sitting on", rng.choice(seats).number))
        elif body.name in _SUPPORTS:
            for name in rng.sample(_ON_TOP, rng.randint(0, 3)):
                edges.add((add(name, _inside(body, rng)).number, "on", body.number))
    edges |= _sides(things)
    for one, other in _neighbours(things[: len(bodies)], rng):
        if rng.random() < 0.5:
            edges |= {(one.number, "behind", other.number), (other.number, "in front of", one.number)}
        else:
            edges |= {(one.number, "near", other.number), (other.number, "near", one.number)}
    weather = rng.choice(WEATHER) if setting == "outdoors" and rng.random() < 0.8 else None
    place = rng.choice(PLACES[setting]) if rng.random() < 0.6 else None
    return Room(tuple(things), place, setting, weather, frozenset(edges))


def _inside(body: Thing, rng: Random) -> tuple[int, int, int, int]:
    x, y, w, h = body.box
    width, height = rng.randint(8, max(9, w // 3)), rng.randint(8, max(9, h // 3))
    return x + rng.randint(0, w - width), y + rng.randint(0, h - height), width, height


def _sides(things: list[Thing]) -> set[tuple[int, str, int]]:
    """Left and right of one another: boxes that are level and do not overlap sideways."""
    edges: set[tuple[int, str, int]] = set()
    for one in things:
        for other in things:
            x, y, w, h = one.box
            x2, y2, _, h2 = other.box
            if x + w <= x2 and y < y2 + h2 and y2 < y + h:
                edges |= {
                    (one.number, "to the left of", other.number),
                    (other.number, "to the right of", one.number),
                }
    return edges


def _neighbours(things: list[Thing], rng: Random) -> list[tuple[Thing, Thing]]:
    pairs = [(one, other) for one in things for other in things if one.number < other.number]
    return rng.sample(pairs, min(3, len(pairs)))


def scene_graph(room: Room, ids: dict[int, str]) -> SceneGraph:
    """The scene in the official format; ``ids`` are the objects' ids by number."""
    objects = {}
    for thing in room.things:
        x, y, w, h = thing.box
        relations = [Relation(name, ids[o]) for s, name, o in sorted(room.relations) if s == thing.number]
        objects[ids[thing.number]] = SceneObject(
            thing.name, x, y, w, h, list(thing.attributes.values()), relations
        )
    return SceneGraph(WIDTH, HEIGHT, objects, room.place or room.setting, room.weather)
