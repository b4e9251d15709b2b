"""Small Twin-EventLog specifications, written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from substrate.domains.smallville.format import (
    Agent,
    ArmIntervention,
    Gold,
    Named,
    Plan,
    Query,
    Spec,
    Village,
)

VILLAGE = Village(
    horizon=3,
    places=[Named("cafe", "Hobbs Cafe"), Named("park", "Johnson Park")],
    facts=[Named("party", "there is a party")],
    agents=[
        Agent("isabella", "Isabella Rodriguez", "cafe", ["party"], []),
        Agent("klaus", "Klaus Mueller", "park", [], [Plan(2, "cafe")]),
        Agent("maria", "Maria Lopez", "park", [], [Plan(3, "cafe", if_knows="party")]),
    ],
)
QUERIES = {
    "did_meet": Query("did_meet", "Does Klaus Mueller meet Isabella Rodriguez?", "klaus", other="isabella"),
    "learned_fact": Query(
        "learned_fact", "Does Klaus Mueller know that there is a party?", "klaus", fact="party"
    ),
    "visited_location": Query("visited_location", "Is Klaus Mueller at Hobbs Cafe?", "klaus", place="cafe"),
}
INTERVENTIONS = {
    "assert": ArmIntervention("assert", "isabella", plan=Plan(1, "park")),
    "retract": ArmIntervention("retract", "klaus", plan=Plan(2, "cafe")),
    "override_location": ArmIntervention("override_location", "klaus", place="cafe"),
    "assert_awareness": ArmIntervention("assert_awareness", "maria", fact="party"),
    "retract_awareness": ArmIntervention("retract_awareness", "isabella", fact="party"),
}


def spec(
    number: int = 0,
    query: str = "did_meet",
    intervention: str = "retract",
    linkage: Any = "direct",
    branch: int = 1,
) -> Spec:
    """A specification about the small village."""
    return Spec(number, linkage, VILLAGE, branch, INTERVENTIONS[intervention], QUERIES[query])


def write_specs(path: Path, count: int = 4) -> Path:
    """A file of specifications, of every query and intervention in turn.

    The gold of each is "yes" and "no", whatever is asked: it is for tests that do not compare answers with
    it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    queries, interventions = list(QUERIES), list(INTERVENTIONS)
    lines = []
    for number in range(count):
        query, intervention, turn = queries[number % 3], interventions[number % 5], number // 3 % 3
        linkage = ("control", "direct", "propagation")[turn]
        record = msgspec.to_builtins(spec(number, query, intervention, linkage, 1 + turn))
        lines.append(msgspec.json.encode(record | {"gold": msgspec.to_builtins(Gold("yes", "no"))}))
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path
