"""The state of the bodies perceived up to a frame, from which later collisions are predicted."""

from __future__ import annotations

from msgspec.structs import replace

from research.domains.foretelling.estimate import Estimate
from research.domains.foretelling.sight import SIGHT
from research.domains.foretelling.weights import Pair
from research.domains.perception.belief import BELIEF
from research.domains.perception.perceive import THRESHOLD, ExaminedVideo
from substrate.domains.clevrer.motion.engine import Body

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
"""The errors of perceived states, set by hand: places come every frame, without seams."""
_FEW = 4
"""Places since a body's entry or last blow that make its velocity known."""
_GONE = 15
"""Frames without a sighting after which a body counts as gone."""


def estimates(video: ExaminedVideo) -> list[Estimate]:
    """The state of every body that is in view in the last frame read."""
    last = video.seen.last
    states: list[Estimate] = []
    for number, path in enumerate(video.paths):
        blows = [blow for blow in video.blows(number) if blow < path.last]
        piece = path.piece(max([path.first, *(blow + 1 for blow in blows)]), path.last)
        (x, y), (vx, vy) = piece.at(last), piece.velocity_at(last)
        if last - path.last > _GONE or not video.camera.sees(path.kind, x, y):
            continue
        body = Body(number, path.shape, x, y, vx, vy)
        # Trust as in `foretelling/estimate.py`: "struck" means a velocity that is little known, after a blow
        # or from few places. No seam divides these places, hence the 0.
        if piece.count < _FEW and not blows and path.first > 0:
            states.append(Estimate(replace(body, vx=0.0, vy=0.0), "new", 0))
        else:
            states.append(Estimate(body, "struck" if blows or piece.count < _FEW else "steady", 0))
    return states


def met(video: ExaminedVideo) -> set[Pair]:
    """The pairs with a believed contact."""
    return {contact.pair for contact in video.contacts if BELIEF.of_contact(contact) >= THRESHOLD}
