"""Twin-EventLog put to a language model directly: the whole village as text, once for each arm."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import msgspec

from substrate.baselines.model import Model, ReplyError, Request, answer_of, one_of, request_of, row_of
from substrate.domains.rows import Row
from substrate.domains.smallville.format import Agent, Arm, ArmIntervention, Gold, Plan, Spec

TASK = """You are told how a village goes on and asked one yes-or-no question about it.
Work out who is where at each tick, who meets whom, and who comes to know what."""
_REPLY = 'Reply with JSON only, {"answer": "yes"} or {"answer": "no"}.'

_RULES = """Ticks run from 0 to {horizon}. At each tick, all at once, \
each villager with a plan that starts then goes to its place and stays there
until the next plan; a plan that depends on a fact is followed only by who knows the fact \
as the tick begins, and is dropped otherwise.
Those who are at one place then meet, newly or still, \
and everyone there comes to know every fact that anyone there knows.
Nobody forgets anything by themselves."""


Names = Mapping[str | None, str]
"""The words of a village's identifiers."""


def names_of(spec: Spec) -> Names:
    """The names of a specification's places, facts and villagers."""
    return {**spec.village.names}


def plan_text(plan: Plan | None, names: Names) -> str:
    """A plan in words; empty without a plan."""
    if plan is None:
        return ""
    condition = f", if they know then: {names[plan.if_knows]}" if plan.if_knows else ""
    return f"from tick {plan.start} on at {names[plan.goal]}{condition}"


def village_text(spec: Spec) -> str:
    """A specification's village in words, without the intervention."""
    names, village = names_of(spec), spec.village
    return "\n".join(
        (
            _RULES.format(horizon=village.horizon),
            f"Places: {'; '.join(place.name for place in village.places)}.",
            f"Facts: {'; '.join(fact.name for fact in village.facts)}.",
            *(_agent_text(agent, names) for agent in village.agents),
        )
    )


def _agent_text(agent: Agent, names: Names) -> str:
    knows = "; ".join(names[fact] for fact in agent.knows) or "none of the facts"
    plans = "; ".join(plan_text(plan, names) for plan in agent.plans) or "none"
    return f"{agent.name} is at {names[agent.at]} at tick 0. Knows: {knows}. Plans: {plans}."


INTERVENTIONS: Mapping[str, Callable[[ArmIntervention, Names], str]] = {
    "assert": lambda i, names: f"{names[i.agent]} makes a new plan: {plan_text(i.plan, names)}",
    "retract": lambda i, names: f"{names[i.agent]} gives a plan up: {plan_text(i.plan, names)}",
    "override_location": lambda i, names: f"{names[i.agent]} is moved to {names[i.place]}",
    "assert_awareness": lambda i, names: f"{names[i.agent]} comes to know this fact: {names[i.fact]}",
    "retract_awareness": lambda i, names: f"{names[i.agent]} forgets this fact: {names[i.fact]}",
}
"""For each kind of intervention, a function that words it."""


def question_text(spec: Spec, arm: Arm) -> str:
    """The question about one arm, without the village; arm A's does not mention the intervention."""
    act, then = spec.acts[arm], "All goes on as planned."
    if act:
        happens = INTERVENTIONS[act.type](act, names_of(spec))
        then = f"At tick {spec.branch}, before anything else of that tick, {happens}. "
        then += "Then all goes on by the same rules."
    span = f"the ticks from {spec.branch} to {spec.village.horizon}, both included"
    return f"{then}\n\nQuestion about {span}: {spec.query.text}"


def request(spec: Spec, arm: Arm) -> Request:
    """Put the question about one arm, after the village."""
    text = f"{village_text(spec)}\n\n{question_text(spec, arm)}"
    return request_of(f"{TASK}\n{_REPLY}", text, one_of("yes", "no"))


def direct(model: Model, spec: Spec, arm: Arm) -> str | ReplyError:
    """Ask a model about an arm: ``yes``, ``no``, or the error of an unreadable reply."""
    return answer_of(model, request(spec, arm))


def answer_in(reply: str) -> str:
    """Read the answer from a reply about an arm; ``error`` if it cannot be read.

    >>> [answer_in(reply) for reply in ('{"answer": "yes"}', "The answer is: no.", "yes or no", "NO")]
    ['yes', 'no', 'error', 'no']
    """
    try:
        return FORM.read(reply).answer
    except ReplyError:
        return "error"


FORM = Request((), one_of("yes", "no"))
"""An empty request with the form that all replies share."""


def rows(
    model: Model,
    spec: Spec,
    gold: Gold | None,
    predict: Callable[[Model, Spec, Arm], str | ReplyError],
    benchmark: str,
    split: str,
) -> list[Row]:
    """Give one row per arm: question 0 is arm A, question 1 arm B; the subset is the linkage, the log the
    specification's hash.

    Args:
        predict: a baseline, which sees the specification and never the gold.
    """
    digest = f"sha256:{hashlib.sha256(msgspec.json.encode(spec)).hexdigest()}"
    predicted = [predict(model, spec, arm) for arm in spec.arms]
    common = {
        "benchmark": benchmark,
        "split": split,
        "subset": spec.linkage,
        "scene": spec.spec,
        "log": digest,
    }
    return [
        row_of(answer, getattr(gold, arm, None), question=number, **common)
        for number, (arm, answer) in enumerate(zip(spec.arms, predicted, strict=True))
    ]
