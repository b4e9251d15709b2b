"""Effects of interventions in a log."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from research.domains.effects import Constructed, Effect, effect
from substrate import EventLog, ParameterError, Retract, TBox, fork, unfold
from substrate.base.errors import InterventionError, LogError
from substrate.rules.fixpoint import RuleEmitter

ALL = "CONSTRUCT WHERE { ?s ?p ?o }"
CAFE = "ASK { ?who <urn:in> <urn:cafe> }"
COUNT = "SELECT (COUNT(*) AS ?n) { ?who <urn:in> <urn:cafe> }"


def _log() -> EventLog:
    log = EventLog()
    log.extend_lines(
        [
            (0, "A <urn:ann> <urn:in> <urn:cafe> ."),
            (2, "A <urn:bo> <urn:in> <urn:cafe> ."),
            (5, "D <urn:ann> <urn:in> <urn:cafe> ."),
        ]
    )
    return log


@pytest.mark.parametrize(
    ("at", "retract", "insert", "outcome", "expected"),
    [
        (3, "CONSTRUCT WHERE { ?who <urn:in> <urn:cafe> }", "", CAFE, Effect(1, 0)),
        (3, "CONSTRUCT WHERE { ?who <urn:in> <urn:cafe> }", "", COUNT, Effect(1, 0)),
        (1, "CONSTRUCT WHERE { ?who <urn:in> <urn:cafe> }", "", COUNT, Effect(1, 1)),
        (6, "", "CONSTRUCT { <urn:c> ?in ?at } { ?who ?in ?at }", COUNT, Effect(1, 2)),
        (
            "SELECT (COUNT(*) + 2 AS ?tick) { ?who <urn:in> ?where }",
            "CONSTRUCT WHERE { <urn:bo> <urn:in> ?where }",
            "CONSTRUCT { <urn:bo> <urn:in> <urn:home> } {}",
            CAFE,
            Effect(1, 0),
        ),
        (3, "CONSTRUCT WHERE { <urn:bo> ?in ?at }", "", "SELECT (0.5 AS ?n) {}", Effect(0.5, 0.5)),
    ],
)
def test_an_effect_is_an_outcome_without_and_with(
    at: int | str, retract: str, insert: str, outcome: str, expected: Effect
) -> None:
    assert effect(_log(), at, Constructed(retract, insert), outcome) == expected


@pytest.mark.parametrize(
    ("at", "retract", "insert", "outcome", "error", "message"),
    [
        (3, "CONSTRUCT WHERE { ?who <urn:on> ?what }", "", CAFE, InterventionError, "changes nothing"),
        (3, ALL, ALL, CAFE, InterventionError, "nothing"),
        ("SELECT ?t { ?t <urn:on> ?x }", ALL, "", CAFE, InterventionError, "no answer"),
        (3, "ASK { ?s ?p ?o }", "", CAFE, ParameterError, "a set of triples"),
        (3, ALL, "", "SELECT ?s { ?s ?p ?o }", ParameterError, "is not one number"),
        (3, ALL, "", "SELECT (1 AS ?a) (2 AS ?b) {}", ParameterError, "not one number"),
        ("SELECT (1.5 AS ?t) {}", ALL, "", CAFE, ParameterError, "1.5 is no tick"),
        (9, ALL, "", CAFE, LogError, "outside the log"),
    ],
)  # fmt: skip
def test_what_gives_no_effect_says_why(
    at: int | str, retract: str, insert: str, outcome: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        effect(_log(), at, Constructed(retract, insert), outcome)


def test_an_emitter_says_what_follows() -> None:
    box = TBox.load("village")
    log = unfold(box, box.opening(), until=13)
    knows = (
        ox.NamedNode("urn:village:isabella"),
        ox.NamedNode("urn:substrate:village:knows"),
        ox.NamedNode("urn:village:party"),
    )
    assert knows in log.state(0)
    outcome = f"SELECT (COUNT(*) AS ?n) {{ ?who {knows[1]} {knows[2]} }}"
    unknowing = Constructed(f"CONSTRUCT WHERE {{ {knows[0]} {knows[1]} {knows[2]} }}")
    branch = fork(log, 1, Retract(knows), RuleEmitter(box))
    counts = [len(list(world.state().match(None, *knows[1:]))) for world in (log, branch)]
    assert effect(log, 1, unknowing, outcome, RuleEmitter(box)) == Effect(*counts)
    assert counts[1] < counts[0]
