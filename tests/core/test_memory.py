"""An agent's memory: two clocks, tellings, forgetting, contradictions and merges."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from logs import PREFIXES
from pyoxigraph import Literal

from substrate import EventLog, LogError, Namespace, ParameterError, TBox
from substrate.base.vocabulary import AWARE_OF, RDF_TYPE
from substrate.log.grouping import FORGETTING
from substrate.memory.memory import Memory
from substrate.memory.records import AUTHOR, PRIMARY, REIFIES, TIME

V = Namespace("urn:v:")
NOON = datetime(2026, 2, 14, 12, tzinfo=UTC)


def places(memory: Memory, tick: int, about: int) -> set[str]:
    """The places of all agents at tick ``about``, as far as the memory knew at ``tick``."""
    return {str(o) for _, p, o in memory.as_of(tick, about=about) if p == V.at}


def test_beliefs_at_one_tick_about_another() -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe, tick=3)
    memory.end(V.ann, V.at, V.cafe, at=6, tick=7)
    memory.observe(V.ann, V.at, V.home, valid_from=6, tick=7)
    memory.forget(V.ann, V.at, V.cafe, tick=12)
    memory.observe(V.ann, V.at, V.park, valid_from=3, valid_until=6, tick=12)
    cafe, home, park = str(V.cafe), str(V.home), str(V.park)
    assert places(memory, 2, 3) == set()
    assert places(memory, 3, 2) == set()
    assert places(memory, 3, 3) == places(memory, 6, 5) == {cafe}
    assert places(memory, 6, 8) == {cafe}, "as far as was known, she was still there"
    assert places(memory, 7, 6) == {home}
    assert places(memory, 10, 3) == places(memory, 11, 5) == {cafe}
    assert places(memory, 12, 3) == places(memory, 12, 5) == {park}
    assert places(memory, 12, 6) == {home}
    assert {str(o) for _, p, o in memory.as_of(12) if p == V.at} == {home}, "now she is at one place"


def test_a_records_provenance_is_queried_in_sparql_and_is_part_of_the_digest(tmp_path: Path) -> None:
    def written(author: str) -> str:
        memory = Memory()
        memory.observe(V.ann, V.at, V.cafe, author=author, source=V.camera, time=NOON)
        return memory.log.digest

    assert written("bo") == written("bo") != written("cy")
    with EventLog.open(tmp_path / "memory.rdfp") as log:
        first = Memory(log).observe(V.ann, V.at, V.cafe, author=V.bo, source=V.camera, time=NOON)
        Memory(log).observe(V.ann, V.mood, "fine", cause=first)
    memory = Memory(EventLog.read(tmp_path / "memory.rdfp"))
    rows = memory.log.state().query(
        f"""SELECT ?author ?time {{ ?record {REIFIES} <<( ?who {V.at} ?where )>> ;
            {AUTHOR} ?author ; {PRIMARY} {V.camera} ; {TIME} ?time }}"""
    )
    ((author, time),) = ((row["author"], row["time"]) for row in rows)  # pyright: ignore
    assert (author, time.value) == (V.bo, "2026-02-14T12:00:00Z")
    effect, cause = memory.why(V.ann, V.mood, "fine")
    assert (cause.record, cause.author, cause.source, cause.time) == (first.node, V.bo, V.camera, NOON)
    # A fact, and of its record the class, the triple and the beginning; then the cause of the effect, or the
    # author, source and time of the cause.
    assert [memory.log[p].tick for p in (*effect.positions, *cause.positions)] == [1] * 5 + [0] * 7
    assert memory.why(V.ann, V.mood, "bad") == ()


def test_who_knew_when_and_from_whom() -> None:
    memory = Memory()
    memory.believe(V.isabella, V.party, tick=0)
    memory.believe(V.sam, V.party, told_by=V.isabella, tick=4)
    memory.believe(V.jennifer, V.party, told_by=V.sam, tick=9)
    memory.believe(V.ryan, V.party, tick=9)
    assert memory.who_knew(V.party, 3) == [V.isabella]
    assert memory.who_knew(V.party) == [V.isabella, V.sam, V.jennifer, V.ryan]
    chain = memory.told_by(V.jennifer, V.party)
    assert [(link.knower, link.tick) for link in chain] == [(V.jennifer, 9), (V.sam, 4), (V.isabella, 0)]
    assert [g.said[0] for g in memory.why(V.jennifer, AWARE_OF, V.party)] == [V.jennifer, V.sam, V.isabella]
    assert memory.told_by(V.jennifer, V.party, 8) == ()
    (alone,) = memory.told_by(V.ryan, V.party)
    assert alone.source is None


def test_a_belief_may_be_of_a_triple() -> None:
    memory = Memory()
    memory.believe(V.ann, (V.bo, V.likes, V.cy))
    memory.believe(V.dee, (V.bo, V.likes, V.cy), told_by=V.ann)
    assert memory.who_knew((V.bo, V.likes, V.cy)) == [V.ann, V.dee]
    assert memory.who_knew((V.bo, V.likes, V.ann)) == []


def test_a_forgotten_fact_leaves_the_state_and_stays_in_the_log() -> None:
    memory = Memory()
    memory.observe(V.ann, V.secret, "tells", author=V.bo, tick=1)
    memory.forget(V.ann, V.secret, "tells", author=V.dpo, source="a letter", time=NOON, tick=5)
    assert "tells" not in memory.log.state().nquads()
    assert "tells" in memory.as_of(4).nquads()
    (gone,) = memory.forgotten()
    assert (gone.kind, gone.tick, gone.author, gone.time) == (FORGETTING, 5, V.dpo, NOON)
    assert gone.said[2].value == "tells"  # pyright: ignore
    assert memory.forgotten(4) == []
    assert [change.delta.tick for change in memory.log.history(gone.said).changes] == [1, 5]
    with pytest.raises(LogError, match="tells"):
        memory.forget(V.ann, V.secret, "tells")
    with pytest.raises(LogError, match="tells"):
        memory.end(V.ann, V.secret, "tells")


def test_two_clocks_are_never_compared() -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe, valid_from=NOON)
    memory.observe(V.bo, V.at, V.park, tick=9, time=NOON)
    with pytest.raises(ParameterError, match="another"):
        memory.end(V.ann, V.at, V.cafe, at=7)
    with pytest.raises(ParameterError, match="at"):
        memory.end(V.ann, V.at, V.cafe)
    with pytest.raises(ParameterError, match="another"):
        memory.observe(V.cleo, V.at, V.cafe, valid_from=3, valid_until=NOON)
    # By ticks Ann's place has no beginning; by the clock Bo's begins when it was written.
    assert [s for s, _, _ in memory.as_of(about=9)] == [V.bo]
    assert {s for s, _, _ in memory.as_of(about=NOON)} == {V.ann, V.bo}


def present(memory: Memory) -> set[tuple[object, object]]:
    """The agents of the present, each with its place."""
    return {(s, o) for s, p, o in memory.as_of() if p == V.at}


def test_a_fact_that_begins_later_does_not_hold_now() -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.moon, valid_from=1000)
    memory.observe(V.bo, V.at, V.cafe, valid_until=10)
    assert present(memory) == {(V.bo, V.cafe)}
    assert V.moon not in {o for _, _, o in memory.log.head}
    assert places(memory, 1, 1000) == {str(V.moon)}, "asked for, it is there"
    assert {o for _, p, o in memory.as_of(1000) if p == V.at} == {V.moon}
    memory.observe(V.cy, V.at, V.home, tick=12)
    assert present(memory) == {(V.cy, V.home)}
    memory.end(V.cy, V.at, V.home, at=2000)
    memory.observe(V.dee, V.at, V.home, tick=1500)
    assert present(memory) == {(V.ann, V.moon), (V.cy, V.home), (V.dee, V.home)}
    memory.observe(V.eve, V.at, V.home, tick=2001)
    assert present(memory) == {(V.ann, V.moon), (V.dee, V.home), (V.eve, V.home)}
    assert places(memory, 2001, 1999) == {str(V.moon), str(V.home)}
    assert Memory(EventLog.from_patch(memory.log.to_patch())).as_of() == memory.as_of()


def test_a_fact_that_another_memory_of_the_log_wrote_begins_in_time() -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe)
    other = Memory(memory.log)
    other.observe(V.bo, V.at, V.moon, valid_from=5)
    other.observe_many([(V.cy, V.at, V.home), (V.dee, V.at, V.home)])
    memory.observe(V.eve, V.at, V.home, tick=6)
    assert (V.bo, V.moon) in present(memory)


def test_a_fact_of_several_records_ends_with_the_last_of_them() -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe, valid_until=5, author=V.bo)
    memory.observe(V.ann, V.at, V.cafe, valid_until=5, author=V.cy)
    memory.observe(V.ann, V.at, V.cafe, valid_until=9, author=V.dee)
    memory.observe(V.eve, V.at, V.home, tick=6)
    assert (V.ann, V.cafe) in present(memory)
    memory.observe(V.eve, V.mood, "fine", tick=9)
    assert present(memory) == {(V.eve, V.home)}


def test_a_fact_that_begins_later_by_the_clock_does_not_hold_now() -> None:
    hours = iter(range(100))
    memory = Memory(clock=lambda: NOON + timedelta(hours=next(hours)))
    memory.observe(V.ann, V.at, V.moon, valid_from=NOON + timedelta(hours=3))
    # Each question reads the clock, which goes on by an hour.
    assert present(memory) == set()
    assert [present(memory) for _ in range(2)] == [set(), {(V.ann, V.moon)}]
    memory.observe(V.bo, V.at, V.cafe)
    assert V.moon in {o for _, _, o in memory.log.head}


def test_a_clock_that_stands_still_or_goes_back_orders_records_all_the_same() -> None:
    times = iter([NOON, NOON, NOON - timedelta(days=1), NOON + timedelta(days=1)])
    memory = Memory(clock=lambda: next(times))
    for name in "abcd":
        memory.observe(V[name], V.at, V.cafe)
    written = [memory.why(V[name], V.at, V.cafe)[0].time for name in "abcd"]
    assert written == sorted(set(written), key=str)
    assert [written[0], written[-1]] == [NOON, NOON + timedelta(days=1)]


def test_facts_that_rest_on_a_fact_are_withdrawn_with_it() -> None:
    memory = Memory()
    rain = memory.observe(V.town, V.weather, V.rain)
    hall = memory.observe(V.picnic, V.at, V.hall, cause=rain)
    memory.believe(V.ann, V.hall, cause=hall)
    memory.observe(V.bo, V.at, V.home, cause=rain)
    memory.observe(V.bo, V.at, V.home, author=V.bo)
    fallen = [ground.said for ground in memory.impact(V.town, V.weather, V.rain)]
    assert (V.picnic, V.at, V.hall) in fallen
    assert (V.ann, AWARE_OF, V.hall) in fallen
    memory.forget(V.town, V.weather, V.rain)
    assert present(memory) == {(V.bo, V.home)}, "he said so himself"
    assert memory.who_knew(V.hall) == []
    assert memory.who_knew(V.hall, 4) == [V.ann]
    lost, ground = memory.why(V.picnic, V.at, V.hall)
    assert (lost.lost, ground.lost, ground.record) == (True, True, rain.node)
    assert [reason.lost for reason in memory.why(V.picnic, V.at, V.hall, 3)] == [False, False]
    assert memory.impact(V.town, V.weather, V.rain) == ()
    assert places(memory, 5, 4) == {str(V.home)}, "withdrawn, it was never so"


def test_a_functional_property_is_checked_when_a_fact_is_observed() -> None:
    box = TBox("t", f"{V.at} a <http://www.w3.org/2002/07/owl#FunctionalProperty> .")
    lenient, strict, ending = (
        Memory(tbox=box),
        Memory(tbox=box, contradictions="refuse"),
        Memory(tbox=box, contradictions="end"),
    )
    for memory in (lenient, strict, ending):
        memory.observe(V.ann, V.at, V.cafe, tick=1)
        memory.observe(V.ann, V.at, V.cafe, tick=1, author=V.bo)
        memory.observe(V.ann, V.mood, "fine", tick=2)
    lenient.observe(V.ann, V.at, V.home, tick=5)
    assert len(present(lenient)) == 2
    before = strict.log.digest
    with pytest.raises(LogError, match="has one object"):
        strict.observe(V.ann, V.at, V.home, tick=5)
    assert strict.log.digest == before
    ending.observe(V.ann, V.at, V.home, tick=5)
    assert present(ending) == {(V.ann, V.home)}
    assert [places(ending, 5, about) for about in (4, 5)] == [{str(V.cafe)}, {str(V.home)}]
    with pytest.raises(ParameterError, match="contradictions"):
        Memory(contradictions="guess")  # type: ignore[arg-type]


_STATED = f"""{PREFIXES}@prefix v: <urn:v:> .
v:Cat owl:disjointWith v:Dog . v:Puppy rdfs:subClassOf v:Dog .
v:age rdfs:range xsd:integer . v:owner rdfs:range v:Person .
v:Person owl:disjointWith v:Cat .
v:Team rdfs:subClassOf [ owl:onProperty v:lead ; owl:maxCardinality 2 ] .
v:at a owl:FunctionalProperty . v:suspects core:defeasible true .
"""


def test_a_contradiction_of_a_tbox_is_refused() -> None:
    memory = Memory(tbox=TBox("t", _STATED), contradictions="refuse")
    for thing, kind in ((V.tom, V.Cat), (V.rex, V.Dog), (V.ann, V.Person)):
        memory.observe(thing, RDF_TYPE, kind)
    memory.observe(V.rex, RDF_TYPE, V.Puppy)
    memory.observe(V.rex, V.age, 3)
    memory.observe(V.rex, V.owner, V.ann)
    memory.observe(V.red, V.lead, V.ann)
    memory.observe(V.red, V.lead, V.bo)
    before = memory.log.digest
    for triple, reason in (
        ((V.tom, RDF_TYPE, V.Puppy), "which excludes"),
        ((V.rex, V.age, "three"), "has objects of"),
        ((V.rex, V.owner, V.tom), "has objects of"),
        ((V.rex, V.owner, "Ann"), "has objects of"),
        ((V.red, V.lead, V.cy), "at most 2 objects"),
    ):
        with pytest.raises(LogError, match=reason):
            memory.observe(*triple)
        with pytest.raises(LogError, match=reason):
            memory.observe_many([(V.dee, V.age, 4), triple])
    assert memory.log.digest == before, "all of a batch, or nothing"


def test_a_contradiction_ends_the_oldest_fact() -> None:
    memory = Memory(tbox=TBox("t", _STATED), contradictions="end")
    for who in (V.ann, V.bo, V.cy):
        memory.observe(V.red, V.lead, who)
    memory.observe(V.tom, RDF_TYPE, V.Cat)
    memory.observe(V.tom, RDF_TYPE, V.Dog)
    state = memory.log.state()
    assert {o for *_, o in state.match(V.red, V.lead)} == {V.bo, V.cy}
    assert {o for *_, o in state.match(V.tom, RDF_TYPE)} == {V.Dog}
    with pytest.raises(LogError, match="has objects of"):
        memory.observe(V.rex, V.age, "three")


def test_a_contradiction_is_in_doubt_until_one_side_is_gone() -> None:
    memory = Memory(tbox=TBox("t", _STATED), contradictions="doubt")
    memory.observe(V.ann, V.at, V.cafe, author=V.bo)
    memory.observe(V.ann, V.at, V.park, author=V.cy)
    wrong = memory.observe(V.rex, V.age, "three")
    assert present(memory) == {(V.ann, V.cafe), (V.ann, V.park)}
    assert [ground.said[2] for ground in memory.doubted()] == [V.cafe, V.park, Literal("three")]
    assert [ground.doubted for ground in memory.why(V.ann, V.at, V.cafe)] == [True]
    memory.forget(V.ann, V.at, V.park)
    assert [ground.record for ground in memory.doubted()] == [wrong.node]
    assert [ground.said[2] for ground in memory.doubted(1)] == [V.cafe, V.park]


def test_a_defeasible_fact_that_lost_its_ground_is_in_doubt() -> None:
    for let_go in (Memory.forget, Memory.end):
        memory = Memory(tbox=TBox("t", _STATED))
        seen = memory.observe(V.glass, V.broken, True)
        guess = memory.observe(V.ann, V.suspects, V.tom, cause=seen)
        memory.observe(V.tom, V.banned, True, cause=guess)
        memory.observe(V.floor, V.wet, True, cause=seen)
        let_go(memory, V.glass, V.broken, True)
        state = memory.log.state()
        assert {p for _, p, _ in state} & {V.suspects, V.banned, V.wet} == {V.suspects, V.banned}
        assert [ground.said[1] for ground in memory.doubted()] == [V.suspects, V.banned]
        assert [ground.lost for ground in memory.doubted()] == [False, False]


@pytest.mark.parametrize("until", [None, 6])  # at 6, a fact ends between the observations
@pytest.mark.parametrize("last", [V.home, (V.a, V.b, V.c)])
@pytest.mark.parametrize("tick", [None, 4])
def test_many_observations_are_those_of_one_after_the_other(
    tick: int | None, last: Any, until: int | None
) -> None:
    facts = [(V.ann, V.at, 'a "place"'), (V.ann, V.at, V.park), (V.bo, V.at, 7), (V.bo, V.at, last)]
    single, many, results = Memory(), Memory(), list[Any]()
    for memory in (single, many):
        cause = memory.observe(V.sun, V.shines, True, tick=4, valid_until=until)
        memory.log.insert(V.dee, V.at, V.home, tick=4)
        given: Any = {"cause": cause, "author": "Bo", "source": (V.a, V.b, V.c), "time": NOON, "tick": tick}
        if memory is single:
            records = [memory.observe(*fact, **given) for fact in facts]
        else:
            records = memory.observe_many(facts, **given)
        results.append(records)
    assert results[0] == results[1]
    assert many.log.digest == single.log.digest
    assert many.why(*facts[3]) == single.why(*facts[3])


def test_memories_are_merged_in_the_order_of_time() -> None:
    base = Memory()
    base.observe(V.town, V.at, V.valley, time=NOON)
    first, second = base.imagine(1), base.imagine(1)
    for day in range(1, 6):
        first.observe(V.ann, V.saw, V[f"day{day}"], time=NOON + timedelta(days=day))
    first.believe(V.ann, V.secret, time=NOON + timedelta(days=6))
    second.believe(V.bo, V.secret, time=NOON + timedelta(days=300))
    both = first.merge(second)
    assert both.who_knew(V.secret) == [V.ann, V.bo]
    assert [both.who_knew(V.secret, tick) for tick in (5, 6, 7)] == [[], [V.ann], [V.ann, V.bo]]
    assert [who.valid_from for who in both.why(V.bo, AWARE_OF, V.secret)] == [7]
    assert both.log.digest == second.merge(first).log.digest == both.merge(second).log.digest
    assert first.merge(base).log == first.log


def test_a_memory_that_was_just_opened_answers_as_the_one_that_wrote_it(tmp_path: Path) -> None:
    # So many triples that a first question looks for them in samples of the log; some facts begin later.
    memory, agents = Memory(EventLog()), [V[f"agent{n}"] for n in range(40)]
    for n in range(400):
        rain = memory.observe(V[f"town{n % 90}"], V.weather, V[f"kind{n % 7}"], author=V.bo)
        memory.observe(V[f"picnic{n % 50}"], V.at, V[f"hall{n}"], cause=rain)
        memory.believe(agents[n % 40], V[f"news{n % 30}"], told_by=agents[(n + 7) % 40])
        if n % 25 == 0:
            memory.observe(V.bridge, V.shut, n, valid_from=5 * n, valid_until=5 * n + 400)
    memory.log.save(tmp_path / "m.rdfp")

    def opened() -> Memory:
        return Memory(EventLog.read(tmp_path / "m.rdfp"))

    town, last = (V.town3, V.weather, V.kind3), memory.log.last_tick
    assert memory.impact(*town)
    assert opened().impact(*town) == memory.impact(*town)
    assert opened().why(V.picnic3, V.at, V.hall3) == memory.why(V.picnic3, V.at, V.hall3)
    assert opened().who_knew(V.news4) == memory.who_knew(V.news4)
    assert opened().told_by(agents[34], V.news4) == memory.told_by(agents[34], V.news4)
    for about in (3, last // 2, last):
        read, own = (set(m.as_of(last // 2, about=about).match(V.bridge)) for m in (opened(), memory))
        assert read == own, about
    assert set(opened().as_of().match(V.bridge)) == set(memory.as_of().match(V.bridge))
    forgot, again = opened(), opened()
    forgot.forget(*town)
    again.observe(V.new, V.p, V.o)
    memory.observe(V.new, V.p, V.o)
    assert again.log.digest == memory.log.digest
    assert not list(forgot.log.state().match(*town))
