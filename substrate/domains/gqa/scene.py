"""A scene as the interpreter sees it: look-ups of patterns among the triples of its last tick.

Terms are spelled as in N-Triples, and no store is filled. Every look-up can be recorded, so that an answer
can list the triples it rests on and the patterns that found none.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import lru_cache

from substrate.base.vocabulary import RDF_TYPE
from substrate.domains._facts import Fact, Facts, literal, text_of_term
from substrate.domains.gqa.arguments import ANYTHING, SCENE, Named
from substrate.domains.gqa.deltas import ENTAILED, object_iri, scene_iri, scene_log
from substrate.domains.gqa.format import SceneGraph
from substrate.domains.gqa.ontology import NAMESPACE, THING, Axis, Ontology, default, local
from substrate.log.event_log import EventLog

Node = str
"""An IRI as in N-Triples."""
Objects = dict[Node, int]
"""Candidates, each with a penalty: its distance from the program's literal wording."""

_TYPE = str(RDF_TYPE)
_OBJECT, _SCENE, _NAME, _ATTRIBUTE, *_BOUNDS = (
    f"<{NAMESPACE}{name}>"
    for name in ("Object", "Scene", "name", "attribute", "x", "y", "w", "h", "width", "height")
)
_SIDES = tuple(_BOUNDS[:4])
_WHOLE = (*_BOUNDS[:2], *_BOUNDS[4:])

_KEPT: dict[str, Scene] = {}
"""The scene that was opened last, by its image."""
EXACT, KIND, SPELLING = 0, 1, 2
"""Penalties: an object with this name; of a subclass; with a different spelling (singular, plural, synonym).
"""
Pattern = tuple[Node | None, Node, str | None]
"""A look-up: subject, predicate and object, ``None`` for any."""


class Look:
    """A step's look-ups: the triples it found, and the patterns that found none."""

    def __init__(self) -> None:
        self.found: dict[Fact, None] = {}
        self.missed: dict[Pattern, None] = {}

    def record(self, pattern: Pattern, facts: list[Fact]) -> None:
        """Record a look-up."""
        self.found |= dict.fromkeys(sorted(facts))
        if not facts:
            self.missed[pattern] = None


class Scene:
    """An image's event log, its state after all ticks, and the look-ups that programs use.

    Args:
        image_id: the image's id.
        log: its event log, as :func:`substrate.domains.gqa.deltas.scene_log` makes it.
        ontology: the TBox's tables; by default the package's TBox.
    """

    def __init__(self, image_id: str, log: EventLog, ontology: Ontology | None = None) -> None:
        self.ontology = ontology or default()
        self.image_id = image_id
        self.log = log
        self.digest = self.log.digest
        self.node: Node = f"<{scene_iri(image_id)}>"
        self.look: Look | None = None
        self._facts = Facts()
        self._facts.follow(log, 0, log.position(ENTAILED))
        self._prefix = len(self.node)  # an object's IRI has ":" where the scene's has ">"
        self._names: dict[Node, str] = {}
        self._boxes: dict[Node, tuple[int, int, int, int]] = {}

    @classmethod
    def of(cls, image_id: str, graph: SceneGraph, ontology: Ontology | None = None) -> Scene:
        """The scene of a scene graph."""
        ontology = ontology or default()
        return cls(image_id, scene_log(image_id, graph, ontology), ontology)

    @classmethod
    def opened(cls, image_id: str, log: EventLog) -> Scene:
        """The scene of a log. The last scene is kept, so successive questions share its reading; each caller
        gets a copy, to record look-ups of its own.
        """
        last = _KEPT.get(image_id)
        if last is None or not last.digest == log.digest == last.log.digest:  # its log may have grown
            _KEPT.clear()
            last = _KEPT[image_id] = cls(image_id, log)
        return copy(last)

    # Look-ups

    def position(self, fact: Fact) -> int:
        """The position in the log of the delta that inserted a fact."""
        return self._facts.position(fact)

    def has(self, subject: Node, predicate: Node, value: str) -> bool:
        """Tell whether a triple holds in the state."""
        holds = (subject, predicate, value) in self._facts
        if self.look is not None:
            self.look.record((subject, predicate, value), [(subject, predicate, value)] if holds else [])
        return holds

    def values_of(self, subject: Node, predicate: Node) -> list[str]:
        """The objects of a subject and a predicate, in the log's order."""
        values = list(self._facts.objects(subject, predicate))
        if self.look is not None:
            self.look.record((subject, predicate, None), [(subject, predicate, value) for value in values])
        return values

    def nodes_with(self, predicate: Node, value: str) -> list[Node]:
        """The subjects of a predicate and an object, in the log's order."""
        nodes = list(self._facts.subjects(predicate, value))
        if self.look is not None:
            self.look.record((None, predicate, value), [(node, predicate, value) for node in nodes])
        return nodes

    # Objects

    def object_id(self, node: Node) -> str:
        """The id of an object in the scene-graph file."""
        return node[self._prefix : -1]

    def name(self, node: Node) -> str:
        """The class name in an object's annotation."""
        name = self._names.get(node)
        if name is None or self.look is not None:
            name = self._names[node] = "".join(map(text_of_term, self.values_of(node, _NAME)))
        return name

    def label(self, node: Node) -> str:
        """An object in words: its name and id."""
        return "the scene" if node == self.node else f"{self.name(node)} ({self.object_id(node)})"

    def box(self, node: Node) -> tuple[int, int, int, int]:
        """x, y, width and height in pixels of an object's box, or of the whole image."""
        box = self._boxes.get(node)
        if box is None:
            pixels = (self._facts.objects(node, side) for side in self._sides(node))
            x, y, w, h = (next((int(text_of_term(value)) for value in values), 0) for values in pixels)
            box = self._boxes[node] = (x, y, w, h)
        return box

    def _sides(self, node: Node) -> tuple[Node, ...]:
        """The properties for x, y, width and height, of an object or of the whole image."""
        return _WHOLE if node == self.node else _SIDES

    def ranked(self, objects: Objects) -> list[Node]:
        """Candidates in order of preference: least penalty, then largest box, then lowest id."""
        if len(objects) < 2:
            return list(objects)
        return sorted(objects, key=lambda node: (objects[node], *self.prominence(node)))

    def prominence(self, node: Node) -> tuple[int, int, str]:
        """A sort key by likely meaning: larger boxes first, then lower ids."""
        _, _, w, h = self.box(node)
        object_id = self.object_id(node)
        return -w * h, len(object_id), object_id

    def best(self, objects: Objects) -> Objects:
        """The candidates with the least penalty."""
        least = min(objects.values(), default=0)
        return {node: penalty for node, penalty in objects.items() if penalty == least}

    def named(self, target: Named, *, by_id: bool) -> Objects:
        """The objects that a program means: by its ids, or by class name.

        By name, these are objects with the name or of a subclass; if there are none, with another spelling.
        """
        if by_id and target.ids is not None:
            nodes = [f"<{object_iri(self.image_id, object_id)}>" for object_id in target.ids]
            return {node: EXACT for node in nodes if self.has(node, _TYPE, _OBJECT)}
        name = self.ontology.pronouns.get(target.name, target.name)
        if name in (ANYTHING, THING):
            return dict.fromkeys(self.nodes_with(_TYPE, _OBJECT), EXACT)
        objects = {node: EXACT if self.name(node) == name else KIND for node in self._of_class(name)}
        if not objects and name == SCENE:
            return {self.node: EXACT} if self.has(self.node, _TYPE, _SCENE) else {}
        for other in () if objects else self.ontology.foldings(name):
            objects |= dict.fromkeys(self._of_class(other), SPELLING)
        return objects

    def _of_class(self, name: str) -> list[Node]:
        return self.nodes_with(_TYPE, _class(name))

    def is_kind(self, node: Node, name: str) -> int | None:
        """The penalty for calling an object by a name; ``None`` if the object is not of that class."""
        if self.name(node) == name:
            return EXACT
        if self.has(node, _TYPE, _class(name)):
            return KIND
        spellings = map(_class, self.ontology.foldings(name))
        return SPELLING if any(self.has(node, _TYPE, kind) for kind in spellings) else None

    # Attributes

    def has_value(self, node: Node, family: str, value: str) -> bool:
        """Tell whether an object, or the scene, has an attribute value, in the given family if any."""
        value = self.ontology.canonical(value)
        if family and node == self.node:
            return value in self.values(node, family)
        predicates = [_family(f) for f in ((family,) if family else self.ontology.families_of(value))]
        if node != self.node:
            predicates.insert(1 if family else 0, _ATTRIBUTE)
        return any(self.has(node, predicate, literal(value)) for predicate in predicates)

    def values(self, node: Node, family: str) -> list[str]:
        """An object's values in a family, sorted; ``type`` and ``name`` are its class.

        A scene without values of its own has those of an object that represents it (the sky for the weather).
        """
        if family in ("type", "name"):
            return [self.ontology.base(self.name(node))]
        values = set(self.annotated(node, family))
        if not values and node == self.node:
            values = self._represented(family)
        listed = self.ontology.families.get(family, frozenset())
        return sorted(values & listed or values)

    def _represented(self, family: str) -> set[str]:
        """The family's values of the first object that represents the scene and has some."""
        kinds = self.ontology.tellers.get(family, ())
        tellers = {teller: EXACT for kind in kinds for teller in self._of_class(kind)}
        for teller in self.ranked(tellers):
            if values := self.values(teller, family):
                return set(values)
        return set()

    def annotated(self, node: Node, family: str) -> list[str]:
        """Every value of an object or scene in a family, sorted, including values that the TBox does not
        list.
        """
        return sorted(map(text_of_term, self.values_of(node, _family(family))))

    # Relations

    def related(
        self, sources: Objects, relation: str, *, subject: bool, target: Named, by_id: bool
    ) -> Objects:
        """The named objects that have a relation to one of the sources.

        Args:
            subject: whether the named object is the relation's subject (else its object).

        A relation is taken as written; only if that finds nothing is it read as a narrower one, or from the
        other side. ``same FAMILY`` relates objects that share a value.
        """
        wanted = self.named(target, by_id=by_id)
        verb, _, family = relation.partition(" ")
        if verb in ("same", "different") and family:
            return self._alike(sources, wanted, family, same=verb == "same")
        for extra, (name, reverse) in enumerate(self.ontology.readings(relation)):
            related: Objects = {}
            predicate = f"<{NAMESPACE}relation:{local(name)}>"
            for source, penalty in sources.items():
                for end in self._ends(source, predicate, incoming=subject is not reverse):
                    if end in wanted and end != source:
                        total = penalty + wanted[end] + (extra > 0)  # 1 if the relation is not as written
                        related[end] = min(total, related.get(end, total))
            if related:
                return related
        return {}

    def _ends(self, source: Node, predicate: Node, *, incoming: bool) -> Iterable[Node]:
        if incoming:
            return self.nodes_with(predicate, source)
        return [end for end in self.values_of(source, predicate) if end[0] == "<"]

    def _alike(self, sources: Objects, wanted: Objects, family: str, *, same: bool) -> Objects:
        alike: Objects = {}
        for source, penalty in sources.items():
            own = set(self.values(source, family))
            if not own:
                continue
            for node, extra in wanted.items():
                other = set() if node == source else set(self.values(node, family))
                if other and bool(own & other) is same:
                    alike[node] = min(penalty + extra, alike.get(node, penalty + extra))
        return alike

    def lies(self, subject: Node, other: Node, axis: Axis) -> int:
        """The half-pixels by which the subject's box centre is on the axis's side of the other's.

        Half-pixels keep the centres whole numbers. The look-ups of the two boxes are recorded here, since
        :meth:`box` may read them from its cache.
        """
        side, sign = axis
        position = 0 if side == "x" else 1
        if self.look is not None:
            for node in (subject, other):
                for predicate in self._sides(node)[position::2]:
                    self.values_of(node, predicate)
        centre, other_centre = (
            2 * box[position] + box[position + 2] for box in (self.box(subject), self.box(other))
        )
        return sign * (centre - other_centre)


@lru_cache(maxsize=1 << 10)
def _family(family: str) -> Node:
    return f"<{NAMESPACE}family:{local(family)}>"


@lru_cache(maxsize=1 << 12)
def _class(name: str) -> Node:
    return f"<{NAMESPACE}class:{local(name)}>"
