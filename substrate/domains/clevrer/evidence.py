"""A scene's log as its programs' queries read it, and the deltas behind each step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pyoxigraph import NamedNode

from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import Evidence, ExplainedStep
from substrate.domains.clevrer.deltas import NAMESPACE, SAMPLED_FRAMES
from substrate.domains.clevrer.kinds import Kind, Opcode
from substrate.domains.clevrer.program import ProgramStep
from substrate.domains.clevrer.scene import Scene, SceneEvent

_OBJECTS = Kind.OBJECT | Kind.OBJECTS
_EVENTS = Kind.EVENT | Kind.EVENTS
_TYPE = RDF_TYPE.value
_HAPPENS = {
    "Collision": "the collision of {0} and {1}",
    "Entry": "the entry of {0}",
    "Exit": "the exit of {0}",
}


def called(scene: Scene, prefix: str) -> dict[str, str]:
    """The objects and events of a scene in words, by IRI.

    Args:
        prefix: the scene's IRI, which is the prefix of its objects' IRIs.
    """
    objects = {number: f"the {o.color} {o.material} {o.shape}" for number, o in scene.objects.items()}
    in_words = {f"{prefix}:object:{number}": phrase for number, phrase in objects.items()}
    for event in scene.events:
        who = [objects[number] for number in sorted(event.objects)]
        in_words[event.iri] = f"{happening(event.kind, who)} at frame {event.frame}"
    return in_words


def happening(kind: str, who: Sequence[str]) -> str:
    """An event in words.

    >>> happening("Collision", ["the red metal cube", "the gray rubber sphere"])
    'the collision of the red metal cube and the gray rubber sphere'
    """
    return _HAPPENS.get(kind, f"the {kind.lower()} of the video").format(*who)


class Reading:
    """A scene's log as its queries read it, with the deltas behind the facts that hold at a tick.

    Attributes:
        scene: the scene, with a log of :mod:`substrate.domains.clevrer.deltas`.
        log: the scene's log.
        iri: the scene's IRI.
        queries: the texts of the queries, by name.
        words: objects and events in words, by IRI.
    """

    def __init__(self, scene: Scene, iri: str) -> None:
        self.scene, self.log = scene, scene.log
        self.iri = iri
        self.queries = scene.queries
        self.words = called(scene, iri)

    def tick(self, step: ProgramStep, opcode: Opcode | None) -> int:
        """The tick of a step's query: the frame that the step names, or the last frame."""
        if opcode and opcode.query in ("motion", "direction") and isinstance(step.arguments[1], int):
            return step.arguments[1]
        return self.log.last_tick

    def evidence(self, subjects: Iterable[str], predicates: Sequence[str], tick: int) -> list[Evidence]:
        """The deltas that made the given properties of individuals hold at a tick."""
        wanted = [f"<{subject}>" for subject in subjects]
        holdings = [self.scene.holding(predicate, tick) for predicate in predicates]
        deltas = [holding.get(subject, {}).values() for holding in holdings for subject in wanted]
        positions = {position for of_subject in deltas for position in of_subject}
        return list(map(Evidence, sorted(positions)))

    def all_of(self, class_: str) -> list[str]:
        """The individuals of a class, such as ``Object`` or ``Collision``, by IRI."""
        classes = self.scene.holding(_TYPE).items()
        return [subject[1:-1] for subject, names in classes if f"<{NAMESPACE}{class_}>" in names]

    def individuals(self, value: Any, kind: Kind) -> list[str]:
        """The IRIs of a value on the stack; an event outside the log has none."""
        if kind in _OBJECTS:
            numbers = [value] if isinstance(value, int) else value
            return [f"{self.iri}:object:{number}" for number in numbers]
        if kind in _EVENTS:
            events = [value] if isinstance(value, SceneEvent) else value
            return [event.iri for event in events if event.iri]
        return []

    def subjects(self, step: ProgramStep, opcode: Opcode, wanted: Kind) -> list[str]:
        """The individuals of a kind that a step gave or, if it gave none of the kind, took.

        A single event with which others were compared is always included.
        """
        kinds = [kind & wanted for kind in opcode.takes]
        iris = self.individuals(step.result, step.kind) if step.kind & wanted else []
        for argument, kind in zip(step.arguments, kinds, strict=True):
            if kind and (not step.kind & wanted or isinstance(argument, SceneEvent)):
                iris += self.individuals(argument, _kind_of(argument, kind))
        return iris

    def step(self, step: ProgramStep, opcode: Opcode | None, evidence: Iterable[Evidence]) -> ExplainedStep:
        """A step in words, with its query and its evidence."""
        query = ""
        if opcode and opcode.query:
            query = f"at tick {self.tick(step, opcode)}:\n{self.queries[opcode.query]}"
        return ExplainedStep(
            step.token,
            self.shown(step.result),
            tuple(map(self.shown, step.arguments)),
            query,
            tuple(evidence),
            about=tuple(self._about(step)),
        )

    def shown(self, value: Any) -> str:
        """A value on the stack, in words."""
        if isinstance(value, SceneEvent):
            if value.iri in self.words:
                return self.words[value.iri]
            who = [self.words.get(f"{self.iri}:object:{n}", str(n)) for n in sorted(value.objects)]
            frame = "" if value.frame is None else f" at frame {value.frame}"
            return happening(value.kind, who) + frame
        if isinstance(value, list | tuple):
            return "[" + "; ".join(map(self.shown, value)) + "]"
        return str(value)

    def _about(self, step: ProgramStep) -> list[tuple[str, ...]]:
        """The IRI of each object or event a step gave; for an event outside the log, its objects' IRIs."""
        if step.kind in _EVENTS:
            events = [step.result] if isinstance(step.result, SceneEvent) else step.result
            return [
                (event.iri,)
                if event.iri
                else tuple(f"{self.iri}:object:{number}" for number in sorted(event.objects))
                for event in events
            ]
        return [(iri,) for iri in self.individuals(step.result, step.kind)]


@lru_cache(maxsize=1)
def reading_of(scene: Scene, iri: str) -> Reading:
    """The reading of a scene; the last one is cached, as :meth:`Scene.of` caches the scene."""
    return Reading(scene, iri)


def _kind_of(value: Any, kind: Kind) -> Kind:
    """The kind of a value, among the kinds that an operand may have."""
    if isinstance(value, SceneEvent):
        return Kind.EVENT
    if isinstance(value, int):
        return Kind.OBJECT
    return kind & (Kind.OBJECTS | Kind.EVENTS)


def text_of(term: object) -> str:
    """The IRI of a node; for another term, its spelling."""
    return term.value if isinstance(term, NamedNode) else str(term)


ATTRIBUTES = ("color", "material", "shape")
_READ: Mapping[str, tuple[str, ...]] = {
    "objects": (_TYPE, *(NAMESPACE + name for name in ("number", *ATTRIBUTES))),
    "events": (_TYPE, f"{NAMESPACE}frame", f"{NAMESPACE}participant"),
    "motion": (f"{NAMESPACE}inView", f"{NAMESPACE}motion"),
}
"""The properties of an individual that each query reads."""


def properties(token: str, query: str) -> tuple[str, ...]:
    """The properties that a step reads: its query's, or the single attribute in its token.

    >>> properties("filter_color", "objects")
    ('urn:substrate:clevrer:color',)
    """
    attribute = token.rpartition("_")[2]
    return (NAMESPACE + attribute,) if attribute in ATTRIBUTES else _READ.get(query, ())


def observed(step: ProgramStep, opcode: Opcode, reading: Reading) -> list[Evidence]:
    """The filmed evidence of a step of CLEVRER's language."""
    read, tick = properties(step.token, opcode.query), reading.tick(step, opcode)
    if opcode.query == "motion" and not isinstance(step.arguments[1], int):
        read = (f"{NAMESPACE}moved",)
    if opcode.query == "events":
        return reading.evidence(reading.subjects(step, opcode, _EVENTS), read, tick)
    if opcode.query == "poses":
        return sampled_poses(reading)
    if step.token == "all_events":
        return reading.evidence(reading.all_of("Object"), (_TYPE,), tick)
    return reading.evidence(reading.subjects(step, opcode, _OBJECTS), read, tick)


def sampled_poses(reading: Reading) -> list[Evidence]:
    """The poses of the last frames, from which the future is predicted."""
    first = reading.log.position(reading.log.last_tick - SAMPLED_FRAMES)
    pose = f"{NAMESPACE}pose"
    last = enumerate(reading.log[first:], first)
    return [Evidence(position) for position, delta in last if delta.triple[1].value == pose]


def removal(reading: Reading, number: int) -> list[Evidence]:
    """The deltas read to imagine the scene without an object, or with it changed.

    These are the delta that inserts the object, and the filmed collisions.
    """
    tick = reading.log.last_tick
    existence = reading.evidence([f"{reading.iri}:object:{number}"], (_TYPE,), tick)
    return sorted({*existence, *reading.evidence(reading.all_of("Collision"), _READ["events"], tick)})
