"""Ask a model that sees a photograph for the answer to a GQA question, or for a scene graph.

The substrate then answers from the scene graph.
"""

from __future__ import annotations

import msgspec

from substrate.baselines.model import Image, Model, ReplyError, Request, Words, answer_of, request_of
from substrate.domains.gqa.format import Relation, SceneGraph, SceneObject

_LOOK = (
    "Answer the question about the photograph with a single word or a short phrase, in lower case. "
    'Reply with JSON only, {"answer": "..."}.'
)
_EXTRACT = """List what can be seen in the photograph as a scene graph, in lower case.
For each object: its name, its box (x and y of the upper left corner, width w and height h, \
in thousandths of the photograph's width and height),
its attributes (color, material, size, shape, activity …), and its relations to other objects, \
each with a name such as "to the left of", "on",
"wearing" and the position of the other object in your list, counted from 0. \
Add the kind of location and the weather where they can be told.
Reply with JSON only."""
SIDE = 1000
"""Boxes are in thousandths."""


class Edge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A relation to another object of the list, by its position."""

    name: str
    object: int


class Seen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object as a model lists it; its box in thousandths of the picture."""

    name: str
    x: int
    y: int
    w: int
    h: int
    attributes: list[str]
    relations: list[Edge]


class Extracted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply of a model that is asked for a scene graph."""

    objects: list[Seen]
    location: str | None = None
    weather: str | None = None


def normal(answer: str) -> str:
    """An answer in the gold's spelling: lower case, single spaces, no closing full stop.

    >>> normal(" Light  Blue. ")
    'light blue'
    """
    return " ".join(answer.lower().split()).rstrip(".")


def look_request(image: Image, question: str) -> Request:
    """A request for the answer to a question about a photograph."""
    return request_of(_LOOK, question, Words, images=[image])


def vision(model: Model, image: Image, question: str) -> str | ReplyError:
    """A model's answer to a question about a photograph, or the error if its reply cannot be read."""
    answer = answer_of(model, look_request(image, question))
    return answer if isinstance(answer, ReplyError) else normal(answer)


def extract_request(image: Image) -> Request:
    """A request for a photograph's scene graph; it contains no question."""
    return request_of(_EXTRACT, "The photograph:", Extracted, images=[image], max_tokens=4096)


def extract(model: Model, image: Image) -> SceneGraph:
    """Ask a model for a photograph's scene graph.

    Objects without a name, and relations to absent objects, are left out.

    Raises:
        ReplyError: the model's reply cannot be read.
    """
    request = extract_request(image)
    return scene_graph(request.read(model.ask(request)))


def scene_graph(extracted: Extracted) -> SceneGraph:
    """Convert a reply to a scene graph in GQA's format; objects are numbered from 0.

    >>> cup = Seen("Cup", 0, 0, 10, 10, ["Red"], [Edge("on", 1), Edge("near", 7)])
    >>> graph = scene_graph(Extracted([cup, Seen("table", 0, 5, 900, 400, [], [])]))
    >>> graph.objects["0"].name, graph.objects["0"].relations
    ('cup', [Relation(name='on', object='1')])
    """
    named = {index for index, thing in enumerate(extracted.objects) if thing.name.strip()}
    objects = {
        str(index): SceneObject(
            name=normal(thing.name),
            x=thing.x,
            y=thing.y,
            w=max(thing.w, 0),
            h=max(thing.h, 0),
            attributes=[normal(attribute) for attribute in thing.attributes if attribute.strip()],
            relations=[
                Relation(normal(edge.name), str(edge.object))
                for edge in thing.relations
                if edge.object in named and edge.name.strip()
            ],
        )
        for index, thing in enumerate(extracted.objects)
        if index in named
    }
    return SceneGraph(
        width=SIDE,
        height=SIDE,
        objects=objects,
        location=normal(extracted.location or "") or None,
        weather=normal(extracted.weather or "") or None,
    )
