"""The way that a body glides while drag and friction slow it down: tables over time, one for each shape.

:meth:`~substrate.domains.clevrer.motion.law.Law.glide` has the same in closed form, but is younger. The steps
of the tables differ from it by up to some thousandths of a unit, and the pinned results rest on them. Beyond
the end of its table a body stands still; a sphere's is cut after 80 s, so a sphere that is slower than 0.04
units/s stands still at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

import numpy as np

from substrate.domains.clevrer.format import SHAPES
from substrate.domains.clevrer.motion.law import LAW

# The step of the tables (s); the speeds that they span; and the longest that a slower body glides on (s)
_FINE, _FASTEST, _SLOWEST, _LONGEST = 0.002, 9.0, 1e-3, 1e-3


class GlideTable:
    """The distance that a body of a shape glides, over time, from a start at 9 units/s."""

    def __init__(self, shape: int) -> None:
        speeds, ways = [_FASTEST], [0.0]
        while speeds[-1] > _SLOWEST and len(speeds) < 40_000:
            slower = speeds[-1] - _FINE * LAW.deceleration(SHAPES[shape], speeds[-1])
            ways.append(ways[-1] + _FINE * (speeds[-1] + max(0.0, slower)) / 2)
            speeds.append(max(0.0, slower))
        self._ways, self._slowing = np.array(ways), -np.array(speeds)  # ascending, as np.interp wants it
        self._times = np.arange(len(speeds)) * _FINE
        self._slopes = np.append(np.diff(self._ways) / np.diff(self._times), 0.0)
        # Single numbers are looked up in lists, in a tenth of the time
        self._lists = self._slowing.tolist(), self._times.tolist(), speeds, ways

    def _start(self, speed: float) -> float:
        return _between(-min(speed, _FASTEST), *self._lists[:2])

    def share(self, speed: float, seconds: float) -> float:
        """The distance after some time, as a share of the starting speed: what :mod:`.paths` calls a glide.

        It is in seconds: a body that is not slowed down would come as far in so many.
        """
        if speed < _SLOWEST:
            return min(seconds, _LONGEST)
        start, (_, times, _, ways) = self._start(speed), self._lists
        return (_between(start + seconds, times, ways) - _between(start, times, ways)) / min(speed, _FASTEST)

    def shares(self, speeds: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        """Like :meth:`share`, for many speeds (n), each after some times (m, n)."""
        start = np.interp(-np.minimum(speeds, _FASTEST), self._slowing, self._times)
        times = start + seconds
        # The table's times are evenly spaced: this equals np.interp, to the bit, without a search
        place = (times / _FINE).astype(int)
        place -= place * _FINE > times
        place += (place + 1) * _FINE <= times
        place = np.minimum(place, len(self._ways) - 1)
        ways = self._slopes[place] * (times - place * _FINE) + self._ways[place]
        shares = (ways - np.interp(start, self._times, self._ways)) / np.clip(speeds, _SLOWEST, _FASTEST)
        return np.where(speeds < _SLOWEST, np.minimum(seconds, _LONGEST), shares)

    def speed(self, speed: float, seconds: float) -> float:
        """The speed that is left after some time (units/s)."""
        _, times, speeds, _ = self._lists
        return _between(self._start(speed) + seconds, times, speeds)


def _between(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """Interpolate a single number like ``np.interp``, to the bit."""
    place = bisect_right(xs, x) - 1
    if place < 0 or place == len(xs) - 1:
        return ys[max(0, place)]
    slope = (ys[place + 1] - ys[place]) / (xs[place + 1] - xs[place])
    return slope * (x - xs[place]) + ys[place]


@cache
def glide_table(shape: int) -> GlideTable:
    """The tables of a shape, by its index in SHAPES."""
    return GlideTable(shape)
