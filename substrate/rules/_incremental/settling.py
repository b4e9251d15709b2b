"""Rules applied to a state until none changes it, each only as far as something changed for it.

:func:`substrate.rules.fixpoint.settle` says what a fixpoint is. A rule's query is joined on the state's
triples once, and from then on with what changed (:mod:`substrate.rules._incremental.joins`). A query goes to
Oxigraph as it stands where it is beyond that, where a value comes up that is, and where a triple stands that
SPARQL may take for another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Op, Spelled
from substrate.base.errors import TBoxError
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.state import State
from substrate.rules._incremental.facts import BeyondError, Facts, is_plain
from substrate.rules._incremental.joins import Join, Solution, Step
from substrate.rules._incremental.premises import read_query
from substrate.rules._incremental.queries import constructed
from substrate.rules.rule import Rule
from substrate.rules.tbox import TBox

_MANY = 64
"""So many changed triples, and a query is joined anew."""


class RuleChanges(NamedTuple):
    """The changes that a rule made when it was applied once, in order; one at least."""

    rule: str
    deltas: list[Spelled]


class Settler:
    """Applies rules to one state, tick after tick.

    Args:
        rules: in the order of their application.
        tbox: where classes have their subclasses.
        state: what is changed; by this alone, as long as it is in use. It is brought up to date by
            :meth:`catch_up`.
    """

    def __init__(self, rules: Sequence[Rule], tbox: TBox, state: State) -> None:
        self._tbox = tbox
        self._state = state
        self._behind: list[Spelled] = []
        self._rules = [_Applied(_ready(rule, tbox)) for rule in rules]
        watching: dict[str, dict[str | None, list[tuple[_Applied, bool]]]] = {}
        for rule in self._rules:
            for aims, watched in enumerate((rule.ready.watched, rule.ready.aimed)):
                for predicate, objects in watched.items():
                    some = watching.setdefault(predicate, {None: []})
                    for object_ in objects or (None,):
                        some.setdefault(object_, []).append((rule, bool(aims)))
        for some in watching.values():
            anyone = some.pop(None)
            # Who watches any object watches these as well
            some.update((object_, those + anyone) for object_, those in some.items())
            some[None] = anyone
        self._watching = watching
        self._facts = Facts(watching)
        self._odd: set[str] = set()
        self._standing = state.texts()
        for text in self._standing:
            # No rule was applied yet: each is to look at everything
            self._note(text, came=True)

    def apply(self, delta: Spelled) -> bool:
        """Change the state by one operation; returns True if it made a difference."""
        _, op, text = delta
        came = op is Op.INSERT
        standing = self._standing
        if (text in standing) is came:
            return False
        (standing.add if came else standing.remove)(text)
        self._behind.append(delta)
        self._note(text, came=came)
        return True

    def catch_up(self) -> State:
        """The state, after all that was applied."""
        for _, op, text in self._behind:
            self._state._change(op, text)
        self._behind.clear()
        return self._state

    def _note(self, text: str, *, came: bool) -> None:
        """Take in a change, and tell the rules that watch it."""
        subject, predicate, object_ = text.split(" ", 2)
        some = self._watching.get(predicate)
        if some is None:
            return
        if subject[0] != "<" or not is_plain(object_):
            (self._odd.add if came else self._odd.discard)(text)
            return
        rules = some.get(object_) or some[None]
        if not rules:
            return
        fact = subject, predicate, object_
        (self._facts.add if came else self._facts.remove)(fact)
        step = came, fact
        for rule, aims in rules:
            if aims or rule.awake:
                rule.changes.append(step)

    def settle(self, tick: int, rounds: int) -> list[RuleChanges]:
        """The rules' changes at a tick, in order; errors as :func:`substrate.rules.fixpoint.settle`."""
        made: list[RuleChanges] = []
        net: set[str] = set()
        seen, power, age = frozenset(net), 1, 0
        last = 0
        for _ in range(rounds):
            last = len(made)
            for rule in self._rules:
                # A triple that only Oxigraph can judge is in no rule's changes
                if not rule.changes and not self._odd and rule.idles(tick):
                    continue
                deltas = rule.changed(self._facts, self.catch_up, tick, plain=not self._odd)
                if deltas and (deltas := list(filter(self.apply, deltas))):
                    net.symmetric_difference_update([delta.text for delta in deltas])
                    made.append(RuleChanges(rule.ready.rule.name, deltas))
            if len(made) == last:
                return made
            # Brent's cycle detection: a state that comes back will come back for ever.
            if net == seen:
                break
            age += 1
            if age == power:
                seen, power, age = frozenset(net), power * 2, 0
        raise TBoxError(
            f"the rules never settle; still firing: {', '.join(sorted({one.rule for one in made[last:]}))}",
            where=(self._tbox.name, f"tick {tick}"),
            hint="Let each rule's WHERE exclude what it has done",
        )


class _Ready(NamedTuple):
    """A rule made ready to be applied.

    ``watched`` and ``aimed`` say which triples decide what it gives and what its focus nodes are: by
    predicate, their objects, ``None`` for any.
    """

    rule: Rule
    tbox: TBox
    ending: Join | None
    beginning: Join | None
    targets: tuple[tuple[str, str, str], ...]
    watched: Mapping[str, frozenset[str] | None]
    aimed: Mapping[str, frozenset[str] | None]

    @property
    def joined(self) -> bool:
        """Tell whether nothing of the rule is beyond what is joined here."""
        return all((self.ending or not self.rule.retract, self.beginning or not self.rule.construct))

    @property
    def follows_tick(self) -> bool:
        """Tell whether the solutions of its queries depend on the tick."""
        return any(join.follows_tick for join in (self.ending, self.beginning) if join)


@lru_cache(maxsize=256)
def _ready(rule: Rule, tbox: TBox) -> _Ready:
    given = frozenset(("?tick", "?this") if rule.targets else ("?tick",))
    read = [
        read_query(query, dict(rule.prefixes), given) if query else None
        for query in (rule.retract, rule.construct)
    ]
    ending, beginning = (Join(query, given) if query else None for query in read)
    targets = tuple(_targets(rule, tbox))
    patterns = {pattern for query in read if query for pattern in query.body.all_patterns()}
    watched = _by_predicate((pattern.predicate, pattern.object) for pattern in patterns)
    aimed = _by_predicate(
        (predicate, term if kind == "targetClass" else "?")
        for kind, predicate, term in targets
        if kind != "targetNode"
    )
    return _Ready(rule, tbox, ending, beginning, targets, watched, aimed)


def _by_predicate(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str] | None]:
    """Objects by predicate, in the order of their text; ``None`` where a variable is among them."""
    found: dict[str, set[str]] = {}
    for predicate, object_ in sorted(pairs):
        found.setdefault(predicate, set()).add(object_)
    return {
        predicate: None if any(term[0] == "?" for term in terms) else frozenset(terms)
        for predicate, terms in found.items()
    }


def _targets(rule: Rule, tbox: TBox) -> list[tuple[str, str, str]]:
    """A rule's targets: kind, predicate to look under and term, all as in N-Triples."""
    found: list[tuple[str, str, str]] = []
    for kind, term in rule.targets:
        assert isinstance(term, ox.NamedNode)
        if kind == "targetClass":
            found += [(kind, str(RDF_TYPE), str(under)) for under in tbox.below(term)]
        else:
            found.append((kind, str(term), str(term)))
    return sorted(found)


class _Applied:
    """A rule as it is applied: the solutions of its queries, and the changes that they do not know yet."""

    def __init__(self, ready: _Ready) -> None:
        self.ready = ready
        self.changes: list[Step] = []
        """Triples that the rule watches and that have changed since it was applied last."""
        self.awake = True
        """True if it has focus nodes, or needs none; where it has none, nothing else counts."""
        self._ending = _Standing(ready, ready.rule.retract, ready.ending)
        self._beginning = _Standing(ready, ready.rule.construct, ready.beginning)
        self._foci: list[str] | None = None
        self._idle_at: int | None = None
        self._joined = ready.joined
        self._follows_tick = ready.follows_tick

    def idles(self, tick: int) -> bool:
        """Tell whether the rule gave nothing the last time, and would not but for changes."""
        idle_at = self._idle_at
        return idle_at is not None and (idle_at == tick or not self._follows_tick or not self.awake)

    def changed(self, facts: Facts, state: Callable[[], State], tick: int, *, plain: bool) -> list[Spelled]:
        """The rule's changes to the state: retractions, then insertions, each in the order of their text."""
        changes, self.changes = self.changes, []
        self._find_foci(facts, changes)
        self._idle_at = None
        if plain and not self.awake:
            self._idle_at = tick
            return []
        ending, beginning = [
            standing.given(changes, facts, state, tick, self._foci, plain=plain)
            for standing in (self._ending, self._beginning)
        ]
        if not ending and not beginning:
            if plain and self._joined:
                self._idle_at = tick
            return []
        return [
            *[Spelled(tick, Op.RETRACT, text) for text in sorted(ending - beginning)],
            *[Spelled(tick, Op.INSERT, text) for text in sorted(beginning)],
        ]

    def _find_foci(self, facts: Facts, changes: list[Step]) -> None:
        """Bring the focus nodes up to date; where they change, the solutions are to be found anew."""
        ready = self.ready
        if not ready.targets:
            return
        if self._foci is not None and not any(fact[1] in ready.aimed for _, fact in changes):
            return
        found: set[str] = set()
        for kind, predicate, term in ready.targets:
            if kind == "targetNode":
                found.add(term)
            elif kind == "targetClass":
                found.update(facts.subjects[predicate].get(term, ()))
            else:
                ends = facts.objects if kind == "targetSubjectsOf" else facts.subjects
                found.update(term for term in ends[predicate] if term[0] == "<")
        if sorted(found) != self._foci:
            self._foci = sorted(found)
            self.awake = bool(found)
            self._ending.forget()
            self._beginning.forget()


class _Standing:
    """A query of a rule: its solutions, as far as they are known, and what they give."""

    def __init__(self, ready: _Ready, query: str | None, join: Join | None) -> None:
        self._ready = ready
        self._query = query
        self._join = join
        self._solutions: set[Solution] | None = None
        self._given: set[str] = set()
        self._tick = -1

    def forget(self) -> None:
        """Find everything anew the next time."""
        self._solutions = None

    def given(
        self,
        changes: Sequence[Step],
        facts: Facts,
        state: Callable[[], State],
        tick: int,
        foci: Sequence[str] | None,
        *,
        plain: bool,
    ) -> set[str]:
        """The triples that the query gives now."""
        if self._query is None:
            return set()
        if plain and self._join:
            try:
                return self._joined(self._join, changes, facts, tick, foci)
            except BeyondError:
                pass
        self._solutions = None
        return constructed(self._ready.rule, self._query, self._ready.tbox, state(), tick)

    def _joined(
        self, join: Join, changes: Sequence[Step], facts: Facts, tick: int, foci: Sequence[str] | None
    ) -> set[str]:
        term = f'"{tick}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        later, self._tick = tick != self._tick, tick
        solutions = self._solutions
        # Whoever fails on the way has no solutions
        self._solutions = None
        if solutions is None or (later and join.follows_tick) or len(changes) > _MANY:
            solutions = join.all(facts, term, foci)
            touched = True
        else:
            touched = bool(changes) and join.renew(solutions, changes, facts, term, foci)
        if touched or (later and join.tells_tick):
            self._given = join.gives(solutions, term)
        self._solutions = solutions
        return self._given
