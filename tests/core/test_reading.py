"""Reading from files: bounded, every key once, and an error that says where."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import python

from substrate.base.errors import FormatError
from substrate.base.inputs import read_bytes, require_members
from substrate.base.numbered import sources_in
from substrate.domains.babi.format import parse_stories
from substrate.domains.clevrer.format import (
    annotation_names,
    decode_annotation,
    decode_scene_events,
    index_scene_events,
    read_questions,
)
from substrate.domains.gqa import format as gqa
from substrate.domains.gqa.format import Operation, order
from substrate.domains.smallville.format import read_specs

CUBE = {"color": "red", "material": "metal", "shape": "cube", "object_id": 0}
POSE = {
    "object_id": 0,
    "location": [0.0, 0.0, 0.2],
    "orientation": [0.0] * 3,
    "velocity": [0.0] * 3,
    "angular_velocity": [0.0] * 3,
    "inside_camera_view": True,
}
SCENE = json.dumps(
    {
        "scene_index": 7,
        "video_filename": "video_00007.mp4",
        "object_property": [CUBE],
        "motion_trajectory": [{"frame_id": frame, "objects": [POSE]} for frame in range(2)],
        "collision": [],
    }
)
NESTED = "A <urn:a> <urn:b> <<( <urn:a> <urn:b> <<( <urn:a> <urn:b> <urn:c> )>> )>> ."
EVENTS = (
    '{"scene_index": 3, "n_frames": 9, "objects": [{"color": "red", "material": "metal", "shape": "cube", '
    '"id": 0}], "in_outs": [], "collisions": []}'
)


@pytest.mark.parametrize(
    ("read", "text", "place"),
    [
        (
            decode_annotation,
            SCENE.replace('"scene_index"', '"scene_index": 1, "scene_index"', 1),
            "scene_index",
        ),
        (
            decode_annotation,
            SCENE.replace('"color"', '"color": "red", "color"', 1),
            "object_property[0].color",
        ),
        (decode_annotation, SCENE.replace('"color"', '"x": {"y": 1, "y": 1}, "color"', 1), "[0].x.y"),
        (decode_annotation, SCENE.replace('"color"', '"c\\u006flor": "red", "color"', 1), "[0].color"),
        (decode_scene_events, EVENTS.replace('"id"', '"id": 1, "id"'), "$.objects[0].id"),
        (decode_scene_events, EVENTS.replace('"n_frames"', '"n_frames": 2, "n_frames"'), "$.n_frames"),
    ],
)
def test_a_key_that_occurs_twice_is_named(read: Callable[..., Any], text: str, place: str) -> None:
    with pytest.raises(FormatError, match="occurs twice") as caught:
        read(("file.json", text.encode()))
    assert "file.json" in str(caught.value)
    assert place in str(caught.value)


def test_a_record_with_unknown_keys_is_read_as_one_without_them() -> None:
    unknown = SCENE.replace('"color"', '"x": {"a": 1}, "color"', 1)
    assert decode_annotation(("a", unknown.encode())) == decode_annotation(("a", SCENE.encode()))


QUESTION = (
    '{"question_id": 1, "question": "q", "question_type": "descriptive", '
    '"program": ["objects"], "answer": "a"}'
)
GQA = '{"7": {"question": "q", "imageId": "1", "semantic": [], "answer": "yes"}}'


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_questions, f'[{{"scene_index": 1, "scene_index": 2, "questions": [{QUESTION}]}}]'),
        (
            read_questions,
            f'{{"scene_index": 1, "questions": [{QUESTION.replace("}", ", " + QUESTION[1:])}]}}',
        ),
        (gqa.read_questions, GQA.replace('"answer"', '"answer": "no", "answer"')),
        (gqa.read_questions, GQA[:-1] + ", " + GQA[1:]),
        (gqa.read_scene_graphs, '{"1": {}, "1": {}}'),
        (read_specs, '{"spec": 1, "spec": 2}'),
    ],
)
def test_a_key_twice_in_a_larger_file_is_refused(read: Callable[..., Any], text: str, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(text, "utf-8")
    with pytest.raises(FormatError, match=r"file\.json"):
        read(tmp_path / "file.json")


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        (
            "a.json",
            f'[{{"scene_index": 1, "questions": [{QUESTION}]}}]',
            lambda path: list(read_questions(path)),
        ),
        ("a.jsonl", EVENTS, lambda path: list(index_scene_events(path))),
    ],
)
def test_a_byte_order_mark_before_json_is_skipped(
    name: str, text: str, read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    without = read(path)
    path.write_text(text, "utf-8-sig")
    assert read(path) == without


DEEP = "[" * 100_000 + "]" * 100_000
LONG = "1" * 5000


@pytest.mark.parametrize(
    "text",
    [
        SCENE.replace('"color"', f'"x": {DEEP}, "color"', 1),
        DEEP,
        SCENE.replace('"scene_index": ', f'"scene_index": {LONG}', 1),
        SCENE.replace('"scene_index"', f'"x": {LONG}, "scene_index"', 1).replace('"color"', "color", 1),
        SCENE.replace('"velocity": [', '"velocity": [1e308, ', 1).replace(", 0.0]", "]", 1),
        SCENE.replace('"velocity": [0.0', '"velocity": [1e308', 1),
        SCENE.replace('"velocity": [0.0', '"velocity": [NaN', 1),
        SCENE.replace('"velocity": [0.0', f'"velocity": [{LONG}', 1),
        SCENE[:-3],
        "\xed\xa0\x80",  # as bytes, half of a surrogate pair, which is no UTF-8
    ],
)
def test_a_malformed_or_huge_annotation_is_an_error_with_its_file(text: str) -> None:
    assert text != SCENE
    with pytest.raises(FormatError, match=r"^file\.json: "):
        # Latin-1 makes a byte of each character, so a text here can hold any bytes.
        decode_annotation(("file.json", text.encode("latin-1")))


@pytest.mark.parametrize(
    "text", [DEEP, '{"1": ' + DEEP + "}", '{"1": {"imageId": ' + LONG + "}}", "[" + DEEP]
)
@pytest.mark.parametrize("read", [gqa.read_questions, gqa.read_scene_graphs, read_questions, read_specs])
def test_malformed_or_huge_questions_are_refused(read: Callable[..., Any], text: str, tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text(text, "utf-8")
    with pytest.raises(FormatError, match=r"file\.json"):
        dict(read(tmp_path / "file.json"))


def test_a_line_number_of_5000_digits_is_an_error_with_its_line() -> None:
    with pytest.raises(FormatError, match="line 1"):
        parse_stories(f"{LONG} Mary went home.\n", file="f", subset="qa1")


def test_a_compression_bomb_is_found_before_it_has_grown(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.json.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        for _ in range(80):
            file.write(b" " * (1 << 20))
    with pytest.raises(FormatError, match="compression bomb"):
        read_bytes(bomb)
    archive = tmp_path / "annotations.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as writer:
        writer.writestr("annotation_00001.json", b" " * (80 << 20))
    with pytest.raises(FormatError, match="compression bomb"):
        annotation_names(archive)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ("bytes=100", "has more than 100 bytes. If it is meant to, raise bytes in SUBSTRATE_LIMITS"),
        ("unpacked=100", "has more than 100 bytes unpacked"),
        ("unpacked=9999", ""),
        ("unpacke=1", "unknown field"),
        ("unpacked=x", "not limits"),
    ],
)
def test_limits_can_be_set(limits: str, message: str, tmp_path: Path) -> None:
    packed = tmp_path / "file.gz"
    packed.write_bytes(gzip.compress(os.urandom(150).hex().encode()))
    code = f"from pathlib import Path; import substrate.base.inputs as r; r.read_bytes(Path({str(packed)!r}))"
    result = python("-c", code, SUBSTRATE_LIMITS=limits)
    assert message in result.stderr
    assert (result.returncode == 0) is (message == "")


@pytest.mark.parametrize(
    ("limits", "code", "message"),
    [
        ("text=9", "checked('ASK { ?s ?p ?o }')", "more than 9 characters"),
        ("pieces=2", "checked('ASK { ?s ?p ?o }')", "more than 2 keywords"),
        ("depth=1", "checked('ASK { { ?s ?p ?o } }')", "more than 1 deep"),
        # A triple term may nest half as deep, since each level has two brackets
        ("depth=2", f"EventLog().extend_lines([(0, {NESTED!r})])", "more than 1 deep"),
        ("depth=1", "parse_yaml('a: {b: [1]}')", "more than 1 deep"),
        ("depth=999", "", "<= 256"),
        ("text=9", "read_yaml(Path('params.yaml'))", "more than 9"),
        ("rounds=1", "box = TBox.load('village'); unfold(box, box.opening(), 9)", "settle"),
        (
            "rows=1",
            "query(TBox.load('village').opening().state(), 'SELECT * { ?s ?p ?o }')",
            "more than 1 row",
        ),
        ("seconds=0", "", ">= 1"),
        ("memory=7000", "raise QueryError(f'{QueryLimits().memory} bytes')", "7000 bytes"),
    ],
)
def test_one_variable_limits_depth_time_and_memory_too(limits: str, code: str, message: str) -> None:
    names = "from pathlib import Path; from orchestration.base.yaml_text import *; from substrate import *; "
    result = python("-c", f"{names}from substrate.sparql import *; {code}", SUBSTRATE_LIMITS=limits)
    assert message in result.stderr, result.stderr
    assert result.stderr.splitlines()[-1].startswith("substrate."), "an error of the project's own"


@pytest.mark.parametrize("name", ["../a.json", "/a.json", "x/../../a.json", "C:\\a.json", "..\\a.json"])
def test_a_member_that_leads_out_of_the_archive(name: str, tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as writer:
        writer.writestr("annotation_00001.json", SCENE)
        writer.writestr(name, "x")
    with pytest.raises(FormatError, match="leads out of the archive"):
        annotation_names(archive)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_occurs_twice_or_is_damaged(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as writer:
        writer.writestr("annotation_00001.json", SCENE)
        writer.writestr("annotation_00001.json", SCENE)
    with pytest.raises(FormatError, match="occurs twice"):
        annotation_names(archive)
    with zipfile.ZipFile(archive, "w") as writer:
        writer.writestr("annotation_00001.json", SCENE)
    raw = bytearray(archive.read_bytes())
    raw[200] ^= 1
    archive.write_bytes(raw)
    with pytest.raises(FormatError, match="cannot be read from the zip"):
        list(sources_in(archive, annotation_names(archive).values()))
    with pytest.raises(FormatError, match="more than 200000 members"):
        require_members((f"{n}.json" for n in range(200_001)), archive)


def test_the_order_of_a_program_listed_backwards() -> None:
    steps = [Operation("exist", "", [index + 1]) for index in range(3999)] + [Operation("select", "cup", [])]
    assert order(steps) == list(range(3999, -1, -1))
    circle = [Operation("exist", "", [(index + 1) % 4000]) for index in range(4000)]
    with pytest.raises(FormatError, match=r"depend on one another: 0 -> 1 .* -> 0"):
        order(circle)
    with pytest.raises(FormatError, match="more than 10000 steps"):
        gqa.check_program([Operation("select", "cup", [])] * 10_001)
    with pytest.raises(FormatError, match="0 -> 0"):
        order([Operation("exist", "", [0])])
