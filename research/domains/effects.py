"""The effect of an intervention on an outcome, in one log: what a query counts without it and with it.

The intervention, its tick and the outcome are queries, so that the same three apply to any number of logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Delta, Op, Triple
from substrate.base.errors import InterventionError, ParameterError
from substrate.base.terms import value
from substrate.branch.fork import Emitter, fork
from substrate.log.event_log import EventLog
from substrate.log.state import State


@dataclass(frozen=True)
class Constructed:
    """The intervention that two CONSTRUCT queries give, asked of the state before the branch tick.

    Pre-condition: something changes. What is retracted and inserted at once stays.

    Args:
        retract: gives the triples to make false; those that do not hold count for nothing.
        insert: gives the triples to make true; those that hold count for nothing.

    >>> log = EventLog()
    >>> log.extend_lines([(0, f"A <urn:{name}> <urn:in> <urn:cafe> .") for name in ("ann", "bo")])
    >>> branch = fork(log, 1, Constructed(retract="CONSTRUCT { ?who ?in ?place } { ?who ?in ?place }"))
    >>> len(log.state()), len(branch.state())
    (2, 0)
    """

    retract: str = ""
    insert: str = ""

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """The retractions and then the insertions, each in the order of their spellings."""
        gone, come = _constructed(state, self.retract), _constructed(state, self.insert)
        deltas = [
            Delta(tick, Op.RETRACT, triple) for triple in gone if triple in state and triple not in come
        ]
        deltas += [Delta(tick, Op.INSERT, triple) for triple in come if triple not in state]
        if not deltas:
            hint = "Construct triples that hold to retract them, and others to insert them"
            raise InterventionError("the intervention changes nothing", where=(f"tick {tick}",), hint=hint)
        return deltas


def _constructed(state: State, query: str) -> list[Triple]:
    if not query:
        return []
    result = state.query(query)
    if not isinstance(result, ox.QueryTriples):
        raise ParameterError("an intervention is a set of triples", hint="Ask a CONSTRUCT query")
    triples = {str(triple): (triple.subject, triple.predicate, triple.object) for triple in result}
    return [triples[text] for text in sorted(triples)]


class Effect(NamedTuple):
    """An outcome in the observed log, and in its branch.

    >>> Effect(3, 1).difference
    -2
    """

    observed: float
    changed: float

    @property
    def difference(self) -> float:
        """The outcome with the intervention minus that without it."""
        return self.changed - self.observed


def effect(
    log: EventLog, at: int | str, intervention: Constructed, outcome: str, emitter: Emitter | None = None
) -> Effect:
    """The outcome of a log as it is observed, and as it would be.

    Args:
        log: what was observed.
        at: the branch tick, or a SELECT of the last state that gives it.
        intervention: what is done there.
        outcome: an ASK, which counts as 0 or 1, or a SELECT of one number, of the last state.
        emitter: what follows; the observed deltas unless given.

    Raises:
        InterventionError: the tick's query has no answer, or nothing would change.
        LogError: the tick lies outside the log.
        ParameterError: a query gives something else than it should.

    >>> log = EventLog()
    >>> log.extend_lines([(0, f"A <urn:{name}> <urn:in> <urn:cafe> .") for name in ("ann", "bo")])
    >>> alone = Constructed(retract="CONSTRUCT { <urn:bo> ?in ?place } { <urn:bo> ?in ?place }")
    >>> effect(log, 1, alone, "SELECT (COUNT(?who) AS ?n) { ?who <urn:in> <urn:cafe> }")
    Effect(observed=2, changed=1)
    """
    tick = _number(log, at, "the tick") if isinstance(at, str) else at
    if tick is None:
        hint = "Ask for the logs that have it alone"
        raise InterventionError("the query for the tick has no answer", hint=hint)
    if tick != int(tick):
        raise ParameterError(f"{tick} is no tick", hint="Give a whole number")
    branch = fork(log, int(tick), intervention, emitter)
    observed, changed = _number(log, outcome, "the outcome"), _number(branch, outcome, "the outcome")
    if observed is None or changed is None:
        raise ParameterError("the outcome has no answer", hint="Count, or ask with ASK")
    return Effect(observed, changed)


def _number(log: EventLog, query: str, what: str) -> float | None:
    """The one number that a query of the last state gives, or ``None`` where it gives no row or no value."""
    result = log.state().query(query)
    if isinstance(result, ox.QueryBoolean):
        return int(bool(result))
    cells = (
        [cell for row in result for cell in row] if isinstance(result, ox.QuerySolutions) else [None, None]
    )
    if cells in ([], [None]):
        return None
    number = value(cells[0]) if len(cells) == 1 and isinstance(cells[0], ox.Literal) else None
    if not isinstance(number, int | float | Decimal):
        hint = "Ask with ASK, or a SELECT of one row with one number"
        raise ParameterError(f"{what} is not one number", hint=hint)
    return number if isinstance(number, int) else float(number)
