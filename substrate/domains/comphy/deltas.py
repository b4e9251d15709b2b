"""ComPhy's files ► typed deltas: one event log an example, a tick a frame of the target video.

To CLEVRER's deltas of the target are added: the direction in which each object in view moves, where it
changes; and, where asked for, the inferred mass and charge of each object with the evidence, at tick 0, since
the
reference videos are seen before the target. Classes and predicates are those of the TBox ``comphy``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from substrate.base.delta import Op, Spelled
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import MotionState, tracks
from substrate.domains.comphy.format import Target, direction
from substrate.domains.comphy.inference import Inferred, infer
from substrate.log.event_log import EventLog

NAMESPACE = "urn:substrate:comphy:"

_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_XSD = "http://www.w3.org/2001/XMLSchema#"


def target_iri(scene: int) -> str:
    """The IRI of a target; its objects, events and evidence lie under it."""
    return f"urn:comphy:{scene}"


def target_log(target: Target, *, infer_properties: bool) -> EventLog:
    """The event log of a target; without ``infer_properties`` its reference videos are not looked at.

    >>> from substrate.domains.clevrer.format import Annotation, Frame, ObjectProperty
    >>> at = lambda x: MotionState(0, (x, 0.0, 0.2), (0.0,) * 3, (-1.0, 0.0, 0.0), (0.0,) * 3, True)
    >>> cube, frames = ObjectProperty(0, "red", "metal", "cube"), [Frame(0, [at(0.1)]), Frame(1, [at(0.0)])]
    >>> film = Annotation(7, "sim_00007.mp4", [cube], frames, [])
    >>> log = target_log(Target(7, film, ()), infer_properties=False)
    >>> up = "<urn:substrate:comphy:direction> <urn:substrate:comphy:up>"
    >>> bool(log.state(0).query(f"ASK {{ <urn:comphy:7:object:0> {up} }}"))
    True
    """
    scene = target_iri(target.scene)
    lines = [
        Spelled(tick, Op(line[0]), line[2:-2].replace("<urn:clevrer:", "<urn:comphy:"))
        for tick, some in annotation_log(target.annotation).lines()
        for line in some
    ]
    for number, track in tracks(target.annotation).items():
        lines += _directions(f"<{scene}:object:{number}>", track)
    if infer_properties:
        lines += _hidden(scene, infer(target))
    log = EventLog()
    log.extend_spelled(sorted(lines, key=itemgetter(0)))
    return log


def _directions(subject: str, track: Sequence[MotionState]) -> Iterator[Spelled]:
    before = None
    for frame, state in enumerate(track):
        now = direction(*state.velocity[:2]) if state.inside_camera_view else None
        if now != before:
            if before:
                yield Spelled(frame, Op.RETRACT, f"{subject} <{NAMESPACE}direction> <{NAMESPACE}{before}>")
            if now:
                yield Spelled(frame, Op.INSERT, f"{subject} <{NAMESPACE}direction> <{NAMESPACE}{now}>")
        before = now


def _hidden(scene: str, inferred: Inferred) -> Iterator[Spelled]:
    yield from _property(scene, "mass", inferred.masses)
    yield from _property(scene, "charge", inferred.charges)
    yield from _probability(scene, "massProbability", inferred.mass_probability)
    yield from _probability(scene, "chargeProbability", inferred.charge_probability)
    if inferred.strength:
        yield _fact(f"<{scene}> <{NAMESPACE}strength> {_double(inferred.strength)}")
    for number, evidence in enumerate(inferred.evidence):
        name = f"<{scene}:evidence:{number}>"
        yield _fact(f"{name} {_TYPE} <{NAMESPACE}{evidence.kind}>")
        for key, value in (("video", evidence.video), ("since", evidence.since), ("until", evidence.until)):
            yield _fact(f"{name} <{NAMESPACE}{key}> {_integer(value)}")
        for key, value in (("first", evidence.first), ("second", evidence.second)):
            yield _fact(f"{name} <{NAMESPACE}{key}> <{scene}:object:{value}>")
            yield _fact(f"<{scene}:object:{value}> <{NAMESPACE}evidence> {name}")
        for key, value in (
            ("weight", evidence.weight),
            ("ratio", evidence.ratio),
            ("strength", evidence.strength),
        ):
            if value is not None:
                yield _fact(f"{name} <{NAMESPACE}{key}> {_double(value)}")


def _fact(text: str) -> Spelled:
    return Spelled(0, Op.INSERT, text)


def _property(scene: str, name: str, values: Mapping[int, int]) -> Iterator[Spelled]:
    for number, value in sorted(values.items()):
        yield _fact(f"<{scene}:object:{number}> <{NAMESPACE}{name}> {_integer(value)}")


def _probability(scene: str, name: str, values: Mapping[int, float]) -> Iterator[Spelled]:
    # Four digits: a probability is no better known than that.
    for number, value in sorted(values.items()):
        yield _fact(f"<{scene}:object:{number}> <{NAMESPACE}{name}> {_double(round(value, 4))}")


def _integer(value: int) -> str:
    return f'"{value}"^^<{_XSD}integer>'


def _double(value: float) -> str:
    # Least squares may differ in the last bits from one processor to another: what is measured is kept to six
    # digits.
    return f'"{float(f"{value:.6g}")!r}"^^<{_XSD}double>'
