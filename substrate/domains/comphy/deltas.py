"""ComPhy's files ► typed deltas: one event log per example, one tick per frame of the target video.

To CLEVRER's deltas of the target, the log adds each change of the direction of a moving object in view. At
tick 0 it adds the known masses and charges, since reference videos are seen before the target. Classes and
predicates are the TBox ``comphy``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from substrate.base.delta import Op, Spelled
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import MotionState, tracks
from substrate.domains.comphy.format import Target, direction
from substrate.log.event_log import EventLog

NAMESPACE = "urn:substrate:comphy:"


def target_iri(scene: int) -> str:
    """The IRI of a target, which is the prefix of its objects', events' and evidence's IRIs."""
    return f"urn:comphy:{scene}"


def target_log(target: Target, hidden: Iterable[Spelled] = ()) -> EventLog:
    """The event log of a target; its reference videos are not read.

    Args:
        hidden: the known masses and charges.

    >>> from substrate.domains.clevrer.format import Annotation, Frame, ObjectProperty
    >>> at = lambda x: MotionState(0, (x, 0.0, 0.2), (0.0,) * 3, (-1.0, 0.0, 0.0), (0.0,) * 3, True)
    >>> cube, frames = ObjectProperty(0, "red", "metal", "cube"), [Frame(0, [at(0.1)]), Frame(1, [at(0.0)])]
    >>> film = Annotation(7, "sim_00007.mp4", [cube], frames, [])
    >>> log = target_log(Target(7, film, ()))
    >>> up = "<urn:substrate:comphy:direction> <urn:substrate:comphy:up>"
    >>> bool(log.state(0).query(f"ASK {{ <urn:comphy:7:object:0> {up} }}"))
    True
    """
    scene = target_iri(target.scene)
    lines = [
        Spelled(tick, Op(line[0]), line[2:-2])
        for tick, at_tick in annotation_log(target.annotation, scene).lines()
        for line in at_tick
    ]
    for number, track in tracks(target.annotation).items():
        lines += _directions(f"<{scene}:object:{number}>", track)
    lines += hidden
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
