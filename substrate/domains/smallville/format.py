"""Twin-EventLog specifications: a village's schedule, an intervention at a tick, a question about both arms.

One JSON object per line. An agent sees everything except ``gold`` and the label ``linkage``. :class:`Spec`
has no field for the gold, so an agent that answers a specification cannot see it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar, get_args

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import Whole, decode, lines

Yes = Literal["yes", "no"]
Arm = Literal["a", "b"]
Linkage = Literal["control", "direct", "propagation"]
QueryType = Literal["did_meet", "learned_fact", "visited_location"]
InterventionType = Literal["assert", "retract", "override_location", "assert_awareness", "retract_awareness"]
ARMS: tuple[Arm, ...] = get_args(Arm)
"""The arms by question number: without the intervention, and with it."""
LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
QUERIES: tuple[QueryType, ...] = get_args(QueryType)
INTERVENTIONS: tuple[InterventionType, ...] = get_args(InterventionType)


class Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place or a fact: its identifier and its words."""

    id: str
    name: str


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """To go to place ``goal`` at tick ``start``, and to stay there until the next plan.

    With ``if_knows`` the agent follows the plan only if it knows that fact as tick ``start`` begins;
    otherwise the plan is dropped. Only this makes an agent's places depend on the facts that it hears:
    without it, no effect could reach an agent's places through others.
    """

    start: Whole
    goal: str
    if_knows: str | None = None


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A villager: where they are at tick 0, what they know then, and their plans in time order."""

    id: str
    name: str
    at: str
    knows: list[str]
    plans: list[Plan]


class Village(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A village's initial data; ticks run from 0 to ``horizon`` inclusive.

    A tick has these steps; "at" a tick means at its end:

    1. At the branch tick of arm B, the intervention comes before everything else.
    2. All at once, each agent with a plan that starts now goes to its goal, unless the plan has an
       ``if_knows`` that the agent does not know as the tick begins (after step 1; a fact heard in this tick
       comes too late). A plan added or removed after its start changes nothing.
    3. Agents at the same place are together, and all others are not: two agents meet at every tick at
       which they share a place.
    4. Every agent at a place learns every fact that any agent there knows. No agent is at two places
       in a tick, so a fact spreads within at most one place per tick.

    An agent forgets only by an intervention. An agent that is moved or forgets may move on, or be told
    again, in steps 2 to 4 of the same tick.
    """

    horizon: Whole
    places: list[Named]
    facts: list[Named]
    agents: list[Agent]

    @property
    def names(self) -> dict[str, str]:
        """The words of each agent, place and fact by its identifier."""
        return {thing.id: thing.name for thing in (*self.agents, *self.places, *self.facts)}


class ArmIntervention(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An intervention of one of five types at the branch tick; only the fields that its type takes are set.

    ``assert`` gives the agent a ``plan``; ``retract`` removes one of its plans; ``override_location`` puts
    the agent at a ``place``; ``assert_awareness`` makes it know a ``fact``; ``retract_awareness`` makes it
    forget the fact.
    """

    type: InterventionType
    agent: str
    place: str | None = None
    fact: str | None = None
    plan: Plan | None = None
    """The plan that ``assert`` adds or ``retract`` removes."""


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A yes-or-no question about ticks from the branch to the horizon, with its English wording.

    ``did_meet``: do ``agent`` and ``other`` share a place at one of these ticks, newly or still?
    ``visited_location``: is ``agent`` at ``place`` at one of them, newly or still? ``learned_fact``: does
    ``agent`` know ``fact`` at one of them, whenever they learned it? An intervention that makes an agent
    forget comes before these ticks, so this is the same as knowing the fact at the horizon.
    """

    type: QueryType
    text: str
    agent: str
    other: str | None = None
    fact: str | None = None
    place: str | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The one or two agents that the question names."""
        return tuple(filter(None, (self.agent, self.other)))


class Spec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A specification, without its gold.

    Arm A continues from tick ``branch`` as planned; arm B continues from there after the intervention.
    ``linkage`` is a label for the analysis: it tells whether the intervention can affect the question
    (``control``: it cannot), so the graded agent should not see it.
    """

    spec: Whole
    linkage: Linkage
    village: Village
    branch: Whole
    intervention: ArmIntervention
    query: Query

    @property
    def acts(self) -> dict[Arm, ArmIntervention | None]:
        """The intervention of each arm, in the arms' order; arm A has none."""
        return {"a": None, "b": self.intervention}

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms, in order."""
        return ARMS


class Gold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer in each arm."""

    a: Yes
    b: Yes

    @property
    def answers(self) -> tuple[Yes, ...]:
        """The answers in the arms' order.

        >>> Gold("yes", "no").answers
        ('yes', 'no')
        """
        return self.a, self.b


class _Graded(msgspec.Struct, frozen=True):
    spec: Whole
    gold: Gold | None = None


_T = TypeVar("_T", Spec, _Graded)


def read_specs(path: Path) -> list[Spec]:
    """Read specifications in file order; gzipped or plain.

    Raises:
        FormatError: a line is not a specification, a number occurs twice, or an identifier names nothing;
            names file, line and path.
    """
    return list(_read(path, Spec, check).values())


def read_gold(path: Path) -> dict[int, Gold | None]:
    """Read the gold of a specification file by number, in file order; ``None`` if there is no gold."""
    return {number: graded.gold for number, graded in _read(path, _Graded, lambda *_: None).items()}


def check(spec: Spec, *where: object) -> None:
    """Check a specification against the rules of its fields; ``where`` names it in the error.

    Raises:
        FormatError: an identifier is used twice or names nothing, a type lacks a field or has one that it
            does not take, a tick lies outside the village's range, or two plans of an agent start at one
            tick.
    """
    for path, what in _faults(spec):  # the first fault, if there is one
        hint = "Compare with the docstrings of substrate/domains/smallville/format.py"
        raise FormatError(what, where=(*where, path), hint=hint)


def _faults(spec: Spec) -> Iterator[tuple[str, str]]:
    """The faults of a specification: each fault's path and description."""
    village, query = spec.village, spec.query
    kinds = {"place": village.places, "fact": village.facts, "agent": village.agents}
    known = {kind: {thing.id for thing in named} for kind, named in kinds.items()}
    for kind, named in kinds.items():
        if len(known[kind]) < len(named) or not all(map(_IDENTIFIER.fullmatch, known[kind])):
            what = "identifiers are unique, and made of lower-case letters, digits and _"
            yield f"$.village.{kind}s", what

    def absent(path: str, *names: tuple[str, str | None]) -> Iterator[tuple[str, str]]:
        for kind, name in names:
            if name not in known[kind]:
                yield path, f"there is no {kind} {name!r}"

    def wrong(path: str, plans: Sequence[Plan]) -> Iterator[tuple[str, str]]:
        starts = {plan.start for plan in plans}
        if len(starts) < len(plans) or not all(0 <= start <= village.horizon for start in starts):
            yield path, "an agent's plans start at ticks of the village, no two at the same"
        for plan in plans:
            yield from absent(path, ("place", plan.goal))
            if plan.if_knows is not None:
                yield from absent(path, ("fact", plan.if_knows))

    for index, agent in enumerate(village.agents):
        path = f"$.village.agents[{index}]"
        yield from absent(path, ("place", agent.at))
        yield from wrong(path, agent.plans)
        yield from absent(path, *(("fact", fact) for fact in agent.knows))
    if not 1 <= spec.branch <= village.horizon <= LONGEST:
        yield "$.branch", f"1 <= branch <= horizon <= {LONGEST} does not hold"
    yield from absent("$.query", ("agent", query.agent))
    need = _NEEDS[query.type]
    yield from absent("$.query", ("agent" if need == "other" else need, getattr(query, need)))
    if query.other == query.agent:
        yield "$.query", "nobody meets themselves"
    for path, record in (("$.query", query), ("$.intervention", spec.intervention)):
        for name in ("other", "place", "fact", "plan"):
            if name != _NEEDS[record.type] and getattr(record, name, None) is not None:
                yield path, f"{record.type} takes no {name}"
    act = spec.intervention
    yield from absent("$.intervention", ("agent", act.agent))
    need = _NEEDS[act.type]
    if need != "plan":
        yield from absent("$.intervention", (need, getattr(act, need)))
        return
    # The agent exists: `check` stops at the first fault, here an unknown agent
    planned = next(agent.plans for agent in village.agents if agent.id == act.agent)
    must_have = act.type == "retract"
    if act.plan is None or (act.plan in planned) is not must_have:
        what = "assert adds a plan the agent does not have, retract takes away one that they have"
        yield "$.intervention.plan", what
    elif act.type == "assert":
        yield from wrong("$.intervention.plan", [*planned, act.plan])


LONGEST = 10_000
"""The largest horizon."""

_IDENTIFIER = re.compile(r"[a-z0-9_]+")
_NEEDS = {
    "did_meet": "other",
    "learned_fact": "fact",
    "visited_location": "place",
    "assert": "plan",
    "retract": "plan",
    "override_location": "place",
    "assert_awareness": "fact",
    "retract_awareness": "fact",
}


def _read(path: Path, type_: type[_T], check: Callable[..., None]) -> dict[int, _T]:
    decoder, by_number = msgspec.json.Decoder(type_), {}
    for where, line in lines(path):
        record = decode(decoder, line, where)
        check(record, where)
        if record.spec in by_number:
            what = f"specification {record.spec} occurs twice"
            raise FormatError(what, where=(where,), hint="Number each specification once")
        by_number[record.spec] = record
    return by_number
