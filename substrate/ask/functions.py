"""SPARQL functions for a log's queries: other ticks, and causal ancestry.

============================================  ======================================================
``core:asOf(?s, ?p, ?o, ?tick)``              the triple held at that tick
``core:ancestor(?earlier, ?event)``           ``?earlier`` is a causal ancestor of ``?event``
``core:without(?event, ?thing)``              the event depends neither on the thing nor on an event in
                                              which the thing takes part (paper, Proposition 1)
============================================  ======================================================

Each function is true or false; the last two have no answer if ``?event`` is not an event. A TBox defines the
events and their participants (:func:`substrate.ask.questions.occurrences`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from itertools import islice

import pyoxigraph as ox

from substrate.ask.questions import occurrences
from substrate.base.arguments import require_count
from substrate.base.delta import Term
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.terms import value
from substrate.base.vocabulary import NAMESPACE
from substrate.cause.ancestry import Ancestry, Event, ancestors
from substrate.log.event_log import EventLog
from substrate.rules.tbox import TBox

PREFIX = "core"
"""The prefix that a query need not declare."""


class _Functions:
    """The functions of one log; ``error`` keeps an error, which SPARQL would treat as no answer."""

    def __init__(self, log: EventLog, tbox: TBox) -> None:
        self.log, self.tbox = log, tbox
        self.error: SubstrateError | None = None
        each = {"asOf": self._as_of, "ancestor": self._ancestor, "without": self._without}
        self.by_name: Mapping[ox.NamedNode, Callable[..., ox.Literal | None]] = {
            ox.NamedNode(NAMESPACE + name): partial(self._called, name, function)
            for name, function in each.items()
        }

    @cached_property
    def _ancestry(self) -> Mapping[Term, Ancestry]:
        events = occurrences(self.log, self.tbox)
        return ancestors(Event(event.node, event.tick, event.participants) for event in events)  # pyright: ignore

    def _called(self, name: str, function: Callable[..., bool | None], *terms: Term) -> ox.Literal | None:
        try:
            answer = function(*terms)
            return None if answer is None else ox.Literal(answer)
        except TypeError:
            self.error = ParameterError(
                f"{PREFIX}:{name} does not take {len(terms)} terms", hint="See `substrate.ask.functions`"
            )
        except SubstrateError as error:
            self.error = error
        return None

    def _as_of(self, subject: Term, predicate: Term, object_: Term, tick: Term) -> bool:
        when = value(tick)
        if not isinstance(when, int) or isinstance(when, bool):
            raise ParameterError(f"{tick} is no tick", where=(f"{PREFIX}:asOf",), hint="Give a whole number")
        if isinstance(subject, ox.Literal | ox.Triple) or not isinstance(predicate, ox.NamedNode):
            return False
        return self.log.history((subject, predicate, object_)).holds(when)

    def _ancestor(self, earlier: Term, event: Term) -> bool | None:
        ancestry = self._ancestry.get(event)
        return ancestry and earlier in ancestry.events

    def _without(self, event: Term, thing: Term) -> bool | None:
        ancestry = self._ancestry.get(event)
        return ancestry and thing not in ancestry.objects


def solutions(
    log: EventLog, sparql: str, *, tick: int | None = None, tbox: TBox | None = None, most: int | None = None
) -> bool | list[dict[str, Term | None]]:
    """Answer a SELECT or ASK query, which may use this module's functions, on a log's state.

    Args:
        log: the log.
        sparql: a SELECT or ASK query; ``core:`` is declared.
        tick: the state's tick; by default the last tick. The functions read the whole log.
        tbox: defines events and participants; by default the core's own terms.
        most: the largest number of rows to return; by default all.

    Returns:
        For SELECT the rows, each with a term or ``None`` per variable; for ASK whether it holds.

    Raises:
        ParameterError: the query gives a graph, or a function gets wrong arguments.
        SyntaxError: the query is not SPARQL.

    >>> from substrate.rules.fixpoint import unfold
    >>> box = TBox.load("village")
    >>> log = unfold(box, box.opening(), until=4)
    >>> solutions(log, "ASK { ?event a ?kind FILTER(core:without(?event, <urn:substrate:village:klaus>)) }",
    ...           tbox=box)
    True
    """
    if most is not None:
        require_count(most, "most")
    functions = _Functions(log, tbox or TBox("core", ""))
    results = log.state(tick).query(sparql, prefixes={PREFIX: NAMESPACE}, functions=functions.by_name)
    if isinstance(results, ox.QueryTriples):
        raise ParameterError("a query for a graph has no rows", hint="Give a SELECT or an ASK query")
    answer: bool | list[dict[str, Term | None]]
    if isinstance(results, ox.QueryBoolean):
        answer = bool(results)
    else:
        names = [variable.value for variable in results.variables]
        # A function's error is known only after the rows have been read
        answer = [{name: row[name] for name in names} for row in islice(results, most)]
    if functions.error:
        raise functions.error
    return answer
