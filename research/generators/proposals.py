"""A generated scene as a detector would see it: masks and labels of each frame, with the detector's errors.

Bodies' silhouettes are projected onto the picture, and nearer ones cover others. The visible part of each is
a mask in COCO's run-length code. Errors have the rates counted in NS-DR's proposals of 100 official videos
that perception may be fitted to (56,269 proposals). The projection is written independently here: code under
test must not make its own test.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos, hypot, pi, sin
from random import Random
from typing import Any

import numpy as np

from substrate.base.extras import import_extra
from substrate.domains.clevrer.format import MATERIALS, SHAPES, Annotation, MotionState
from substrate.generators.clevrer.scene import scene_files

_HEIGHT, _WIDTH = 320, 480
_MATRIX = (
    (-199.7359, 506.004, -131.6918, 1156.9096),
    (120.3617, -0.204, -526.7467, 770.7651),
    (-0.8351, -0.0004, -0.55, 4.8317),
)
"""From units to pixels; fitted to the eight official annotations."""
_CAMERA = (4.19, 0.0, 2.42)
"""The camera's place (units); nearer objects cover others."""
_HALF = {"cube": 0.186, "sphere": 0.1977, "cylinder": 0.1942}
"""Visible half sizes (units), smaller because edges are rounded."""
_LEAST = 12
"""Pixels of the smallest silhouette that a detector sees."""
_SLIP_MATERIAL, _SLIP_SHAPE = 0.028, 0.02
"""Shares of proposals with a wrong material or shape at the border: 99 and 69 of 3,453; elsewhere none."""
_DOUBLE = 0.0008
"""Share of proposals that repeat another with a wrong label: 44 of 56,269."""
_MISS = 0.0005
"""Share of fully visible bodies that are missed: 0 of 41,939 were, but a few test the filter."""
_SPLIT = 0.0005
"""Share of silhouettes whose upper part is not seen: none were counted, but a few test the filter."""
_SHIFT, _GROWTH = 0.3, 0.012
"""Spread of a silhouette's place (pixels) and of its size (a share)."""
_ROUND = [2 * pi * step / 28 for step in range(28)]  # angles (radians) at which a round surface is sampled


def proposals(annotation: Annotation, seed: int) -> dict[str, Any]:
    """The proposals of a scene in the form of NS-DR's files; they depend only on the arguments.

    Raises:
        MissingExtraError: pycocotools is not installed.

    >>> from substrate.generators.clevrer import generate_annotation
    >>> made = proposals(generate_annotation(10_000, seed=0), seed=0)
    >>> len(made["frames"]), sorted(made["frames"][0]["objects"][0])
    (128, ['color', 'mask', 'material', 'score', 'shape'])
    """
    random = Random(f"proposals {seed} {annotation.scene_index}")
    looks = {o.object_id: (o.color, o.material, o.shape) for o in annotation.object_property}
    frames = [
        {"frame_index": frame.frame_id, "objects": _seen(frame.objects, looks, random)}
        for frame in annotation.motion_trajectory
    ]
    return {
        "video_index": annotation.scene_index,
        "video_name": f"sim_{annotation.scene_index:05d}",
        "frames": frames,
    }


def seen_files(scene_index: int, seed: int) -> dict[str, Any]:
    """The records of :func:`~substrate.generators.clevrer.scene.scene_files`, and the scene's proposals."""
    files = scene_files(scene_index, seed)
    annotation = next(record for record in files.values() if isinstance(record, Annotation))
    return {f"proposals/sim_{scene_index:05d}.json": proposals(annotation, seed), **files}


def _seen(
    states: list[MotionState], looks: dict[int, tuple[str, str, str]], random: Random
) -> list[dict[str, Any]]:
    """The proposals in a frame."""
    coco: Any = import_extra("pycocotools.mask")
    covered = np.zeros((_HEIGHT, _WIDTH), dtype=np.uint8, order="F")  # as masks are decoded
    proposals: list[dict[str, Any]] = []
    for state in sorted(states, key=_distance):
        color, material, shape = looks[state.object_id]
        turned = state.orientation[2] if shape == "cube" else 0.0
        outline = _jittered(_outline(*state.location, turned, shape), random)
        if outline is None:
            continue
        codes = coco.frPyObjects([[value for point in outline for value in point]], _HEIGHT, _WIDTH)
        whole = coco.decode(codes)[:, :, 0]
        left, top, wide, high = map(int, coco.toBbox(codes)[0])
        around = slice(top, top + high), slice(left, left + wide)
        pixels = whole[around]  # its visible pixels: a view into the picture, changed in place
        hidden = covered[around].copy()
        covered[around] |= pixels
        pixels &= 1 - hidden
        if random.random() < _SPLIT:
            whole[: int(outline[0][1])] = 0
        if pixels.sum() < _LEAST or random.random() < _MISS:
            continue
        down, across = np.flatnonzero(pixels.any(axis=1)) + top, np.flatnonzero(pixels.any(axis=0)) + left
        if across[0] < 2 or across[-1] > _WIDTH - 3 or down[0] < 2 or down[-1] > _HEIGHT - 3:
            material = _slip(material, MATERIALS, _SLIP_MATERIAL, random)
            shape = _slip(shape, SHAPES, _SLIP_SHAPE, random)
        code = coco.encode(whole)
        mask = {"size": [_HEIGHT, _WIDTH], "counts": code["counts"].decode()}
        look = {"color": color, "material": material, "shape": shape}
        proposals.append({"mask": mask, **look, "score": round(0.9995 - 0.002 * random.random(), 6)})
        if random.random() < _DOUBLE:
            double = {**look, "shape": _slip(shape, SHAPES, 1.0, random)}
            proposals.append({"mask": mask, **double, "score": round(0.9 + 0.05 * random.random(), 6)})
    return proposals


def _distance(state: MotionState) -> float:
    x, y, z = (place - camera for place, camera in zip(state.location, _CAMERA, strict=True))
    return hypot(x, y, z)


def _slip(value: str, among: tuple[str, ...], share: float, random: Random) -> str:
    """The value, or a different one with a probability of ``share``."""
    return random.choice([other for other in among if other != value]) if random.random() < share else value


@lru_cache(maxsize=16)  # a body at rest looks the same in the next frame
def _outline(x: float, y: float, z: float, turned: float, shape: str) -> list[tuple[float, float]]:
    """The corners of a silhouette (pixels), in order."""
    if shape == "cube":
        half, c, s = _HALF[shape], cos(turned), sin(turned)
        across, along, up = np.array(
            [
                (half * (c * i - s * j), half * (s * i + c * j), half * k)
                for i in (-1, 1)
                for j in (-1, 1)
                for k in (-1, 1)
            ]
        ).T
    else:
        across, along, up = _SURFACES[shape]
    return _hull(_pixels(x + across, y + along, z + up))


_SURFACES = {
    "sphere": np.array(
        [
            (_HALF["sphere"] * cos(a) * cos(b), _HALF["sphere"] * sin(a) * cos(b), _HALF["sphere"] * sin(b))
            for a in _ROUND
            for b in _ROUND[:: len(_ROUND) // 14]
        ]
    ).T,
    "cylinder": np.array(
        [
            (_HALF["cylinder"] * cos(a), _HALF["cylinder"] * sin(a), end * _HALF["cylinder"])
            for a in _ROUND
            for end in (-1, 1)
        ]
    ).T,
}
"""Points on the surfaces of bodies that look the same from every side, from their centres (3, n)."""


def _pixels(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[tuple[float, float]]:
    """Project points onto the picture, without points behind the camera."""
    u, v, w = (row[0] * x + row[1] * y + row[2] * z + row[3] for row in _MATRIX)
    before = w > 0.5
    return list(zip((u[before] / w[before]).tolist(), (v[before] / w[before]).tolist(), strict=True))


def _hull(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The convex hull of points, in order (Andrew's monotone chain)."""
    ordered = sorted(set(points))
    hull: list[tuple[float, float]] = []
    for way in (ordered, ordered[::-1]):
        side: list[tuple[float, float]] = []
        for point in way:
            x, y = point
            while len(side) > 1:
                (ax, ay), (bx, by) = side[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                side.pop()
            side.append(point)
        hull += side[:-1]
    return hull


def _jittered(outline: list[tuple[float, float]], random: Random) -> list[tuple[float, float]] | None:
    """An outline with a detector's errors; ``None`` if it is outside the picture."""
    across, down = random.gauss(0, _SHIFT), random.gauss(0, _SHIFT)
    grown = 1 + random.gauss(0, _GROWTH)
    if len(outline) < 3:
        return None
    us, vs = [u for u, _ in outline], [v for _, v in outline]
    if max(us) < 0 or min(us) > _WIDTH or max(vs) < 0 or min(vs) > _HEIGHT:
        return None
    u0, v0 = sum(us) / len(us), sum(vs) / len(vs)
    return [(u0 + grown * (u - u0) + across, v0 + grown * (v - v0) + down) for u, v in outline]
