"""The objects of a CLEVRER scene: their IRIs in a log, and their looks, which tell them apart.

No two objects of a video look alike. Two readings of one video number its objects differently, so that only
a look finds an object of the one in the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from substrate.domains.clevrer.format import Color, CompactObject, Material, ObjectProperty, Shape
from substrate.domains.clevrer.scene import Thing


class Look(NamedTuple):
    """The attributes of an object that a picture shows."""

    color: Color
    material: Material
    shape: Shape


def look_of(thing: CompactObject | ObjectProperty | Thing) -> Look:
    """The look of an object of a file or a log.

    >>> look_of(CompactObject("red", "metal", "cube", 0))
    Look(color='red', material='metal', shape='cube')
    """
    # A log's shapes hold the words of a thing to the format's, but its type is plain text.
    return Look(thing.color, thing.material, thing.shape)  # pyright: ignore[reportArgumentType]


def looks_of(objects: Iterable[CompactObject]) -> dict[int, Look]:
    """The look of each object, by number."""
    return {thing.id: look_of(thing) for thing in objects}


def object_iri(scene: str, number: int) -> str:
    """The IRI of an object in a scene's log.

    >>> object_iri("urn:clevrer:7", 0)
    'urn:clevrer:7:object:0'
    """
    return f"{scene}:object:{number}"
