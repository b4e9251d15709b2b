"""A movement file ► typed deltas: one event log, a tick a step.

The tick before the first step holds who and what there is: personas and places. Then the record is given
(:func:`recorded`): tile, action, place, conversations with their utterances. What comes of it (who is at a
place, visits, meetings) is left to the rules of the TBox ``village``, so that a fork derives it by the very
same rules.

Where a persona is has to be read off, for a record names the place of the action and a persona may still be
on its way there. Tiles tell: where somebody stood still during an action in an arena, the tile belongs to it
(:func:`arenas`); on a tile of no known arena a persona is still where it was while its action is there or it
talks, and else on its way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote

import pyoxigraph as ox

from research.domains.movement_file import Activity, Chat, Movements
from substrate.base.errors import FormatError
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL
from substrate.log.event_log import EventLog
from substrate.rules.fixpoint import unfold
from substrate.rules.tbox import TBox

NAMESPACE = "urn:substrate:village:"
ENTITY = "urn:village:"
RECORDING = f"<{ENTITY}recording>"

Line = tuple[int, str]
"""A tick and an RDF Patch line."""
Tile = tuple[int, int]
"""Column and row of the map."""
Arena = tuple[str, ...]
"""World, sector and arena of an address."""
Place = Arena | None
"""A persona's place; ``None`` on its way."""


class Conversation(NamedTuple):
    """A conversation as personas' records hold it: who, from which step to which, and what was said.

    >>> Conversation(7, {"Ann": 9, "Bo": 9}, (("Ann", "Hello"),)).iri
    'urn:village:conversation:7:ann:bo'
    """

    start: int
    ends: Mapping[str, int | None]
    """Each talker, and the step from which its record holds it no more; ``None`` where that is past the
    file's end.
    """
    chat: Chat

    @property
    def talkers(self) -> list[str]:
        """The speakers, sorted."""
        return sorted(self.ends)

    @property
    def iri(self) -> str:
        """Its name: the step at which it begins, and who hold it."""
        return ":".join((f"{ENTITY}conversation:{self.start}", *map(slug, self.talkers)))


def slug(name: str) -> str:
    """A name as part of an IRI.

    >>> slug("Lin family's house")
    'lin-family%27s-house'
    """
    return quote(name.lower().replace(" ", "-"))


def entity(name: str) -> str:
    """The IRI of a persona, in brackets.

    >>> entity("Isabella Rodriguez")
    '<urn:village:isabella-rodriguez>'
    """
    return f"<{ENTITY}{slug(name)}>"


def place(address: Sequence[str]) -> str:
    """The IRI of a place, in brackets; the world's own name is left out of those within it.

    >>> place(("the Ville", "Hobbs Cafe", "cafe")), place(("the Ville",))
    ('<urn:village:place:hobbs-cafe:cafe>', '<urn:village:place>')
    """
    return f"<{':'.join((f'{ENTITY}place', *map(slug, address[1:])))}>"


def movement_log(movements: Movements) -> EventLog:
    """The event log of a movement file: what it records, and what the village's rules make of that.

    Raises:
        FormatError: two names of the file would have one IRI.

    >>> from research.domains.movement_file import parse_movements
    >>> talk = '"pronunciatio": "", "description": "chatting @ <persona> X", "chat": [["Ann", "Come!"]]'
    >>> text = f'{{"7": {{"Ann": {{"movement": [1, 1], {talk}}}, "Bo": {{"movement": [2, 1], {talk}}}}}}}'
    >>> log = movement_log(parse_movements(text.encode()))
    >>> bool(log.state(7).query('ASK { ?said <urn:substrate:village:words> "Come!" }'))
    True
    """
    box = TBox.load("village")
    return unfold(box, recorded(movements, box), until=max(movements.steps))


def recorded(movements: Movements, box: TBox) -> EventLog:
    """The record alone, before any rule; ``box`` says who of the personas belong together.

    Errors as :func:`movement_log`.
    """
    _check(movements)
    lines = [
        *_opening(movements, box),
        *_records(movements),
        *(line for talk in conversations(movements) for line in _talk(talk)),
    ]
    log = EventLog()
    log.extend_lines(sorted(lines, key=lambda line: line[0]))
    return log


def conversations(movements: Movements) -> list[Conversation]:
    """The conversations of a movement file, by the step at which they begin; records of one text that overlap
    are one.

    >>> ann = Activity((1, 1), "", "chatting @ <persona> Bo", (("Ann", "Hello"),))
    >>> conversations(Movements({7: {"Ann": ann}}, ("Ann",)))
    [Conversation(start=7, ends={'Ann': None}, chat=(('Ann', 'Hello'),))]
    """
    talks: list[Conversation] = []
    ends: dict[int, dict[str, int | None]] = {}
    holding: dict[str, int] = {}
    for step, records in movements.steps.items():
        for persona, record in sorted(records.items()):
            before = holding.get(persona)
            if record.chat == (talks[before].chat if before is not None else None):
                continue
            if before is not None:
                ends[before][persona] = step
                del holding[persona]
            if not record.chat:
                continue
            for number in sorted({*holding.values()}):
                if talks[number].chat == record.chat and persona not in ends[number]:
                    break
            else:
                number = len(talks)
                ends[number] = {}
                talks.append(Conversation(step, ends[number], record.chat))
            ends[number][persona] = None
            holding[persona] = number
    return talks


def arenas(movements: Movements) -> dict[Tile, Arena]:
    """The arena of each tile on which somebody stood still during an action there, or passed between two such
    tiles of one arena.

    A tile for which two arenas speak has none. A walk during one action takes the shortest way: it does not
    leave an arena to come back.

    >>> reading, there = "reading @ the Ville:Hobbs Cafe:cafe:table", (72, 14)
    >>> still = {7: {"Ann": Activity(there, "", reading, None)}, 8: {}}
    >>> arenas(Movements(still, ("Ann",)))
    {(72, 14): ('the Ville', 'Hobbs Cafe', 'cafe')}
    """
    stood: defaultdict[Tile, set[Arena]] = defaultdict(set)
    for _, records in _moments(movements):
        for before, now in records.values():
            if before and before.movement == now.movement and now.address:
                stood[now.movement].add(now.address[:3])
    passed: defaultdict[Tile, set[Arena]] = defaultdict(set)
    for walk in _walks(movements):
        landmarks = [number for number, tile in enumerate(walk) if tile in stood]
        for start, stop in pairwise(landmarks):
            if stood[walk[start]] == stood[walk[stop]]:
                for tile in walk[start + 1 : stop]:
                    passed[tile] |= stood[walk[start]]
    return {tile: min(arenas) for tile, arenas in (passed | stood).items() if len(arenas) == 1}


def _walks(movements: Movements) -> Iterator[list[Tile]]:
    """The tiles of each persona during each action, in the order of its steps."""
    for persona in movements.personas:
        walk: list[Tile] = []
        action = None
        for records in movements.steps.values():
            if record := records.get(persona):
                if record.description != action and walk:
                    yield walk
                    walk = walk[-1:]
                walk.append(record.movement)
                action = record.description
        yield walk


def _moments(movements: Movements) -> Iterator[tuple[int, dict[str, tuple[Activity | None, Activity]]]]:
    """Every step with the record before it and at it of each persona met so far, sorted by name."""
    current: dict[str, Activity] = {}
    for step, records in movements.steps.items():
        now = {**current, **records}
        yield step, {name: (current.get(name), now[name]) for name in movements.personas if name in now}
        current = now


def _check(movements: Movements) -> None:
    names = {name: name for name in ("place", "recording")}
    for name in movements.personas:
        if slug(name) in names:
            what = f"{name!r} and {names[slug(name)]!r} would be one"
            hint = "Give each persona a name of its own"
            raise FormatError(what, where=("movements",), hint=hint)
        names[slug(name)] = name


# Lines


def _opening(movements: Movements, box: TBox) -> Iterator[Line]:
    """The tick before the first step: who and what there is."""
    people = {ox.NamedNode(ENTITY + slug(name)) for name in movements.personas}
    lines = [_a(RECORDING, "Recording")]
    for name in movements.personas:
        lines += _called(entity(name), "Persona", name)
    records = (record for records in movements.steps.values() for record in records.values())
    known = {record.address for record in records if record.address}
    for address in sorted({whole[:depth] for whole in known for depth in range(1, len(whole) + 1)}):
        lines += _called(place(address), "Place", ", ".join(address[1:] or address))
        if len(address) > 1:
            lines.append(_is(place(address), "within", place(address[:-1])))
    lines += sorted(f"{quad}" for quad in box.quads if quad.subject in people and quad.object in people)
    return _at(max(0, min(movements.steps) - 1), lines)


def _records(movements: Movements) -> Iterator[Line]:
    """The records' facts, each where it changes."""
    tiles = arenas(movements)
    places: dict[str, Place] = {}
    facts: dict[str, dict[str, str]] = {}
    for step, records in _moments(movements):
        for persona, (before, now) in records.items():
            if now is before and persona in places:
                continue
            old, last = facts.get(persona, {}), places.get(persona)
            stays = now.address is None or now.address[:3] == last
            here = places[persona] = tiles.get(now.movement) or (last if stays else None)
            column, row = now.movement
            new = {"tile": f'"{column},{row}"', "does": _text(now.action), "shows": _text(now.pronunciatio)}
            new |= {"aim": place(now.address)} if now.address else {}
            if here != last:
                new |= {"recordedAt": place(here)} if here else {}
                new["recordedSince"] = _integer(step)
            else:
                new |= {name: old[name] for name in ("recordedAt", "recordedSince") if name in old}
            facts[persona] = new
            changed = [name for name in new | old if old.get(name) != new.get(name)]
            for name in changed:
                for op, values in (("D", old), ("A", new)):
                    if name in values:
                        yield step, f"{op} {_is(entity(persona), name, values[name])} ."


def _talk(talk: Conversation) -> Iterator[Line]:
    """A conversation: who holds it, all that is said at the step where it begins, and its end."""
    node, tick = f"<{talk.iri}>", _integer(talk.start)
    lines = [_a(node, "Conversation"), _is(node, "tick", tick)]
    for name in talk.talkers:
        lines += (_is(node, "talker", entity(name)), _is(entity(name), "engagedIn", node))
    for number, (speaker, words) in enumerate(talk.chat):
        utterance = f"<{talk.iri}:{number}>"
        lines += (_a(utterance, "Utterance"), _is(utterance, "tick", tick), _is(utterance, "partOf", node))
        lines += (_is(utterance, "number", _integer(number)), _is(utterance, "speaker", entity(speaker)))
        lines += (_is(utterance, "words", _text(words)),)
    yield from _at(talk.start, lines)
    for name, end in sorted(talk.ends.items()):
        if end is not None:
            yield end, f"D {_is(entity(name), 'engagedIn', node)} ."


# Terms


def _at(tick: int, lines: Iterable[str]) -> Iterator[Line]:
    return ((tick, f"A {line} .") for line in lines)


def _is(subject: str, name: str, value: str) -> str:
    return f"{subject} <{NAMESPACE}{name}> {value}"


def _a(subject: str, kind: str) -> str:
    return f"{subject} {RDF_TYPE} <{NAMESPACE}{kind}>"


def _called(subject: str, kind: str, words: str) -> tuple[str, str]:
    return _a(subject, kind), f"{subject} {RDFS_LABEL} {_text(words)}"


def _text(words: str) -> str:
    return str(ox.Literal(words))


def _integer(value: int) -> str:
    return str(ox.Literal(value))
