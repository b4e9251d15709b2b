"""Why an arm's answer is what it is: the intervention, the events that bear on it, the asked triple.

What an arm's answer rests on lies in that arm's log; what happens in the other arm alone, in the other's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from substrate.domains.smallville.format import Spec
from substrate.domains.smallville.twin import (
    ARMS,
    ENTITIES,
    TERMS,
    Twin,
    answer,
    ask_query,
    asked_ticks,
    asked_triples,
    change,
    entity,
    village_tbox,
)
from substrate.explanation import OWN, Evidence, ExplainedPart, ExplainedStep, Explanation, short
from substrate.log import EventLog, Term
from substrate.questions import Occurrence, occurrences
from substrate.replay import State

_NAMES = {TERMS: ":", ENTITIES: ""}


def explain(spec: Spec, arm: str, twin: Twin) -> Explanation:
    """Explain one arm of a specification.

    Args:
        spec: the specification.
        arm: ``a`` or ``b``.
        twin: both arms; the logs that the answers were computed from.

    The steps are the fork, each event from the branch on that an asked agent takes part in or that happens
    in one arm only, and the question. The other arm's log is among the explanation's, as ``arm a`` or
    ``arm b``.
    """
    number = ARMS.index(arm)
    own, other = twin[number], twin[1 - number]
    other_name = f"arm {ARMS[1 - number]}"
    said = answer(spec, own)
    steps = (_forked(spec, twin, arm), *_events(spec, own, other, arm, other_name), _asked(spec, own, said))
    return Explanation(
        spec.query.text,
        said,
        (ExplainedPart("", steps, said),),
        {OWN: own, other_name: other},
        _NAMES,
    )


def _forked(spec: Spec, twin: Twin, arm: str) -> ExplainedStep:
    """The intervention's own deltas: the first of arm B's at the branch tick."""
    start = twin.b.position(spec.branch - 1)
    changed = list(change(spec.intervention).deltas(twin.b.state(spec.branch - 1), spec.branch))
    log = OWN if arm == "b" else "arm b"
    evidence = tuple(Evidence(start + index, log) for index in range(len(changed)))
    return ExplainedStep(
        "fork", f"in arm b {intervention(spec)}", (f"tick {spec.branch}",), evidence=evidence
    )


def _asked(spec: Spec, log: EventLog, said: str) -> ExplainedStep:
    """The question, asked at each tick that it is about."""
    asked = asked_ticks(spec)
    triples = asked_triples(spec)
    pasts = [log.history(triple) for triple in triples]
    ticks = [str(tick) for tick in asked if all(past.holds(tick) for past in pasts)]
    pattern = " and ".join(" ".join(short(term, _NAMES) for term in triple) for triple in triples)
    span = f"{asked.start} to {spec.village.horizon}"
    return ExplainedStep(
        "ask",
        f"{said}: it holds at {', '.join(ticks) or 'none'} of these ticks",
        (f"ticks {span}",),
        f"at each tick from {span}:\n{ask_query(spec)}",
        tuple(Evidence(made.position) for past in pasts for made in past.changes),
        () if ticks else (pattern,),
    )


class _Happening(NamedTuple):
    """An event as it is told: its tick, the sentence, in which arm it happens, its deltas."""

    tick: int
    words: str
    where: str
    evidence: tuple[Evidence, ...]


def _events(spec: Spec, own: EventLog, other: EventLog, arm: str, other_name: str) -> list[ExplainedStep]:
    names = _names(spec)
    asked = {entity(name) for name in (spec.query.agent, spec.query.other) if name}
    here, there = (_happening_since(spec.branch, log) for log in (own, other))
    states = own.state(), other.state()
    found: list[_Happening] = []
    for node in here.keys() | there.keys():
        event = here.get(node) or there[node]
        in_both = node in here and node in there
        if in_both and not event.participants & asked:
            continue
        if node in here:
            evidence = _deltas(own, event, OWN)
            words = _words(event, states[0], names)
            where = "in both arms" if in_both else f"in arm {arm} only"
        else:
            evidence = _deltas(other, event, other_name)
            words = _words(event, states[1], names)
            where = f"in {other_name} only"
        found.append(_Happening(event.tick, words, where, evidence))
    found.sort(key=lambda happening: (happening.tick, min(happening.evidence), happening.words))
    return [
        ExplainedStep(f"tick {tick}", words, (where,), evidence=evidence)
        for tick, words, where, evidence in found
    ]


def _happening_since(branch: int, log: EventLog) -> dict[Term, Occurrence]:
    return {event.node: event for event in occurrences(log, village_tbox()) if event.tick >= branch}


def _deltas(log: EventLog, event: Occurrence, name: str) -> tuple[Evidence, ...]:
    """The deltas of an event's tick that are about it."""
    at_its_tick = range(log.position(event.tick - 1), log.position(event.tick))
    return tuple(
        Evidence(position, name) for position in at_its_tick if log[position].triple[0] == event.node
    )


def _names(spec: Spec) -> dict[Term, str]:
    village = spec.village
    return {entity(named.id): named.name for named in (*village.agents, *village.places, *village.facts)}


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
    told = {role: _listed(who) for role, who in roles.items()}
    return _EVENTS[event.kind.value.removeprefix(TERMS)].format(**told)


def _listed(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))


_CHANGES = {
    "assert": "{agent} also plans to be at {goal} from tick {start}{condition}",
    "retract": "{agent} no longer plans to be at {goal} from tick {start}{condition}",
    "override_location": "{agent} is put at {place}",
    "assert_awareness": "{agent} knows that {fact}",
    "retract_awareness": "{agent} forgets that {fact}",
}


def intervention(spec: Spec) -> str:
    """A specification's intervention in words."""
    act, plan = spec.intervention, spec.intervention.plan
    village = spec.village
    names = {named.id: named.name for named in (*village.agents, *village.places, *village.facts)}
    condition = f" if they know then that {names[plan.if_knows]}" if plan and plan.if_knows else ""
    return _CHANGES[act.type].format(
        agent=names[act.agent],
        place=names.get(act.place or ""),
        fact=names.get(act.fact or ""),
        goal=names.get(plan.goal if plan else ""),
        start=plan and plan.start,
        condition=condition,
    )
