"""Small CLEVRER scenes for tests: in the official format, as lists of events, and as logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import SceneEvents, decode_annotation
from substrate.log.event_log import EventLog

LOOKS = [
    ("red", "metal", "cube"),
    ("blue", "rubber", "sphere"),
    ("green", "metal", "cylinder"),
    ("red", "rubber", "sphere"),
]


def annotation(
    collisions: Sequence[tuple[int, int, int]] = (),
    *,
    scene: int = 7,
    views: dict[int, range] | None = None,
    moving: dict[int, range] | None = None,
    frames: int = 128,
    ends: dict[int, tuple[float, float, float, float]] | None = None,
) -> dict[str, Any]:
    """An annotation of four objects.

    Args:
        collisions: ``(a, b, frame)``.
        views: frames in which an object is in view; always, unless given.
        moving: frames in which an object moves; never, unless given.
        ends: ``(x, y, vx, vy)`` over the last frames.
    """

    views, moving, ends = views or {}, moving or {}, ends or {}

    def state(number: int, frame: int) -> dict[str, Any]:
        x, y, vx, vy = ends.get(
            number, (float(number), 0.0, 1.0 if frame in moving.get(number, range(0)) else 0.0, 0.0)
        )
        seen = frame in views.get(number, range(frames))
        return {
            "object_id": number,
            "location": [x, y, 0.2],
            "orientation": [0.0] * 3,
            "velocity": [vx, vy, 0.0],
            "angular_velocity": [0.0] * 3,
            "inside_camera_view": seen,
        }

    return {
        "scene_index": scene,
        "video_filename": f"video_{scene:05d}.mp4",
        "object_property": [
            {"object_id": i, "color": c, "material": m, "shape": s} for i, (c, m, s) in enumerate(LOOKS)
        ],
        "motion_trajectory": [
            {"frame_id": f, "objects": [state(i, f) for i in range(len(LOOKS))]} for f in range(frames)
        ],
        "collision": [
            {"object_ids": [a, b], "frame_id": f, "location": [0.0, 0.0, 0.2]} for a, b, f in collisions
        ],
    }


def filmed_log(collisions: Sequence[tuple[int, int, int]] = (), **shown: Any) -> EventLog:
    """The log of :func:`annotation`."""
    record = annotation(collisions, **shown)
    return annotation_log(decode_annotation(("film.json", json.dumps(record).encode())))


def event_record(
    looks: Iterable[str], collisions: Iterable[tuple[int, int, int]] = (), **others: Any
) -> dict[str, Any]:
    """A record of events alone.

    Args:
        looks: color, material and shape of each object; the material is metal where it is left out.
        collisions: ``(a, b, frame)``.
        others: other keys of the record.
    """
    each = enumerate(look.split() for look in looks)
    return {
        "scene_index": 7,
        "n_frames": 128,
        "objects": [
            {"color": c, "material": (*m, "metal")[0], "shape": s, "id": i} for i, (c, *m, s) in each
        ],
        "in_outs": [],
        "collisions": [{"object": [a, b], "frame": f} for a, b, f in collisions],
        **others,
    }


def scene_events(
    looks: Iterable[str], collisions: Iterable[tuple[int, int, int]] = (), **others: Any
) -> SceneEvents:
    """The events of :func:`event_record`."""
    return msgspec.convert(event_record(looks, collisions, **others), SceneEvents)


def question(
    program: str,
    answer: str | None = None,
    *,
    number: int = 0,
    kind: str = "descriptive",
    choices: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """A question record; ``choices`` are ``(program, gold)``."""
    record: dict[str, Any] = {
        "question_id": number,
        "question": "?",
        "question_type": kind,
        "program": program.split(),
    }
    if answer is not None:
        record["answer"] = answer
    if choices:
        record["choices"] = [
            {"choice_id": i, "choice": "?", "program": p.split(), "answer": gold}
            for i, (p, gold) in enumerate(choices)
        ]
    return record
