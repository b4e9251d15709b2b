"""Explain an arm's answer: the intervention, the events that bear on the answer, the asked triple.

The evidence of an arm's answer is in that arm's log; the evidence of an event that only the other arm has is
in the other arm's log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrate.ask.questions import Occurrence, occurrences
from substrate.base.delta import Term
from substrate.cause.explanation import OWN, Evidence, ExplainedPart, ExplainedStep, Explanation, short
from substrate.domains.smallville import twin
from substrate.domains.smallville.format import ARMS, Spec
from substrate.log.event_log import EventLog
from substrate.log.state import State

_NAMES = {twin.TERMS: ":", twin.ENTITIES: ""}


def explain(spec: Spec, arm: str, logs: Sequence[EventLog]) -> Explanation:
    """Explain one arm of a specification.

    Args:
        spec: the specification.
        arm: ``a`` or ``b``.
        logs: the logs of its arms, in their order; the answers were computed from these logs.

    The steps are the fork, the question and, between them, each event from the branch on that involves an
    asked agent or does not happen in both arms. The explanation also has the other arm's log, as ``arm a``
    or ``arm b``.
    """
    arms: dict[str, EventLog] = dict(zip(ARMS, logs, strict=True))
    # The name of each arm's log in evidence.
    called = {name: OWN if name == arm else f"arm {name}" for name in arms}
    reply = twin.answer(spec, arms[arm])
    steps = (
        _fork(spec, arms["b"], called["b"]),
        *_events(spec, arm, arms, called),
        _asked(spec, arms[arm], reply),
    )
    part = ExplainedPart("", steps, reply, rule="the question, asked of the ticks of this arm's replay")
    all_logs = {OWN: arms[arm]} | {called[name]: log for name, log in arms.items()}
    return Explanation(spec.query.text, reply, (part,), all_logs, _NAMES)


def _fork(spec: Spec, log: EventLog, called: str) -> ExplainedStep:
    """The step of the intervention, with its deltas: arm B's first deltas at the branch tick."""
    start = log.position(spec.branch - 1)
    changed = len(list(twin.change(spec.intervention).deltas(log.state(spec.branch - 1), spec.branch)))
    evidence = tuple(Evidence(place, called) for place in range(start, start + changed))
    words = f"in arm b {intervention(spec)}"
    return ExplainedStep("fork", words, (f"tick {spec.branch}",), evidence=evidence)


def _asked(spec: Spec, log: EventLog, reply: str) -> ExplainedStep:
    """The step of the question, asked at each of its ticks."""
    past = log.history(twin.asked_triple(spec))
    ticks = [str(tick) for tick in twin.asked_ticks(spec) if past.holds(tick)]
    pattern = " ".join(short(part, _NAMES) for part in twin.asked_triple(spec))
    span = f"{spec.branch} to {spec.village.horizon}"
    return ExplainedStep(
        "ask",
        f"{reply}: it holds at {', '.join(ticks) or 'none'} of these ticks",
        (f"ticks {span}",),
        f"at each tick from {span}:\n{twin.ask_query(spec)}",
        tuple(Evidence(made.position) for made in past.changes),
        () if ticks else (pattern,),
    )


def _events(
    spec: Spec, own: str, arms: Mapping[str, EventLog], called: Mapping[str, str]
) -> list[ExplainedStep]:
    """The events that bear on the question, by tick; with this arm's evidence if this arm has them."""
    agents = set(map(twin.entity, spec.query.asked))
    happened = {arm: _happening_since(spec, log) for arm, log in arms.items()}
    states = {arm: log.state() for arm, log in arms.items()}
    names: dict[Term, str] = {twin.entity(number): name for number, name in spec.village.names.items()}
    entries: list[tuple[int, Evidence, str, ExplainedStep]] = []
    for node in set().union(*happened.values()):
        having = [arm for arm in ARMS if node in happened[arm]]
        source = own if own in having else having[0]
        event, log = happened[source][node], arms[source]
        if len(having) == len(ARMS) and not event.participants & agents:
            continue
        deltas = enumerate(log.between(event.tick, event.tick), log.position(event.tick - 1))
        about = [position for position, delta in deltas if delta.triple[0] == node]
        evidence = tuple(Evidence(position, called[source]) for position in about)
        words = _words(event, states[source], names)
        place = "in both arms" if len(having) == len(ARMS) else f"in arm {having[0]} only"
        step = ExplainedStep(f"tick {event.tick}", words, (place,), evidence=evidence)
        entries.append((event.tick, min(evidence), words, step))
    return [step for *_, step in sorted(entries, key=lambda entry: entry[:3])]


def _happening_since(spec: Spec, log: EventLog) -> dict[Term, Occurrence]:
    """The events from the branch on."""
    events = occurrences(log, twin.village_tbox())
    return {event.node: event for event in events if event.tick >= spec.branch}


_EVENTS = {
    "Visit": "{who} goes to {venue}",
    "Meeting": "{who} meet at {venue}",
    "Telling": "{teller} tells {hearer} that {told}",
}


def _words(event: Occurrence, state: State, names: Mapping[Term, str]) -> str:
    """An event as a sentence, with its roles from the state."""
    roles: dict[str, list[str]] = {}
    for _, predicate, value in state.match(event.node):
        roles.setdefault(predicate.value.removeprefix(twin.TERMS), []).append(names.get(value, ""))
    fillers = {role: " and ".join(sorted(who)) for role, who in roles.items()}
    return _EVENTS[event.kind.value.removeprefix(twin.TERMS)].format(**fillers)


_CHANGES = {
    "assert": "{agent} also plans to be at {goal} from tick {start}{condition}",
    "retract": "{agent} no longer plans to be at {goal} from tick {start}{condition}",
    "override_location": "{agent} is put at {place}",
    "assert_awareness": "{agent} knows that {fact}",
    "retract_awareness": "{agent} forgets that {fact}",
}


def intervention(spec: Spec) -> str:
    """The intervention of a specification in words."""
    names, act = spec.village.names, spec.intervention
    plan = act.plan
    return _CHANGES[act.type].format(
        agent=names[act.agent],
        place=names.get(act.place or ""),
        fact=names.get(act.fact or ""),
        goal=plan and names[plan.goal],
        start=plan and plan.start,
        condition=f" if they know then that {names[plan.if_knows]}" if plan and plan.if_knows else "",
    )
