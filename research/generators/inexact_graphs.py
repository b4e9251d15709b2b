"""Scene graphs with a perception's omissions."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from substrate.domains.gqa.format import SceneGraph


def without_relations(graph: SceneGraph, share: float, rng: Random) -> SceneGraph:
    """The graph without a share of its relations; boxes still give left and right."""
    objects = {
        name: replace(thing, relations=[relation for relation in thing.relations if rng.random() >= share])
        for name, thing in sorted(graph.objects.items())
    }
    return replace(graph, objects=objects)


def without_attributes(graph: SceneGraph, share: float, rng: Random) -> SceneGraph:
    """The graph without a share of its objects' attributes."""
    objects = {
        name: replace(
            thing, attributes=[attribute for attribute in thing.attributes if rng.random() >= share]
        )
        for name, thing in sorted(graph.objects.items())
    }
    return replace(graph, objects=objects)
