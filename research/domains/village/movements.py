"""The movement file of a Generative Agents simulation (Park et al., 2023): each persona's actions, by step.

The file is one JSON object: step ► persona ► ``{movement, pronunciatio, description, chat}``. A step lists a
persona only if its record changed since the last step (in the 25-persona file no record repeats, and no gap
hides a move of more than a tile). ``movement`` is a tile, ``pronunciatio`` the action as emoji and
``description`` is ``ACTION @ ADDRESS``. ``chat`` is a whole conversation, in its speakers' records from its
first step on. An address is ``WORLD:SECTOR:ARENA:OBJECT``, or ``<persona> NAME`` for the partner of a
conversation. The file does not give the length of a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import Whole, decode, read_bytes

Chat = tuple[tuple[str, str], ...]
"""Utterances in order: speaker and words."""
Tile = tuple[int, int]
"""Column and row of the map."""
Arena = tuple[str, ...]
"""World, sector and arena of an address."""


class Activity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A persona's action from a step on.

    >>> ann = Activity((1, 2), "☕", "drinking coffee @ the Ville:Hobbs Cafe:cafe:counter", None)
    >>> ann.action, ann.address
    ('drinking coffee', ('the Ville', 'Hobbs Cafe', 'cafe', 'counter'))
    """

    movement: tuple[Whole, Whole]
    """The tile: column, row."""
    pronunciatio: str
    description: str
    chat: Chat | None

    @property
    def action(self) -> str:
        """The action in words."""
        return self._parts[0]

    @property
    def address(self) -> tuple[str, ...] | None:
        """World, sector, arena and object of the action; ``None`` in a conversation, which names no place."""
        # A conversation has "<persona> NAME" in place of an address; a later part in brackets names no place.
        address = self._parts[2]
        parts = tuple(part for part in address.split(":") if not part.startswith("<"))
        return None if address.startswith("<") else parts

    @property
    def arena(self) -> Arena | None:
        """The arena of the action; ``None`` in a conversation."""
        return self.address and self.address[:3]

    @property
    def _parts(self) -> tuple[str, str, str]:
        """The action, ``@``, and the address."""
        return self.description.rpartition(" @ ")


class Movements(NamedTuple):
    """A movement file: its steps in order with their changed records, and all personas sorted by name.

    >>> Movements({7: {}}, ()).steps
    {7: {}}
    """

    steps: Mapping[int, Mapping[str, Activity]]
    personas: tuple[str, ...]


_File = dict[str, dict[str, msgspec.Raw]]


def read_movements(path: Path) -> Movements:
    """Read a movement file, gzipped or plain.

    Raises:
        FormatError: the file breaks the format; the message names file, step, persona, path and fault.
    """
    return parse_movements(read_bytes(path), str(path))


def parse_movements(data: bytes, name: str = "movements") -> Movements:
    """Read a movement file from its JSON text; errors as :func:`read_movements`.

    >>> text = b'{"3": {"Ann": {"movement": [1], "pronunciatio": "", "description": "", "chat": null}}}'
    >>> parse_movements(text, "file.json")
    Traceback (most recent call last):
    substrate.base.errors.FormatError: file.json: step 3: Ann: $.movement: Expected `array` of length 2.
    Compare the record with the official format.
    """
    records = msgspec.json.Decoder(Activity)
    steps: dict[int, dict[str, Activity]] = {}
    for key, raw in decode(msgspec.json.Decoder(_File), data, name).items():
        if not (key.isascii() and key.isdigit() and len(key) < 16) or int(key) in steps:
            what = f"step {key[:40]!r} is no whole number, or there twice"
            raise FormatError(what, where=(name,), hint="Name each step once, by its number")
        steps[int(key)] = {
            persona: decode(records, record, name, f"step {key}", persona) for persona, record in raw.items()
        }
    personas = sorted({persona for step in steps.values() for persona in step})
    if not personas:
        hint = "Give a movement file with at least one record"
        raise FormatError("no persona does anything", where=(name,), hint=hint)
    for number, step in steps.items():
        for persona, record in step.items():
            for field, what, hint in _faults(record, personas):
                raise FormatError(what, where=(name, f"step {number}", persona, f"$.{field}"), hint=hint)
    return Movements(dict(sorted(steps.items())), tuple(personas))


def _faults(record: Activity, personas: list[str]) -> Iterator[tuple[str, str, str]]:
    """The faults that types cannot exclude: a malformed address, and a speaker without records."""
    address = record.address
    if not record.action or (address is not None and (len(address) < 2 or not all(address))):
        what = f"{record.description!r} is not ACTION @ WORLD:SECTOR:ARENA:OBJECT"
        yield "description", what, "Compare the record with the official format"
    if strangers := sorted({speaker for speaker, _ in record.chat or ()} - set(personas)):
        what = f"{strangers[0]!r} speaks, but has no record in the file"
        yield "chat", what, "Give the speaker's own records too"
