"""An index's triples of one thing, compared with the whole state and with records read one by one."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Triple

from substrate import EventLog, LogError, Namespace, ParameterError
from substrate.base.ntriples import spelled, text_of
from substrate.base.terms import value
from substrate.log.state import State
from substrate.memory import Memory
from substrate.memory.records import AWAITS, FROM, REIFIES, TIME, UNTIL, WITHDRAWN

V = Namespace("urn:v:")
NOON = datetime(2026, 2, 14, 12, tzinfo=UTC)
THINGS, MOMENTS = 3, 12
_moment = (
    st.none() | st.integers(0, MOMENTS) | st.integers(0, MOMENTS).map(lambda n: NOON + timedelta(hours=n))
)
_step = st.tuples(
    st.sampled_from(("observe", "observe", "observe", "end", "forget", "believe", "plain")),
    st.integers(0, THINGS - 1),
    st.integers(0, 1),
    _moment,
    _moment,
    st.booleans(),
)


def remembered(steps: list[Any]) -> Memory:
    memory, last = Memory(), None
    for tick, (kind, thing, place, first, until, timed) in enumerate(steps):
        triple = V[f"t{thing}"], V.at, V[f"o{place}"]
        written: Any = {"tick": tick, "time": NOON + timedelta(hours=tick)} if timed else {"tick": tick}
        try:
            if kind == "observe":
                cause = last if place else None
                last = memory.observe(*triple, valid_from=first, valid_until=until, cause=cause, **written)
            elif kind == "end":
                memory.end(*triple, at=until, **written)
            elif kind == "forget":
                memory.forget(*triple, **written)
                last = None
            elif kind == "believe":
                memory.believe(triple[2], triple[0], told_by=V.bo, **written)
            else:
                memory.log.insert(*triple, tick=tick)
        except (LogError, ParameterError):
            continue  # nothing to end, or an end before its beginning
    return memory


def holding(state: State, at: int | datetime) -> set[str]:
    """The triples of a state's records that hold at a moment, record by record."""

    def clock(node: Any, predicate: Any) -> list[Any]:
        bounds = [value(bound) for *_, bound in state.match(node, predicate)]
        return [moment for moment in bounds if isinstance(moment, datetime) == isinstance(at, datetime)]

    texts = set[str]()
    for node, _, triple in list(state.match(None, REIFIES)):
        assert isinstance(triple, Triple)
        text = spelled(triple)[4:-4]
        bounded = any(state.match(node, UNTIL)) or any(state.match(node, AWAITS))
        begins = clock(node, FROM) or (clock(node, TIME) if isinstance(at, datetime) else [])
        stands = bounded or text in state.texts()
        begun = any(first <= at for first in begins) and all(at < last for last in clock(node, UNTIL))
        if stands and begun and not any(state.match(node, WITHDRAWN)):
            texts.add(text)
    return texts


@settings(max_examples=int(os.environ.get("MEMORY_OPERATIONS", "600")) // 20)
@given(
    steps=st.lists(_step, max_size=14),
    tick=st.none() | st.integers(0, 16),
    at=st.integers(0, MOMENTS),
    timed=st.booleans(),
)
def test_an_index_has_the_triples_of_the_whole_state(
    steps: list[Any], tick: int | None, at: int, timed: bool
) -> None:
    memory = remembered(steps)
    moment = NOON + timedelta(hours=at) if timed else at
    about, then = memory.as_of(tick, about=moment), memory.as_of(tick)
    assert memory.as_of(tick, about=moment).texts() == holding(memory.log.state(tick), moment)
    for state, whole in ((about, set(about.texts())), (then, set(memory.as_of(tick).texts()))):
        # The same state again: it has listed nothing yet, so it looks for the triples of one thing.
        fresh = memory.as_of(tick, about=moment) if state is about else memory.as_of(tick)
        for thing in [V[f"t{n}"] for n in range(THINGS)] + [V.o0, V.o1]:
            texts = {text_of(part) for part in fresh.match(thing)}
            assert texts == {text for text in whole if text.startswith(f"{thing} ")}
            assert all(((thing, V.at, o) in fresh) == ((thing, V.at, o) in state) for o in (V.o0, V.o1))
        assert {text_of(part) for part in state} == whole
    past = memory.log.last_tick if tick is None else tick
    until = EventLog(delta for delta in memory.log if delta.tick <= past)
    for n in range(THINGS):
        fact = V[f"t{n}"], V.at, V.o1
        assert memory.why(*fact, tick=tick) == Memory(until).why(*fact)
