"""The cast of a village, from ``cast.toml``: personas and places of Generative Agents (Park et al., 2023)."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import msgspec


class News(msgspec.Struct, frozen=True):
    """A fact: its words, the place that it draws to, and the only agent who knows it first, if any."""

    words: str
    venue: str
    source: str | None = None


class Cast(msgspec.Struct, frozen=True):
    """The content of the file."""

    personas: list[str]
    places: dict[str, str]
    """Names by identifier."""
    homes: dict[str, list[str]]
    """The family of each house."""
    facts: dict[str, News]


_FILE = files("substrate.generators.smallville") / "cast.toml"
CAST = msgspec.convert(tomllib.loads(_FILE.read_text("utf-8")), Cast)


def identifier(persona: str) -> str:
    """Return a persona's identifier.

    >>> identifier("Isabella Rodriguez")
    'isabella'
    """
    return persona.partition(" ")[0].lower()
