"""TBoxes: vocabulary, shapes, and violations with the delta behind them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from logs import PREFIXES, box_of, log_of, unfolded

from substrate import Assert, EventLog, Memory, Namespace, RuleEmitter, TBox, TBoxError, fork
from substrate.base.vocabulary import RDF_TYPE

V, E = "urn:substrate:village:", "urn:village:"


def village(*lines: tuple[int, str]) -> EventLog:
    log = TBox.load("village").opening()
    log.extend_lines(lines)
    return log


needs_pyshacl = pytest.mark.skipif(not find_spec("pyshacl"), reason="needs the extra shacl")


@needs_pyshacl
@pytest.mark.parametrize("name", ["village", "clinical"])
def test_a_shipped_tbox_holds_at_every_tick_of_its_own_log(name: str) -> None:
    box, log = unfolded(name, until=13)
    for tick in (0, 6, 13):
        assert box.validate(log.state(tick), log) == []


@needs_pyshacl
def test_a_violation_names_focus_path_value_and_the_delta() -> None:
    log = village(
        (1, f"A <{E}klaus> <{V}knows> <{E}cafe> ."),
        (4, f"A <{E}ann> <{V}at> <{E}cafe> ."),
        (7, f"D <{E}klaus> <{V}knows> <{E}cafe> ."),
        (8, f"A <{E}klaus> <{V}knows> <{E}cafe> ."),
    )
    (violation,) = TBox.load("village").validate(log.state(), log)
    assert (violation.focus, violation.path, violation.value) == (f"<{E}klaus>", f"<{V}knows>", f"<{E}cafe>")
    assert (violation.tick, violation.position) == (8, len(log) - 1)
    assert "knows what is no fact" in str(violation)
    assert "tick 8" in str(violation)
    (earlier,) = TBox.load("village").validate(log.state(5), log)
    assert earlier.tick == 1


FAULTY = f"""{PREFIXES}@prefix ex: <http://example.org/> .
ex:Sound a sh:NodeShape ; sh:targetClass ex:VAV ; sh:property [ sh:path ex:hasPoint ; sh:minCount 1 ] .
ex:S a sh:NodeShape ; sh:targetClass ex:VAV ; """
POINTS = [
    (0, f"A <http://example.org/v> {RDF_TYPE} <http://example.org/VAV> ."),
    (0, "A <http://example.org/v> <http://example.org/hasPoint> <http://example.org/p> ."),
]


@needs_pyshacl
@pytest.mark.parametrize(
    ("shape", "fault"),
    [
        ('sh:property [ sh:path ex:hasPoint ; sh:pattern "([a-z" ] .', "unterminated character set"),
        ("sh:ignoredProperties ( rdf:type ) .", "sh:ignoredProperties"),
        (
            "sh:property [ sh:path ex:when ; sh:minInclusive 'soon'^^xsd:dateTime ] .",
            "not a value of its datatype",
        ),
        (
            "sh:property [ sh:path ex:hasPoint ; sh:node ex:T ] . ex:T a sh:NodeShape ; sh:property "
            "[ sh:path [ sh:inversePath ex:hasPoint ] ; sh:node ex:S ] .",
            "ecursi",
        ),
    ],
)
def test_a_shape_that_cannot_be_checked_is_named_with_its_fault(shape: str, fault: str) -> None:
    with pytest.raises(TBoxError, match=rf"^faulty: shape <http://example\.org/S>: .*{fault}"):
        TBox("faulty", FAULTY + shape).validate(log_of(POINTS).state())


@needs_pyshacl
def test_an_invalid_date_is_a_violation_and_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    when = '"2013-04-25T118:09:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    log = log_of([*POINTS, (1, f"A <http://example.org/v> <http://example.org/when> {when} .")])
    box = TBox("dated", f"{FAULTY}sh:property [ sh:path ex:when ; sh:datatype xsd:dateTime ] .")
    assert [violation.value for violation in box.validate(log.state())] == [when]
    assert "Traceback" not in "".join(capfd.readouterr())


@needs_pyshacl
def test_a_count_violation_names_the_last_change_of_the_path() -> None:
    log = village((3, f"A <{E}klaus> <{V}at> <{E}cafe> ."), (5, f"A <{E}klaus> <{V}knows> <{E}party> ."))
    (violation,) = TBox.load("village").validate(log.state(), log)
    assert (violation.focus, violation.path, violation.tick) == (f"<{E}klaus>", f"<{V}at>", 3)


@needs_pyshacl
def test_a_missing_value_names_the_delta_of_the_focus_node() -> None:
    log = village((6, f"A <{E}plan99> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{V}Plan> ."))
    violations = TBox.load("village").validate(log.state(), log)
    assert {(v.path, v.tick) for v in violations} == {(f"<{V}from>", 6), (f"<{V}goal>", 6)}
    assert {v.message for v in violations} == {"has not one tick", "has not one goal"}


@needs_pyshacl
def test_terms_of_rdf_1_2_do_not_stop_a_check() -> None:
    log = village(
        (1, f"A <{E}klaus> <{V}says> <<( <{E}ann> <{V}at> <{E}cafe> )>> ."),
        (2, f'A <{E}klaus> <{V}says> "x"@en--ltr .'),
        (2, f"A _:who <{V}says> _:what ."),
    )
    assert TBox.load("village").validate(log.state(), log) == []


def test_a_file_that_is_no_tbox_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.ttl").write_text("this is not Turtle", "utf-8")
    with pytest.raises(TBoxError, match="not Turtle"):
        TBox.load(tmp_path / "bad.ttl")
    for absent in ("nowhere", tmp_path / "absent.ttl"):
        with pytest.raises(TBoxError, match="no such TBox"):
            TBox.load(absent)


N = Namespace("urn:")
ONE = "sh:path :mail ; sh:maxCount 1"


@pytest.mark.parametrize(
    ("shape", "most"),
    [
        (f"sh:property [ {ONE} ]", 1),
        (f"sh:and ( [ sh:node [ sh:property [ {ONE} ] ] ] )", 1),
        (f"sh:deactivated true ; sh:property [ {ONE} ]", 2),
        (f"sh:property [ {ONE} ; sh:deactivated true ]", 2),
        (f"sh:node [ sh:deactivated true ; sh:property [ {ONE} ] ]", 2),
        (f"sh:not [ {ONE} ]", 2),
        (f"sh:or ( [ {ONE} ] [ sh:path :team ; sh:minCount 1 ] )", 2),
        (f"sh:xone ( [ {ONE} ] [ sh:path :team ; sh:minCount 1 ] )", 2),
        (f"sh:property [ sh:path :team ; sh:property [ {ONE} ] ]", 2),
        (f"sh:nodeKind sh:IRI . :T sh:targetNode :bob ; sh:property [ {ONE} ]", 2),
        (f"sh:nodeKind sh:IRI . :T sh:targetClass :B ; sh:property [ {ONE} ]", 2),
        (f"sh:nodeKind sh:IRI . :T sh:property [ {ONE} ]", 2),
    ],
)
def test_a_memory_ends_what_an_active_shape_forbids_and_no_other_fact(shape: str, most: int) -> None:
    box = box_of(f":S a sh:NodeShape ; sh:targetClass :A ; {shape} .", "urn:")
    memory, both = Memory(EventLog(), box, contradictions="end"), EventLog()
    for predicate, value in ((RDF_TYPE, N.A), (N.team, N.red), (N.mail, "one"), (N.mail, "two")):
        memory.observe(N.ann, predicate, value)
        both.insert(N.ann, predicate, value)
    assert len(list(memory.as_of().match(N.ann, N.mail))) == most
    assert (not find_spec("pyshacl")) or bool(box.validate(both.state())) is (most == 1)


@pytest.mark.parametrize("limit", ['"one"', '"1.5"', ":one", "-1", '""'])
def test_a_limit_that_is_no_number_names_its_shape(limit: str) -> None:
    box = box_of(f":S sh:targetClass :C ; sh:property [ sh:path :p ; sh:maxCount {limit} ] .", "urn:")
    memory = Memory(EventLog(), box, contradictions="refuse")
    for change in (
        lambda: memory.observe(N.x, N.p, N.y),
        lambda: fork(EventLog(), 0, Assert((N.x, N.p, N.y)), RuleEmitter(box)),
    ):
        with pytest.raises(TBoxError, match=r"^t: shape <urn:S>: sh:maxCount .* is no whole number"):
            change()
