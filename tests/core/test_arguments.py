"""A wrong argument is refused where it is given, by an error that names it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

from substrate import (
    Assert,
    Delta,
    EventLog,
    Namespace,
    Op,
    OverrideLocation,
    ParameterError,
    SubstrateError,
    TBox,
    fork,
    merge,
    unfold,
)
from substrate.ask import solutions
from substrate.base import Spelled
from substrate.branch.fork import Simulation
from substrate.memory.memory import Memory
from substrate.rules.fixpoint import RuleEmitter
from substrate.sparql.guard import QueryLimits

V = Namespace("urn:v:")
FACT = (V.ann, V.at, V.cafe)
ANY: Any = "anything"
TODAY: Any = "today"
NUMBER: Any = 3
HALF: Any = 10.5
BYTES: Any = b"TX ."
TEXT_AS_PREDICATE: Any = (V.ann, "at", V.cafe)
LOG = EventLog([Delta(0, Op.INSERT, FACT)])
BOX = TBox("t", "")

WRONG: dict[str, Callable[[], object]] = {
    "Assert: 'anything' is not three terms": lambda: Assert(ANY),
    "Assert: predicate: 'at' is not an IRI": lambda: Assert(TEXT_AS_PREDICATE),
    "OverrideLocation: subject: 'anything'": lambda: OverrideLocation(ANY, V.cafe),
    "a namespace is a text": lambda: Namespace(NUMBER),
    "tbox: 'anything' is not a TBox": lambda: RuleEmitter(ANY),
    "simulator: 'anything' is not a simulator: it has no start": lambda: Simulation(ANY),
    "timeout: 'anything' is not a number": lambda: QueryLimits(ANY),
    "rows: 10.5 is not a count": lambda: QueryLimits(rows=HALF),
    "memory: 10.5 is not a count": lambda: QueryLimits(memory=HALF),
    "rounds: 10.5 is not a count": lambda: unfold(BOX, LOG, until=3, rounds=HALF),
    "most: 10.5 is not a count": lambda: solutions(LOG, "SELECT * {}", most=HALF),
    "turtle: 3 is not Turtle text": lambda: TBox("t", NUMBER),
    "path: 3 is not a path": lambda: TBox.load(NUMBER),
    "log: 'anything' is not an event log": lambda: Memory(ANY),
    "'a': not a delta": lambda: EventLog(ANY),
    "triple: 'anything' cannot be an object": lambda: Delta(3, Op.INSERT, (V.ann, V.at, ANY)),
    "tick: 'today' is not a tick": lambda: Delta(TODAY, Op.INSERT, (V.ann, V.at, V.home)),
    "tick 3: not a delta": lambda: EventLog([Delta._make((3, Op.INSERT, (V.ann, V.at, ANY)))]),
    "text: b'TX .' is not RDF Patch text": lambda: EventLog.from_patch(BYTES),
    "at: 'anything' is not a tick": lambda: fork(LOG, ANY),
    "intervention: 'anything' is not an intervention": lambda: fork(LOG, 0, ANY),
    "emitter: 'anything' is not an emitter": lambda: fork(LOG, 0, None, ANY),
    "b: 'anything' is not an event log": lambda: merge(LOG, ANY),
    "given: 'anything' is not an event log": lambda: unfold(BOX, ANY, until=3),
    "tick: 'anything' is not a tick": lambda: LOG.state(ANY),
    "triple: not a triple": lambda: LOG.history(ANY),
    "at: True is not a tick": lambda: fork(LOG, True),
    "a tick is not a whole number (a truth value)": lambda: EventLog().extend_lines(
        [(True, "A <urn:s> <urn:p> <urn:o> .")]
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_argument_is_refused_where_it_is_given(message: str) -> None:
    with pytest.raises(SubstrateError) as caught:
        WRONG[message]()
    assert str(caught.value).startswith(message)
    assert caught.value.hint


class Whole:
    """A whole number of another type, such as numpy's."""

    def __index__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "Whole(1)"


TICKS = [True, False, 1.0, "1", None, Fraction(1), Decimal(1), Whole(), 0, 1, -1, 2**63 - 1, 2**63]
DOORS: dict[str, Callable[[EventLog, Any], EventLog | None]] = {
    "fork": lambda log, tick: fork(log, tick, Assert((V.ann, V.age, Literal(7)))),
    "append": lambda log, tick: log.append(Delta(tick, Op.INSERT, FACT)),
    "extend": lambda log, tick: log.extend([Delta._make((tick, Op.INSERT, FACT))]),
    "insert": lambda log, tick: log.insert(*FACT, tick=tick) and None,  # None, as `append` gives
    "lines": lambda log, tick: log.extend_lines([(tick, "A <urn:s> <urn:p> <urn:o> .")]),
    "spelled": lambda log, tick: log.extend_spelled([Spelled(tick, Op.INSERT, "<urn:s> <urn:p> <urn:o>")]),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("tick", TICKS, ids=repr)
def test_a_value_taken_for_a_tick_can_be_written_and_read_again(door: str, tick: Any, tmp_path: Path) -> None:
    log = EventLog([Delta(0, Op.INSERT, FACT)])
    try:
        made = DOORS[door](log, tick) or log
    except SubstrateError:
        assert len(log) == 1
        return
    assert not isinstance(tick, bool)
    made.save(tmp_path / "log.rdfp")
    read = EventLog.read(tmp_path / "log.rdfp")
    assert (read, read.branch_tick) == (made, made.branch_tick)


def test_an_intervention_takes_python_values_as_a_log_does() -> None:
    seven: Any = 7
    assert Assert((V.ann, V.age, seven)) == Assert((V.ann, V.age, Literal(7)))
    assert (V.ann, V.age, Literal(7)) in fork(LOG, 1, Assert((V.ann, V.age, seven))).state()
    assert isinstance(OverrideLocation(V.ann, V.park, V.at).location, NamedNode)
    with pytest.raises(ParameterError):
        Assert((V.ann, V.age, b"7"))  # pyright: ignore[reportArgumentType]
