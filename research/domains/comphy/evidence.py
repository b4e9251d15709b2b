"""Reference videos ► evidence of masses and charges: contacts that exchange momentum, and distant forces.

*Contacts.* Two bodies in contact exchange momentum: over a contact, the ratio of their changes of velocity
along the line of exchange is the inverse ratio of their masses.

*Forces.* Out of contact, a force between two bodies shows as acceleration along the line between them. Each
body's acceleration is fitted, frame by frame, by a force of each other body that falls with the square of the
distance, and by dry friction and drag along its own path. Friction and drag have one fitted strength per
object, so the fit assumes nothing about the ground. A pair repels (same charge) or attracts (opposite) if one
body clearly shows it and the other, if measured, does not contradict it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from substrate.domains.clevrer.format import MOVING_SPEED, RADIUS, SECONDS_PER_FRAME, MotionState

Pair = tuple[int, int]
Motion = Mapping[int, Sequence[MotionState]]
"""A video's motion states, frame by frame, by the target's object number."""

BEFORE, AFTER = 2, 3
"""Frames before and after a recorded contact between which momentum is exchanged: an impact lasts one or two
frames, and is recorded up to one frame late.
"""
LEAST_CHANGE = 0.15
"""Units/s: a smaller change of relative velocity is no evidence; it may be friction or rounding."""
LEAST_FRAMES = 4
"""The least number of a body's frames without contact in a video: any force would fit fewer."""
LEAST_STRENGTH = 0.1
"""Units³/s²: a smaller product of fitted acceleration and distance squared is no force."""
LEAST_SIGMA = 8.0
"""The least size of a force, in its standard errors."""
MARGIN = 0.05
"""Gap (units) below which two bodies may touch within a frame: no distant force is measured there."""
_REACH = {"sphere": RADIUS, "cylinder": RADIUS, "cube": math.sqrt(2) * RADIUS}


class Sighting(NamedTuple):
    """A reference video's view of two objects of the target, ``first`` < ``second``, between two frames.

    ``kind`` is ``MomentumExchange`` or ``DistantForce``. ``ratio`` is the first mass over the second; a
    distant force gives it only if both moved. A distant force's ``strength`` (units³/s²) is the acceleration
    of a body of mass 1, times distance squared, positive if they repel. ``weight`` grows with the evidence.
    """

    kind: str
    video: int
    first: int
    second: int
    since: int
    until: int
    weight: float
    ratio: float | None = None
    strength: float | None = None


class Force(NamedTuple):
    """The fitted push of one body on another: acceleration times distance squared, its standard error, and
    the frames fitted.
    """

    size: float
    error: float
    frames: list[int]

    @property
    def clear(self) -> bool:
        """Tell whether the fit shows a force, not only noise."""
        return abs(self.size) > max(LEAST_STRENGTH, LEAST_SIGMA * self.error)


class Push(NamedTuple):
    """The fitted forces on the two bodies of a pair in a video, if any."""

    video: int
    pair: Pair
    on_first: Force | None
    on_second: Force | None


def exchanges(video: int, motion: Motion, contacts: Sequence[tuple[int, ...]]) -> Iterable[Sighting]:
    """The mass ratios that a video's contacts show; a contact is its frame and the two objects that touch."""
    for frame, a, b in contacts:
        since, until = frame - BEFORE, frame + AFTER
        disturbed = any(
            abs(other - frame) <= BEFORE + AFTER and {a, b} & {c, d}
            for other, c, d in contacts
            if (c, d) != (a, b)
        )
        if since < 0 or until >= len(motion[a]) or disturbed:
            continue
        if not all(motion[n][f].inside_camera_view for n in (a, b) for f in range(since, until + 1)):
            continue
        ax, ay = _change(motion[a], since, until)
        bx, by = _change(motion[b], since, until)
        dx, dy = bx - ax, by - ay
        size = math.hypot(dx, dy)
        if size < LEAST_CHANGE:
            continue
        lost, won = -(ax * dx + ay * dy) / size, (bx * dx + by * dy) / size
        floor = 0.02 * size  # a body that hardly moved shows only noise
        ratio = max(won, floor) / max(lost, floor)
        yield Sighting("MomentumExchange", video, a, b, since, until, weight=size, ratio=ratio)


def _change(track: Sequence[MotionState], since: int, until: int) -> tuple[float, float]:
    (ax, ay, _), (bx, by, _) = track[since].velocity, track[until].velocity
    return bx - ax, by - ay


def pushes_of(motions: Sequence[Motion], shapes: Mapping[int, str]) -> Iterable[Push]:
    """For each video and pair of its objects, the fitted force on the first and on the second."""
    fitted = {body: _fit(body, motions, shapes) for body in sorted(set().union(*motions))}
    for video, motion in enumerate(motions):
        for a, b in combinations(sorted(motion), 2):
            on_first, on_second = fitted[a].get((video, b)), fitted[b].get((video, a))
            if on_first or on_second:
                yield Push(video, (a, b), on_first, on_second)


def _fit(body: int, motions: Sequence[Motion], shapes: Mapping[int, str]) -> dict[tuple[int, int], Force]:
    """Fit a body's acceleration over all videos by least squares: one force per video and other body, one
    friction and one drag.

    The matrix has two rows, x and y, for each frame in which the body moves freely. It has a column for each
    force, with the direction in which it would push, and the last two columns for friction and drag. The
    target is the measured acceleration, so the solution has the sizes of the forces.
    """
    near = {other: _REACH[shapes[body]] + _REACH[shapes[other]] + MARGIN for other in shapes}
    others = {video: sorted(motion.keys() - {body}) for video, motion in enumerate(motions) if body in motion}
    frames = {
        video: _free(body, motions[video], {other: near[other] for other in beside})
        for video, beside in others.items()
    }
    frames = {video: free for video, free in frames.items() if len(free) >= LEAST_FRAMES}
    keys = [(video, other) for video in frames for other in others[video]]
    columns = {key: place for place, key in enumerate(keys)}
    if not columns:
        return {}
    rows: list[list[float]] = []
    seen: list[float] = []
    for video, free in frames.items():
        track = motions[video][body]
        for frame in free:
            velocity = track[frame].velocity
            speed = math.hypot(velocity[0], velocity[1])
            pushes = [
                (columns[video, other], _away(track[frame], motions[video][other][frame]))
                for other in others[video]
            ]
            for axis in (0, 1):
                # Drag has a linear and a quadratic part
                row = [0.0] * len(columns) + [-velocity[axis] / speed, -velocity[axis] * (1 + speed)]
                for place, push in pushes:
                    row[place] = push[axis]
                rows.append(row)
                gained = track[frame + 1].velocity[axis] - track[frame - 1].velocity[axis]
                seen.append(gained / (2 * SECONDS_PER_FRAME))
    matrix, target = np.array(rows), np.array(seen)
    inverse = np.linalg.pinv(matrix.T @ matrix)
    solution = inverse @ matrix.T @ target
    residual = target - matrix @ solution
    spread = max(float(residual @ residual) / max(len(seen) - matrix.shape[1], 1), 1e-6)
    errors = np.sqrt(np.maximum(np.diag(inverse), 0.0) * spread)
    return {
        (video, other): Force(float(solution[place]), float(errors[place]), frames[video])
        for (video, other), place in columns.items()
    }


def _free(body: int, motion: Motion, reach: Mapping[int, float]) -> list[int]:
    """The frames in which a body moves and touches nothing, and all bodies are in view; ``reach`` gives the
    contact distance to each other body.
    """
    track, others = motion[body], [motion[other] for other in reach]
    frames: list[int] = []
    for frame in range(1, len(track) - 1):
        around = range(frame - 1, frame + 2)
        if not all(states[f].inside_camera_view for states in (track, *others) for f in around):
            continue
        if any(
            math.dist(motion[other][f].location[:2], track[f].location[:2]) < touch
            for other, touch in reach.items()
            for f in around
        ):
            continue
        # Static friction may hold a resting body against any force.
        if min(math.hypot(*track[f].velocity[:2]) for f in around) > MOVING_SPEED:
            frames.append(frame)
    return frames


def _away(body: MotionState, source: MotionState) -> tuple[float, float]:
    """The vector from the source to the body, with length one over their distance squared."""
    dx, dy = body.location[0] - source.location[0], body.location[1] - source.location[1]
    cube = math.hypot(dx, dy) ** 3
    return dx / cube, dy / cube


def force_between(push: Push) -> Sighting | None:
    """A force at a distance that one body shows clearly and the other, if measured, does not contradict."""
    video, pair, on_first, on_second = push
    measured = [force for force in (on_first, on_second) if force]
    clear = [force for force in measured if force.clear]
    if not clear or len({force.size > 0 for force in clear}) > 1:
        return None
    if any(not force.clear and force.error * LEAST_SIGMA < LEAST_STRENGTH / 2 for force in measured):
        return None
    frames = sorted({frame for force in clear for frame in force.frames})
    ratio = on_second.size / on_first.size if on_first and on_second and len(clear) == 2 else None
    # A force of 100 standard errors has the full weight 1.
    weight = math.sqrt(sum((force.size / force.error) ** 2 for force in clear)) / 100
    return Sighting("DistantForce", video, *pair, frames[0], frames[-1], weight=min(weight, 1.0), ratio=ratio)
