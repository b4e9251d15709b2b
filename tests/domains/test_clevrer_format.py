"""CLEVRER's records that contradict themselves are refused by file and path."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from clevrer_scenes import annotation, event_record

from substrate.base.errors import FormatError
from substrate.domains.clevrer.film import decode_film
from substrate.domains.clevrer.format import SceneEvents, decode_annotation, decode_scene_events


def decoded(in_outs: list[Any], collisions: list[Any]) -> SceneEvents:
    record = event_record(("red cube", "blue cube")) | {"in_outs": in_outs, "collisions": collisions}
    return decode_scene_events(("events.jsonl:1", msgspec.json.encode(record)))


@pytest.mark.parametrize("turned", [[0, 1], [1, 0]])
def test_a_collision_that_is_listed_twice_is_refused(turned: list[int]) -> None:
    events = [{"object": [0, 1], "frame": 5}, {"object": turned, "frame": 5}]
    with pytest.raises(FormatError, match=r"collisions\[1\]: is the same event as \$\.collisions\[0\]"):
        decoded([], events)
    first, second = turned
    filmed = msgspec.json.encode(annotation([(0, 1, 5), (first, second, 5)], frames=10))
    for decode in (decode_annotation, decode_film):
        with pytest.raises(FormatError, match=r"a\.json: \$\.collision\[1\]: is the same event"):
            decode(("a.json", filmed))


def test_an_entrance_that_is_listed_twice_is_refused_however_it_is_written() -> None:
    events = [{"object": 1, "frame": 5, "type": "in"}, {"object": [1], "frame": 5, "type": "in"}]
    with pytest.raises(FormatError, match=r"in_outs\[1\]: is the same event"):
        decoded(events, [])


def test_events_that_share_a_frame_or_a_pair_are_not_the_same() -> None:
    in_outs = [{"object": 1, "frame": 5, "type": "in"}, {"object": 0, "frame": 5, "type": "in"}]
    in_outs += [{"object": 1, "frame": 5, "type": "out"}]
    collisions = [{"object": [0, 1], "frame": 5}, {"object": [0, 1], "frame": 6}]
    scene = decoded(in_outs, collisions)
    assert (len(scene.in_outs), len(scene.collisions)) == (3, 2)
