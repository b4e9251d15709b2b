"""Why an arm's answer is what it is: the intervention, the events that bear on it, the asked triple.

What an arm's answer rests on lies in that arm's log; what happens in another arm alone, in that one's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pyoxigraph as ox

from substrate.ask.questions import Occurrence, occurrences
from substrate.cause.explanation import OWN, Evidence, ExplainedPart, ExplainedStep, Explanation, short
from substrate.domains.smallville.format import ArmIntervention, Spec
from substrate.domains.smallville.twin import (
    ENTITIES,
    TERMS,
    answer,
    ask_query,
    asked_ticks,
    asked_triple,
    change,
    entity,
    term,
    village_tbox,
)
from substrate.log.event_log import EventLog, Term
from substrate.log.replay import State

_NAMES = {TERMS: ":", ENTITIES: ""}


def explain(spec: Spec, arm: str, logs: Sequence[EventLog]) -> Explanation:
    """Explain one arm of a specification.

    Args:
        spec: the specification.
        arm: ``a``, ``b``, or ``c`` where there are three.
        logs: of its arms, in their order; the logs that the answers were computed from.

    The steps are the forks, each event from the branch on that an asked agent takes part in or that does not
    happen in every arm, and the question. The other arms' logs are among the explanation's, as ``arm a`` and
    so on.
    """
    arms = _Arms(arm, dict(zip(spec.arms, logs, strict=True)))
    own = arms.logs[arm]
    said = answer(spec, own)
    steps = (*_forks(spec, arms), *_events(spec, arms), _asked(spec, own, said))
    others = {arms.called(other): log for other, log in arms.logs.items() if other != arm}
    part = ExplainedPart("", steps, said, rule="the question, asked of the ticks of this arm's replay")
    return Explanation(spec.query.text, said, (part,), {OWN: own, **others}, _NAMES)


class _Arms(NamedTuple):
    """The arm that is explained, and the logs of all."""

    own: str
    logs: Mapping[str, EventLog]

    def called(self, arm: str) -> str:
        """The name of an arm's log in evidence."""
        return OWN if arm == self.own else f"arm {arm}"


def _forks(spec: Spec, arms: _Arms) -> list[ExplainedStep]:
    """Each intervention's own deltas: the first of its arm at the branch tick."""
    found: list[ExplainedStep] = []
    for arm, act in spec.acts.items():
        if act:
            log = arms.logs[arm]
            start = log.position(spec.branch - 1)
            changed = list(change(act).deltas(log.state(spec.branch - 1), spec.branch))
            evidence = tuple(Evidence(start + index, arms.called(arm)) for index in range(len(changed)))
            words = f"in arm {arm} {intervention(spec, act)}"
            found.append(ExplainedStep("fork", words, (f"tick {spec.branch}",), evidence=evidence))
    return found


def _asked(spec: Spec, log: EventLog, said: str) -> ExplainedStep:
    """The question, asked at each tick that it is about."""
    asked = asked_ticks(spec)
    triple = asked_triple(spec)
    past = log.history(triple)
    ticks = [str(tick) for tick in asked if past.holds(tick)]
    pattern = " ".join(short(part, _NAMES) for part in triple)
    span = f"{asked.start} to {spec.village.horizon}"
    return ExplainedStep(
        "ask",
        f"{said}: it holds at {', '.join(ticks) or 'none'} of these ticks",
        (f"ticks {span}",),
        f"at each tick from {span}:\n{ask_query(spec)}",
        tuple(Evidence(made.position) for made in past.changes),
        () if ticks else (pattern,),
    )


class _Happening(NamedTuple):
    """An event as it is told: its tick, the sentence, in which arms it happens, its deltas."""

    tick: int
    words: str
    where: str
    evidence: tuple[Evidence, ...]


def _events(spec: Spec, arms: _Arms) -> list[ExplainedStep]:
    names = _names(spec)
    asked = {entity(name) for name in (spec.query.agent, spec.query.other) if name}
    happened = {arm: _happening_since(spec, log) for arm, log in arms.logs.items()}
    states = {arm: log.state() for arm, log in arms.logs.items()}
    found: list[_Happening] = []
    for node in set().union(*happened.values()):
        where = [arm for arm in spec.arms if node in happened[arm]]
        told_of = arms.own if arms.own in where else where[0]
        event = happened[told_of][node]
        if len(where) == len(spec.arms) and not event.participants & asked:
            continue
        evidence = _deltas(arms.logs[told_of], event, arms.called(told_of))
        words = _words(event, states[told_of], names)
        found.append(_Happening(event.tick, words, _where(where, len(spec.arms)), evidence))
    found.sort(key=lambda happening: (happening.tick, min(happening.evidence), happening.words))
    return [
        ExplainedStep(f"tick {tick}", words, (where,), evidence=evidence)
        for tick, words, where, evidence in found
    ]


def _where(arms: Sequence[str], of: int) -> str:
    if len(arms) == of:
        return "in both arms" if of == 2 else "in all arms"
    return f"in arm {arms[0]} only" if len(arms) == 1 else f"in arms {' and '.join(arms)} only"


def _happening_since(spec: Spec, log: EventLog) -> dict[Term, Occurrence]:
    """The events from the branch on; of the reports, those of what is asked."""
    found: dict[Term, Occurrence] = {
        event.node: event for event in occurrences(log, village_tbox()) if event.tick >= spec.branch
    }
    if spec.query.type == "knows_that":
        reports = {node for node, event in found.items() if event.kind == term("Report")}
        asked = {node for node, _, _ in log.state().match(None, term("reported"), asked_triple(spec)[2])}
        found = {node: event for node, event in found.items() if node not in reports - asked}
    return found


def _deltas(log: EventLog, event: Occurrence, name: str) -> tuple[Evidence, ...]:
    """The deltas of an event's tick that are about it."""
    at_its_tick = enumerate(log.between(event.tick, event.tick), log.position(event.tick - 1))
    return tuple(Evidence(position, name) for position, delta in at_its_tick if delta.triple[0] == event.node)


def _names(spec: Spec) -> dict[Term, str]:
    village = spec.village
    named: dict[Term, str] = {
        entity(one.id): one.name for one in (*village.agents, *village.places, *village.facts)
    }
    _, _, asked = asked_triple(spec)
    if isinstance(asked, ox.Triple):
        named[asked] = f"{named[asked.subject]} knows that {named[asked.object]}"
    return named


_EVENTS = {
    "Visit": "{who} goes to {venue}",
    "Meeting": "{who} meet at {venue}",
    "Telling": "{teller} tells {hearer} that {told}",
    "Report": "{teller} tells {hearer} that {reported}",
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


def intervention(spec: Spec, act: ArmIntervention) -> str:
    """An intervention of a specification in words."""
    plan = act.plan
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
