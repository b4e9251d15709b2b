"""Twin specifications for tests: generated ones, made once, and small random villages."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from substrate.domains.smallville.format import (
    INTERVENTIONS,
    Agent,
    ArmIntervention,
    Named,
    Plan,
    Query,
    Spec,
    Village,
)
from substrate.generators.smallville import generate
from substrate.generators.smallville.sampling import Graded


@cache
def twin_specs(n: int = 72) -> list[Graded]:
    """The first specifications of the default seed: eight of each cell."""
    return [generate(number, seed=20) for number in range(n)]


def day(*agents: Agent, horizon: int = 4) -> Village:
    """A village of a cafe, a park and a pub, where there is news."""
    places = [Named(place, place) for place in ("cafe", "park", "pub")]
    return Village(horizon, places, [Named("news", "there is news")], [*agents])


AGENTS, PLACES, FACTS = ("ann", "bo", "cy", "di"), ("cafe", "park", "pub"), ("news", "secret")


def _plan(horizon: int) -> st.SearchStrategy[Plan]:
    return st.builds(Plan, st.integers(0, horizon), st.sampled_from(PLACES), st.sampled_from((None, *FACTS)))


@st.composite
def _acts(draw: st.DrawFn, agents: list[Agent], horizon: int) -> ArmIntervention:
    touched, type_ = draw(st.sampled_from(agents)), draw(st.sampled_from(INTERVENTIONS))
    if type_ == "retract" and not touched.plans:
        type_ = "override_location"
    taken = {p.start for p in touched.plans}
    if type_ == "assert" and len(taken) > horizon:
        type_ = "override_location"
    changed = {
        "assert": lambda: {"plan": draw(_plan(horizon).filter(lambda p: p.start not in taken))},
        "retract": lambda: {"plan": draw(st.sampled_from(touched.plans))},
        "override_location": lambda: {"place": draw(st.sampled_from(PLACES))},
        "assert_awareness": lambda: {"fact": draw(st.sampled_from(FACTS))},
        "retract_awareness": lambda: {"fact": draw(st.sampled_from(FACTS))},
    }[type_]()
    return ArmIntervention(type_, touched.id, **changed)


@st.composite
def small_specs(draw: st.DrawFn) -> Spec:
    """A village of up to four agents with overlapping plans, any intervention, any question; the
    intervention's pre-condition may not hold.
    """
    horizon = draw(st.integers(1, 5))
    names = AGENTS[: draw(st.integers(2, 4))]
    plans = st.lists(_plan(horizon), max_size=3, unique_by=lambda p: p.start)
    known = st.lists(st.sampled_from(FACTS), unique=True, max_size=1)
    agents = [
        Agent(name, name.title(), draw(st.sampled_from(PLACES)), draw(known), draw(plans)) for name in names
    ]
    first = draw(_acts(agents, horizon))
    shuffled = draw(st.permutations(names))
    queries = [
        Query("did_meet", "", shuffled[0], other=shuffled[1]),
        Query("learned_fact", "", shuffled[0], fact=draw(st.sampled_from(FACTS))),
        Query("visited_location", "", shuffled[0], place=draw(st.sampled_from(PLACES))),
    ]
    query = draw(st.sampled_from(queries))
    village = Village(horizon, [Named(p, p) for p in PLACES], [Named(f, f) for f in FACTS], agents)
    return Spec(0, "control", village, draw(st.integers(1, horizon)), first, query)
