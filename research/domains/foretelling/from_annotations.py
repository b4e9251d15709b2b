"""Fit the law of motion to official annotations: free flight first, then impacts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import copysign, hypot, inf, log, sqrt
from pathlib import Path
from statistics import fmean, median

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from research.domains.foretelling.annotated import bodies, observed, shapes
from substrate.base.errors import FormatError
from substrate.base.numbered import sources_in
from substrate.domains.clevrer import format
from substrate.domains.clevrer.motion.engine import simulate
from substrate.domains.clevrer.motion.law import Law

# Bodies whose centres are farther apart than this do not touch: two cubes corner to corner, plus a margin.
_ALONE = 0.62
_WINDOW = 3  # frames simulated before and after a recorded collision
# An impact's velocity error is capped at this (units/s): the sub-step of the impact is chance.
_WORST = 0.5
_RADII = (0.2, 0.2004, 0.2008, 0.2012, 0.2016)
_REACHES = (0.004, 0.005, 0.006, 0.007, 0.008, 0.009)
_RESTITUTIONS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
_FLAT = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65)
_FLAT_THRESHOLDS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

# The law that the fit starts from: ``threshold`` and ``correction`` are Bullet's and stay.
SOLVER = Law(
    substeps=1,
    step=0.028,
    radius=0.2,
    drag=0.0,
    friction=0.0,
    turning=0.0,
    inertia=1.0,
    restitution=0.6,
    restitution_flat=0.5,
    threshold_flat=0.5,
    threshold=0.2,
    reach=0.007,
    correction=0.2,
    stamp=0,
)


class Free(Struct, frozen=True):
    """A lone body at two successive frames: speeds (units/s), distance moved (units), spins (radians/s)."""

    shape: format.Shape
    speed: float
    next_speed: float
    way: float
    spin: float
    next_spin: float


class Impact(Struct, frozen=True):
    """A collision of only two bodies: its annotation, and the mass of ``a`` relative to ``b``."""

    annotation: format.Annotation
    collision: format.Collision
    ratio: float

    @property
    def shapes(self) -> tuple[format.Shape, format.Shape]:
        """The shapes of the two bodies."""
        shape = shapes(self.annotation)
        return shape[self.collision.object_ids[0]], shape[self.collision.object_ids[1]]


def read_annotations(where: Path) -> list[format.Annotation]:
    """Read every annotation of a folder or zip, by scene."""
    return [
        format.decode_annotation(source)
        for source in sources_in(where, format.annotation_names(where).values())
    ]


def free_flight(annotation: format.Annotation) -> Iterator[Free]:
    """All pairs of successive frames in which a moving body is near no other."""
    track = dict(sorted(format.tracks(annotation).items()))
    shape = shapes(annotation)
    # By body, frame and axis
    place = np.array([[state.location[:2] for state in states] for states in track.values()])
    gap = (
        np.linalg.norm(place[:, None] - place[None], axis=3)
        + np.where(np.eye(len(place)), inf, 0)[:, :, None]
    )
    near = gap.min(axis=1) < _ALONE
    for row, (name, states) in enumerate(track.items()):
        for frame in range(1, len(states) - 1):
            if near[row, frame - 1 : frame + 2].any():
                continue
            now, after = states[frame], states[frame + 1]
            speed, next_speed = hypot(*now.velocity[:2]), hypot(*after.velocity[:2])
            if speed > 0.1:
                way = hypot(after.location[0] - now.location[0], after.location[1] - now.location[1])
                yield Free(
                    shape[name], speed, next_speed, way, now.angular_velocity[2], after.angular_velocity[2]
                )


def impacts(annotations: Sequence[format.Annotation], law: Law) -> list[Impact]:
    """Every collision whose two bodies collide with nothing else within twice the window; none of the first
    frames.
    """
    lone: list[Impact] = []
    for annotation in annotations:
        for collision in annotation.collision:
            others = [
                c
                for c in annotation.collision
                if c is not collision and set(c.object_ids) & set(collision.object_ids)
            ]
            if collision.frame_id >= _WINDOW and all(
                abs(c.frame_id - collision.frame_id) > 2 * _WINDOW for c in others
            ):
                a, b = (hypot(*delta[:2]) for delta in _changes(annotation, collision, law))
                lone.append(Impact(annotation, collision, b / a))
    return lone


def _changes(
    annotation: format.Annotation, collision: format.Collision, law: Law
) -> list[tuple[float, float, float]]:
    """The velocity (x, y) and spin that the impact added to each body."""
    track, shape = format.tracks(annotation), shapes(annotation)
    first, last = collision.frame_id - 1, min(collision.frame_id + 1, len(annotation.motion_trajectory) - 1)
    changes: list[tuple[float, float, float]] = []
    for name in collision.object_ids:
        after, start = track[name][last], observed(track[name][first], shape[name])
        free = simulate([start], last - first, law=law).final[0]
        changes.append(
            (after.velocity[0] - free.vx, after.velocity[1] - free.vy, after.angular_velocity[2] - free.spin)
        )
    return changes


def fit_law(annotations: Sequence[format.Annotation]) -> Law:
    """Fit each constant to the motion that shows only this constant, in the order of their dependence.

    1. ``substeps`` and ``step``, from bodies that move freely without a spin (:func:`fit_steps`);
    2. ``drag``, from spheres that move freely, and ``friction``, from what cubes and cylinders lose more;
    3. ``inertia``, from cubes that are hit off their centre, and ``turning``, from cubes that spin freely;
    4. ``radius``, ``reach`` and ``restitution``: of a grid of values those whose simulated impacts of spheres
       are nearest to the recorded ones, and likewise the two constants of flat impacts;
    5. ``stamp``, from the recorded frames of the impacts.

    Raises:
        FormatError: the annotations show no sphere in free flight or no collision of two bodies.
    """
    free = [interval for annotation in annotations for interval in free_flight(annotation)]
    spheres = [f for f in free if f.shape == "sphere" and f.speed > 1]
    if not spheres:
        raise FormatError(
            "no sphere moves freely in these annotations",
            hint="Give more scenes: the eight of the development data are enough",
        )
    substeps, step = fit_steps([f for f in free if abs(f.spin) < 0.1])
    law = replace(SOLVER, substeps=substeps, step=step)
    law = replace(law, drag=round(median(_drag(f, law) for f in spheres), 3))
    law = replace(
        law,
        friction=round(median(_lost(f, law) for f in free if f.shape != "sphere" and abs(f.spin) < 0.1), 4),
    )
    seen = impacts(annotations, law)
    if not any("sphere" in impact.shapes for impact in seen):
        raise FormatError(
            "no sphere collides in these annotations",
            hint="Give more scenes: the eight of the development data are enough",
        )
    law = replace(law, inertia=round(median(_inertias(seen, law)), 4))
    law = replace(
        law,
        turning=round(median(_turning(f, law) for f in free if f.shape == "cube" and abs(f.spin) > 0.3), 1),
    )
    sphere_laws = [
        replace(law, radius=r, reach=c, restitution=e) for r, c, e in product(_RADII, _REACHES, _RESTITUTIONS)
    ]
    law = _best_law([i for i in seen if "sphere" in i.shapes], sphere_laws)
    flat = [i for i in seen if "sphere" not in i.shapes]
    if flat:
        law = _best_law(
            flat,
            [replace(law, restitution_flat=e, threshold_flat=v) for e, v in product(_FLAT, _FLAT_THRESHOLDS)],
        )
    return replace(law, stamp=_stamp(seen, law))


def fit_steps(free: Sequence[Free]) -> tuple[int, float]:
    """Fit steps per frame and seconds per step, before the friction and drag are known.

    A solver advances velocity before position, n times per frame of H seconds. While a body's speed falls
    from v to w, it carries the body H · (w + (v − w) · (n − 1) / 2n): linear in H and in the share.
    """
    known = np.array([(f.next_speed, f.speed - f.next_speed) for f in free])
    frame, share = np.linalg.lstsq(known, np.array([f.way for f in free]), rcond=None)[0]
    substeps = max(1, round(1 / (1 - 2 * min(0.49, float(share / frame)))))
    return substeps, round(float(frame) / substeps, 4)


def _drag(free: Free, law: Law) -> float:
    """The loss of a sphere's speed, in units of ``v · (1 + v)`` (per second)."""
    return -log(free.next_speed * (1 + free.speed) / (free.speed * (1 + free.next_speed))) / law.frame


def _lost(free: Free, law: Law) -> float:
    """Deceleration beyond drag (units/s²)."""
    now = free.speed
    for _ in range(law.substeps):
        now -= law.step * law.drag * now * (1 + now)
    return (now - free.next_speed) / law.frame


def _turning(free: Free, law: Law) -> float:
    """Deceleration of spin beyond drag and the friction of a square's corners (radians/s²)."""
    rate, rim = abs(free.spin), sqrt(2) * law.radius * abs(free.spin)
    known = law.drag * rate * (1 + rate) + law.friction * sqrt(2) * law.radius * rim / (
        hypot(free.speed, rim) * law.inertia
    )
    return (rate - copysign(1, free.spin) * free.next_spin) / law.frame - known


def _inertias(seen: Sequence[Impact], law: Law) -> Iterator[float]:
    """Impulse times arm over spin gained, per mass, for every cube hit well off its centre."""
    for impact in seen:
        track = format.tracks(impact.annotation)
        for name, shape, (dx, dy, spin) in zip(
            impact.collision.object_ids,
            impact.shapes,
            _changes(impact.annotation, impact.collision, law),
            strict=True,
        ):
            if shape == "cube" and abs(spin) > 1:
                centre = track[name][impact.collision.frame_id].location
                arm_x, arm_y = (p - q for p, q in zip(impact.collision.location[:2], centre[:2], strict=True))
                yield (arm_x * dy - arm_y * dx) / spin


def _best_law(seen: Sequence[Impact], laws: Sequence[Law]) -> Law:
    """The law with the smallest mean velocity error over the impacts; the first among equals."""
    return min(laws, key=lambda law: fmean(min(_WORST, impact_error(impact, law)) for impact in seen))


def impact_error(impact: Impact, law: Law) -> float:
    """Mean difference of the two bodies' simulated and recorded velocities, three frames later (units/s)."""
    a, b = impact.collision.object_ids
    first, end = impact.collision.frame_id - _WINDOW, len(impact.annotation.motion_trajectory) - 1
    last = min(impact.collision.frame_id + _WINDOW, end)
    start = [
        body for body in bodies(impact.annotation, first, {a: impact.ratio, b: 1.0}) if body.id in (a, b)
    ]
    truth = {body.id: body for body in bodies(impact.annotation, last)}
    return fmean(
        hypot(body.vx - truth[body.id].vx, body.vy - truth[body.id].vy)
        for body in simulate(start, last - first, law=law).final
    )


def _stamp(seen: Sequence[Impact], law: Law) -> int:
    """The first step of a frame whose contact is recorded under this frame, not under the previous one."""

    def missed(stamp: int) -> int:
        frames_off = 0
        for impact in seen:
            first = impact.collision.frame_id - _WINDOW
            start = [
                body for body in bodies(impact.annotation, first) if body.id in impact.collision.object_ids
            ]
            contacts = simulate(start, 2 * _WINDOW, law=replace(law, stamp=stamp)).contacts
            frames_off += abs(contacts[0][0] - _WINDOW) if contacts else _WINDOW
        return frames_off

    return min(range(law.substeps), key=missed)


def mass_spread(seen: Sequence[Impact]) -> float:
    """Standard deviation of the logarithm of a body's mass, from the mass ratios of pairs."""
    return sqrt(fmean(log(impact.ratio) ** 2 for impact in seen) / 2)
