"""Scene graph ► typed deltas: one event log per image.

Tick 0 is the annotation: names, boxes, attributes, relations, and the scene's location and weather. Tick 1
has the entailments of the TBox and the boxes: every class of an object, the family of every attribute value,
the attributes that a class implies, and the part of the image where an object lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote

from substrate.base.ntriples import integer
from substrate.domains._facts import literal
from substrate.domains.gqa.format import SceneGraph, SceneObject
from substrate.domains.gqa.ontology import NAMESPACE, Ontology, default, local
from substrate.log.event_log import EventLog

ANNOTATED, ENTAILED = 0, 1
"""The two ticks of a scene's log."""

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def scene_iri(image_id: str) -> str:
    """The IRI of an image's scene, which is the prefix of its objects' IRIs.

    >>> scene_iri("2375429")
    'urn:gqa:2375429'
    """
    return f"urn:gqa:{_quoted(image_id)}"


@lru_cache(maxsize=1 << 14)
def _quoted(name: str) -> str:
    return quote(name, safe="")


def object_iri(image_id: str, object_id: str) -> str:
    """The IRI of an object of an image."""
    return f"{scene_iri(image_id)}:{_quoted(object_id)}"


def scene_log(image_id: str, graph: SceneGraph, ontology: Ontology | None = None) -> EventLog:
    """The event log of a scene graph; equal graphs give equal logs, whatever the order of objects.

    >>> cup = SceneObject(name="cup", x=0, y=0, w=10, h=10, attributes=["red"])
    >>> log = scene_log("7", SceneGraph(width=100, height=100, objects={"1": cup}))
    >>> sorted(str(o) for _, p, o in log.state() if str(p).endswith("family:color>"))
    ['"red"']
    """
    ontology = ontology or default()
    log = EventLog()
    annotated = sorted(set(_annotated(image_id, graph)))
    entailed = sorted(set(_entailed(image_id, graph, ontology)) - set(annotated))
    log.extend_lines([(ANNOTATED, line) for line in annotated] + [(ENTAILED, line) for line in entailed])
    return log


def _annotated(image_id: str, graph: SceneGraph) -> Iterator[str]:
    scene = f"<{scene_iri(image_id)}>"
    yield _is_a(scene, "Scene")
    for side in ("width", "height"):
        yield _value(scene, side, integer(getattr(graph, side)))
    for family, value in (("location", graph.location), ("weather", graph.weather)):
        if value:
            yield _text(scene, f"family:{family}", value)
    for object_id, scene_object in graph.objects.items():
        thing = f"<{object_iri(image_id, object_id)}>"
        yield f"A {thing} <{NAMESPACE}partOf> {scene} ."
        yield _is_a(thing, "Object")
        yield _text(thing, "name", scene_object.name)
        yield from (_value(thing, side, integer(getattr(scene_object, side))) for side in "xywh")
        yield from (_text(thing, "attribute", attribute) for attribute in scene_object.attributes)
        for relation in scene_object.relations:
            other = f"<{object_iri(image_id, relation.object)}>"
            yield f"A {thing} <{NAMESPACE}relation:{local(relation.name)}> {other} ."


def _entailed(image_id: str, graph: SceneGraph, ontology: Ontology) -> Iterator[str]:
    scene = f"<{scene_iri(image_id)}>"
    for family, value in ontology.implied(graph.location) if graph.location else ():
        yield _text(scene, f"family:{local(family)}", value)
    for object_id, scene_object in graph.objects.items():
        thing = f"<{object_iri(image_id, object_id)}>"
        yield from (_is_a(thing, f"class:{local(kind)}") for kind in ontology.kinds(scene_object.name))
        values = [ontology.canonical(attribute) for attribute in scene_object.attributes]
        yield from (_text(thing, "attribute", value) for value in values)
        families = [(family, value) for value in values for family in ontology.families_of(value)]
        for family, value in (*families, *ontology.implied(scene_object.name), *_parts(scene_object, graph)):
            yield _text(thing, f"family:{local(family)}", value)


def _parts(scene_object: SceneObject, graph: SceneGraph) -> Iterator[tuple[str, str]]:
    """The half of the image with the box's centre, and ``middle`` if the middle third has it too."""
    for family, low, high, twice_centre, size in (
        ("hposition", "left", "right", 2 * scene_object.x + scene_object.w, graph.width),
        ("vposition", "top", "bottom", 2 * scene_object.y + scene_object.h, graph.height),
    ):
        yield family, low if twice_centre < size else high
        if 2 * size <= 3 * twice_centre <= 4 * size:
            yield family, "middle"


def _is_a(subject: str, kind: str) -> str:
    return f"A {subject} {_TYPE} <{NAMESPACE}{kind}> ."


def _text(subject: str, name: str, text: str) -> str:
    return _value(subject, name, literal(text))


def _value(subject: str, name: str, value: str) -> str:
    return f"A {subject} <{NAMESPACE}{name}> {value} ."
