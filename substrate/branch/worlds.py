"""Many counterfactual worlds: branches that share one log and are queried in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import pyoxigraph as ox

from substrate.base.arguments import require
from substrate.base.errors import InterventionError, ParameterError
from substrate.branch.fork import Emitter, fork
from substrate.branch.interventions import Intervention
from substrate.log.event_log import EventLog


class Worlds(Sequence[EventLog]):
    """The branches of a log under several interventions, in order; each branch is an ordinary log.

    The branches share their parent's deltas, triples and stores. Each branch needs room only for its own
    deltas. A query of all branches moves one store from branch to branch by the triples that differ.

    Attributes:
        parent: the branches' parent log, unchanged.
        at: the branch tick.
        interventions: one intervention per branch.

    >>> from substrate import EventLog, Retract
    >>> log = EventLog()
    >>> log.extend_lines([(0, f"A <urn:{name}> <urn:in> <urn:cafe> .") for name in ("ann", "bo")])
    >>> without = [Retract(triple) for triple in sorted(log.state(), key=str)]
    >>> branches = worlds(log, at=1, interventions=without)
    >>> len(branches), [len(branch.state()) for branch in branches]
    (2, [1, 1])
    """

    def __init__(
        self, parent: EventLog, at: int, interventions: Iterable[Intervention], emitter: Emitter | None = None
    ) -> None:
        self.parent, self.at, self.interventions = parent, at, tuple(interventions)
        branches: list[EventLog] = []
        for place, intervention in enumerate(self.interventions):
            try:
                branches.append(fork(parent, at, intervention, emitter))
            except (InterventionError, ParameterError) as error:
                raise error.within(f"interventions[{place}]") from error
        self._branches = tuple(branches)

    def __len__(self) -> int:
        return len(self._branches)

    @overload
    def __getitem__(self, place: int) -> EventLog: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[EventLog, ...]: ...

    def __getitem__(self, place: int | slice) -> EventLog | tuple[EventLog, ...]:
        return self._branches[place]

    def __repr__(self) -> str:
        return f"<Worlds: {len(self)} branches at tick {self.at}>"

    def ask(self, sparql: str, *, tick: int | None = None, **options: Any) -> list[bool]:
        """The answers of an ASK query, one answer per branch.

        Args:
            sparql: an ASK query.
            tick: the tick of the queried states; by default each branch's last tick.
            options: as for :meth:`substrate.log.state.State.query`.

        Raises:
            SyntaxError: the query is not SPARQL.
            ParameterError: the query is not an ASK query.

        >>> from substrate import Assert, EventLog
        >>> ann, at, cafe, home = (ox.NamedNode(f"urn:{name}") for name in ("ann", "at", "cafe", "home"))
        >>> forks = worlds(EventLog(), at=0, interventions=[Assert((ann, at, cafe)), Assert((ann, at, home))])
        >>> forks.ask("ASK { <urn:ann> <urn:at> <urn:cafe> }")
        [True, False]
        """
        answers: list[bool] = []
        for answer in self.query(sparql, tick=tick, **options):
            if not isinstance(answer, ox.QueryBoolean):
                hint = "Use Worlds.query for SELECT, CONSTRUCT and DESCRIBE"
                raise ParameterError("the query is not an ASK query", where=("sparql",), hint=hint)
            answers.append(bool(answer))
        return answers

    def query(
        self, sparql: str, *, tick: int | None = None, **options: Any
    ) -> Iterator[ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples]:
        """The results of any query, one result per branch; each query runs when its result is requested.

        Later queries do not affect an earlier result. Arguments and errors as :meth:`ask`.

        >>> from substrate import Assert, EventLog
        >>> ann, at, cafe, home = (ox.NamedNode(f"urn:{name}") for name in ("ann", "at", "cafe", "home"))
        >>> forks = worlds(EventLog(), at=0, interventions=[Assert((ann, at, cafe)), Assert((ann, at, home))])
        >>> results = list(forks.query("SELECT ?place { <urn:ann> <urn:at> ?place }"))
        >>> [row["place"].value for result in results for row in result]
        ['urn:cafe', 'urn:home']
        """
        for branch in self._branches:
            yield branch.state(tick).query(sparql, **options)


def worlds(
    log: EventLog, at: int, interventions: Iterable[Intervention], emitter: Emitter | None = None
) -> Worlds:
    """Fork a log at tick ``at`` once per intervention.

    Each branch equals the result of :func:`substrate.branch.fork.fork` for its intervention; the shared part
    is kept only once.

    Args:
        log: the observed log.
        at: the branch tick.
        interventions: one intervention per world.
        emitter: produces each world's later deltas; by default the observed deltas are applied again.

    Raises:
        LogError: as :func:`substrate.branch.fork.fork`.
        InterventionError: a precondition does not hold; the error names the intervention.
        ParameterError: an argument has a wrong type or value.

    >>> from substrate import EventLog, Retract
    >>> log = EventLog()
    >>> log.extend_lines([(0, f"A <urn:{name}> <urn:in> <urn:cafe> .") for name in ("ann", "bo")])
    >>> without = [Retract(triple) for triple in sorted(log.state(), key=str)]
    >>> worlds(log, at=1, interventions=without).ask("ASK { <urn:ann> ?p ?o }")
    [False, True]
    """
    require(interventions, Iterable, "a list of interventions", "interventions")
    return Worlds(log, at, interventions, emitter)
