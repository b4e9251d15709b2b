"""Sightings ► objects: identities from frame to frame, with the detector's wrong labels corrected.

No two objects of a CLEVRER video have equal attributes, so a label is a name. But the detector errs: it sees
one object twice, or gives a sliver at the picture's border a wrong material or shape. A run of frames with a
rare label belongs to the stronger label that is missing in those frames and is seen next to the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from research.domains.objects import Look
from research.domains.perception.masks import Sightings

Track = dict[int, int]
"""By frame, the index of an object's sighting."""

_FULL = 1500.0
"""A sighting of at least this many pixels counts fully."""
_SAME = 0.45
"""Two boxes with at least this intersection over union show the same object."""
_PAUSE, _RUN, _REACH = 3, 30, 9
"""Frames: the longest pause within a run, the longest run, the farthest sighting of its owner."""
_CLOSE = 0.75  # the cost below which a label may be a run's owner


def tracks(seen: Sightings) -> dict[Look, Track]:
    """Group the sightings of a video by object, keyed by its attributes.

    Doubles and wrong labels are corrected.

    >>> box, none = np.array([[200.0, 100.0, 240.0, 140.0]] * 14), np.ones(14)
    >>> looks = [("red", "metal", "cube")] * 13 + [("red", "metal", "sphere")]
    >>> seen = Sightings(0, 13, 480, 320, np.arange(14), box, 1200 * none, none, looks)
    >>> {look: len(track) for look, track in tracks(seen).items()}
    {('red', 'metal', 'cube'): 14}
    """
    weights = _weights(seen)
    by_label = _by_label(seen, _without_doubles(seen, weights))
    _join(seen, by_label)
    return {look: by_label[look] for look in sorted(by_label) if _is_object(seen, by_label[look])}


def _weights(seen: Sightings) -> np.ndarray:
    """The weight of each sighting: its share of a full silhouette, half of it at the border."""
    return np.minimum(seen.areas, _FULL) / _FULL * np.where(_at_border(seen), 0.5, 1.0)


def _at_border(seen: Sightings) -> np.ndarray:
    left, top, right, bottom = seen.boxes.T
    return (left <= 2) | (top <= 2) | (right >= seen.width - 2) | (bottom >= seen.height - 2)


def _without_doubles(seen: Sightings, weights: np.ndarray) -> list[int]:
    """The sightings, without those of a rare label whose box overlaps that of another label."""
    total: dict[Look, float] = defaultdict(float)
    for look, weight in zip(seen.looks, weights, strict=True):
        total[look] += weight
    gone: set[int] = set()
    boxes = seen.boxes.tolist()
    for places in _by_frame(seen).values():
        for at, a in enumerate(places):
            for b in places[at + 1 :]:
                if overlap(boxes[a], boxes[b]) <= _SAME:
                    continue
                weak, strong = sorted(
                    (a, b), key=lambda sighting: (total[seen.looks[sighting]], seen.scores[sighting])
                )
                same_label = seen.looks[a] == seen.looks[b]
                if same_label or total[seen.looks[weak]] < 0.4 * total[seen.looks[strong]]:
                    gone.add(weak)
    return [place for place in range(len(seen.looks)) if place not in gone]


def _by_frame(seen: Sightings) -> dict[int, list[int]]:
    by_frame: dict[int, list[int]] = defaultdict(list)
    for place, frame in enumerate(seen.frames):
        by_frame[int(frame)].append(place)
    return by_frame


def _by_label(seen: Sightings, places: Iterable[int]) -> dict[Look, Track]:
    """Group sightings by label; of two in a frame, keep the nearer to the label's neighbouring sightings."""
    by_label: dict[Look, Track] = defaultdict(dict)
    further: list[int] = []
    for place in places:
        track, frame = by_label[seen.looks[place]], int(seen.frames[place])
        if frame in track:
            further.append(place)
        else:
            track[frame] = place
    for place in further:
        track, frame = by_label[seen.looks[place]], int(seen.frames[place])
        around = [track[f] for step in range(1, 6) for f in (frame - step, frame + step) if f in track]
        if not around:
            track[frame] = max(place, track[frame], key=lambda sighting: seen.areas[sighting])
        else:
            mean_box = seen.boxes[around].mean(0)
            track[frame] = min(
                track[frame], place, key=lambda sighting: float(np.abs(seen.boxes[sighting] - mean_box).sum())
            )
    return by_label


def _join(seen: Sightings, by_label: dict[Look, Track]) -> None:
    """Give each run of a rare label to its owner; ``by_label`` is changed."""
    weights = _weights(seen)
    total = {look: float(weights[list(track.values())].sum()) for look, track in by_label.items()}
    for look in sorted(by_label, key=lambda label: (total[label], label)):
        track = by_label[look]
        for run in _runs(track):
            owner = _owner(seen, by_label, total, look, run)
            if owner is None:
                continue
            weight = float(sum(weights[track[frame]] for frame in run))
            for frame in run:
                by_label[owner].setdefault(frame, track.pop(frame))
            total[owner] += weight
            total[look] -= weight


def _runs(track: Track) -> list[list[int]]:
    """A track's frames, cut at long pauses."""
    runs: list[list[int]] = []
    for frame in sorted(track):
        if runs and frame - runs[-1][-1] <= _PAUSE:
            runs[-1].append(frame)
        else:
            runs.append([frame])
    return runs


def _owner(
    seen: Sightings, by_label: Mapping[Look, Track], total: Mapping[Look, float], look: Look, run: list[int]
) -> Look | None:
    """The stronger label that a run belongs to, if any: mostly missing in the run, and seen near its ends."""
    if len(run) > _RUN:
        return None
    best: tuple[float, Look] | None = None
    for other, track in sorted(by_label.items()):
        alike = sum(mine == its for mine, its in zip(look, other, strict=True))
        present = sum(frame in track for frame in run)
        if other == look or not total[other] > total[look] or not track or present > 0.34 * len(run):
            continue
        if not alike and len(run) > _PAUSE:
            continue
        for end, way in ((run[0], -1), (run[-1], 1)):
            step = next((step for step in range(_REACH) if end + way * step in track), None)
            if step is None:
                continue
            mine, its = seen.boxes[[by_label[look][end], track[end + way * step]]].tolist()
            apart = gap(mine, its) / (4 + 6 * step) + 0.5 * (1 - overlap(mine, its))
            cost = apart + 0.05 * step - 0.2 * alike
            if cost < _CLOSE and (best is None or cost < best[0]):
                best = (cost, other)
    return best[1] if best else None


def _is_object(seen: Sightings, track: Track) -> bool:
    """Tell whether a label is an object: seen in 12 frames or more, or large and surely at the border."""
    places = list(track.values())
    if len(places) >= 12:
        return True
    if not places or np.mean(_at_border(seen)[places]) <= 0.5:
        return False
    ends, area, score = max(track) >= seen.last - 2, seen.areas[places].max(), seen.scores[places].max()
    if len(places) == 1:
        return bool(ends and score > 0.95)
    return bool((area > 280 or (ends and area > 150)) and score > 0.97)


def overlap(a: Sequence[float], b: Sequence[float]) -> float:
    """Intersection over union of two boxes.

    >>> overlap([0.0, 0, 2, 2], [1.0, 0, 3, 2])
    0.3333333333333333
    """
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    both = wide * high
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def gap(a: Sequence[float], b: Sequence[float]) -> float:
    """The distance of two boxes: horizontal plus vertical pixels."""
    return max(0, max(a[0], b[0]) - min(a[2], b[2])) + max(0, max(a[1], b[1]) - min(a[3], b[3]))
