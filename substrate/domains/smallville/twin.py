"""Twin-EventLog by the substrate: a specification's village as a log, its arms as forks, the question in
SPARQL.

The rules come from ``tboxes/village.ttl``; :class:`substrate.domains.smallville.format.Village` describes the
steps of a tick. An arm is replayed from the branch to the horizon, and the question is asked of the state at
each tick.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import pyoxigraph as ox

from substrate.base.delta import Op, Spelled, Triple
from substrate.base.errors import InterventionError
from substrate.base.ntriples import text_of
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL
from substrate.branch.fork import fork
from substrate.branch.interventions import Intervention, new_intervention
from substrate.domains.rows import Row, graded
from substrate.domains.smallville.format import ARMS, ArmIntervention, Gold, Plan, Spec, Yes
from substrate.log.event_log import EventLog
from substrate.rules.fixpoint import RuleEmitter, unfold
from substrate.rules.tbox import TBox

TERMS = "urn:substrate:village:"
ENTITIES = "urn:village:"


@cache
def village_tbox() -> TBox:
    """The village's TBox."""
    return TBox.load("village")


def term(name: str) -> ox.NamedNode:
    """A class or property of the village.

    >>> term("at").value
    'urn:substrate:village:at'
    """
    return ox.NamedNode(TERMS + name)


def entity(name: str) -> ox.NamedNode:
    """An individual of a specification, by its identifier.

    >>> entity("klaus").value
    'urn:village:klaus'
    """
    return ox.NamedNode(ENTITIES + name)


def plan_node(agent: str, plan: Plan) -> ox.NamedNode:
    """A plan's node, named by the plan's content.

    >>> plan_node("klaus", Plan(start=6, goal="cafe", if_knows="party")).value
    'urn:village:plan:klaus:6:cafe:party'
    """
    return entity(":".join(filter(None, ("plan", agent, str(plan.start), plan.goal, plan.if_knows))))


def given_log(spec: Spec) -> EventLog:
    """Build the log of a village's initial data: its entities at tick 0, and the day's end at the horizon.

    A plan that an intervention may add is in the log as a plan without an agent.
    """
    log, lines = EventLog(), sorted({text_of(triple) for triple in _given(spec)})
    log.extend_spelled(Spelled(0, Op.INSERT, line) for line in lines)
    over = text_of((entity("day"), term("over"), ox.Literal(True)))
    log.extend_spelled([Spelled(spec.village.horizon, Op.INSERT, over)])
    return log


def _given(spec: Spec) -> Iterator[Triple]:
    village = spec.village
    for kind, named in (("Place", village.places), ("Fact", village.facts), ("Agent", village.agents)):
        for thing in named:
            yield entity(thing.id), RDF_TYPE, term(kind)
            yield entity(thing.id), RDFS_LABEL, ox.Literal(thing.name)
    act = spec.intervention
    plans = [(act.agent, act.plan)] if act.type == "assert" and act.plan else []
    for agent in village.agents:
        node = entity(agent.id)
        yield node, term("at"), entity(agent.at)
        for fact in agent.knows:
            yield node, term("knows"), entity(fact)
        for plan in agent.plans:
            yield node, term("plans"), plan_node(agent.id, plan)
            plans.append((agent.id, plan))
    for planner, plan in plans:
        node = plan_node(planner, plan)
        yield node, RDF_TYPE, term("Plan")
        yield node, term("from"), ox.Literal(plan.start)
        yield node, term("goal"), entity(plan.goal)
        if plan.if_knows:
            yield node, term("ifKnows"), entity(plan.if_knows)


def change(act: ArmIntervention) -> Intervention:
    """A specification's intervention as one of the paper's five (section 2).

    >>> change(ArmIntervention(type="override_location", agent="klaus", place="park")).location.value
    'urn:village:park'
    """
    if act.plan:
        return new_intervention(act.type, (entity(act.agent), term("plans"), plan_node(act.agent, act.plan)))
    other = entity(act.place or act.fact or "")
    return new_intervention(act.type, (entity(act.agent), other), term("at" if act.place else "knows"))


def parent_log(spec: Spec, tbox: TBox | None = None) -> EventLog:
    """Unfold a specification's village up to its horizon, without the intervention."""
    return unfold(tbox or village_tbox(), given_log(spec), until=spec.village.horizon)


def replay_twin(spec: Spec, tbox: TBox | None = None) -> tuple[EventLog, ...]:
    """Fork the arms of a specification at its branch tick from one village under the same rules.

    Args:
        spec: the specification; it holds no gold.
        tbox: the source of the rules; by default the village's TBox.

    Raises:
        InterventionError: an intervention would change nothing.
    """
    tbox = tbox or village_tbox()
    parent, emitter = parent_log(spec, tbox), RuleEmitter(tbox)
    changes = [change(act) if act else None for act in spec.acts.values()]
    # The rules made the parent. If the only given delta after the branch (the day's end) is exogenous, they
    # would make the same parent again for the arm without a change: its deltas are applied again instead.
    unchanged = None if spec.branch > 0 and term("over") in tbox.exogenous else emitter
    return tuple(fork(parent, spec.branch, act, emitter if act else unchanged) for act in changes)


def asked_triple(spec: Spec) -> Triple:
    """The triple that makes the answer yes if it holds at one of :func:`asked_ticks`."""
    query = spec.query
    name = {"did_meet": "with", "learned_fact": "knows", "visited_location": "at"}[query.type]
    return entity(query.agent), term(name), entity(query.other or query.fact or query.place or "")


def asked_ticks(spec: Spec) -> range:
    """The ticks of a question: from the branch to the horizon."""
    return range(spec.branch, spec.village.horizon + 1)


def ask_query(spec: Spec) -> str:
    """A specification's question in SPARQL, for the state at one tick."""
    return f"ASK {{ {text_of(asked_triple(spec))} }}"


def answer(spec: Spec, arm: EventLog) -> Yes:
    """Ask a specification's question of an arm's state at each of its ticks.

    The answer can change only at ticks at which the arm inserts or retracts the asked triple.
    """
    question, span = ask_query(spec), asked_ticks(spec)
    number = arm.triples.find(text_of(asked_triple(spec)))
    mentioned = set() if number is None else {arm.tick_and_op(place)[0] for place in arm.mentions(number)}
    ticks = [span.start, *(tick for tick in sorted(mentioned) if tick in span and tick > span.start)]
    # The arms are branches of one village, so the second arm's states reuse the store of the first's.
    return "yes" if any(bool(arm.state(tick).query(question)) for tick in ticks) else "no"


def twin_rows(spec: Spec, gold: Gold | None, arms: Sequence[EventLog], split: str = "generated") -> list[Row]:
    """Give one row per arm: question 0 is arm A, question 1 arm B.

    Args:
        spec: the specification.
        gold: the expected answers; the given answers are made without them.
        arms: the specification's arms.
        split: the rows' split.
    """
    return [_row(spec, number, gold, split, answer(spec, arm), arm.digest) for number, arm in enumerate(arms)]


def answer_spec(spec: Spec, gold: Gold | None, split: str = "generated") -> list[Row]:
    """Give the rows of a specification from only its text; error rows if an intervention is refused."""
    try:
        return twin_rows(spec, gold, replay_twin(spec), split)
    except InterventionError as error:
        return [
            _row(spec, number, gold, split, "error", parent_log(spec).digest, str(error))
            for number in range(len(ARMS))
        ]


def _row(
    spec: Spec, number: int, gold: Gold | None, split: str, predicted: str, log: str, error: str | None = None
) -> Row:
    expected = getattr(gold, ARMS[number]) if gold else None
    place = {"benchmark": "twin", "split": split, "subset": spec.linkage, "scene": spec.spec}
    return graded(predicted, expected, error, question=number, log=log, **place)
