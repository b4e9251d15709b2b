"""Why an arm's answer is what it is: the intervention, the events that bear on it, the asked triple.

The evidence of an arm's answer lies in that arm's log; that of an event of another arm alone, in that one's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
    arms: dict[str, EventLog] = dict(zip(spec.arms, logs, strict=True))
    # The name of an arm's log in evidence
    called = {name: OWN if name == arm else f"arm {name}" for name in arms}
    reply = answer(spec, arms[arm])
    steps = (*_forks(spec, arms, called), *_events(spec, arm, arms, called), _asked(spec, arms[arm], reply))
    part = ExplainedPart("", steps, reply, rule="the question, asked of the ticks of this arm's replay")
    all_logs = {OWN: arms[arm]} | {called[name]: log for name, log in arms.items()}
    return Explanation(spec.query.text, reply, (part,), all_logs, _NAMES)


def _forks(spec: Spec, arms: Mapping[str, EventLog], called: Mapping[str, str]) -> Iterator[ExplainedStep]:
    """Each intervention's own deltas: the first of its arm at the branch tick."""
    for arm, act in spec.acts.items():
        if act:
            log, before = arms[arm], spec.branch - 1
            changed = len(list(change(act).deltas(log.state(before), spec.branch)))
            places = range(log.position(before), log.position(before) + changed)
            evidence = tuple(Evidence(place, called[arm]) for place in places)
            words = f"in arm {arm} {intervention(spec, act)}"
            yield ExplainedStep("fork", words, (f"tick {spec.branch}",), evidence=evidence)


def _asked(spec: Spec, log: EventLog, reply: str) -> ExplainedStep:
    """The question, asked at each tick that it is about."""
    past = log.history(asked_triple(spec))
    ticks = [str(tick) for tick in asked_ticks(spec) if past.holds(tick)]
    pattern = " ".join(short(part, _NAMES) for part in asked_triple(spec))
    span = f"{spec.branch} to {spec.village.horizon}"
    return ExplainedStep(
        "ask",
        f"{reply}: it holds at {', '.join(ticks) or 'none'} of these ticks",
        (f"ticks {span}",),
        f"at each tick from {span}:\n{ask_query(spec)}",
        tuple(Evidence(made.position) for made in past.changes),
        () if ticks else (pattern,),
    )


def _events(
    spec: Spec, own: str, arms: Mapping[str, EventLog], called: Mapping[str, str]
) -> list[ExplainedStep]:
    """The events that bear on the question, by tick: told of this arm where it has them."""
    agents = {entity(name) for name in (spec.query.agent, spec.query.other) if name}
    happened = {arm: _happening_since(spec, log) for arm, log in arms.items()}
    states, names = {arm: log.state() for arm, log in arms.items()}, _names(spec)
    entries: list[tuple[int, Evidence, str, ExplainedStep]] = []
    for node in set().union(*happened.values()):
        where = [arm for arm in spec.arms if node in happened[arm]]
        told_of = own if own in where else where[0]
        event, log = happened[told_of][node], arms[told_of]
        if len(where) == len(spec.arms) and not event.participants & agents:
            continue
        deltas = enumerate(log.between(event.tick, event.tick), log.position(event.tick - 1))
        about = [position for position, delta in deltas if delta.triple[0] == node]
        evidence = tuple(Evidence(position, called[told_of]) for position in about)
        words, place = _words(event, states[told_of], names), _where(where, len(spec.arms))
        step = ExplainedStep(f"tick {event.tick}", words, (place,), evidence=evidence)
        entries.append((event.tick, min(evidence), words, step))
    return [step for *_, step in sorted(entries, key=lambda entry: entry[:3])]


def _where(arms: Sequence[str], of: int) -> str:
    if len(arms) == of:
        return "in both arms" if of == 2 else "in all arms"
    return f"in arm {arms[0]} only" if len(arms) == 1 else f"in arms {' and '.join(arms)} only"


def _happening_since(spec: Spec, log: EventLog) -> dict[Term, Occurrence]:
    """The events from the branch on; of the reports, only those of the fact that is asked about."""
    events: dict[Term, Occurrence] = {
        event.node: event for event in occurrences(log, village_tbox()) if event.tick >= spec.branch
    }
    if spec.query.type == "knows_that":
        reports = {node for node, event in events.items() if event.kind == term("Report")}
        answering = {node for node, _, _ in log.state().match(None, term("reported"), asked_triple(spec)[2])}
        events = {node: event for node, event in events.items() if node not in reports - answering}
    return events


def _names(spec: Spec) -> dict[Term, str]:
    named: dict[Term, str] = {entity(identifier): name for identifier, name in spec.village.names.items()}
    *_, object_ = asked_triple(spec)
    if isinstance(object_, ox.Triple):
        named[object_] = f"{named[object_.subject]} knows that {named[object_.object]}"
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
    told = {role: " and ".join(sorted(who)) for role, who in roles.items()}
    return _EVENTS[event.kind.value.removeprefix(TERMS)].format(**told)


_CHANGES = {
    "assert": "{agent} also plans to be at {goal} from tick {start}{condition}",
    "retract": "{agent} no longer plans to be at {goal} from tick {start}{condition}",
    "override_location": "{agent} is put at {place}",
    "assert_awareness": "{agent} knows that {fact}",
    "retract_awareness": "{agent} forgets that {fact}",
}


def intervention(spec: Spec, act: ArmIntervention) -> str:
    """An intervention of a specification in words."""
    names, plan = spec.village.names, act.plan
    return _CHANGES[act.type].format(
        agent=names[act.agent],
        place=names.get(act.place or ""),
        fact=names.get(act.fact or ""),
        goal=plan and names[plan.goal],
        start=plan and plan.start,
        condition=f" if they know then that {names[plan.if_knows]}" if plan and plan.if_knows else "",
    )
