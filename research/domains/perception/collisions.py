"""Paths ► collisions: which contacts explain what the bodies did.

A contact of two bodies is a hypothesis wherever they come near each other. Its gain is how much the cost of
the two paths falls if both take a blow there: twice the log-likelihood ratio of the calibrated law with and
without the contact, less a penalty for the distance of the two. The search takes the best contact, weighs
the others again given this contact, and so on; it drops a contact that later contacts make needless.

Here a red ball stops where it meets a blue one, after frame 10, and the blue one moves on. A contact after
frame 9 would explain the two paths about as well. The distance fits two balls that touch, so there is no
penalty, and the gain is the sum of the gains on the two paths:

>>> from research.domains.objects import Look
>>> red = [(0.1 * min(frame, 10) - 1.4, 0.0) for frame in range(20)]
>>> blue = [(0.1 * max(0, frame - 10), 0.0) for frame in range(20)]
>>> errors = np.array([np.eye(2) * 1e-4] * 20)
>>> looks = Look("red", "metal", "sphere"), Look("blue", "metal", "sphere")
>>> places = np.array(red), np.array(blue)
>>> paths = [BodyPath(*path, errors) for path in zip(looks, [np.arange(20)] * 2, places)]
>>> [contact] = contacts(paths, frames=20)
>>> contact.pair, contact.frame, contact.frames, contact.chosen
((0, 1), 10, (9, 10), True)
>>> round(contact.distance, 2), [round(gain) for gain in contact.gains], round(contact.gain)
(0.4, [436, 446], 882)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import dist, hypot

import msgspec
import numpy as np

from research.domains.perception.paths import BodyPath, contact_distances, prepare

Pair = tuple[int, int]
"""Two objects by their indices among the paths, the lower first."""

_NEAR = 0.3
"""A pair may have touched only where its distance is below contact plus this (units)."""
_SLACK = 0.12
"""And only where it is below the larger of contact and its least distance, plus this (units)."""
_OFF = 0.05
"""Standard error of a distance at contact (units)."""
_MOST = 60.0
"""The largest penalty of a distance on a contact's gain."""
_TAKEN, _DROPPED = 20.0, 8.0
"""The least gain at which the search takes a contact, and the least to keep it."""
_ROUNDS = 12  # the most contacts that the search takes
_GHOST = 14
"""Frames over which two bodies are extrapolated through each other."""
_FINE = 14
"""The most frames of a pair that are all weighed; of more, every fourth, then those near the best."""
_AROUND = 14
"""Frames before and after a contact that may explain the paths as well as it does."""
_AGREE = 6.0
"""A contact's other frames are plausible up to this loss of gain."""
_NO_OTHER = 99  # frames to the nearest other contact if there is none: more than any that matters


class Contact(msgspec.Struct, frozen=True):
    """A hypothesis that the pair touches just after ``frame``, with the evidence for and against it.

    Gains are twice log-likelihood ratios; distances are in units, velocities in units/s.
    """

    pair: Pair
    frame: int
    frames: tuple[int, int]
    """The first and last frame that explain the paths about as well."""
    gain: float
    gains: tuple[float, float]
    """The gain of a blow on each of the two paths."""
    distance: float
    """The distance of the two at the frame."""
    nearest: float
    """The least distance of the two at any frame."""
    touching: tuple[float, float]
    """Distances at which such bodies can touch."""
    ghost: float
    """The least distance of the two if they flew on through each other."""
    approach: float
    parting: float
    """Speeds along the line of the centres, before and after."""
    changes: tuple[float, float]
    """Changes of the two velocities."""
    pushes: tuple[float, float]
    """The part of each change that points away from the other body."""
    unbalanced: float
    """The share of the changes that no impulse between the two explains."""
    seen: tuple[int, int]
    """Frames with a sighting of the less seen body, in the pieces before and after."""
    other: int
    """Frames to the nearest other contact of either body."""
    chosen: bool
    """True if the search kept it."""


class _Search:
    """The hypotheses of a video and the contacts taken so far."""

    def __init__(self, paths: list[BodyPath], frames: int) -> None:
        self.paths = paths
        self.taken: dict[Pair, int] = {}
        self.distances: dict[Pair, np.ndarray] = {}
        self.when: dict[Pair, list[int]] = {}
        places = [path.filled(frames) for path in paths]
        for a, b in combinations(range(len(paths)), 2):
            away = np.linalg.norm(places[a] - places[b], axis=1)
            if np.isnan(away).all():
                continue
            _, far = contact_distances(paths[a], paths[b])
            bound = max(far, float(np.nanmin(away))) + _SLACK
            when = [int(frame) for frame in np.flatnonzero(away < far + _NEAR) if away[frame] < bound]
            if when:
                self.distances[a, b], self.when[a, b] = away, when

    def blows(self, body: int, but: Pair) -> list[int]:
        """The blows that a body takes from contacts other than ``but``."""
        return [frame for pair, frame in self.taken.items() if body in pair and pair != but]

    def gains(self, pair: Pair, frame: int) -> tuple[float, float, float]:
        """The total gain of a contact, and its gain on each path.

        The total falls by a penalty if the two are not as far from each other as touching bodies are.
        """
        path_gains: list[float] = []
        for body in pair:
            blows = self.blows(body, pair)
            path = self.paths[body]
            path_gains.append(path.cost(blows) - path.cost({*blows, frame}))
        near, far = contact_distances(self.paths[pair[0]], self.paths[pair[1]])
        distance = float(self.distances[pair][frame])
        off = max(0.0, distance - far, near - distance)
        return sum(path_gains) - min((off / _OFF) ** 2, _MOST), path_gains[0], path_gains[1]

    def prefit(self, wanted: Mapping[Pair, Sequence[int]]) -> None:
        """Fit at once all paths that :meth:`gains` compares for the wanted contacts.

        It saves time only: a piece that is not fitted yet would be fitted when its cost is asked for.
        """
        paths: dict[int, list[list[int]]] = {}
        for pair, frames in wanted.items():
            for body in pair:
                blows = self.blows(body, pair)
                paths.setdefault(body, []).extend([blows, *([*blows, frame] for frame in frames)])
        prepare([piece for body, blows in paths.items() for piece in self.paths[body].lacking(blows)])

    def best(self, pairs: Collection[Pair]) -> dict[Pair, tuple[float, int]]:
        """The highest gain of each pair's contact, and its frame.

        A gain changes slowly from frame to frame. So of many frames every fourth is tried, and then the
        frames around the best of these.
        """
        when = {pair: self.when[pair] for pair in pairs}
        coarse = {pair: frames if len(frames) <= _FINE else frames[::4] for pair, frames in when.items()}
        self.prefit(coarse)
        best = {pair: self._most(pair, frames) for pair, frames in coarse.items()}
        fine = {
            pair: [frame for frame in frames if abs(frame - best[pair][1]) <= 3]
            for pair, frames in when.items()
            if len(frames) > _FINE
        }
        self.prefit(fine)
        return best | {pair: self._most(pair, frames) for pair, frames in fine.items()}

    def _most(self, pair: Pair, frames: Iterable[int]) -> tuple[float, int]:
        """The highest gain of a pair at some frames, and the first frame that has it."""
        gain, frame = max((self.gains(pair, frame)[0], -frame) for frame in frames)
        return gain, -frame

    def run(self) -> dict[Pair, tuple[float, int]]:
        """Search; return every hypothesis at its best, given the contacts taken.

        A contact that is taken divides the paths of its two bodies anew, so only contacts of these two get
        another gain.
        """
        best = self.best(self.when)
        for _ in range(_ROUNDS):
            open_ = [pair for pair in best if pair not in self.taken]
            new = max(open_, key=lambda pair: best[pair][0], default=None)
            if new is None or best[new][0] < _TAKEN:
                break
            self.taken[new] = best[new][1]
            near = [pair for pair in best if pair != new and set(pair) & set(new)]
            again = self.best(near)
            for place, pair in enumerate(near, start=1):
                best[pair] = again[pair]
                frame = again[pair][1]
                if self.taken.get(pair, frame) != frame:
                    # Weigh the later contacts again, since this one moved
                    self.taken[pair] = frame
                    again = self.best(near[place:])
            for pair in [pair for pair in self.taken if pair != new and best[pair][0] < _DROPPED]:
                del self.taken[pair]
        return best | self.best(self.taken)

    def contact(self, pair: Pair, gain: float, frame: int) -> Contact:
        """A hypothesis with its evidence."""
        path_a, path_b = (self.paths[body] for body in pair)
        blows = [[*self.blows(body, pair), frame] for body in pair]
        before = [path.before(blow, frame) for path, blow in zip((path_a, path_b), blows, strict=True)]
        after = [path.after(blow, frame) for path, blow in zip((path_a, path_b), blows, strict=True)]
        # The line of the centres, from the first body to the second: a blow acts along it.
        (x0, y0), (x1, y1) = before[0].at(frame), before[1].at(frame)
        length = hypot(x1 - x0, y1 - y0) or 1.0
        nx, ny = (x1 - x0) / length, (y1 - y0) / length
        was = [piece.velocity_at(frame) for piece in before]
        now = [piece.velocity_at(frame + 1) for piece in after]
        (ax, ay), (bx, by) = ((new[0] - old[0], new[1] - old[1]) for old, new in zip(was, now, strict=True))
        changes = hypot(ax, ay), hypot(bx, by)
        away = self.distances[pair]
        # As if the two passed through each other: the earlier motions, followed beyond the contact.
        flown = range(frame, min(frame + _GHOST, len(away)))
        ghost = min(dist(before[0].at(later), before[1].at(later)) for later in flown)
        others = [abs(blow - frame) for body in pair for blow in self.blows(body, pair)]
        around = [other for other in self.when[pair] if abs(other - frame) <= _AROUND]
        alike = [other for other in around if self.gains(pair, other)[0] > gain - _AGREE]
        _, first, second = self.gains(pair, frame)
        return Contact(
            pair=pair,
            frame=frame,
            frames=(min(alike, default=frame), max(alike, default=frame)),
            gain=gain,
            gains=(first, second),
            distance=float(away[frame]),
            nearest=float(np.nanmin(away)),
            touching=contact_distances(path_a, path_b),
            ghost=ghost,
            approach=(was[0][0] - was[1][0]) * nx + (was[0][1] - was[1][1]) * ny,
            parting=(now[1][0] - now[0][0]) * nx + (now[1][1] - now[0][1]) * ny,
            changes=changes,
            pushes=(-(ax * nx + ay * ny), bx * nx + by * ny),
            unbalanced=hypot(ax + bx, ay + by) / (sum(changes) + 0.05),
            seen=(min(piece.count for piece in before), min(piece.count for piece in after)),
            other=min(others, default=_NO_OTHER),
            chosen=pair in self.taken,
        )


def contacts(paths: list[BodyPath], frames: int) -> list[Contact]:
    """Find the best hypothesis of every pair that comes near enough to touch, in the order of the pairs.

    Args:
        paths: the paths of a video's objects.
        frames: the number of the video's frames.
    """
    search = _Search(paths, frames)
    best = search.run()
    search.prefit(
        {
            pair: [other for other in search.when[pair] if abs(other - frame) <= _AROUND]
            for pair, (_, frame) in best.items()
        }
    )
    return [search.contact(pair, gain, frame) for pair, (gain, frame) in sorted(best.items())]
