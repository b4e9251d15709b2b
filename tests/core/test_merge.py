"""Two branches in one: what users of Git, Datomic and TerminusDB would expect of a merge."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import box_of, log_of
from pyoxigraph import NamedNode

from substrate import EventLog, MergeError, Namespace, ParameterError, conflicts, fork, merge
from substrate.base.vocabulary import AWARE_OF
from substrate.branch import Conflict, merge_base
from substrate.branch.merge import Side
from substrate.log import Interval
from substrate.memory.memory import Memory

V = Namespace("urn:")
LINES = [
    (0, "A <urn:ann> <urn:in> <urn:cafe> ."),
    (1, "A <urn:bo> <urn:in> <urn:park> ."),
    (5, "A <urn:bo> <urn:knows> <urn:secret> ."),
]
HOME = [(6, "D <urn:ann> <urn:in> <urn:cafe> ."), (6, "A <urn:ann> <urn:in> <urn:home> .")]
PARK = [(7, "D <urn:ann> <urn:in> <urn:cafe> ."), (7, "A <urn:ann> <urn:in> <urn:park> .")]


@pytest.fixture
def log() -> EventLog:
    return log_of(LINES)


def choose_a(_: Conflict) -> Side:
    return "a"


def choose_b(_: Conflict) -> Side:
    return "b"


def grown(log: EventLog, *lines: tuple[int, str]) -> EventLog:
    branch = fork(log, log.last_tick + 1)
    branch.extend_lines(lines)
    return branch


def places(log: EventLog, who: NamedNode) -> set[NamedNode]:
    return {o for s, p, o in log.state() if (s, p) == (who, V["in"]) and isinstance(o, NamedNode)}


def test_two_moves_of_one_person_are_a_conflict_only_if_a_person_has_one_place(log: EventLog) -> None:
    a, b = grown(log, *HOME), grown(log, *PARK)
    assert places(merge(a, b), V.ann) == {V.home, V.park}
    (conflict,) = conflicts(a, b, functional=[V["in"]])
    assert conflict[:3] == (V.ann, V["in"], None)
    assert conflict.when == (Interval(7, None),)
    assert [(change.position, change.delta.tick) for change in conflict.a] == [(3, 6), (4, 6)]
    assert [(change.position, change.delta.tick) for change in conflict.b] == [(3, 7), (4, 7)]
    with pytest.raises(MergeError, match=r"1 conflict: <urn:ann> <urn:in>: .* at tick 6, .* from tick 7 on"):
        merge(a, b, functional=[V["in"]])
    for choose, place in ((choose_a, V.home), (choose_b, V.park)):
        assert places(merge(a, b, functional=[V["in"]], choose=choose), V.ann) == {place}


def test_a_conflict_that_is_over_is_still_named(log: EventLog) -> None:
    """At the end both branches agree, but they differ at tick 8."""
    a = grown(log, *HOME, (9, "D <urn:ann> <urn:in> <urn:home> ."), (9, "A <urn:ann> <urn:in> <urn:park> ."))
    b = grown(log, *PARK)
    (conflict,) = conflicts(a, b, functional=[V["in"]])
    assert conflict.when == (Interval(7, 9),)
    assert "from tick 7 to 8" in str(conflict)


def test_a_conflict_can_be_decided_by_its_deltas(log: EventLog) -> None:
    a = grown(log, *HOME, (6, "A <urn:bo> <urn:in> <urn:cafe> ."))
    b = grown(log, (6, "D <urn:bo> <urn:in> <urn:cafe> ."), *PARK)

    def later(conflict: Conflict) -> Side | None:
        last_a, last_b = (changes[-1].delta.tick for changes in (conflict.a, conflict.b))
        if last_a == last_b:
            return None
        return "a" if last_a > last_b else "b"

    with pytest.raises(MergeError) as caught:
        merge(a, b, functional=[V["in"]], choose=later)
    assert [conflict.subject for conflict in caught.value.conflicts] == [V.bo], "Ann's is decided"
    with pytest.raises(ParameterError, match="unknown choice"):
        merge(a, b, functional=[V["in"]], choose=lambda _: "ours")  # pyright: ignore
    with pytest.raises(ParameterError, match="not an IRI"):
        merge(a, b, functional=["in"])  # pyright: ignore


def test_a_merged_log_names_its_base_in_its_file_too(log: EventLog, tmp_path: Path) -> None:
    before, size = log.digest, len(log)
    a, b = grown(log, *HOME), grown(log, (7, "A <urn:bo> <urn:knows> <urn:plan> ."))
    both = merge(a, b)
    assert merge_base(a, b) == size
    assert (both.parent_digest, both.branch_tick) == (before, 6)
    both.save(tmp_path / "both.rdfp")
    read = EventLog.read(tmp_path / "both.rdfp")
    assert (read.digest, read.descent) == (both.digest, both.descent)
    both.extend_lines([(9, "A <urn:bo> <urn:knows> <urn:more> .")])
    assert len(fork(both, 8)) == len(both), "it grows and is forked like any log"
    assert (len(a), len(b), len(log)) == (size + 2, size + 1, size)


def test_logs_that_have_nothing_in_common_are_united(log: EventLog) -> None:
    other = log_of([(3, "A <urn:cy> <urn:in> <urn:park> ."), (5, LINES[2][1])])
    both = merge(log, other)
    assert merge_base(log, other) == 0
    assert both.descent is None
    assert set(both.state()) == set(log.state()) | set(other.state())
    assert len(both) == 4
    assert len(merge(EventLog(), EventLog())) == 0


def test_the_predicates_with_one_value_are_read_from_a_tbox() -> None:
    places = """
        :in a owl:FunctionalProperty . :age a owl:DatatypeProperty .
        :Person a owl:Class ;
            sh:property [ sh:path :mood ; sh:maxCount 1 ] , [ sh:path :friend ; sh:maxCount 9 ] .
        :Other sh:targetSubjectsOf :in ;
            sh:node [ sh:and ( [ sh:property [ sh:path :boss ; sh:maxCount 1 ] ] ) ] ."""
    assert box_of(places, "urn:").functional == {V["in"], V.mood, V.boss}


def test_two_agents_memories_are_merged_with_their_records() -> None:
    memory = Memory()
    seen = memory.observe(V.ann, V.at, V.cafe, author=V.ann)
    ours, theirs = memory.imagine(1), memory.imagine(1)
    # Both write at one tick, and both say the same thing at the end of their records
    ours.forget(V.ann, V.at, V.cafe, author=V.bo, tick=4)
    theirs.forget(V.ann, V.at, V.cafe, author=V.cy, tick=4)
    theirs.believe(V.cy, V.party, told_by=V.ann, tick=4)
    both = ours.merge(theirs)
    assert both.log.digest == theirs.merge(ours).log.digest
    assert {(g.author, g.said) for g in both.forgotten()} == {
        (author, (V.ann, V.at, V.cafe)) for author in (V.bo, V.cy)
    }
    assert both.who_knew(V.party) == [V.cy]
    assert [ground.tick for ground in both.why(V.cy, AWARE_OF, V.party)] == [4]
    assert not any(s == seen.node for s, _, _ in both.log.state())


def test_two_ends_of_one_observation_are_a_conflict() -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe)
    ours, theirs = memory.imagine(1), memory.imagine(1)
    ours.end(V.ann, V.at, V.cafe, at=2, tick=4)
    theirs.end(V.ann, V.at, V.cafe, at=3, tick=4)
    with pytest.raises(MergeError, match="validUntil"):
        ours.merge(theirs)
    state = ours.merge(theirs, choose=choose_b).as_of(9, about=2)
    assert (V.ann, V.at, V.cafe) in state
