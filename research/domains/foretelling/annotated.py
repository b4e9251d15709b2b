"""Bodies and masses from an annotation of a video."""

from __future__ import annotations

from substrate.domains.clevrer.format import Annotation, MotionState, Shape, tracks
from substrate.domains.clevrer.motion.engine import Body
from substrate.domains.clevrer.motion.law import LAW, Law
from substrate.domains.clevrer.motion.observe import relative_masses


def observed(state: MotionState, shape: Shape, mass: float = 1.0) -> Body:
    """The body of a recorded state; yaw and spin are kept for cubes only, as a disc's change nothing.

    >>> place, turned, velocity, turning = (1.0, 2.0, 0.2), (0.0, 0.0, 0.5), (0.1, 0.0, 0.0), (0.0, 0.0, 2.0)
    >>> observed(MotionState(3, place, turned, velocity, turning, True), "cube")
    Body(id=3, shape='cube', x=1.0, y=2.0, vx=0.1, vy=0.0, yaw=0.5, spin=2.0, mass=1.0)
    """
    yaw, spin = (state.orientation[2], state.angular_velocity[2]) if shape == "cube" else (0.0, 0.0)
    (x, y, _), (vx, vy, _) = state.location, state.velocity
    return Body(state.object_id, shape, x, y, vx, vy, yaw, spin, mass)


def shapes(annotation: Annotation) -> dict[int, Shape]:
    """The shape of each body of a video, by number."""
    return {thing.object_id: thing.shape for thing in annotation.object_property}


def bodies(annotation: Annotation, frame: int, masses: dict[int, float] | None = None) -> list[Body]:
    """All bodies of a video at a frame, visible or not."""
    shape = shapes(annotation)
    states = sorted(annotation.motion_trajectory[frame].objects, key=lambda state: state.object_id)
    return [observed(s, shape[s.object_id], (masses or {}).get(s.object_id, 1.0)) for s in states]


def masses(annotation: Annotation, *, law: Law = LAW) -> dict[int, float]:
    """The masses of a video's bodies; see :func:`.relative_masses`."""
    shape, track = shapes(annotation), tracks(annotation)
    contacts = [(c.frame_id, min(c.object_ids), max(c.object_ids)) for c in annotation.collision]
    return relative_masses(
        shape,
        contacts,
        lambda name, frame: observed(track[name][frame], shape[name]),
        len(annotation.motion_trajectory) - 1,
        law=law,
    )
