"""Collisions to come, from what was perceived up to a frame: the vote of simulations that the paths allow."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from research.domains.foretelling.estimate import Estimate
from research.domains.foretelling.predict import Pair, believe, outlook
from research.domains.perception.belief import BELIEF
from research.domains.perception.perceive import THRESHOLD, Video
from substrate.domains.clevrer.format import FRAMES, SECONDS_PER_FRAME
from substrate.domains.clevrer.motion.engine import Body
from substrate.domains.clevrer.motion.law import SIGHT

PERCEIVED = replace(
    SIGHT,
    interval=1,
    seams=(),
    place=(0.01,),
    velocity=(0.02,),
    struck_place=0.015,
    struck_velocity=0.04,
    struck_badly=0.15,
)
"""The error that perceived states may have, where places come every frame and have no seams: set by hand, not
fitted.
"""
_FEW = 4
"""Places since it came into view or took a blow from which on a body's velocity is known."""
_GONE = 15
"""Frames without a sighting after which a body is gone."""


def estimates(video: Video) -> list[Estimate]:
    """The state of every body that is in view in the last frame that was read."""
    last = video.seen.last
    found: list[Estimate] = []
    for number, path in enumerate(video.paths):
        blows = [blow for blow in video.blows(number) if blow < path.last]
        piece = path.piece(max([path.first, *(blow + 1 for blow in blows)]), path.last)
        (x, y), (vx, vy) = piece.at(last), piece.velocity_at(last)
        if last - path.last > _GONE or not video.camera.sees(path.kind, x, y):
            continue
        body = Body(number, path.shape, x, y, vx, vy)
        if piece.count < _FEW and not blows and path.first > 0:
            found.append(Estimate(replace(body, vx=0.0, vy=0.0), "new", 0))
        else:
            found.append(Estimate(body, "struck" if blows or piece.count < _FEW else "steady", 0))
    return found


def met(video: Video) -> set[Pair]:
    """The pairs that have collided."""
    return {contact.pair for contact in video.contacts if BELIEF.touched(contact) >= THRESHOLD}


def chances(
    video: Video, until: int = FRAMES - 1, *, past: Iterable[Pair] | None = None
) -> dict[Pair, float]:
    """The probability of each pair's first collision after the last frame read and up to ``until``.

    Args:
        past: the pairs that have collided, where that is known, as from an event log; else as perceived.
    """
    found = outlook(estimates(video), until - video.seen.last, sight=PERCEIVED)
    return believe(found, met(video) if past is None else past)


def straight(
    video: Video, threshold: float = 0.4, until: int = FRAMES - 1, *, past: Iterable[Pair] | None = None
) -> set[Pair]:
    """The pairs that would come as near as ``threshold`` (units) on straight lines; ``past`` as before."""
    bodies = [one.body for one in estimates(video)]
    seconds = (until - video.seen.last) * SECONDS_PER_FRAME
    known, found = met(video) if past is None else set(past), set[Pair]()
    for place, a in enumerate(bodies):
        for b in bodies[place + 1 :]:
            dx, dy, dvx, dvy = b.x - a.x, b.y - a.y, b.vx - a.vx, b.vy - a.vy
            speed = dvx * dvx + dvy * dvy
            time = min(max(-(dx * dvx + dy * dvy) / speed, 0.0), seconds) if speed else 0.0
            near = (dx + time * dvx) ** 2 + (dy + time * dvy) ** 2 < threshold**2
            if time > 0 and near and (a.id, b.id) not in known:
                found.add((a.id, b.id))
    return found
