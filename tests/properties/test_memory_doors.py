"""The arguments of a memory: what is accepted can be read again, what is refused leaves no trace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal

from substrate import EventLog, LogError, Memory, Namespace, ParameterError
from substrate.base.vocabulary import AWARE_OF

V = Namespace("urn:v:")
LAST = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))
FIRST = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))
NOON = datetime(2026, 2, 14, 12, tzinfo=UTC)
NUMBERS = [True, False, 0, 1, 7, -1, 2**70, 3.5, float("inf"), float("nan")]
TEXTS = ["", "x", "half \ud83d", b"x", Literal("x"), BlankNode("b"), V.a]
TUPLES = [(), (1, 2, 3), (V.a, V.b, V.c), [V.a]]
ANYTHING = st.sampled_from([None, *NUMBERS, *TEXTS, *TUPLES, NOON, NOON.replace(tzinfo=None), LAST, FIRST])
ARGUMENTS = ["tick", "author", "source", "cause", "time", "valid_from", "valid_until", "at", "told_by"]


NAIVE = NOON.replace(tzinfo=None)
TICKS = (True, False, "3", 3.0)
CAUSES = ("x", 7, True, (1, 2, 3), (V.a,), Literal("x"), NOON, V.nothing)
MOMENTS = ("tomorrow", 3.5, True, -1, NAIVE, LAST, FIRST)
VALUES = {"tick": TICKS, "time": (LAST, FIRST), "valid_from": MOMENTS, "valid_until": MOMENTS}
RIGHT: dict[str, dict[str, Any]] = {
    "observe": {"subject": V.ann, "predicate": V.at, "object": V.cafe},
    "believe": {"agent": V.ann, "fact": V.party},
    "as_of": {},
}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("observe", {"subject": "ann"}, "subject"),
    ("observe", {"when": 3}, "'when'"),
    ("observe", {"valid_from": 4, "valid_until": 4}, "ends at 4"),
    ("observe", {"time": NAIVE}, "time: .* no time zone"),
    ("believe", {"fact": None}, "object"),
    ("believe", {"told_by": "bo"}, "told_by"),
    *(("observe", {"cause": cause}, "cause: .* is not a record") for cause in CAUSES),
    *(("observe", {name: value}, f"^{name}: ") for name, values in VALUES.items() for value in values),
    *(("as_of", {"about": moment}, "^about: ") for moment in MOMENTS),
]


@pytest.mark.parametrize(("method", "arguments", "message"), WRONG, ids=str)
def test_a_wrong_argument_is_named_and_nothing_is_written(
    method: str, arguments: dict[str, Any], message: str
) -> None:
    memory = Memory()
    memory.observe(V.bo, V.at, V.park, valid_from=0)
    before = memory.log.digest
    with pytest.raises(ParameterError, match=message):
        getattr(memory, method)(**RIGHT[method] | arguments)
    assert memory.log.digest == before


def test_a_tick_before_the_last_is_refused_with_the_advice_to_give_valid_from() -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe, tick=5)
    with pytest.raises(LogError, match="valid_from"):
        memory.observe(V.ann, V.at, V.cafe, tick=4)


def test_after_the_last_moment_there_is_no_time_to_write() -> None:
    memory = Memory(clock=lambda: NOON)
    memory.observe(V.ann, V.at, V.cafe, time=datetime.max.replace(tzinfo=UTC))
    with pytest.raises(LogError, match="no later time"):
        memory.observe(V.ann, V.at, V.park)


@pytest.mark.parametrize("tick", TICKS)
def test_no_question_takes_a_value_that_is_no_tick(tick: Any) -> None:
    memory = Memory()
    memory.observe(V.ann, V.at, V.cafe)
    memory.believe(V.ann, V.party)
    for ask in (
        lambda: memory.as_of(tick),
        lambda: memory.who_knew(V.party, tick),
        lambda: memory.told_by(V.ann, V.party, tick),
        lambda: memory.why(V.ann, V.at, V.cafe, tick),
        lambda: memory.forgotten(tick),
        lambda: memory.doubted(tick),
        lambda: memory.compare(memory, tick),
        lambda: memory.imagine(tick),
    ):
        with pytest.raises(ParameterError, match="not a tick"):
            ask()


@given(
    calls=st.lists(
        st.tuples(
            st.sampled_from(["observe", "believe", "end", "forget"]),
            st.tuples(st.sampled_from([V.ann, V.bo]), st.sampled_from([V.at, AWARE_OF]), ANYTHING),
            st.dictionaries(st.sampled_from(ARGUMENTS), ANYTHING, max_size=3),
        ),
        max_size=6,
    )
)
def test_a_memory_of_accepted_calls_can_be_opened_again(
    calls: list[tuple[str, tuple[Any, Any, Any], dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.mktemp("doors") / "memory.rdfp"
    with EventLog.open(path) as log:
        memory = Memory(log)
        for name, fact, arguments in calls:
            before = log.digest
            try:
                if name == "believe":
                    memory.believe(fact[0], fact[2], **arguments)
                else:
                    getattr(memory, name)(*fact, **arguments)
            except (ParameterError, LogError):
                assert log.digest == before, "what is refused leaves no trace"
        state, digest = memory.as_of(), log.digest
    with EventLog.open(path) as again:
        assert again.digest == digest
        assert Memory(again).as_of() == state
