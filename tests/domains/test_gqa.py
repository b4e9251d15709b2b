"""GQA: files, programs, scenes and what questions mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate.base.errors import FormatError, ProgramError, TBoxError
from substrate.base.ntriples import text_of
from substrate.cause.explanation import Evidence
from substrate.domains.gqa.answers import Resolve, Scene, answer_scene
from substrate.domains.gqa.deltas import ANNOTATED, scene_log
from substrate.domains.gqa.explain import explain
from substrate.domains.gqa.format import (
    Operation,
    Question,
    Relation,
    SceneGraph,
    SceneObject,
    read_questions,
    read_scene_graphs,
)
from substrate.domains.gqa.ontology import NAMESPACE, Ontology
from substrate.domains.gqa.program import compile_program
from substrate.log.event_log import EventLog
from substrate.rules.tbox import TBox


def program(*steps: str) -> list[Operation]:
    """Steps written ``operation;argument;dependencies``, the dependencies separated by blanks.

    In an argument, the brackets have the ids of the objects that the question means, which only
    ``resolve="id"`` reads; ``-`` stands for none. Before them, ``s`` or ``o`` says whether the object that is
    searched for is the subject or the object of the relation.
    """
    parts = [step.split(";") for step in steps]
    return [
        Operation(operation, argument, [int(d) for d in depends.split()] if depends else [])
        for operation, argument, depends in parts
    ]


def thing(
    name: str, x: int = 0, y: int = 0, w: int = 10, h: int = 10, attributes: str = "", **relations: str
) -> SceneObject:
    """An object with its attributes, separated by commas; ``sitting_on="3"`` relates it to object 3."""
    edges = [
        Relation(relation.replace("_", " "), target)
        for relation, targets in relations.items()
        for target in targets.split()
    ]
    return SceneObject(name, x, y, w, h, [a for a in attributes.split(",") if a], edges)


KITCHEN = SceneGraph(
    200,
    100,
    {
        "1": thing("table", 20, 60, 60, 30, "wood,brown", near="8"),
        "2": thing("apple", 30, 50, attributes="red,round", on="1"),
        "3": thing("woman", 150, 10, 30, 80, "young", wearing="4", holding="5", to_the_right_of="1"),
        "4": thing("skirt", 155, 50, 20, 30, "red,short"),
        "5": thing("cell phone", 150, 40, 5, 5, "black,on"),
        "6": thing("wicker chair", 100, 50, 30, 40, "brown"),
        "7": thing("chairs", 90, 50, 20, 30, "white"),
        "8": thing("man", 85, 10, 20, 80, "old", sitting_on="6", looking_at="3"),
        "9": thing("bananas", 50, 50, 12, 6, "yellow", on_top_of="1"),
    },
    location="kitchen",
)


def scene(*things: SceneObject) -> SceneGraph:
    """A scene of some objects, numbered from 1."""
    return SceneGraph(100, 100, {str(number): object_ for number, object_ in enumerate(things, start=1)})


def asking(*steps: str, gold: str | None = None) -> Question:
    return Question("1", "", program(*steps), gold)


def answer(
    steps: list[Operation], graph: SceneGraph = KITCHEN, resolve: Resolve = "name", text: str = ""
) -> str:
    (row,) = answer_scene(Scene.of("1", graph), {"q": Question("1", text, steps)}, "test", resolve=resolve)
    return row.predicted


# What questions mean


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["select;fruit (2);", "filter color;red;0", "query;name;1"], "apple"),
        (["select;person (3);", "filter age;not(old);0", "query;name;1"], "woman"),
        (["select;she (3);", "relate;_,wearing,o (4);0", "query;name;1"], "skirt"),
        (["select;skirt (4);", "relate;person,wearing,s (3);0", "query;name;1"], "woman"),
        (["select;apples (2);", "query;shape;0"], "round"),
        (["select;woman (3);", "query;hposition;0"], "right"),
        (["select;table (1);", "choose vposition;top|bottom;0"], "bottom"),
        (["select;man (8);", "filter hposition;middle;0", "exist;?;1"], "yes"),
        (["select;person (3,8);", "same;gender;0"], "no"),
        (["select;apple (2);", "select;skirt (4);", "same color;;0 1"], "yes"),
        (["select;apple (2);", "select;skirt (4);", "common;;0 1"], "color"),
        (["select;woman (3);", "select;man (8);", "choose younger;;0 1"], "woman"),
        (["select;table (1);", "relate;_,same color,_ (6);0", "query;name;1"], "wicker chair"),
        (["select;apple (2);", "verify rel;table,on,o (1);0"], "yes"),
        (["select;woman (3);", "choose rel;table,to the left of|to the right of,s (1);0"], "left"),
        (["select;device (5);", "choose;off|on;0"], "on"),
        (["select;scene;", "query;room;0"], "kitchen"),
        (["select;dog (-);", "exist;?;0", "select;woman (3);", "exist;?;2", "or;;1 3"], "yes"),
        (["select;apple (2);", "verify color;red;0", "verify shape;round;0", "and;;1 2"], "yes"),
    ],
)
@pytest.mark.parametrize("resolve", ["name", "id"])
def test_each_operation_has_its_meaning(steps: list[str], expected: str, resolve: Resolve) -> None:
    assert answer(program(*steps), resolve=resolve) == expected


def test_both_halves_of_a_question_are_about_one_object() -> None:
    two = scene(thing("shirt", attributes="red"), thing("shirt", attributes="striped"))
    ask = program("select;shirt (1);", "verify color;red;0", "verify pattern;striped;0", "and;;1 2")
    assert answer(ask, two) == "no"


def test_among_candidates_the_one_that_makes_the_next_step_possible_is_meant_then_the_largest() -> None:
    small, large = thing("cup", 0, 0, 5, 5, "red"), thing("cup", 80, 0, 9, 9, on="3")
    cups = scene(small, large, thing("tray", 70, 5, 30, 9))
    assert answer(program("select;cup (1);", "query;color;0"), cups) == "red"
    assert answer(program("select;cup (1);", "query;hposition;0"), cups) == "right"
    assert answer(program("select;cup (1);", "query;hposition;0"), cups, "id") == "left"


def test_an_exact_name_is_preferred_to_a_kind_of_it() -> None:
    chairs = scene(thing("office chair", 60, 0, 40, 40, "black"), thing("chair", 0, 0, 5, 5, "white"))
    assert answer(program("select;chair (2);", "verify color;black;0"), chairs) == "no"
    assert answer(program("select;furniture (1);", "verify color;black;0"), chairs) == "yes"


@pytest.mark.parametrize(
    ("relation", "annotated"), [("on", "sitting on top of"), ("near", "sitting beside"), ("below", "under")]
)
def test_a_narrower_relation_is_found_where_the_wider_is_asked_and_not_the_reverse(
    relation: str, annotated: str
) -> None:
    def exists(given: str, wanted: str) -> str:
        cat = SceneObject("cat", 0, 0, 5, 5, [], [Relation(given, "2")])
        ask = program("select;mat (2);", f"relate;animal,{wanted},s (1);0", "exist;?;1")
        return answer(ask, scene(cat, thing("mat")))

    assert exists(annotated, relation) == "yes"
    assert exists(relation, annotated) == "no"


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["select;table (1);", "relate;skirt,on,s (4);0", "exist;?;1"], "no"),
        (["select;table (99);", "exist;?;0"], "no"),
        (["select;_ (99,2);", "query;name;0"], "apple"),
    ],
)
def test_by_id_an_object_must_be_in_the_scene_and_a_relation_hold(steps: list[str], expected: str) -> None:
    assert answer(program(*steps), resolve="id") == expected


def test_a_choice_is_answered_in_the_questions_own_spelling() -> None:
    ask = program("select;table (1);", "choose material;metal|wood;0")
    assert answer(ask, text="Is the table metallic or wooden?") == "wooden"
    assert answer(ask, text="Is the table made of metal or wood?") == "wood"


def test_a_program_that_cannot_run_is_an_error_row_and_the_others_go_on() -> None:
    questions = {
        "b": asking("select;dog (-);", "query;color;0", gold="brown"),
        "a": asking("select;apple (2);", "query;color;0", gold="red"),
        "c": asking("select;apple (2);", "query;zest;0", gold="red"),
        "d": asking("select;apple (2);", "and;;0 0", gold="yes"),
        "e": asking("select;apple (2);", "query;size;0"),
    }
    rows = answer_scene(Scene.of("1", KITCHEN), questions, "test", resolve="name")
    assert [(a.question, a.predicted, a.correct) for a in rows] == [
        ("a", "red", True),
        *((q, "error", False) for q in "bcd"),
        ("e", "error", None),
    ]
    assert rows[0].error is msgspec.UNSET
    assert rows[1].error == "step 1 (query: color): there is no such object in the scene"
    assert "zest" in str(rows[2].error)
    assert "takes truth, truth, but depends on objects, objects" in str(rows[3].error)


def test_the_gold_does_not_change_a_prediction() -> None:
    golds = ("brown", "white", None)
    questions = {str(gold): asking("select;chair (6);", "query;color;0", gold=gold) for gold in golds}
    rows = answer_scene(Scene.of("1", KITCHEN), questions, "test", resolve="name")
    rows = sorted(rows, key=lambda row: golds.index(row.expected))
    (predicted,) = {row.predicted for row in rows}
    assert [row.correct for row in rows] == [predicted == "brown", predicted == "white", None]


# Explanations


def test_an_explanation_names_the_triples_of_each_step() -> None:
    ask = asking("select;table (1);", "relate;fruit,on,s (2);0", "filter color;red;1", "query;name;2")
    why = explain(Scene.of("1", KITCHEN), ask)
    assert why.answer == "apple"
    _, related, filtered, _ = (
        [text_of(why.delta(piece).triple) for piece in step.evidence] for step in why.parts[0].steps
    )
    on = "<urn:gqa:1:2> <urn:substrate:gqa:relation:on> <urn:gqa:1:1>"
    assert [triple for triple in related if "relation" in triple] == [on]
    red = '<urn:gqa:1:2> <urn:substrate:gqa:family:color> "red"'
    assert [triple for triple in filtered if "family" in triple] == [red]
    for line in ("answer: apple", "tick   1  insert   1:2 a class:fruit", "; relation:on 1:1"):
        assert line in why.text()


def test_an_explanation_of_no_names_the_missing_triple() -> None:
    why = explain(Scene.of("1", KITCHEN), asking("select;apple (2);", "verify color;green;0"))
    assert why.answer == "no"
    assert '1:2 family:color "green"' in why.parts[0].steps[1].missed


def test_an_explanation_of_an_error_stops_at_the_step() -> None:
    why = explain(Scene.of("1", KITCHEN), asking("select;dog (-);", "query;color;0"))
    assert why.answer == "error: step 1 (query: color): there is no such object in the scene"
    assert why.parts[0].steps[0].missed == ("?subject a class:dog",)
    assert [step.gave for step in why.parts[0].steps] == ["nothing", "error"]


# The TBox is data


def test_a_scene_that_is_opened_again_has_the_new_deltas_of_its_log() -> None:
    log = Scene.of("1", KITCHEN).log
    question = asking("select;apple (2);", "verify color;green;0")
    assert explain(Scene.opened("1", log), question).answer == "no"
    log.extend_lines([(log.last_tick, f'A <urn:gqa:1:2> <{NAMESPACE}attribute> "green" .')])
    why = explain(Scene.opened("1", log), question)
    assert (why.answer, why.parts[0].steps[-1].evidence) == ("yes", (Evidence(len(log) - 1),))


def test_another_tbox_gives_other_families_and_kinds_without_code() -> None:
    turtle = TBox.load("gqa").turtle + (
        '\nfamily:mood a gqa:Family ; gqa:value "gloomy" .\nclass:blorp rdfs:subClassOf class:fruit .\n'
        'comparison:gloomier a gqa:Comparison ; gqa:favours "gloomy" ; gqa:against "merry" .\n'
    )
    graph = scene(thing("blorp", attributes="gloomy"), thing("vase", attributes="merry"))
    questions = {
        "mood": asking("select;fruit (1);", "query;mood;0", gold="gloomy"),
        "more": asking("select;vase (2);", "select;blorp (1);", "choose gloomier;;0 1", gold="blorp"),
    }
    mine = Scene.of("1", graph, Ontology(TBox("mine", turtle)))
    assert [row.correct for row in answer_scene(mine, questions, "test", resolve="name")] == [True, True]
    shipped = Scene.of("1", graph)
    assert {row.predicted for row in answer_scene(shipped, questions, "test")} == {"error"}


def test_a_tbox_of_something_else_is_refused() -> None:
    with pytest.raises(TBoxError, match="no attribute family"):
        Ontology(TBox("other", "<urn:a> <urn:b> <urn:c> ."))


# Logs


def test_the_annotation_is_at_tick_0_and_its_consequences_at_tick_1() -> None:
    log = scene_log("1", KITCHEN)
    text = log.state(ANNOTATED).nquads()
    assert "class:fruit" not in text
    assert "relation:on>" in text
    assert "class:fruit" in log.state().nquads()
    assert TBox.load("gqa").validate(log.state(), log) == []


def test_equal_scenes_have_equal_logs_whatever_their_order() -> None:
    turned = SceneGraph(200, 100, dict(reversed(KITCHEN.objects.items())), "kitchen")
    assert scene_log("1", turned).digest == scene_log("1", KITCHEN).digest
    assert scene_log("2", KITCHEN).digest != scene_log("1", KITCHEN).digest


@pytest.mark.parametrize(
    "attribute", ['"red"', "back\\slash", "new\nline", "\x7f", "caf\u00e9\u00a0noir", "\u2028"]
)
def test_every_character_of_a_graph_is_spelled_as_a_log_spells_it(attribute: str, tmp_path: Path) -> None:
    cup = SceneObject(name="cup", x=0, y=0, w=2, h=2, attributes=[attribute])
    log = scene_log("1", SceneGraph(9, 9, {"1": cup}))
    log.save(tmp_path / "scene.rdfp")
    read = EventLog.read(tmp_path / "scene.rdfp")  # refuses any other spelling
    assert read.digest == log.digest
    assert Scene("1", read).has_value("<urn:gqa:1:1>", "", attribute)


_WORDS = st.text(min_size=1, max_size=8).filter(lambda s: s.strip() != "")


@st.composite
def scene_graphs(draw: st.DrawFn) -> SceneGraph:
    ids = draw(st.lists(_WORDS, unique=True, max_size=4))
    names = st.sampled_from(["man", "chairs", "apple", "sky"]) | _WORDS
    values = st.lists(st.sampled_from(["red", "old", "wood"]) | _WORDS, max_size=3)
    relation = st.builds(Relation, st.sampled_from(["on", "near"]) | _WORDS, st.sampled_from(ids or ["-"]))
    relations = st.lists(relation, max_size=3 if ids else 0)
    made = st.builds(SceneObject, names, *[st.integers(0, 99)] * 4, values, relations)
    objects = {number: draw(made) for number in ids}
    return SceneGraph(100, 100, objects, draw(st.none() | _WORDS), draw(st.none() | _WORDS))


PROGRAMS = [
    program("select;person (1);", "relate;_,on,s (2);0", "query;name;1"),
    program("select;_ (1);", "verify color;red;0"),
    program("select;_ (1,2);", "same;type;0"),
    program("select;_ (1);", "select;_ (2);", "common;;0 1"),
    program("select;_ (1);", "choose rel;_,to the left of|to the right of,s (2);0"),
    program("select;scene;", "query;weather;0"),
]


@settings(max_examples=25)
@given(scene_graphs(), st.sampled_from(["name", "id"]))
def test_any_scene_gives_a_conforming_log_and_an_answer_to_every_question(
    graph: SceneGraph, resolve: Resolve
) -> None:
    scene = Scene.of("é 1", graph)
    assert TBox.load("gqa").validate(scene.log.state()) == []
    questions = {str(i): Question("é 1", "", steps) for i, steps in enumerate(PROGRAMS)}
    for row in answer_scene(scene, questions, "test", resolve=resolve):
        assert (row.predicted == "error") is (row.error is not msgspec.UNSET)
        why = explain(scene, questions[str(row.question)], resolve=resolve)
        assert why.answer == (f"error: {row.error}" if row.error else row.predicted)


# Programs


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        (["select;cup (1);", "filter color;not();0", "exist;?;1"], "has no value"),
        (["select;cup (1);", "relate;cup,on (1);0", "exist;?;1"], "is not `name,relation,s|o`"),
        (["select;cup (1);", "choose color;red;0"], "is not a choice"),
        (["select;cup (1);", "exist;?;0", "query;color;1"], "takes objects, but depends on truth"),
        (["select;cup (1);", "select;cup (1);", "same;;0 1"], "does not say what is compared"),
        (["select;cup (1);"], "ends in objects"),
    ],
)
def test_an_ill_typed_program_is_named(steps: list[str], fault: str) -> None:
    with pytest.raises(ProgramError) as caught:
        compile_program(program(*steps))
    assert fault in str(caught.value)
    assert "step" in str(caught.value)


# Files


def steps_of(*steps: tuple[str, list[int]]) -> list[dict[str, Any]]:
    return [
        {"operation": operation, "argument": "?", "dependencies": dependencies}
        for operation, dependencies in steps
    ]


@pytest.mark.parametrize(
    ("changes", "place", "fault"),
    [
        (
            {"semantic": steps_of(("select", []), ("exist", [4]))},
            "$.semantic[1].dependencies[0]",
            "no step 4 in a program of 2",
        ),
        (
            {"semantic": steps_of(("filter", [1]), ("filter", [0]), ("exist", [1]))},
            "$.semantic[0].dependencies",
            "depend on one another: 0 -> 1 -> 0",
        ),
        ({"semantic": steps_of(("teleport", []))}, "$.semantic[0].operation", "unknown operation 'teleport'"),
        (
            {"semantic": steps_of(("select", []), ("and", [0]))},
            "$.semantic[1].dependencies",
            "has 1 dependencies, not 2",
        ),
    ],
)
def test_a_bad_question_is_named_with_file_record_and_path(
    tmp_path: Path, changes: dict[str, Any], place: str, fault: str
) -> None:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps({"q7": {"imageId": "1", "question": "?", "answer": "red", **changes}}))
    with pytest.raises(FormatError) as caught:
        read_questions(path)
    assert caught.value.where == (str(path), "question q7", place)
    assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("graph", "place", "fault"),
    [
        (
            {"objects": {"1": {"relations": [{"name": "on", "object": "9"}]}}},
            "$.objects.1.relations[0].object",
            "no object 9 in this scene",
        ),
        ({"objects": {"1": {"name": " "}}}, "$.objects.1.name", "the name is blank"),
        ({"objects": {"1": {"x": "far"}}}, "$.objects[...].x", "Expected `int`, got `str`"),
    ],
)
def test_a_bad_scene_graph_is_named_with_file_image_and_path(
    tmp_path: Path, graph: dict[str, Any], place: str, fault: str
) -> None:
    whole = {"width": 9, "height": 9, "objects": {}, **graph}
    cup = {"name": "cup", "x": 0, "y": 0, "w": 5, "h": 5}
    whole["objects"] = {number: {**cup, **object_} for number, object_ in whole["objects"].items()}
    path = tmp_path / "graphs.json"
    path.write_text(json.dumps({"n1": whole}))
    graphs = read_scene_graphs(path)
    with pytest.raises(FormatError) as caught:
        graphs["n1"]
    assert caught.value.where == (str(path), "image n1", place)
    assert fault in str(caught.value)


ASKED = b'{"question_id": "1", "imageId": "a", "question": "?", "semantic": [%s]}' % (
    b'{"operation": "select", "argument": "?", "dependencies": []}'
)


@pytest.mark.parametrize(
    ("read", "data", "fault"),
    [
        (read_questions, b"", "the file is empty"),
        (read_questions, b"{}", "holds no question"),
        (read_questions, b'{"q": {"imageId": "1"', "line 1 column"),
        (read_questions, b'[{"imageId": "1", "question": "", "semantic": []}]', "no question_id"),
        (read_questions, b"[%s, %s]" % (ASKED, ASKED), "question 1: the question occurs twice"),
        (read_scene_graphs, b"", "empty"),
        (read_scene_graphs, b"{}", "no scene graph"),
        (read_scene_graphs, b'{"1": {"width"', "cut off"),
        (read_scene_graphs, b"[]", "Expected `object`"),
    ],
)
def test_a_broken_file_is_refused(
    read: Callable[[Path], object], data: bytes, fault: str, tmp_path: Path
) -> None:
    (tmp_path / "given.json").write_bytes(data)
    with pytest.raises(FormatError) as caught:
        read(tmp_path / "given.json")
    assert str(tmp_path / "given.json") in str(caught.value)
    assert fault in str(caught.value)
