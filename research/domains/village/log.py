"""A movement file ► typed deltas: one event log, with a tick per step.

The tick before the first step holds the personas and places (tick 0 if the first step is 0). Later ticks hold
the record (:func:`recorded`): tiles, actions, places, and conversations with their utterances. Rules of the
TBox ``village`` derive the rest (who is at a place, visits, meetings), so that a fork derives it by the same
rules.

A record names the place of a persona's action, but the persona may still be on its way there. So its place
follows from tiles, by these rules:

1. A tile on which somebody stood still during an action in an arena belongs to that arena (:func:`arenas`).
2. A tile that is passed between two such tiles of one arena belongs to it too (:func:`arenas`).
3. A persona on a tile of an arena is in this arena (:func:`_records`).
4. On any other tile it is still at its last place while its action is there or it talks; otherwise it is on
   its way (:func:`_records`).

The words: a *step* is the file's unit of time, and a tick of the log. A *record* is what the file says of a
persona at a step. A *tile* is a square of the map. An *address* names a place from the world inwards; its
first three parts are an *arena*, such as a room. A *chat* is the text of a *conversation*.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote

import pyoxigraph as ox

from research.domains.village.movements import Activity, Arena, Chat, Movements, Tile
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
Place = Arena | None
"""A persona's place; ``None`` on its way."""


class Conversation(NamedTuple):
    """A conversation in the records of its talkers: its first step, its end and its utterances.

    >>> Conversation(7, {"Ann": 9, "Bo": 9}, (("Ann", "Hello"),)).iri
    'urn:village:conversation:7:ann:bo'
    """

    start: int
    ends: Mapping[str, int | None]
    """By talker, the first step at which its record lacks the conversation; ``None`` if the file has none."""
    chat: Chat

    @property
    def talkers(self) -> list[str]:
        """The personas whose records hold the conversation, sorted."""
        return sorted(self.ends)

    @property
    def iri(self) -> str:
        """Its name, from its first step and its talkers."""
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
    """The IRI of a place, in brackets; it leaves out the world's name.

    >>> place(("the Ville", "Hobbs Cafe", "cafe")), place(("the Ville",))
    ('<urn:village:place:hobbs-cafe:cafe>', '<urn:village:place>')
    """
    return f"<{':'.join((f'{ENTITY}place', *map(slug, address[1:])))}>"


def movement_log(movements: Movements) -> EventLog:
    """The event log of a movement file: its records, and the facts that the village's rules derive from them.

    Raises:
        FormatError: two names of the file would have one IRI.

    >>> from research.domains.village.movements import parse_movements
    >>> talk = '"pronunciatio": "", "description": "chatting @ <persona> X", "chat": [["Ann", "Come!"]]'
    >>> text = f'{{"7": {{"Ann": {{"movement": [1, 1], {talk}}}, "Bo": {{"movement": [2, 1], {talk}}}}}}}'
    >>> log = movement_log(parse_movements(text.encode()))
    >>> bool(log.state(7).query('ASK { ?said <urn:substrate:village:words> "Come!" }'))
    True
    """
    box = TBox.load("village")
    return unfold(box, recorded(movements, box), until=max(movements.steps))


def recorded(movements: Movements, box: TBox) -> EventLog:
    """The log of the records alone, before any rule; ``box`` has the relations between personas.

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
    """The conversations of a movement file, by first step; overlapping records of the same text are one.

    >>> ann = Activity((1, 1), "", "chatting @ <persona> Bo", (("Ann", "Hello"),))
    >>> conversations(Movements({7: {"Ann": ann}}, ("Ann",)))
    [Conversation(start=7, ends={'Ann': None}, chat=(('Ann', 'Hello'),))]
    """
    talks: list[Conversation] = []
    # By the number of a conversation, its ends; and by persona, the number of the one that its record holds
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
            # A talk with the same text that others hold, and that this persona has not held yet, is the same
            for number in sorted({*holding.values()}):
                if talks[number].chat == record.chat and persona not in ends[number]:
                    break
            else:
                number = len(talks)
                # The conversation shares this mapping, which later steps fill.
                ends[number] = {}
                talks.append(Conversation(step, ends[number], record.chat))
            ends[number][persona] = None
            holding[persona] = number
    return talks


def arenas(movements: Movements) -> dict[Tile, Arena]:
    """The arena of each tile on which somebody stood still during an action there, or passed between two such
    tiles of one arena.

    A tile with evidence for two arenas is left out. A walk during one action takes the shortest way, so it
    does not leave an arena and come back.

    >>> reading, there = "reading @ the Ville:Hobbs Cafe:cafe:table", (72, 14)
    >>> still = {7: {"Ann": Activity(there, "", reading, None)}, 8: {}}
    >>> arenas(Movements(still, ("Ann",)))
    {(72, 14): ('the Ville', 'Hobbs Cafe', 'cafe')}
    """
    stood: defaultdict[Tile, set[Arena]] = defaultdict(set)
    for _, records in _moments(movements):
        for before, now in records.values():
            if before and before.movement == now.movement and now.arena:
                stood[now.movement].add(now.arena)
    passed: defaultdict[Tile, set[Arena]] = defaultdict(set)
    for walk in _walks(movements):
        landmarks = [number for number, tile in enumerate(walk) if tile in stood]
        for start, stop in pairwise(landmarks):
            if stood[walk[start]] == stood[walk[stop]]:
                for tile in walk[start + 1 : stop]:
                    passed[tile] |= stood[walk[start]]
    return {tile: min(claims) for tile, claims in (passed | stood).items() if len(claims) == 1}


def _walks(movements: Movements) -> Iterator[list[Tile]]:
    """The tiles of each persona during each action, in order, from the last tile of the previous action."""
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
    """For every step, the previous and the current record of each persona that has one, sorted by name."""
    current: dict[str, Activity] = {}
    for step, records in movements.steps.items():
        now = {**current, **records}
        yield step, {name: (current.get(name), now[name]) for name in movements.personas if name in now}
        current = now


def _check(movements: Movements) -> None:
    """Refuse a name whose IRI is taken."""
    names = {name: name for name in ("place", "recording")}
    for name in movements.personas:
        if slug(name) in names:
            what = f"{name!r} and {names[slug(name)]!r} would be one"
            hint = "Give each persona a name of its own"
            raise FormatError(what, where=("movements",), hint=hint)
        names[slug(name)] = name


# Lines


def _opening(movements: Movements, box: TBox) -> Iterator[Line]:
    """The lines before the first step: the recording, the personas with their relations, and the places."""
    people = {ox.NamedNode(ENTITY + slug(name)) for name in movements.personas}
    lines = [_typed(RECORDING, "Recording")]
    for name in movements.personas:
        lines += _labelled(entity(name), "Persona", name)
    records = (record for records in movements.steps.values() for record in records.values())
    known = {record.address for record in records if record.address}
    for address in sorted({full[:depth] for full in known for depth in range(1, len(full) + 1)}):
        lines += _labelled(place(address), "Place", ", ".join(address[1:] or address))
        if len(address) > 1:
            lines.append(_fact(place(address), "within", place(address[:-1])))
    lines += sorted(f"{quad}" for quad in box.quads if quad.subject in people and quad.object in people)
    return _inserted(max(0, min(movements.steps) - 1), lines)


def _records(movements: Movements) -> Iterator[Line]:
    """The facts of the records, retracted and inserted at the step at which they change."""
    tiles = arenas(movements)
    places: dict[str, Place] = {}
    facts: dict[str, dict[str, str]] = {}
    for step, records in _moments(movements):
        for persona, (before, now) in records.items():
            # A record that goes on unchanged gives no new fact
            if now is before and persona in places:
                continue
            # Its facts and its place until now
            old, last = facts.get(persona, {}), places.get(persona)
            stays = now.arena is None or now.arena == last
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
                        yield step, f"{op} {_fact(entity(persona), name, values[name])} ."


def _talk(talk: Conversation) -> Iterator[Line]:
    """The facts of a conversation: talkers and all utterances at its first step, and each talker's end."""
    node, tick = f"<{talk.iri}>", _integer(talk.start)
    lines = [_typed(node, "Conversation"), _fact(node, "tick", tick)]
    for name in talk.talkers:
        lines += (_fact(node, "talker", entity(name)), _fact(entity(name), "engagedIn", node))
    for number, (speaker, words) in enumerate(talk.chat):
        utterance = f"<{talk.iri}:{number}>"
        lines += (_typed(utterance, "Utterance"), _fact(utterance, "tick", tick))
        lines += (_fact(utterance, "partOf", node), _fact(utterance, "number", _integer(number)))
        lines += (_fact(utterance, "speaker", entity(speaker)), _fact(utterance, "words", _text(words)))
    yield from _inserted(talk.start, lines)
    for name, end in sorted(talk.ends.items()):
        if end is not None:
            yield end, f"D {_fact(entity(name), 'engagedIn', node)} ."


# Terms


def _inserted(tick: int, lines: Iterable[str]) -> Iterator[Line]:
    return ((tick, f"A {line} .") for line in lines)


def _fact(subject: str, name: str, value: str) -> str:
    return f"{subject} <{NAMESPACE}{name}> {value}"


def _typed(subject: str, kind: str) -> str:
    return f"{subject} {RDF_TYPE} <{NAMESPACE}{kind}>"


def _labelled(subject: str, kind: str, words: str) -> tuple[str, str]:
    return _typed(subject, kind), f"{subject} {RDFS_LABEL} {_text(words)}"


def _text(words: str) -> str:
    return str(ox.Literal(words))


def _integer(value: int) -> str:
    return str(ox.Literal(value))
