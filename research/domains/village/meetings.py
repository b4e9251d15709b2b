"""Meetings in a recorded simulation, from its event log and from its file by an independent reader.

Two personas meet when they come to share an arena. :func:`by_log` asks the log. :func:`by_reader` goes
through the file from step to step. The reader shares only the format of the file with the log: it finds
arenas and meetings by code of its own, so that it can check the log, its rules and its queries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from typing import Any

from pyoxigraph import NamedNode

from research.domains.village.log import NAMESPACE
from research.domains.village.movements import Activity, Arena, Tile, parse_movements
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL
from substrate.log.event_log import EventLog

EVERY = 10
"""Steps between two checks of who is together."""
_MEETING, _WHO, _TILE = (NamedNode(f"{NAMESPACE}{name}") for name in ("Meeting", "who", "tile"))
_NAMED = f"SELECT ?who ?name WHERE {{ ?who a <{NAMESPACE}Persona> ; <{RDFS_LABEL.value}> ?name }}"
_WITH = f"SELECT ?one ?other WHERE {{ ?one <{NAMESPACE}with> ?other FILTER (STR(?one) < STR(?other)) }}"

Pair = tuple[str, str]
"""Two names, in order."""
_Steps = Mapping[int, Mapping[str, Activity]]
_Places = Iterator[tuple[int, Mapping[str, Arena | None]]]
"""By step, the arena of each persona; ``None`` if it is on its way."""


def in_words(first: int, meetings: int, moments: int) -> str:
    """Describe a pair that met: its first meeting, its number of meetings, and of checks it was together."""
    return f"first at {first}, {meetings} times, {moments} moments"


def by_log(log: EventLog) -> dict[Pair, str]:
    """Describe each pair of personas that met, from a log's meetings and its state at every check.

    Meetings come from the deltas that insert them; SPARQL gives the pairs that are together.
    """
    named: Any = log.state().query(_NAMED)
    names: dict[Any, str] = {row["who"]: row["name"].value for row in named}
    ticks: dict[str, int] = {}
    who: defaultdict[str, list[str]] = defaultdict(list)
    for delta in log:
        subject, predicate, value = delta.triple
        if predicate == RDF_TYPE and value == _MEETING:
            ticks[subject.value] = delta.tick
        elif predicate == _WHO and (name := names.get(value)):
            who[subject.value].append(name)
    moments = Counter[Pair]()
    # Every persona has a tile from its first step on.
    first = next(delta.tick for delta in log if delta.triple[1] == _TILE)
    for tick in range(first, log.ticks[-1] + 1, EVERY):
        together: Any = log.state(tick).query(_WITH)
        moments.update(_pair(names[row["one"]], names[row["other"]]) for row in together)
    met: defaultdict[Pair, list[int]] = defaultdict(list)
    for meeting, tick in ticks.items():
        met[_pair(*who[meeting])].append(tick)
    return {pair: in_words(min(when), len(when), moments[pair]) for pair, when in met.items()}


def _pair(first: str, second: str) -> Pair:
    return (first, second) if first < second else (second, first)


def personas(file: bytes) -> list[str]:
    """The names in a movement file, sorted."""
    return list(parse_movements(file).personas)


def by_reader(file: bytes, *, by_address: bool = False) -> dict[Pair, str]:
    """Describe each pair as :func:`by_log` does, but from the file only, step by step.

    It compares places only at the steps that the file lists.

    Args:
        file: the movement file.
        by_address: whether a persona counts as being at its action's place even while on its way there.
    """
    steps = parse_movements(file).steps
    places = _by_address(steps) if by_address else _by_tile(steps)
    met: defaultdict[Pair, list[int]] = defaultdict(list)
    moments, before, first = Counter[Pair](), set[Pair](), min(steps)
    for step, where in places:
        by_place: defaultdict[Arena, list[str]] = defaultdict(list)
        for name, place in where.items():
            if place:
                by_place[place].append(name)
        now = {pair for together in by_place.values() for pair in combinations(sorted(together), 2)}
        for pair in now - before:
            met[pair].append(step)
        if (step - first) % EVERY == 0:
            moments.update(now)
        before = now
    return {pair: in_words(min(when), len(when), moments[pair]) for pair, when in met.items()}


def _by_address(steps: _Steps) -> _Places:
    now: dict[str, Arena] = {}
    for step, records in steps.items():
        now |= {name: record.arena for name, record in records.items() if record.arena}
        yield step, now


def _by_tile(steps: _Steps) -> _Places:
    """The place of each persona, by its tile."""
    tiles, last, places = _tiles(steps), dict[str, Activity](), dict[str, Arena | None]()
    for step, records in steps.items():
        last |= records
        for name, record in records.items():
            place = places.get(name)
            stays = record.arena is None or record.arena == place
            places[name] = tiles.get(record.movement) or (place if stays else None)
        yield step, places


def _tiles(steps: _Steps) -> dict[Tile, Arena]:
    """The arena of each tile, unless two arenas claim it.

    A tile is in an arena if a persona stood still on it during an action there, or crossed it during one
    action between two such tiles of this arena.
    """
    walks: dict[str, list[Activity]] = defaultdict(list)
    stood: defaultdict[Tile, set[Arena]] = defaultdict(set)
    last: dict[str, Activity] = {}
    for records in steps.values():
        for name, record in records.items():
            walks[name].append(record)
        for name, record in {**last, **records}.items():
            if record.arena and name in last and last[name].movement == record.movement:
                stood[record.movement].add(record.arena)
        last |= records
    passed: defaultdict[Tile, set[Arena]] = defaultdict(set)
    for walk in walks.values():
        start = 0
        for place in range(1, len(walk) + 1):
            if place < len(walk) and walk[place].description == walk[start].description:
                continue
            # A walk begins on the last tile of the previous action.
            way = [record.movement for record in walk[max(0, start - 1) : place]]
            known = [number for number, tile in enumerate(way) if tile in stood]
            for begin, end in pairwise(known):
                if stood[way[begin]] == stood[way[end]]:
                    for tile in way[begin + 1 : end]:
                        passed[tile] |= stood[way[begin]]
            start = place
    arenas = {tile: stood.get(tile) or passed[tile] for tile in {*stood, *passed}}
    return {tile: next(iter(claims)) for tile, claims in arenas.items() if len(claims) == 1}
