"""Apply rules to a state until nothing changes: the engine behind :mod:`substrate.rules.fixpoint`.

:class:`Settler` holds the state and runs the rules in rounds. Most of the cost is Oxigraph's, which runs the
queries. So each rule keeps its last result, and its queries run again only after a change of a triple that
they may read (:mod:`substrate.rules.queries` says which). After such a change the last result is *stale*.

A store *merges* two triples that spell the same value, such as ``"1"`` and ``"01"``. The dictionary of the
standing triples keeps both. Once it has such a pair, the store is filled anew for each query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.arguments import require_count
from substrate.base.delta import Delta, Op, Triple, triple_of
from substrate.base.errors import TBoxError
from substrate.base.ntriples import quads_of
from substrate.log.state import State
from substrate.rules.queries import constructed, focus_nodes, ticking, watched
from substrate.rules.rule import Rule
from substrate.rules.shapes import Changes, broken
from substrate.rules.tbox import TBox


class Firing(NamedTuple):
    """A change that a rule made: the rule's name and the delta.

    >>> from substrate import EventLog, RuleEmitter
    >>> box = TBox.load("village")
    >>> firings = RuleEmitter(box).firings(box.opening().state(0), EventLog(), start=1, until=2)
    >>> next(firings).rule
    'meet'
    """

    rule: str
    delta: Delta


class _CachedRule:
    """A rule with its queries' cached result, valid until a change in a triple they read."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.stale = True
        self._tick = -1
        self._properties = ticking(rule)
        """The properties whose value the rule compares with the tick; ``None`` if it compares otherwise."""
        self._reads_tick = True
        """Whether the cached result may be another at another tick."""
        self._result: tuple[dict[str, ox.Quad], ...] = {}, {}
        """The triples to retract and to insert, by their text."""

    def changes(self, tbox: TBox, store: Callable[[], ox.Store], tick: int) -> list[tuple[Op, str, ox.Quad]]:
        """Retractions, then insertions, both sorted by text.

        The queries run again if a triple that they read has changed, or if the tick is another and may change
        their result: the rule read the last tick, or it gave a result, or it may read this tick.
        """
        moved, self._tick = tick != self._tick, tick
        if self.stale or (moved and (self._reads_tick or any(self._result) or self._may_read(store(), tick))):
            self.stale = False
            foci = focus_nodes(self.rule, tbox, store(), tick)
            self._result = tuple(
                constructed(self.rule, query, tbox, store(), tick, foci) if query and foci else {}
                for query in (self.rule.retract, self.rule.construct)
            )
            self._reads_tick = self._may_read(store(), tick)
        ending, beginning = self._result
        return [
            *((Op.RETRACT, text, ending[text]) for text in sorted(ending.keys() - beginning)),
            *((Op.INSERT, text, beginning[text]) for text in sorted(beginning)),
        ]

    def _may_read(self, store: ox.Store, tick: int) -> bool:
        """Tell whether the rule may find something at this tick that it does not find at other ticks."""
        if self._properties is None:
            return True
        value = ox.Literal(tick)
        return any(any(store.quads_for_pattern(None, predicate, value)) for predicate in self._properties)


class Settler:
    """Apply rules to a copy of a state, tick after tick."""

    def __init__(self, rules: Sequence[Rule], tbox: TBox, state: State) -> None:
        self._tbox = tbox
        self._standing = dict(zip(texts := sorted(state.texts()), quads_of(texts), strict=True))
        self._store = ox.Store()
        self._store.extend(self._standing.values())
        self._merges = len(self._store) < len(self._standing)
        self._rules = [_CachedRule(rule) for rule in rules]
        self._watching: dict[str | None, list[tuple[str | None, _CachedRule]]] = {}
        for applied in self._rules:
            for predicate, object_ in watched(applied.rule, tbox):
                self._watching.setdefault(predicate, []).append((object_, applied))

    def take(self, tick: int, op: Op, quad: ox.Quad) -> Firing:
        """Apply a given delta."""
        self._apply(op, str(quad), quad)
        return Firing("", Delta._make((tick, op, triple_of(quad))))

    def broken(self, made: Sequence[Firing]) -> list[str]:
        """The shapes that the rules' changes break, in words."""
        changed = [ox.Quad(*firing.delta.triple) for firing in made]

        def before() -> Iterator[Triple]:
            standing = dict(self._standing)
            for (_, (_, op, _)), quad in zip(reversed(made), reversed(changed), strict=True):
                standing.pop(str(quad), None)
                standing |= {str(quad): quad} if op is Op.RETRACT else {}
            return map(triple_of, standing.values())

        def after() -> Iterator[Triple]:
            return map(triple_of, self._standing.values())

        return broken(self._tbox, Changes(changed, self._current_store(), not self._merges, before, after))

    def _apply(self, op: Op, text: str, quad: ox.Quad) -> bool:
        """Change the state by one operation; return True if it made a difference."""
        inserts = op is Op.INSERT
        if (text in self._standing) is inserts:
            return False
        if inserts:
            # A store merges two triples that spell the same value, and would retract them together. So after
            # the first such pair it is filled anew for each query
            self._merges = self._merges or quad in self._store
            self._standing[text] = quad
            self._store.add(quad)
        else:
            del self._standing[text]
            self._store.remove(quad)
        _, predicate, object_ = text.split(" ", 2)
        for key in (predicate, None):
            for wanted, applied in self._watching.get(key, ()):
                applied.stale = applied.stale or wanted in (None, object_)
        return True

    def _current_store(self) -> ox.Store:
        if self._merges:
            self._store = ox.Store()
            self._store.extend(self._standing.values())
        return self._store

    def settle(self, tick: int, rounds: int) -> Iterator[Firing]:
        """The rules' changes at a tick, in order; errors as :func:`settle`."""
        require_count(rounds, "rounds")
        net: set[str] = set()  # the triples in which the state differs from the tick's first state
        seen, power, age = frozenset(net), 1, 0
        firing: set[str] = set()
        for _ in range(rounds):
            firing.clear()
            for applied in self._rules:
                name = applied.rule.name
                for op, text, quad in applied.changes(self._tbox, self._current_store, tick):
                    if self._apply(op, text, quad):
                        net ^= {text}
                        firing.add(name)
                        yield Firing(name, Delta._make((tick, op, triple_of(quad))))
            if not firing:
                return
            # Brent's cycle detection: a state that recurs once will recur for ever.
            if net == seen:
                break
            age += 1
            if age == power:
                seen, power, age = frozenset(net), power * 2, 0
        what = f"the rules never settle; still firing: {', '.join(sorted(firing))}"
        hint = "Let each rule's WHERE exclude what the rule has already done"
        raise TBoxError(what, where=(self._tbox.name, f"tick {tick}"), hint=hint)
