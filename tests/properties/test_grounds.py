"""The facts that fall with a fact: imagined, asked for beforehand, and forgotten, beside a small oracle."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from substrate import Memory, Namespace, Retract
from substrate.base.delta import Triple
from substrate.base.vocabulary import AWARE_OF
from substrate.memory.records import WITHDRAWN, Record, is_record

V = Namespace("urn:v:")
ROOT = (V.town, V.has, V.rain)


class Note(NamedTuple):
    """A record of a story: its triple, the index of the record that caused it, and the name of its teller."""

    triple: Triple
    cause: int | None = None
    teller: str | None = None


def oracle(story: list[Note]) -> set[int]:
    """The records that fall with the first. A record stands if some standing record has the triple of its
    cause, and, if earlier records have that its teller knew the fact, one of these stands.
    """
    standing = set[int]()
    while True:
        more = set(standing)
        for place, (fact, cause, teller) in enumerate(story):
            known = [n for n in range(place) if story[n].triple == (V[teller or ""], AWARE_OF, fact[2])]
            caused = cause is None or any(story[n].triple == story[cause].triple for n in standing)
            if place and caused and (teller is None or not known or standing & set(known)):
                more.add(place)
        if more == standing:
            return set(range(1, len(story))) - standing
        standing = more


def written(story: list[Note]) -> tuple[Memory, list[Record]]:
    memory, made = Memory(), list[Record]()
    for fact, cause, teller in story:
        because = None if cause is None else made[cause]
        if fact[1] == AWARE_OF:
            by = None if teller is None else V[teller]
            made.append(memory.believe(fact[0], fact[2], told_by=by, cause=because))  # pyright: ignore
        else:
            made.append(memory.observe(*fact, cause=because))
    return memory, made


def facts(memory: Memory) -> set[Triple]:
    return {part for part in memory.as_of() if not is_record(part[0])}


@st.composite
def stories(draw: st.DrawFn) -> list[Note]:
    story = [Note(ROOT)]
    for place in range(1, draw(st.integers(2, 14))):
        cause = draw(st.none() | st.integers(0, place - 1))
        if draw(st.booleans()):
            story.append(Note((V.town, V.has, V[draw(st.sampled_from("abcd"))]), cause))
        else:
            agent, thing = draw(st.sampled_from("xyz")), draw(st.sampled_from("pq"))
            story.append(
                Note((V[agent], AWARE_OF, V[thing]), cause, draw(st.none() | st.sampled_from("xyz")))
            )
    return story


wet, home = (V.town, V.has, V.wet), (V.ann, V.at, V.home)
knows_x, knows_y, knows_z = ((V[who], AWARE_OF, V.p) for who in "xyz")


@given(stories())
@example([Note(ROOT), Note(wet, 0), Note(home, 1)])  # a chain
@example([Note(ROOT), Note(wet, 0), Note(home, 1), Note(wet, 2)])  # a circle supports nothing
@example(
    [
        Note(ROOT),
        Note(knows_x, 0),
        Note(knows_y),
        Note(knows_z, None, "x"),
        Note(knows_z, None, "y"),
        Note(home, 3),
    ]
)
@example([Note(ROOT), Note(knows_x, 0), Note(knows_z, None, "x"), Note(home, 2), Note(knows_z)])
@example([Note(ROOT), Note(knows_x, 0), Note(knows_z, None, "x"), Note(knows_x)])  # the teller knew too late
def test_imagining_asking_and_forgetting_name_the_same_consequences(story: list[Note]) -> None:
    memory, made = written(story)
    falls = {made[place].node for place in oracle(story)}
    assert {ground.record for ground in memory.impact(*ROOT)} == falls
    branch = memory.imagine(1, Retract(ROOT))
    standing = {subject for subject, *_ in branch.log.state() if is_record(subject)}
    assert {record.node for record in made} - standing - {made[0].node} == falls
    memory.forget(*ROOT)
    assert {node for node, *_ in memory.log.state().match(None, WITHDRAWN)} == falls
    assert facts(memory) == facts(branch)


def test_a_branch_drops_the_facts_that_rest_on_a_fact_and_no_more() -> None:
    memory = Memory()
    rain = memory.observe(*ROOT)
    memory.observe(*home, cause=memory.observe(*wet, cause=rain))
    assert set(memory.compare(memory.imagine(1, Retract(ROOT))).retracted) == {ROOT, wet, home}
    memory.believe(V.x, V.p)
    memory.believe(V.y, V.p)
    belief = memory.believe(V.sam, V.p, told_by=V.x)
    memory.believe(V.sam, V.p, told_by=V.y)
    memory.observe(V.sam, V.buys, V.gift, cause=belief)
    branch = memory.imagine(4, Retract(knows_x))
    assert set(memory.compare(branch).retracted) == {knows_x}, "Sam knows from Y as well"


@given(stories(), st.lists(st.tuples(st.sampled_from(["end", "forget"]), st.integers(0, 13)), max_size=4))
def test_without_a_change_a_branch_is_the_log(story: list[Note], later: list[tuple[str, int]]) -> None:
    memory, _ = written(story)
    for name, place in later:
        fact = story[place % len(story)].triple
        if fact in memory.log.state():
            getattr(memory, name)(*fact)
    memory.observe(V.ann, V.at, V.cafe, valid_until=memory.log.last_tick + 3)
    memory.observe_many([(V.bo, V.at, V[f"place{number}"]) for number in range(4)])
    for at in range(memory.log.last_tick + 2):
        assert memory.imagine(at).log == memory.log
