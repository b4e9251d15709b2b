"""An image's annotated objects as boxes."""

from __future__ import annotations

from pyoxigraph import NamedNode

from substrate.cause.explanation import OWN, Explanation
from substrate.cause.pictures import Box, Boxes
from substrate.domains.gqa.deltas import object_iri
from substrate.domains.gqa.format import SceneGraph


def image_boxes(image: str, graph: SceneGraph, why: Explanation) -> Boxes:
    """An image's objects as boxes, larger ones first, with those that an answer rests on."""
    triples = [why.logs[OWN][position].triple for position in why.evidence()]
    named = {term for subject, _, value in triples for term in (subject, value)}
    across, down = 100 / graph.width, 100 / graph.height
    boxes = [
        Box(
            thing.name,
            round(thing.x * across, 2),
            round(thing.y * down, 2),
            round(thing.w * across, 2),
            round(thing.h * down, 2),
            NamedNode(object_iri(image, number)) in named,
        )
        for number, thing in sorted(graph.objects.items(), key=lambda item: (-item[1].w * item[1].h, item[0]))
    ]
    return Boxes(boxes, graph.width, graph.height)
