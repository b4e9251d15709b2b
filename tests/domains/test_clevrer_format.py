"""CLEVRER's records that contradict themselves are refused by file and path."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from substrate.base.errors import FormatError
from substrate.domains.clevrer.film import decode_film
from substrate.domains.clevrer.format import decode_annotation, decode_scene_events

LOOK = {"color": "red", "material": "metal", "shape": "cube"}


def scene_events(in_outs: list[Any], collisions: list[Any]) -> bytes:
    objects = [{**LOOK, "id": 0}, {**LOOK, "color": "blue", "id": 1}]
    events = {"in_outs": in_outs, "collisions": collisions}
    return msgspec.json.encode({"scene_index": 7, "n_frames": 128, "objects": objects, **events})


def annotation(collisions: list[Any]) -> bytes:
    still = {
        "location": [0, 0, 0.2],
        "orientation": [0] * 3,
        "velocity": [0] * 3,
        "angular_velocity": [0] * 3,
    }
    objects = [{"object_id": number, **still, "inside_camera_view": True} for number in (0, 1)]
    record = {
        "scene_index": 7,
        "video_filename": "video_00007.mp4",
        "object_property": [{"object_id": 0, **LOOK}, {"object_id": 1, **LOOK, "color": "blue"}],
        "motion_trajectory": [{"frame_id": frame, "objects": objects} for frame in range(10)],
        "collision": [{**collision, "location": [0, 0, 0]} for collision in collisions],
    }
    return msgspec.json.encode(record)


@pytest.mark.parametrize("turned", [[0, 1], [1, 0]])
def test_a_collision_that_is_listed_twice_is_refused(turned: list[int]) -> None:
    events = [{"object": [0, 1], "frame": 5}, {"object": turned, "frame": 5}]
    with pytest.raises(FormatError, match=r"collisions\[1\]: is the same event as \$\.collisions\[0\]"):
        decode_scene_events(("events.jsonl:1", scene_events([], events)))
    filmed = annotation([{"object_ids": [0, 1], "frame_id": 5}, {"object_ids": turned, "frame_id": 5}])
    for decode in (decode_annotation, decode_film):
        with pytest.raises(FormatError, match=r"a\.json: \$\.collision\[1\]: is the same event"):
            decode(("a.json", filmed))


def test_an_entrance_that_is_listed_twice_is_refused_however_it_is_written() -> None:
    events = [{"object": 1, "frame": 5, "type": "in"}, {"object": [1], "frame": 5, "type": "in"}]
    with pytest.raises(FormatError, match=r"in_outs\[1\]: is the same event"):
        decode_scene_events(("events.jsonl:1", scene_events(events, [])))


def test_events_that_share_a_frame_or_a_pair_are_not_the_same() -> None:
    in_outs = [{"object": 1, "frame": 5, "type": "in"}, {"object": 0, "frame": 5, "type": "in"}]
    in_outs += [{"object": 1, "frame": 5, "type": "out"}]
    collisions = [{"object": [0, 1], "frame": 5}, {"object": [0, 1], "frame": 6}]
    scene = decode_scene_events(("events.jsonl:1", scene_events(in_outs, collisions)))
    assert (len(scene.in_outs), len(scene.collisions)) == (3, 2)
