"""Records of a large file are read one at a time: the same ones, and the same faults, as a parser finds."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import python
from hypothesis import given
from hypothesis import strategies as st

from substrate.base import records
from substrate.base.errors import FormatError
from substrate.base.records import Index, Text, listed

TEXTS = st.text(st.sampled_from('ab"\\{}[],: \n\té\u2028😀'), max_size=8)
VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
RECORDS = st.dictionaries(TEXTS, VALUES, max_size=3) | st.lists(VALUES, max_size=3)


@pytest.fixture(autouse=True)
def small_files_are_read_as_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read every file in parts, as only a large one is read otherwise."""
    monkeypatch.setattr(records, "_HELD", 1)
    monkeypatch.setattr(records, "_PACKED", 1)


def elements(text: bytes, folder: Path) -> list[tuple[str, Any]]:
    """The key and the value of each element of a file with this text."""
    path = folder / "records.json"
    path.write_bytes(text)
    pairs = list[tuple[str, Any]]()
    for key, span, raw in Text(path).elements():
        assert span is None or bytes(span) == bytes(raw)
        pairs.append((key, json.loads(bytes(raw))))
    return pairs


@given(listing=st.lists(RECORDS, max_size=4), indent=st.sampled_from([None, 0, 2]), plain=st.booleans())
def test_the_records_of_a_list_and_of_an_object_are_those_of_a_parser(
    listing: list[Any], indent: int | None, plain: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("records")
    text = json.dumps(listing, indent=indent, ensure_ascii=plain)
    assert [value for _, value in elements(f" {text}\n".encode(), folder)] == listing
    assert [value for _, value in elements(f"\ufeff{text}".encode(), folder)] == listing
    keyed = {f'"{place}': value for place, value in enumerate(listing)}
    text = json.dumps(keyed, indent=indent, ensure_ascii=plain)
    assert dict(elements(text.encode(), folder)) == keyed


@given(
    whole=st.lists(RECORDS, min_size=1, max_size=3), cut=st.integers(1, 200), put=st.sampled_from('{}[],:"x')
)
def test_broken_json_is_refused_wherever_the_fault_is(
    whole: list[Any], cut: int, put: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = json.dumps(whole).encode()
    place = cut % len(text)
    for broken in (
        text[:place],
        text[:place] + put.encode() + text[place:],
        text[:place] + text[place + 1 :],
    ):
        folder = tmp_path_factory.mktemp("records")
        try:
            expected = msgspec.json.decode(broken, type=list[Any])
        except (msgspec.DecodeError, UnicodeDecodeError):
            with pytest.raises(FormatError):
                elements(broken, folder)
        else:
            assert [value for _, value in elements(broken, folder)] == expected


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b'{"a": {}, "a": {}}', r"\$\.a: occurs twice"),
        (b'[{"a": 1}, {"b": ', "cut off or not JSON"),
        (b'[{"a": 1}] {"b": 2}', "cut off or not JSON"),
        (b"  \n ", "the file is empty"),
        (gzip.compress(b'[{"a": 1}]', mtime=0)[:-9], "the gzip stream is cut off or damaged"),
    ],
)
def test_a_fault_is_named(text: bytes, fault: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"records.json: .*{fault}"):
        elements(text, tmp_path)


def test_lines_have_the_numbers_that_they_have_in_the_file(tmp_path: Path) -> None:
    text = b'\n{"a": 1}\r\n\n  {"a": 22}\n{"a": 333}'
    for path, data in ((tmp_path / "a.jsonl", text), (tmp_path / "a.jsonl.gz", gzip.compress(text))):
        path.write_bytes(data)
        lines = list(listed(Text(path)))
        assert [where[0] for where, _, _ in lines] == [f"{path}:{number}" for number in (2, 4, 5)]
        assert [json.loads(bytes(span)) for _, span, _ in lines if span] == [{"a": 1}, {"a": 22}, {"a": 333}]


def test_records_are_found_by_key_in_the_order_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"k": 1}\n{"k": 2}\n{"k": 3}')
    index = Index[int]()
    for scene, (number, span, _) in zip((11, 2, 11), Text(path).lines(), strict=True):
        assert index.add(scene, span, part=number)
        assert not index.add(scene, span, part=number)
    assert list(index) == [2, 11]
    assert len(index) == 2
    assert (11 in index, 3 in index, index.get(3)) == (True, False, None)
    assert list(map(bytes, index.parts(11).values())) == [b'{"k": 1}', b'{"k": 3}']


READ = """
import re, resource, sys
from pathlib import Path
from substrate.domains.clevrer.format import read_questions
held = int(re.search(r"VmData:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (held + (24 << 20), resource.RLIM_INFINITY))
questions = read_questions(Path(sys.argv[1]))
print(len(questions), len(questions[7].questions))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory is Linux's")
def test_a_file_of_questions_is_never_whole_in_memory(tmp_path: Path) -> None:
    question = {"question": "x" * 9000, "question_type": "descriptive", "program": ["objects", "count"]}
    path = tmp_path / "questions.json"
    with path.open("w", encoding="utf-8") as file:
        for scene in range(8000):
            entry = {"scene_index": scene, "questions": [{"question_id": 0} | question]}
            file.write(("," if scene else "[") + json.dumps(entry))
        file.write("]")
    assert path.stat().st_size > 64 << 20
    done = python("-c", READ, path)
    assert done.stdout.split() == ["8000", "1"], done.stderr
