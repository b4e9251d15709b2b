"""CLEVRER's camera: from places on the floor to boxes in the picture, and back.

One pinhole camera takes all videos. ``constants.json`` holds it, the half sizes of the three solids
and the offsets of the detector's boxes; :mod:`.calibrate` fits them to annotated videos.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
import numpy as np

from research.domains.perception.constants import fitted
from substrate.domains.clevrer.format import RADIUS, SHAPES

CUBE, SPHERE, CYLINDER = (SHAPES.index(shape) for shape in ("cube", "sphere", "cylinder"))
_HIDDEN = 0.15  # a nearer body over more than this share of a box's width may cover its bottom edge
_EDGE, _UNSEEN = 0.6, 30.0
"""Standard errors of a box's edge (pixels): as measured, and for an edge that is not the body's own."""
_BEHIND, _BESIDE = 8.0, 2.5
"""Standard errors of an edge that a nearer body covers, and of an edge that it may cover (pixels)."""
_ROUNDS = 6
_STRANGE = 2.5
"""An edge that is off by more standard errors counts less."""
_MEAN_YAW, _TURN = np.pi / 8, 0.3
"""Prior mean and spread of a cube's yaw (radians): a box says little about it."""
_ANGLES = np.linspace(0, 2 * np.pi, 24, endpoint=False) + 0.01
_RING = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], 1)
_CYLINDER = np.concatenate([np.c_[_RING, np.ones(24)], np.c_[_RING, -np.ones(24)]])
_CUBE = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], float)


# Freeing one large block makes glibc keep later ones for reuse: perception then takes a third less time.
np.empty(1 << 21)


class Camera(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """A pinhole camera over the floor, with the offsets of a detector's boxes."""

    width: int
    height: int
    """The picture, in pixels."""
    focal: float
    """Focal length in pixels."""
    centre: tuple[float, float]
    """The point at which the optical axis meets the picture (pixels)."""
    place: tuple[float, float, float]
    """The camera's place (units)."""
    angles: tuple[float, float, float]
    """The camera's tilt, turn and roll (radians)."""
    half: tuple[float, float, float]
    """Apparent half edge of a cube, radius of a sphere and radius of a cylinder (units)."""
    offsets: tuple[tuple[float, float, float, float], ...]
    """By shape, how far each edge of a detected box lies right of or below the true edge (pixels)."""

    @cached_property
    def matrix(self) -> np.ndarray:
        """The projection (3 x 4)."""
        turn = rotation(self.angles)
        inner = np.array([[self.focal, 0, self.centre[0]], [0, self.focal, self.centre[1]], [0, 0, 1]])
        return inner @ np.c_[turn, -turn @ np.array(self.place)]

    def boxes(self, shape: int, x: np.ndarray, y: np.ndarray, yaw: np.ndarray) -> np.ndarray:
        """The boxes (n, 4) around the silhouettes of bodies of one shape on the floor.

        Args:
            shape: the shape's index in :data:`~substrate.domains.clevrer.format.SHAPES`.
            x, y: the bodies' places (units).
            yaw: the turn of cubes (radians); ignored for other shapes.

        >>> box = CAMERA.boxes(1, np.array([0.0]), np.array([0.0]), np.array([0.0]))
        >>> np.round(box - CAMERA.boxes(1, np.array([0.0]), np.array([0.1]), np.array([0.0])))[0].tolist()
        [-11.0, 0.0, -11.0, 0.0]
        """
        if shape == SPHERE:
            return self._spheres(x, y)
        half, matrix = self.half[shape], self.matrix
        points = (_CUBE if shape == CUBE else _CYLINDER) * half
        across, along = points[:, 0], points[:, 1]
        if shape == CUBE:
            c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
            across, along = c * points[:, 0] - s * points[:, 1], s * points[:, 0] + c * points[:, 1]
        px, py, pz = x[:, None] + across, y[:, None] + along, RADIUS + points[:, 2]
        u, v, w = (row[0] * px + row[1] * py + row[2] * pz + row[3] for row in matrix)
        u, v = u / w, v / w
        return np.stack([u.min(1), v.min(1), u.max(1), v.max(1)], 1)

    def _spheres(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The boxes of spheres, from the dual conics of their outlines."""
        centre = np.stack([x, y, np.full_like(x, RADIUS), np.ones_like(x)], 1)
        dual = -centre[:, :, None] * centre[:, None, :]
        dual[:, [0, 1, 2], [0, 1, 2]] += self.half[SPHERE] ** 2
        conic = self.matrix @ dual @ self.matrix.T
        scale = conic[:, 2, 2]
        u, v = conic[:, 0, 2] / scale, conic[:, 1, 2] / scale
        du = np.sqrt(np.maximum(u * u - conic[:, 0, 0] / scale, 0))
        dv = np.sqrt(np.maximum(v * v - conic[:, 1, 1] / scale, 0))
        return np.stack([u - du, v - dv, u + du, v + dv], 1)

    def sees(self, shape: int, x: float, y: float) -> bool:
        """Tell whether any part of a body at a place is in the picture: official ``inside_camera_view``."""
        left, top, right, bottom = self.boxes(shape, np.array([x]), np.array([y]), np.array([_MEAN_YAW]))[0]
        return bool(left < self.width and right > 0 and top < self.height and bottom > 0)

    def floor(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The points at which the rays of pixels meet the plane of the bodies' centres (units)."""
        matrix = self.matrix
        plane = np.stack([matrix[:, 0], matrix[:, 1], matrix[:, 2] * RADIUS + matrix[:, 3]], 1)
        x, y, w = np.linalg.solve(plane, np.stack([u, v, np.ones_like(u)]))
        return x / w, y / w

    def locate(
        self, shape: int, boxes: np.ndarray, errors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The bodies of one shape behind detected boxes: least squares over the edges, robust.

        Each round (Gauss-Newton) predicts the boxes of the present places, and of places that are a little
        off; the differences are the slopes of the edges. It then moves each body by the solution of ``normal
        · move = right``. From the third round on, an edge that is far off counts little.

        Args:
            boxes: as detected (n, 4).
            errors: standard errors of their edges (n, 4), in pixels; see :func:`edge_errors`.

        Returns:
            Places (n, 2) in units, their covariances (n, 2, 2), and the cubes' yaw (n) in radians.
        """
        target = boxes - np.array(self.offsets[shape])
        x, y = self.floor((target[:, 0] + target[:, 2]) / 2, (target[:, 1] + target[:, 3]) / 2)
        yaw = np.full(len(x), _MEAN_YAW)
        unknown = 3 if shape == CUBE else 2
        normal = np.zeros((len(x), unknown, unknown))
        step = 1e-3
        for iteration in range(_ROUNDS):
            # All boxes at once: the present one, and one a step along each unknown
            far = step * np.eye(3)[:unknown, :, None]
            moved = np.stack([x, y, yaw]) + np.concatenate([np.zeros((1, 3, 1)), far])
            predicted = self.boxes(shape, *moved.transpose(1, 0, 2).reshape(3, -1)).reshape(
                unknown + 1, -1, 4
            )
            residual = target - predicted[0]
            slope = ((predicted[1:] - predicted[0]) / step).transpose(1, 2, 0)
            weight = 1 / errors**2
            if iteration > 1:
                weight = weight / (1 + (residual / errors / _STRANGE) ** 2)
            normal = np.einsum("nei,ne,nej->nij", slope, weight, slope)
            normal[:, [0, 1], [0, 1]] += 1e-3
            right = np.einsum("nei,ne,ne->ni", slope, weight, residual)
            if shape == CUBE:
                normal[:, 2, 2] += 1 / _TURN**2
                right[:, 2] -= (yaw - _MEAN_YAW) / _TURN**2
            move = np.linalg.solve(normal, right[..., None])[..., 0]
            # No iteration moves a body by more than half a unit.
            bounded = np.minimum(1, 0.5 / np.maximum(1e-9, np.hypot(move[:, 0], move[:, 1])))
            x, y = x + bounded * move[:, 0], y + bounded * move[:, 1]
            if shape == CUBE:
                yaw = np.clip(yaw + np.clip(move[:, 2], -_TURN, _TURN), -0.1, np.pi / 2 + 0.1)
        return np.stack([x, y], 1), np.linalg.inv(normal)[:, :2, :2], yaw


def rotation(angles: Sequence[float]) -> np.ndarray:
    """The rotation (3 x 3) from the floor's axes to the camera's: turn about the vertical, tilt, roll."""
    a, b, c = angles
    tilt = np.array([[1.0, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    turn = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1.0]])
    roll = np.array([[np.cos(c), 0, np.sin(c)], [0, 1.0, 0], [-np.sin(c), 0, np.cos(c)]])
    return roll @ tilt @ turn


def edge_errors(boxes: np.ndarray, width: int, height: int) -> np.ndarray:
    """Standard errors of the edges of a frame's boxes (n, 4), in pixels.

    An edge at the picture's border belongs to the picture. An edge that a nearer body's box covers may be
    that body's outline, or nothing at all; the body with the lower bottom edge is nearer.

    >>> edge_errors(np.array([[0.0, 50.0, 20.0, 90.0]]), 480, 320).tolist()
    [[30.0, 0.6, 0.6, 0.6]]
    """
    errors = np.full(boxes.shape, _EDGE)
    errors[:, :2][boxes[:, :2] <= 1] = _UNSEEN
    errors[:, 2][boxes[:, 2] >= width - 1] = _UNSEEN
    errors[:, 3][boxes[:, 3] >= height - 1] = _UNSEEN
    edges = boxes.tolist()
    for mine, (x0, y0, x1, y1) in enumerate(edges):
        for other, (a0, b0, a1, b1) in enumerate(edges):
            apart = a0 > x1 + 2 or a1 < x0 - 2 or b0 > y1 + 2 or b1 < y0 - 2
            if other == mine or b1 < y1 - 4 or apart:
                continue
            error = _BEHIND if b1 > y1 + 5 else _BESIDE
            high, wide = (min(y1, b1) - max(y0, b0)) / (y1 - y0), (min(x1, a1) - max(x0, a0)) / (x1 - x0)
            covered = (  # the left, top, right and bottom edge of the first box
                high > 0.25 and a0 <= x0 + 2 and a1 >= x0 - 2,
                wide > 0.5 and b0 <= y0 + 2 and b1 >= y0 - 2,
                high > 0.25 and a1 >= x1 - 2 and a0 <= x1 + 2,
                wide > _HIDDEN and b0 <= y1 + 2 and b1 >= y1 - 2,
            )
            if any(covered):
                errors[mine] = np.where(covered, np.maximum(errors[mine], error), errors[mine])
    return errors


CAMERA = fitted("camera", Camera)
"""The camera of the official videos."""
