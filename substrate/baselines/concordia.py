"""A Concordia-style simulation of Twin-EventLog: each villager is a persona that a language model plays.

From Concordia (Vezhnevets et al., 2023) the paper's footnote keeps the agent-step interface, a persona that
observes and acts, and its prompt. An act chooses among a fixed set of places or, for each pair that shares a
place, whether they talk. Reflection, planning and memory are left out. As in the paper,
``visited_location`` is graded only on the final places, although the simulation knows the earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

from substrate.baselines.model import Model, ReplyError, one_of, request_of
from substrate.baselines.twin import INTERVENTIONS, Names, names_of, plan_text
from substrate.domains.smallville.format import Arm, ArmIntervention, Plan, Query, Spec

_PLAY = """You play one villager. Decide what this villager does next, \
in keeping with the schedule and the situation.
Reply with JSON only, {"answer": "..."} with one of the options, word for word."""
TALK = ("yes", "no")


class Sampler:
    """A model with the method names of Concordia's ``LanguageModel``; needs no Concordia package.

    The client sets temperature, seed and time limit: a transcript has one of each.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def sample_choice(
        self, prompt: str, responses: Sequence[str], **_: Any
    ) -> tuple[int, str, Mapping[str, Any]]:
        """Choose a response; return its position, its text and an empty mapping."""
        options = "\n".join(f"- {response}" for response in responses)
        request = request_of(_PLAY, f"{prompt}\nOptions:\n{options}", one_of(*responses))
        choice = request.read(self._model.ask(request)).answer
        return responses.index(choice), choice, {}


class ActionSpec(NamedTuple):
    """The call to a persona to act, with ``{name}`` for its name, and its options."""

    call_to_action: str
    options: tuple[str, ...]


@dataclass
class Persona:
    """A villager as Concordia steps it: it observes, then acts.

    From earlier ticks it keeps only its state.
    """

    name: str
    sampler: Sampler
    place: str
    knows: frozenset[str]
    plans: list[Plan]
    observed: list[str] = field(default_factory=list)

    def observe(self, observation: str) -> None:
        """Add an observation, for the acts of this tick."""
        self.observed.append(observation)

    def act(self, spec: ActionSpec) -> str:
        """Choose one of the options.

        Raises:
            ReplyError: the model names no option.
        """
        prompt = "\n".join(
            (f"You are {self.name}.", *self.observed, spec.call_to_action.format(name=self.name))
        )
        return self.sampler.sample_choice(prompt, spec.options)[1]


class Status(NamedTuple):
    """A villager's place and knowledge as a tick ends."""

    place: str
    knows: frozenset[str]


Simulation = list[dict[str, Status]]
"""An arm: for each tick from 0 on, every villager's state by identifier."""


def simulate(sampler: Sampler, spec: Spec, arm: Arm) -> Simulation:
    """Step every persona through every tick of one arm, from the village's initial places.

    At a tick all choose their place at once. Then each pair that shares a place decides, in the village's
    order, whether to talk; a pair that talks shares all it knows. The intervention comes first in its tick.

    Raises:
        ReplyError: a choice could not be read.
    """
    village, names = spec.village, names_of(spec)
    places = {place.name: place.id for place in village.places}
    personas = {
        agent.id: Persona(agent.name, sampler, agent.at, frozenset(agent.knows), list(agent.plans))
        for agent in village.agents
    }
    simulation: Simulation = []
    for tick in range(village.horizon + 1):
        act = spec.acts[arm] if tick == spec.branch else None
        if act:
            _CHANGES[act.type](personas[act.agent], act)
        for persona in personas.values():
            persona.observed = [f"It is tick {tick} of {village.horizon}.", *_situation(persona, names)]
        if act:
            personas[act.agent].observe(f"Just now {INTERVENTIONS[act.type](act, names)}.")
        go = ActionSpec(f"Where is {{name}} at tick {tick}?", tuple(places))
        for persona, goal in [(persona, places[persona.act(go)]) for persona in personas.values()]:
            persona.place = goal
        for first, other in combinations(personas.values(), 2):
            if first.place == other.place:
                _meet(first, other, names)
        simulation.append(
            {identifier: Status(persona.place, persona.knows) for identifier, persona in personas.items()}
        )
    return simulation


def _situation(persona: Persona, names: Names) -> list[str]:
    plans = "; ".join(plan_text(plan, names) for plan in persona.plans) or "nothing planned"
    knows = "; ".join(names[fact] for fact in sorted(persona.knows)) or "nothing in particular"
    return [f"You were last at {names[persona.place]}.", f"Your schedule: {plans}.", f"You know: {knows}."]


def _meet(first: Persona, other: Persona, names: Names) -> None:
    """Let two personas at a place meet: the first chooses whether they talk and tell each other all."""
    first.observe(f"You are at {names[first.place]} with {other.name}.")
    if first.act(ActionSpec(f"Does {{name}} talk with {other.name}?", TALK)) == "yes":
        first.knows = other.knows = first.knows | other.knows


def _move(persona: Persona, act: ArmIntervention) -> None:
    persona.place = act.place or persona.place


def _tell(persona: Persona, act: ArmIntervention) -> None:
    persona.knows |= {act.fact} if act.fact else set()


def _untell(persona: Persona, act: ArmIntervention) -> None:
    persona.knows -= {act.fact}


def _plan(persona: Persona, act: ArmIntervention) -> None:
    persona.plans = sorted([*persona.plans, *([act.plan] if act.plan else [])], key=lambda plan: plan.start)


def _unplan(persona: Persona, act: ArmIntervention) -> None:
    persona.plans = [plan for plan in persona.plans if plan != act.plan]


_CHANGES: Mapping[str, Callable[[Persona, ArmIntervention], None]] = {
    "override_location": _move,
    "assert_awareness": _tell,
    "retract_awareness": _untell,
    "assert": _plan,
    "retract": _unplan,
}
"""For each kind of intervention, a function that applies it to its persona's state."""


def _did_meet(query: Query, after: Simulation) -> bool:
    return any(states[query.agent].place == states[query.other or ""].place for states in after)


def _learned_fact(query: Query, after: Simulation) -> bool:
    return any(query.fact in states[query.agent].knows for states in after)


def _visited_location(query: Query, after: Simulation) -> bool:
    return after[-1][query.agent].place == query.place


QUERIES: Mapping[str, Callable[[Query, Simulation], bool]] = {
    "did_meet": _did_meet,
    "learned_fact": _learned_fact,
    "visited_location": _visited_location,
}
"""For each kind of query, a function that answers it from the ticks from the branch on."""


def concordia(model: Model, spec: Spec, arm: Arm) -> str | ReplyError:
    """Answer an arm by simulation: ``yes``, ``no``, or the error of an unreadable reply."""
    try:
        simulation = simulate(Sampler(model), spec, arm)
    except ReplyError as error:
        return error
    return "yes" if QUERIES[spec.query.type](spec.query, simulation[spec.branch :]) else "no"
