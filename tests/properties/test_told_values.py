"""A value that a model tells a memory comes back as it was told, and names exactly the meant fact."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from substrate.adapters.memory_tools import Desk

PARTS = ["localhost:8080", "8080", "https://acme.example/a", "<", ">", '"', "_:b", "<<( ", "gold", "\\"]
PARTS += ["\n", "\0", "\r\n", "e\u0301", "^^<urn:a>", "@fr", " … "]
TEXTS = st.one_of(
    st.text(),
    st.lists(st.sampled_from(PARTS)).map("".join),
    st.builds(lambda letter, end: letter * 900 + end, st.sampled_from("ab<é\n😀"), st.text(max_size=3)),
)
# The characters of a text and of a name that a reply gives; of a longer one it gives the beginning and a
# handle.
SHOWN, SHOWN_NAME = 800, 200
NAMES = ["-5", "5", "A-", "A", "C++", "C--", "<b>", "a:b", "b", "<urn:x:b>", "_:b", "ann lee", "annLee"]
NAMES += ["_::"]
TERMS = [{"thing": "gold"}, {"thing": "<urn:a>"}, {"text": "<urn:a>"}, {"term": '"7"^^<urn:kind>'}]
TERMS += [{"term": '"7"@fr'}, {"term": "_:b"}, {"term": "<<( <urn:a> <urn:b> <urn:c> )>>"}]
VALUES = st.one_of(TEXTS, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
IRIS = ["<urn:a>", "<https://acme.example/8080>", "<localhost:8080>"]
VALUES |= st.sampled_from([*TERMS, *IRIS, "<gold>", "<urn:a b>"])


def told_and_stored(desk: Desk, values: Iterable[Any]) -> dict[str, Any]:
    """Tell values; return the form of each in JSON, by its stored term."""
    forms: dict[str, Any] = {}
    for value in values:
        desk.call("remember", {"subject": "note", "predicate": "says", "object": value})
    for *_, term in desk.memory().log.state().match(desk.words.node("note")):
        forms[str(term)] = json.loads(json.dumps(desk.words.shown(term)))
    return forms


def recalled(desk: Desk, **given: Any) -> list[Any]:
    facts, page = list[Any](), {"next_cursor": None}
    while "next_cursor" in page:
        page = desk.call("recall", {"subject": "note", **given, "cursor": page["next_cursor"]})
        facts += page["facts"]
    return [fact["object"] for fact in json.loads(json.dumps(facts))]


def key(values: Iterable[Any]) -> list[str]:
    return sorted(json.dumps(value) for value in values)


@given(values=st.lists(VALUES, min_size=1, max_size=5))
@example(values=["localhost:8080", "8080", "<localhost:8080>", {"thing": "8080"}, 8080])
@example(values=["a" * 900, "a" * 899 + "b", "a" * 800 + " … and 100 more characters"])
@example(values=["<urn:a>", {"text": "<urn:a>"}, '"<urn:a>"', '"7"^^<urn:kind>', "_:b"])
def test_each_value_comes_back_and_names_its_fact(
    values: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.mktemp("told") / "memory.rdfp"
    desk = Desk(path, write=True)
    # Make things whose names are also texts among the values
    desk.call("remember", {"subject": "8080", "predicate": "weighs", "object": {"thing": "gold"}})
    forms = told_and_stored(desk, values)
    for value in values:
        if isinstance(value, str):
            term = NamedNode(value[1:-1]) if value in IRIS else Literal(value)
            assert forms[str(term)] == value or len(value) > SHOWN
    assert len(set(key(forms.values()))) == len(forms), "different values look different"
    assert key(recalled(desk)) == key(forms.values())
    desk.close()
    desk = Desk(path, write=True)  # a handle outlives the process that gave it
    for form in forms.values():
        fact = {"subject": "note", "predicate": "says", "object": form}
        assert recalled(desk, object=form) == [form]
        assert all(ground["says"]["object"] == form for ground in desk.call("why", fact)["grounds"])
        assert desk.call("history", fact)["total"] == 1
        desk.call("remember", fact)
    assert key(recalled(desk)) == key(forms.values()), "a form stands for the value"
    wrong, *left = forms.values()
    fact = {"subject": "note", "predicate": "says"}
    assert desk.call("correct", {**fact, "object": "new \0", "instead_of": wrong})["ended"]["object"] == wrong
    assert key(recalled(desk)) == key([*left, "new \0"])
    for number, form in enumerate(left):
        desk.call(("end", "forget")[number % 2], {**fact, "object": form})
        assert key(recalled(desk)) == key([*left[number + 1 :], "new \0"])
    desk.close()


@given(names=st.lists(TEXTS.filter(lambda text: len(text.split()) > 0), min_size=1, max_size=4))
@example(names=NAMES)
def test_each_name_author_and_source_comes_back(
    names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("told") / "memory.rdfp", write=True)
    for number, name in enumerate(names):
        fact = {"subject": name, "predicate": "number", "object": number}
        desk.call("remember", fact | {"author": name, "source": name})
    for number, name in enumerate(names):
        total = desk.call("recall", {"subject": name})["total"]
        (mine,) = desk.call("recall", {"subject": name, "object": number})["facts"]
        same = [other for other in names if plain(other) == plain(name)]
        assert total == len(same), "different names name different things"
        assert plain(mine["subject"]) == plain(name) or name in ("<urn:x:b>", "_:b") or len(name) > SHOWN_NAME
        by = mine.pop("by")
        (ground,) = desk.call("why", mine)["grounds"]
        assert by == [ground["author"]]
        assert ground["source"] == name or len(name) > SHOWN
        assert [ground["says"]["object"] for ground in desk.call("why", mine)["grounds"]] == [number]
        desk.call("forget", {**mine, "author": by[0], "source": ground["source"]})
        assert desk.call("recall", {"subject": mine["subject"]})["total"] == total - 1
        desk.call("remember", {**mine, "author": by[0], "source": ground["source"]})
    desk.close()


def plain(name: str) -> str:
    """A name in the form in which a memory compares names."""
    name = "_".join(unicodedata.normalize("NFC", name).split())
    return re.sub(r"(?<=[^\W_])(_+|-)(?=[^\W_])|(?<=[a-z])(?=[A-Z])", " ", name).casefold()
