"""Why an arm's answer is what it is: the intervention, the events of both arms that bear on it, the deltas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from substrate.domains.smallville.format import Spec
from substrate.domains.smallville.twin import (
    ARMS,
    TERMS,
    answer,
    ask_query,
    asked_triple,
    change,
    entity,
    replay_twin,
    village_tbox,
)
from substrate.log import Delta, EventLog, Term
from substrate.questions import Occurrence, occurrences
from substrate.replay import State


class Happening(NamedTuple):
    """An event in words, and the position of the delta behind it in each arm; ``None`` where it does not
    happen.
    """

    tick: int
    words: str
    a: int | None
    b: int | None


class Evidence(NamedTuple):
    """A delta of the explained arm: its position, tick, operation and triple."""

    position: int
    tick: int
    op: str
    triple: str


class Explanation(NamedTuple):
    """An arm's answer and what it rests on.

    ``happenings`` are the events from the branch on that an asked agent takes part in, or that happen in one
    arm only; ``ticks`` those at which the asked triple holds in this arm; ``deltas`` the intervention's, and
    those that changed the asked triple.
    """

    question: str
    arm: str
    branch: int
    horizon: int
    intervention: str
    query: str
    ticks: list[int]
    happenings: list[Happening]
    deltas: list[Evidence]
    answer: str

    def text(self) -> str:
        """The explanation for a reader.

        >>> Explanation("Is Ann in?", "a", 1, 2, "Ann is put at home", "ASK { }", [], [], [], "no").text().splitlines()[0]
        'Is Ann in?'
        """
        lines = [
            self.question,
            f"  arm {self.arm} of a fork at tick {self.branch}; in arm b {self.intervention}",
            "",
            f"  {self.query}",
            "",
        ]
        if self.happenings:
            lines += [
                "  events that bear on it, and their deltas in each arm:",
                f"  {'tick':>4}  {'arm a':>8}  {'arm b':>8}",
            ]
            lines += [
                f"  {h.tick:>4}  {_position(h.a):>8}  {_position(h.b):>8}  {h.words}" for h in self.happenings
            ]
            lines.append("")
        lines += [f"  tick {d.tick:>3}  delta {d.position:>5}  {d.op:<7} {d.triple}" for d in self.deltas]
        lines.append(
            f"  holds at {', '.join(map(str, self.ticks)) or 'none'} of the ticks {self.branch} to {self.horizon}"
        )
        return "\n".join([*lines, f"  answer: {self.answer}"]) + "\n"


def explain(spec: Spec, arm: str) -> Explanation:
    """Explain one arm of a specification, replayed from its text.

    Args:
        spec: the specification.
        arm: ``a`` or ``b``.

    Raises:
        InterventionError: the intervention would change nothing.
    """
    twin = replay_twin(spec)
    log, asked = twin[ARMS.index(arm)], asked_triple(spec)
    past = log.history(asked)
    span = range(spec.branch, spec.village.horizon + 1)
    return Explanation(
        spec.query.text,
        arm,
        spec.branch,
        spec.village.horizon,
        _intervention(spec),
        ask_query(spec),
        [tick for tick in span if past.holds(tick)],
        _happenings(spec, twin.a, twin.b),
        [
            *(_intervened(spec, log) if arm == "b" else []),
            *(_evidence(c.position, c.delta) for c in past.changes),
        ],
        answer(spec, log),
    )


def _happenings(spec: Spec, a: EventLog, b: EventLog) -> list[Happening]:
    names: dict[Term, str] = {
        entity(named.id): named.name
        for named in (*spec.village.agents, *spec.village.places, *spec.village.facts)
    }
    asked = {entity(name) for name in (spec.query.agent, spec.query.other) if name}
    here, there = (
        {o.node: o for o in occurrences(log, village_tbox()) if o.tick >= spec.branch} for log in (a, b)
    )
    states, found = (a.state(), b.state()), []
    for node in here.keys() | there.keys():
        first, second = here.get(node), there.get(node)
        event = first or second
        assert event is not None
        if event.participants & asked or not (first and second):
            words = _words(event, states[0 if first else 1], names)
            found.append(
                Happening(
                    event.tick, words, first.position if first else None, second.position if second else None
                )
            )
    return sorted(found, key=lambda h: (h.tick, min(p for p in (h.a, h.b) if p is not None), h.words))


_EVENTS = {
    "Visit": "{who} goes to {venue}",
    "Meeting": "{who} meet at {venue}",
    "Telling": "{teller} tells {hearer} that {told}",
}


def _words(event: Occurrence, state: State, names: Mapping[Term, str]) -> str:
    """An event as a sentence; its roles are what the state says of it."""
    roles: dict[str, list[str]] = {}
    for _, predicate, value in state.match(event.node):
        roles.setdefault(predicate.value.removeprefix(TERMS), []).append(names.get(value, ""))
    return _EVENTS[event.kind.value.removeprefix(TERMS)].format(
        **{role: " and ".join(sorted(who)) for role, who in roles.items()}
    )


_CHANGES = {
    "assert": "{agent} also plans to be at {goal} from tick {start}{condition}",
    "retract": "{agent} no longer plans to be at {goal} from tick {start}{condition}",
    "override_location": "{agent} is put at {place}",
    "assert_awareness": "{agent} knows that {fact}",
    "retract_awareness": "{agent} forgets that {fact}",
}


def _intervention(spec: Spec) -> str:
    """The intervention in words."""
    act, plan = spec.intervention, spec.intervention.plan
    names = {
        named.id: named.name for named in (*spec.village.agents, *spec.village.places, *spec.village.facts)
    }
    condition = f" if they know then that {names[plan.if_knows]}" if plan and plan.if_knows else ""
    return _CHANGES[act.type].format(
        agent=names[act.agent],
        place=names.get(act.place or ""),
        fact=names.get(act.fact or ""),
        goal=names.get(plan.goal if plan else ""),
        start=plan and plan.start,
        condition=condition,
    )


def _intervened(spec: Spec, log: EventLog) -> list[Evidence]:
    """The intervention's own deltas: the first of arm B's at the branch tick."""
    start = log.position(spec.branch - 1)
    changed = change(spec.intervention).deltas(log.state(spec.branch - 1), spec.branch)
    return [_evidence(start + index, delta) for index, delta in enumerate(changed)]


def _evidence(position: int, delta: Delta) -> Evidence:
    return Evidence(position, delta.tick, delta.op.name.lower(), " ".join(map(str, delta.triple)))


def _position(position: int | None) -> str:
    return "-" if position is None else str(position)
