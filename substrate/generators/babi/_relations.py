"""Tasks about how things relate: the teller draws a map, a board, a row of sizes or a bestiary, and reads it
off.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from substrate.generators.babi._tale import PLACES, Tale

Cell = tuple[int, int]

COMPASS: Mapping[str, Cell] = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
BOARD: Mapping[str, Cell] = {
    "above": (0, 1),
    "below": (0, -1),
    "to the right of": (1, 0),
    "to the left of": (-1, 0),
}
SHAPES: tuple[str, ...] = (
    "blue square",
    "pink rectangle",
    "red sphere",
    "red square",
    "triangle",
    "yellow square",
)
CONTAINERS: tuple[str, ...] = ("box", "box of chocolates", "chest", "chocolate", "container", "suitcase")
KINDS: dict[str, str] = {"cat": "Cats", "mouse": "Mice", "sheep": "Sheep", "wolf": "Wolves"}
PETS: tuple[str, ...] = ("Emily", "Gertrude", "Jessica", "Winona")
BEASTS: tuple[str, ...] = ("Bernhard", "Brian", "Greg", "Julius", "Lily")


def _drawn(
    tale: Tale, names: list[str], offsets: Mapping[str, Cell]
) -> tuple[dict[str, Cell], list[tuple[str, str, str]]]:
    """Cells of a random map and the relations that join it: each name is put beside one put before."""
    cells: dict[str, Cell] = {names[0]: (0, 0)}
    joins: list[tuple[str, str, str]] = []
    for name in names[1:]:
        free = [
            (other, relation)
            for other, cell in cells.items()
            for relation, offset in offsets.items()
            if _sum(cell, offset) not in cells.values()
        ]
        other, relation = tale.rng.choice(free)
        cells[name] = _sum(cells[other], offsets[relation])
        joins.append((name, relation, other))
    return cells, joins


def _sum(cell: Cell, offset: Cell) -> Cell:
    return cell[0] + offset[0], cell[1] + offset[1]


def _either_way(tale: Tale, join: tuple[str, str, str], offsets: Mapping[str, Cell]) -> tuple[str, str, str]:
    """A relation, or its inverse told from the other side."""
    name, relation, other = join
    return join if tale.rng.random() < 0.5 else (other, _opposite(relation, offsets), name)


def _opposite(relation: str, offsets: Mapping[str, Cell]) -> str:
    x, y = offsets[relation]
    return next(name for name, offset in offsets.items() if offset == (-x, -y))


def two_rooms(tale: Tale) -> None:
    """Task 4."""
    _, joins = _drawn(tale, tale.rng.sample(PLACES, 3), COMPASS)
    facts = [_either_way(tale, join, COMPASS) for join in joins]
    ticks = [tale.say(f"The {name} is {relation} of the {other}.") for name, relation, other in facts]
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
        ("kind", kind): f"{KINDS[kind]} are afraid of {KINDS[feared].lower()}."
        for kind, feared in fears.items()
    }
    sentences |= {("name", name): f"{name} is a {kind}." for name, kind in kinds.items()}
    order = sorted(sentences)
    rng.shuffle(order)
    ticks = {key: tale.say(sentences[key]) for key in order}
    for name in rng.sample(PETS, len(PETS)):
        tale.ask(
            f"What is {name.lower()} afraid of?",
            fears[kinds[name]],
            ticks["name", name],
            ticks["kind", kinds[name]],
        )


def induction(tale: Tale) -> None:
    """Task 16: the colour of the same kind's individual that was introduced last."""
    rng = tale.rng
    *seen, asked = rng.sample(BEASTS, len(BEASTS))
    kinds = {name: rng.choice(("frog", "lion", "rhino", "swan")) for name in seen}
    colors = {name: rng.choice(("gray", "green", "white", "yellow")) for name in seen}
    kinds[asked] = kinds[rng.choice(seen)]
    order = [("is a", name) for name in BEASTS] + [("is", name) for name in seen]
    rng.shuffle(order)
    ticks = {
        (verb, name): tale.say(f"{name} {verb} {kinds[name] if verb == 'is a' else colors[name]}.")
        for verb, name in order
    }
    peer = max((name for name in seen if kinds[name] == kinds[asked]), key=lambda name: ticks["is a", name])
    tale.ask(
        f"What color is {asked}?", colors[peer], ticks["is a", asked], ticks["is a", peer], ticks["is", peer]
    )


def positions(tale: Tale) -> None:
    """Task 17: what lies above is in the same column, what lies beside is in the same row."""
    rng = tale.rng
    names = rng.sample(SHAPES, 3)
    cells, joins = _drawn(tale, names, BOARD)
    ticks = [
        tale.say(f"The {name} is {relation} the {other}.")
        for name, relation, other in (_either_way(tale, join, BOARD) for join in joins)
    ]
    (first, _, second), (third, _, joined) = joins
    ends = [third, first if joined == second else second]
    for _ in range(8):
        one, other = rng.sample(ends, 2)
        relation = rng.choice(tuple(BOARD))
        x, y = BOARD[relation]
        ahead = (cells[one][0] - cells[other][0]) * x + (cells[one][1] - cells[other][1]) * y
        tale.ask(f"Is the {one} {relation} the {other}?", "yes" if ahead > 0 else "no", *ticks)


def sizes(tale: Tale) -> None:
    """Task 18: neighbours in a row of sizes are compared, so that every other comparison has one chain."""
    rng = tale.rng
    row = rng.sample(CONTAINERS, 5)
    pairs = list(range(len(row) - 1))
    rng.shuffle(pairs)
    ticks: dict[int, int] = {}
    for index in pairs:
        small, big = row[index], row[index + 1]
        ticks[index] = tale.say(
            rng.choice((f"The {small} fits inside the {big}.", f"The {big} is bigger than the {small}."))
        )
    for _ in range(5):
        low, high = sorted(rng.sample(range(len(row)), 2))
        chain = [ticks[index] for index in range(low, high)]
        one, other, answer = rng.choice(((row[low], row[high], "yes"), (row[high], row[low], "no")))
        tale.ask(
            *rng.choice(
                (
                    (f"Does the {one} fit in the {other}?", answer),
                    (f"Is the {other} bigger than the {one}?", answer),
                )
            ),
            *chain,
        )


def way(tale: Tale) -> None:
    """Task 19: six rooms on a map that is a tree of stated neighbours; a way of two steps is asked for."""
    rng = tale.rng
    cells, joins = _drawn(tale, rng.sample(PLACES, 6), COMPASS)
    order = rng.sample(joins, len(joins))
    ticks = {
        frozenset((join[0], join[2])): tale.say(
            "The {} is {} of the {}.".format(*_either_way(tale, join, COMPASS))
        )
        for join in order
    }
    ways = [way for way in permutations(cells, 3) if {frozenset(way[:2]), frozenset(way[1:])} <= set(ticks)]
    start, middle, goal = rng.choice(ways)
    steps = [
        next(name for name, offset in COMPASS.items() if _sum(cells[here], offset) == cells[there])
        for here, there in ((start, middle), (middle, goal))
    ]
    supporting = [ticks[frozenset(pair)] for pair in ((start, middle), (middle, goal))]
    tale.ask(
        f"How do you go from the {start} to the {goal}?", ",".join(step[0] for step in steps), *supporting
    )
