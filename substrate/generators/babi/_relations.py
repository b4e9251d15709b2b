"""Tasks about relations: the teller draws a map, a board, a row of sizes or a bestiary, and describes it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations, product

from substrate.generators.babi._tale import PLACES, Tale

Cell = tuple[int, int]

COMPASS: Mapping[str, Cell] = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
BOARD: Mapping[str, Cell] = dict(
    zip(("above", "below", "to the right of", "to the left of"), COMPASS.values(), strict=True)
)
SHAPES = ("blue square", "pink rectangle", "red sphere", "red square", "triangle", "yellow square")
CONTAINERS: tuple[str, ...] = ("box", "box of chocolates", "chest", "chocolate", "container", "suitcase")
KINDS: dict[str, str] = {"cat": "Cats", "mouse": "Mice", "sheep": "Sheep", "wolf": "Wolves"}
PETS: tuple[str, ...] = ("Emily", "Gertrude", "Jessica", "Winona")
BEASTS: tuple[str, ...] = ("Bernhard", "Brian", "Greg", "Julius", "Lily")


Join = tuple[str, str, str]
"""A name, its relation to a second name, and the second name."""


def _drawn(tale: Tale, names: list[str], offsets: Mapping[str, Cell]) -> tuple[dict[str, Cell], list[Join]]:
    """Cells of a random map, and the relations that join it: each name is placed next to an earlier one."""
    cells: dict[str, Cell] = {names[0]: (0, 0)}
    joins: list[Join] = []
    for name in names[1:]:
        free = [
            (name, relation, other)
            for other, relation in product(cells, offsets)
            if _sum(cells[other], offsets[relation]) not in cells.values()
        ]
        joins.append(tale.rng.choice(free))
        _, relation, other = joins[-1]
        cells[name] = _sum(cells[other], offsets[relation])
    return cells, joins


def _sum(cell: Cell, offset: Cell) -> Cell:
    return cell[0] + offset[0], cell[1] + offset[1]


def _either_way(tale: Tale, join: Join, offsets: Mapping[str, Cell]) -> Join:
    """A relation as given, or its inverse from the other side."""
    name, relation, other = join
    if tale.rng.random() < 0.5:
        return join
    x, y = offsets[relation]
    return other, next(opposite for opposite, offset in offsets.items() if offset == (-x, -y)), name


def two_rooms(tale: Tale) -> None:
    """Task 4."""
    _, joins = _drawn(tale, tale.rng.sample(PLACES, 3), COMPASS)
    facts = [_either_way(tale, join, COMPASS) for join in joins]
    ticks = [tale.say("The {} is {} of the {}.".format(*fact)) for fact in facts]
    index = tale.rng.randrange(2)
    name, relation, other = _either_way(tale, facts[index], COMPASS)
    text, answer = tale.rng.choice(
        ((f"What is {relation} of the {other}?", name), (f"What is the {name} {relation} of?", other))
    )
    tale.ask(text, answer, ticks[index])


def deduction(tale: Tale) -> None:
    """Task 15."""
    rng = tale.rng
    fears = {kind: rng.choice([other for other in KINDS if other != kind]) for kind in KINDS}
    kinds = {name: rng.choice(tuple(KINDS)) for name in PETS}
    sentences = {
        ("kind", kind): f"{KINDS[kind]} are afraid of {KINDS[fears[kind]].lower()}." for kind in fears
    }
    sentences |= {("name", name): f"{name} is a {kind}." for name, kind in kinds.items()}
    order = sorted(sentences)
    rng.shuffle(order)
    ticks = {key: tale.say(sentences[key]) for key in order}
    for name in rng.sample(PETS, len(PETS)):
        supporting = ticks["name", name], ticks["kind", kinds[name]]
        tale.ask(f"What is {name.lower()} afraid of?", fears[kinds[name]], *supporting)


def induction(tale: Tale) -> None:
    """Task 16: the colour of the individual of the same kind that was introduced last."""
    rng = tale.rng
    *seen, asked = rng.sample(BEASTS, len(BEASTS))
    kinds = {name: rng.choice(("frog", "lion", "rhino", "swan")) for name in seen}
    colors = {name: rng.choice(("gray", "green", "white", "yellow")) for name in seen}
    kinds[asked] = kinds[rng.choice(seen)]
    order = [("is a", name) for name in BEASTS] + [("is", name) for name in seen]
    rng.shuffle(order)
    traits = {"is a": kinds, "is": colors}
    ticks = {(verb, name): tale.say(f"{name} {verb} {traits[verb][name]}.") for verb, name in order}
    alike = [name for name in seen if kinds[name] == kinds[asked]]
    peer = max(alike, key=lambda name: ticks["is a", name])
    supporting = ticks["is a", asked], ticks["is a", peer], ticks["is", peer]
    tale.ask(f"What color is {asked}?", colors[peer], *supporting)


def positions(tale: Tale) -> None:
    """Task 17: things above each other share a column, things beside each other share a row."""
    rng = tale.rng
    cells, joins = _drawn(tale, rng.sample(SHAPES, 3), BOARD)
    facts = [_either_way(tale, join, BOARD) for join in joins]
    ticks = [tale.say("The {} is {} the {}.".format(*fact)) for fact in facts]
    (first, _, second), (third, _, joined) = joins
    ends = [third, first if joined == second else second]
    for _ in range(8):
        end, other = rng.sample(ends, 2)
        relation = rng.choice(tuple(BOARD))
        x, y = BOARD[relation]
        ahead = (cells[end][0] - cells[other][0]) * x + (cells[end][1] - cells[other][1]) * y
        tale.ask(f"Is the {end} {relation} the {other}?", "yes" if ahead > 0 else "no", *ticks)


def sizes(tale: Tale) -> None:
    """Task 18: neighbours in a row of sizes are compared, so that every other comparison has one chain."""
    rng = tale.rng
    row = rng.sample(CONTAINERS, 5)
    pairs = list(range(len(row) - 1))
    rng.shuffle(pairs)
    ticks: dict[int, int] = {}
    for index in pairs:
        small, big = row[index], row[index + 1]
        text = rng.choice((f"The {small} fits inside the {big}.", f"The {big} is bigger than the {small}."))
        ticks[index] = tale.say(text)
    for _ in range(5):
        low, high = sorted(rng.sample(range(len(row)), 2))
        a, b, answer = rng.choice(((row[low], row[high], "yes"), (row[high], row[low], "no")))
        question = rng.choice((f"Does the {a} fit in the {b}?", f"Is the {b} bigger than the {a}?"))
        tale.ask(question, answer, *(ticks[index] for index in range(low, high)))


def way(tale: Tale) -> None:
    """Task 19: six rooms on a map that is a tree of stated neighbours; the route asked for has two steps."""
    rng = tale.rng
    cells, joins = _drawn(tale, rng.sample(PLACES, 6), COMPASS)
    ticks: dict[frozenset[str], int] = {}
    for join in rng.sample(joins, len(joins)):
        text = "The {} is {} of the {}.".format(*_either_way(tale, join, COMPASS))
        ticks[frozenset((join[0], join[2]))] = tale.say(text)
    ways = [way for way in permutations(cells, 3) if {frozenset(way[:2]), frozenset(way[1:])} <= set(ticks)]
    start, middle, goal = rng.choice(ways)
    letters = {
        (here, _sum(cells[here], offset)): name[0] for here in cells for name, offset in COMPASS.items()
    }
    steps = ((start, middle), (middle, goal))
    answer = ",".join(letters[here, cells[there]] for here, there in steps)
    supporting = (ticks[frozenset(step)] for step in steps)
    tale.ask(f"How do you go from the {start} to the {goal}?", answer, *supporting)
