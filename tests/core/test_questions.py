"""A set of questions, two domains, and a third that a user brings: only the TBox changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import PREFIXES, box_of, log_of, unfolded
from pyoxigraph import NamedNode

from substrate import EventLog, ParameterError, TBox, ancestors, unfold
from substrate.ask import ask, chains, occurrences

GARDEN = f"""{PREFIXES}@prefix : <urn:garden:> .
:Bee a owl:Class . :Flower a owl:Class .
:Dance a owl:Class ; rdfs:subClassOf core:Event ; rdfs:label "dance" .
:dancer rdfs:subPropertyOf core:participant .
:on rdfs:subPropertyOf core:location .
:smells rdfs:subPropertyOf core:awareOf .
:Bee sh:rule [ a sh:SPARQLRule ; rdfs:label "dance" ;
    sh:construct '''CONSTRUCT {{ ?dance a :Dance ; :dancer $this }} WHERE {{
        $this :smells ?f . FILTER($tick = 2) BIND(IRI(CONCAT(STR($this), ':dance')) AS ?dance) }}''' ] .
:maya a :Bee ; rdfs:label "Maya" ; :on :rose ; :smells :rose .
:rose a :Flower ; rdfs:label "the rose is open" .
"""


def test_the_village_in_words() -> None:
    box, log = unfolded("village", until=13)
    party, john, sam = (NamedNode(f"urn:village:{name}") for name in ("party", "john", "sam"))
    knowing = [ask(box, log, "who_knew", fact=party, tick=t).answer for t in (0, 2, 7)]
    assert knowing == [
        "Isabella Rodriguez",
        "Isabella Rodriguez, John Lin",
        "Isabella Rodriguez, John Lin, Klaus Mueller",
    ]
    learned = ask(box, log, "learned_from", fact=party, tick=8)
    way = "Sam Moore from John Lin at tick 8, from Isabella Rodriguez at tick 2, untold since tick 0"
    assert way in learned.answer.split("; ")
    assert {log[p].tick for p in learned.evidence} == {0, 2, 6, 8}
    assert ask(box, log, "learned_from", fact=sam, tick=8).answer == "nobody knew"
    meeting = NamedNode("urn:substrate:village:Meeting")
    assert ask(box, log, "when", kind=meeting, participants=[john, sam]).answer == "at tick 8"
    assert ask(box, log, "where", entity=john, tick=9).answer == "Johnson Park"
    what_if = ask(box, log, "without_knowing", agent=john, fact=party, tick=6)
    assert (
        what_if.answer
        == "telling of Klaus Mueller, Maria Lopez instead of telling of John Lin, Maria Lopez; "
        "telling of John Lin, Sam Moore; unknown to Sam Moore"
    )
    assert {log[p].tick for p in what_if.evidence} == {8}


def test_events_of_any_domain_have_an_ancestry() -> None:
    box, log = unfolded("clinical", until=13)
    events = occurrences(log, box)
    recovery = next(o for o in events if box.label(o.kind) == "recovery")
    ancestry = ancestors(o.event for o in events)[recovery.node]
    causes = {box.label(o.kind) for o in events if o.node in ancestry.events}
    assert causes == {"treatment"}, "the briefing is of the treatment's own tick, and so no ancestor"


SILENT = """
:Person a owl:Class . :Secret a owl:Class . :next a owl:ObjectProperty ; core:exogenous true .
:knows a owl:ObjectProperty ; rdfs:subPropertyOf core:awareOf .
:spread a sh:SPARQLRule ;
    sh:construct '''CONSTRUCT { ?b :knows ?f }
        WHERE { ?a :next ?b ; :knows ?f . FILTER NOT EXISTS { ?b :knows ?f } }''' .
:secret a :Secret . :bob a :Person ; :knows :secret .
"""


def test_agents_who_would_not_know_a_fact_are_named_though_no_event_tells_it() -> None:
    box = box_of(SILENT, "urn:silent:")
    given = box.opening()
    given.extend_lines(
        (tick, f"A <urn:silent:{a}> <urn:silent:next> <urn:silent:{b}> .")
        for tick, a, b in [(2, "bob", "ann"), (3, "ann", "cy"), (4, "cy", "dee")]
    )
    log = unfold(box, given, until=5)
    bob, secret = (NamedNode(f"urn:silent:{name}") for name in ("bob", "secret"))
    reply = ask(box, log, "without_knowing", agent=bob, fact=secret, tick=1)
    assert reply.answer == "unknown to ann, cy, dee"
    assert [log[position].tick for position in reply.evidence] == [2, 3, 4]
    assert ask(box, log, "without_knowing", agent=bob, fact=secret, tick=3).answer == "nothing else"


def test_an_unknown_question_is_refused() -> None:
    with pytest.raises(ParameterError, match="unknown question 'why'"):
        ask(TBox.load("village"), TBox.load("village").opening(), "why")


def test_one_of_two_like_events_that_is_lost_is_a_difference(tmp_path: Path) -> None:
    twice = GARDEN.replace(
        "FILTER($tick = 2) BIND(IRI(CONCAT(STR($this), ':dance')) AS ?dance)",
        "FILTER($tick = 2 || $tick = 4) BIND(IRI(CONCAT(STR($this), ':dance:', STR($tick))) AS ?dance)",
    )
    (tmp_path / "garden.ttl").write_text(twice, "utf-8")
    box = TBox.load(tmp_path / "garden.ttl")
    log = unfold(box, box.opening(), until=6)
    assert [o.tick for o in occurrences(log, box)] == [2, 4]
    maya, rose = NamedNode("urn:garden:maya"), NamedNode("urn:garden:rose")
    what_if = ask(box, log, "without_knowing", agent=maya, fact=rose, tick=3)
    assert what_if.answer == "nothing instead of dance of Maya"


def gossip(*lines: tuple[int, str]) -> tuple[TBox, EventLog]:
    def spelled(line: str) -> str:
        parts = (part if part in "AD" or part[0] == "<" else f"<urn:village:{part}>" for part in line.split())
        return " ".join((*parts, "."))

    return TBox.load("village"), log_of((tick, spelled(line)) for tick, line in lines)


KNOWS = "<urn:substrate:village:knows>"


def telling(name: str, teller: str, hearer: str) -> list[str]:
    roles = {"teller": teller, "hearer": hearer, "told": "party"}
    return [
        f"A {name} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:substrate:village:Telling>",
        *(f"A {name} <urn:substrate:village:{r}> {v}" for r, v in roles.items()),
    ]


def test_a_chain_goes_back_through_the_last_time_each_came_to_know() -> None:
    """Bo forgets and is told again; two tell Cy, and one of them did not know; Dee knows it a tick after the
    telling.
    """
    box, log = gossip(
        (0, f"A ann {KNOWS} party"),
        *((1, line) for line in (f"A bo {KNOWS} party", *telling("t1", "ann", "bo"))),
        (2, f"D bo {KNOWS} party"),
        *(
            (3, line)
            for line in (*telling("t2", "bo", "cy"), *telling("t3", "ann", "cy"), f"A cy {KNOWS} party")
        ),
        *((4, line) for line in (f"A bo {KNOWS} party", *telling("t4", "cy", "bo"))),
        *((5, line) for line in telling("t5", "cy", "dee")),
        (6, f"A dee {KNOWS} party"),
    )
    party = NamedNode("urn:village:party")
    assert [ask(box, log, "learned_from", fact=party, tick=t).answer for t in (1, 2, 6)] == [
        "ann untold since tick 0; bo from ann at tick 1, untold since tick 0",
        "ann untold since tick 0",
        "ann untold since tick 0; bo from cy at tick 4, from ann at tick 3, untold since tick 0; "
        "cy from ann at tick 3, untold since tick 0; dee untold since tick 6",
    ]
    bo = next(chain for chain in chains(box, log, party, 6) if chain[0].knower == NamedNode("urn:village:bo"))
    assert [(link.tick, len(link.deltas)) for link in bo] == [(4, 4), (3, 4), (0, 0)]
    assert {log[p].triple[0] for p in bo[0].deltas} == {NamedNode("urn:village:t4")}


def test_answers_use_the_labels_that_a_log_gives() -> None:
    box, log = gossip((0, f"A ann {KNOWS} party"))
    log.extend_lines([(1, 'A <urn:village:ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann Lee" .')])
    assert ask(box, log, "who_knew", fact=NamedNode("urn:village:party"), tick=1).answer == "Ann Lee"
    assert box.label(NamedNode("urn:village:ann")) == "ann"
