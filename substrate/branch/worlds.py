"""Many counterfactual worlds at once: branches of one log that share it, asked in one pass."""

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
    """The branches of a log under several interventions, in their order; each is a log as any fork is.

    They share their parent's deltas, its triples and its stores: a branch takes the room of its own
    deltas, and a query of all moves one store from branch to branch by what they do not have in common.

    Attributes:
        parent: the log that they come from, unchanged.
        at: the branch tick.
        interventions: one for each branch.

    >>> from substrate import EventLog, Retract
    >>> log = EventLog()
    >>> log.extend_lines([(0, f"A <urn:{name}> <urn:in> <urn:cafe> .") for name in ("ann", "bo")])
    >>> without = [Retract(triple) for triple in sorted(log.state(), key=str)]
    >>> found = worlds(log, at=1, interventions=without)
    >>> len(found), [len(branch.state()) for branch in found]
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
        """The answers of an ASK query, one for each branch.

        Args:
            sparql: an ASK query.
            tick: when it is asked; after each branch's last delta unless given.
            options: as those of :meth:`substrate.log.state.State.query`.

        Raises:
            SyntaxError: the query is not SPARQL.
            ParameterError: the query is no ASK.

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
                raise ParameterError("the query is no ASK", where=("sparql",), hint=hint)
            answers.append(bool(answer))
        return answers

    def query(
        self, sparql: str, *, tick: int | None = None, **options: Any
    ) -> Iterator[ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples]:
        """The results of any query, one for each branch, each asked when it is taken.

        A result stays what it is while the next ones are asked. Arguments and errors as :meth:`ask`.

        >>> from substrate import Assert, EventLog
        >>> ann, at, cafe, home = (ox.NamedNode(f"urn:{name}") for name in ("ann", "at", "cafe", "home"))
        >>> found = worlds(EventLog(), at=0, interventions=[Assert((ann, at, cafe)), Assert((ann, at, home))])
        >>> results = list(found.query("SELECT ?place { <urn:ann> <urn:at> ?place }"))
        >>> [row["place"].value for result in results for row in result]
        ['urn:cafe', 'urn:home']
        """
        for branch in self._branches:
            yield branch.state(tick).query(sparql, **options)


def worlds(
    log: EventLog, at: int, interventions: Iterable[Intervention], emitter: Emitter | None = None
) -> Worlds:
    """The worlds that would be, had each of several interventions happened at tick ``at``.

    Each branch is what :func:`substrate.branch.fork.fork` gives for its intervention; what they have in
    common is kept and queried once for all.

    Args:
        log: the observed log.
        at: the branch tick.
        interventions: one for each world.
        emitter: what follows in each; the observed deltas, as set operations, unless given.

    Raises:
        LogError: as :func:`substrate.branch.fork.fork`.
        InterventionError: a pre-condition does not hold; says of which intervention.
        ParameterError: an argument is not what it has to be.

    >>> from substrate import EventLog, Retract
    >>> log = EventLog()
    >>> log.extend_lines([(0, f"A <urn:{name}> <urn:in> <urn:cafe> .") for name in ("ann", "bo")])
    >>> without = [Retract(triple) for triple in sorted(log.state(), key=str)]
    >>> worlds(log, at=1, interventions=without).ask("ASK { <urn:ann> ?p ?o }")
    [False, True]
    """
    require(interventions, Iterable, "a list of interventions", "interventions")
    return Worlds(log, at, interventions, emitter)
