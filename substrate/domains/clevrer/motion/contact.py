"""Where two footprints on the ground plane meet: discs (spheres, cylinders) and squares (cubes).

Each function takes the poses of the first and second body, ``reach`` and ``radius``. ``reach`` is the
greatest gap that still counts as a contact; for a greater gap the list of contacts is empty. ``radius`` is a
disc's radius and half a square's edge. ``c`` and ``s`` are the cosine and sine of a square's yaw, which turn
a place of the ground into the square's axes and back.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, cos, hypot, inf, sin

Point = tuple[float, float, float, float, float]
"""A contact, five numbers: the unit normal from the first body to the second (x, y), the place (x, y), and
the gap, which is negative if the bodies overlap.
"""


class Pose:
    """A body's place (units) and yaw (radians)."""

    __slots__ = ("x", "y", "yaw")

    def __init__(self, x: float, y: float, yaw: float) -> None:
        self.x, self.y, self.yaw = x, y, yaw


_FACES = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
_TIE = 1e-9
"""Tolerance (units): two separations this close count as equal, and the first face is used."""


def _disc_disc(a: Pose, b: Pose, reach: float, radius: float) -> list[Point]:
    dx, dy = b.x - a.x, b.y - a.y
    distance = hypot(dx, dy)
    gap = distance - 2 * radius
    if gap > reach:
        return []
    nx, ny = (dx / distance, dy / distance) if distance else (1.0, 0.0)
    return [(nx, ny, a.x + nx * radius, a.y + ny * radius, gap)]


def _square_disc(a: Pose, b: Pose, reach: float, radius: float) -> list[Point]:
    c, s = cos(a.yaw), sin(a.yaw)
    dx, dy = b.x - a.x, b.y - a.y
    x, y = c * dx + s * dy, c * dy - s * dx  # the disc's centre in the square's axes
    px, py = min(max(x, -radius), radius), min(max(y, -radius), radius)
    outside = hypot(x - px, y - py)
    if outside > reach + radius:
        return []
    if outside:
        nx, ny, gap = (x - px) / outside, (y - py) / outside, outside - radius
    elif abs(x) > abs(y):
        nx, ny, gap = copysign(1.0, x), 0.0, abs(x) - 2 * radius
    else:
        nx, ny, gap = 0.0, copysign(1.0, y), abs(y) - 2 * radius
    return [(c * nx - s * ny, s * nx + c * ny, a.x + c * px - s * py, a.y + s * px + c * py, gap)]


def _disc_square(a: Pose, b: Pose, reach: float, radius: float) -> list[Point]:
    return [(-nx, -ny, x, y, gap) for nx, ny, x, y, gap in _square_disc(b, a, reach, radius)]


def _square_square(a: Pose, b: Pose, reach: float, radius: float) -> list[Point]:
    """One or two contacts of two squares.

    1. Choose, of the faces of both squares, the face that the other square lies farthest beyond (``best``).
    2. ``edge`` is the other square's edge that is nearest to this face: two corners, each with its gap to the
       face and its place ``along`` the face. An edge at a right angle to the face keeps its nearer corner.
    3. Each corner within reach is a contact. A corner beside the face is first moved along its edge to the
       face's end (``cut``), which may be out of reach: its gap lies between the gaps of both corners, at
       ``share`` of the way from the first.
    """
    best, face = -inf, None
    for base, other, sign in ((a, b, 1.0), (b, a, -1.0)):
        # The corners (u, v) of the other square in these axes, and how far all of them lie beyond each face.
        c, s = cos(base.yaw), sin(base.yaw)
        dx, dy = other.x - base.x, other.y - base.y
        x, y = c * dx + s * dy, c * dy - s * dx
        turn = other.yaw - base.yaw
        ct, st = radius * cos(turn), radius * sin(turn)
        right, left, upper, lower = x + ct, x - ct, y + st, y - st
        u0, u1, u2, u3 = right - st, right + st, left + st, left - st
        v0, v1, v2, v3 = upper + ct, upper - ct, lower - ct, lower + ct
        apart = (min(u0, u1, u2, u3), -max(u0, u1, u2, u3), min(v0, v1, v2, v3), -max(v0, v1, v2, v3))
        if max(apart) - radius > reach + 2 * _TIE:
            return []
        corners = ((u0, v0), (u1, v1), (u2, v2), (u3, v3))
        for (nx, ny), separation in zip(_FACES, apart, strict=True):
            if separation - radius > best + _TIE:
                best, face = separation - radius, (base, sign, c, s, nx, ny, corners)
    if best > reach or face is None:
        return []
    base, sign, c, s, nx, ny, corners = face
    # The gap, and the place along the face, of the two corners nearest to it.
    edge = sorted((nx * u + ny * v - radius, nx * v - ny * u) for u, v in corners)[:2]
    if abs(edge[1][1] - edge[0][1]) < 1e-9:
        edge = edge[:1]
    points: list[Point] = []
    for gap, along in edge:
        if gap > reach:
            continue
        cut = min(max(along, -radius), radius)
        if cut != along and len(edge) == 2:
            (gap0, along0), (gap1, along1) = edge
            share = (cut - along0) / (along1 - along0)
            if not 0 <= share <= 1:
                continue
            gap = gap0 + share * (gap1 - gap0)
            if gap > reach:
                continue
        px, py = nx * radius - ny * cut, ny * radius + nx * cut
        place = base.x + c * px - s * py, base.y + s * px + c * py
        points.append((sign * (c * nx - s * ny), sign * (s * nx + c * ny), *place, gap))
    return points


_MEETING: dict[tuple[bool, bool], Callable[[Pose, Pose, float, float], list[Point]]] = {
    (False, False): _disc_disc,
    (False, True): _disc_square,
    (True, False): _square_disc,
    (True, True): _square_square,
}


def meeting(first: str, second: str) -> Callable[[Pose, Pose, float, float], list[Point]]:
    """The function ``(a, b, reach, radius) -> points`` for two shapes; a square's edge is ``2 * radius``.

    >>> [gap for *_, gap in meeting("sphere", "cylinder")(Pose(0, 0, 0), Pose(0.5, 0, 0), 0.2, 0.2)]
    [0.09999999999999998]
    >>> len(meeting("cube", "cube")(Pose(0, 0, 0), Pose(0.41, 0.1, 0), 0.02, 0.2))
    2
    """
    return _MEETING[first == "cube", second == "cube"]
