"""A domain by a Turtle file alone: the how-to runs as written, and its greenhouse answers every question that
the shipped village and clinic answer.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
import rdflib
from pyoxigraph import NamedNode
from runnable_pages import DOCS, Page

from substrate import EventLog, RetractAwareness, RuleEmitter, State, TBox, Term, fork, unfold
from substrate.ask import ask, survey
from substrate.ask.questions import TEMPLATES
from substrate.base.vocabulary import AWARE_OF, CONTENT, EVENT, LOCATION, PARTICIPANT, RECIPIENT, SOURCE

HOW_TO = Page(
    "how-to-add-a-domain.md", files={"turtle": "parts.ttl", "patch": "weather.patch"}, exits={"verify": 1}
)
GREENHOUSE = DOCS / "examples" / "greenhouse.ttl"
UNTIL = 13


def lay_out(folder: Path) -> None:
    """Write the files of the page, and the domain that it takes its parts from."""
    HOW_TO.write_files(folder)
    shutil.copy(GREENHOUSE, folder)


def domain(source: str, folder: Path) -> tuple[TBox, EventLog]:
    lay_out(folder)
    box = TBox.load(folder / source if source.endswith(".ttl") else source)
    given = box.opening()
    if source.endswith(".ttl"):
        given.extend(EventLog.from_patch((folder / "weather.patch").read_text("utf-8")))
    return box, unfold(box, given, UNTIL)


def values(terms: Iterable[object]) -> str:
    return " ".join(sorted(f"<{term}>" for term in terms))


class Oracle:
    """The same questions, answered from states with SPARQL and rdflib's own closures."""

    def __init__(self, box: TBox, log: EventLog) -> None:
        self.box, self.log = box, log
        self.states: dict[int, State] = {tick: log.state(tick) for tick in range(UNTIL + 1)}

    def below(self, term: NamedNode) -> set[str]:
        link = rdflib.RDFS.subClassOf if term == EVENT else rdflib.RDFS.subPropertyOf
        return {str(iri) for iri in self.box.graph.transitive_subjects(link, rdflib.URIRef(term.value))}

    def pairs(self, tick: int, above: NamedNode) -> set[tuple[Term, Term]]:
        below = values(self.below(above))
        rows = self.states[tick].query(f"SELECT ?s ?o WHERE {{ VALUES ?p {{ {below} }} ?s ?p ?o }}")
        return {(row["s"], row["o"]) for row in rows}  # pyright: ignore

    def events(self) -> dict[Term, tuple[NamedNode, int, frozenset[Term]]]:
        """Class, tick and participants of each event."""
        taking_part = self.pairs(UNTIL, PARTICIPANT)
        occurrences: dict[Term, tuple[NamedNode, int, frozenset[Term]]] = {}
        query = f"SELECT ?e ?kind WHERE {{ VALUES ?kind {{ {values(self.below(EVENT))} }} ?e a ?kind }}"
        for tick, state in self.states.items():
            for row in state.query(query):  # pyright: ignore
                who = frozenset(o for s, o in taking_part if s == row["e"])  # pyright: ignore
                occurrences.setdefault(row["e"], (row["kind"], tick, who))  # pyright: ignore
        return occurrences

    def happening_without(self, other: Oracle, start: int) -> str:
        """The events from a tick on that another log does not have, with their participants."""
        here, there = (
            Counter((kind, who) for kind, tick, who in arm.events().values() if tick >= start)
            for arm in (self, other)
        )
        lost = (here - there).elements()
        return "; ".join(sorted(f"{self.box.label(kind)} of {self.names(who)}" for kind, who in lost))

    def ever_aware(self, start: int) -> set[tuple[Term, Term]]:
        """Pairs of a person and what it knows at a tick from ``start`` on."""
        return {pair for tick in range(start, UNTIL + 1) for pair in self.pairs(tick, AWARE_OF)}

    def chains(self, who: Term, fact: Term, tick: int) -> set[str]:
        """The ways in which a person came to know a fact that it knows at a tick, each as a text: who told
        it, who told the teller, and so on, with the ticks.
        """
        learned = tick
        while learned and (who, fact) in self.pairs(learned - 1, AWARE_OF):
            learned -= 1
        told, heard = self.pairs(UNTIL, CONTENT), self.pairs(UNTIL, RECIPIENT)
        events = {
            event
            for event, (_, at, _) in self.events().items()
            if at == learned and (event, fact) in told and (event, who) in heard
        }
        tellers = {teller for event, teller in self.pairs(UNTIL, SOURCE) if event in events}
        tellings = {
            f"from {self.box.label(teller)} at tick {learned}, {earlier}"
            for teller in tellers
            for earlier in self.chains(teller, fact, learned)
        }
        return tellings or {f"untold since tick {learned}"}

    def names(self, terms: Iterable[Term]) -> str:
        return ", ".join(sorted(self.box.label(term) for term in terms))


def test_the_how_to_runs_and_prints_the_shown_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    compared = 0
    for block, output in HOW_TO.run():
        if block.expected is not None:
            assert output == block.expected, block.text
            compared += 1
    assert compared == 7


def test_each_part_of_the_domain_that_the_how_to_shows_is_in_its_file() -> None:
    parts = [block.text for block in HOW_TO.blocks if block.kind == "turtle"]
    assert len(parts) >= 5
    lines = {line for part in parts for line in part.splitlines()}
    assert lines <= set(GREENHOUSE.read_text("utf-8").splitlines())


def test_the_how_to_explains_every_rule_and_asks_every_template(tmp_path: Path) -> None:
    box, _ = domain("greenhouse.ttl", tmp_path)
    page = HOW_TO.path.read_text("utf-8")
    assert [rule.name for rule in box.rules] == re.findall(r"\*([a-z]+)\*: ", page)
    assert set(re.findall(r'^answer\(box, log, "(\w+)"', page, re.MULTILINE)) == set(TEMPLATES)


@pytest.mark.parametrize("source", ["village", "clinical", "greenhouse.ttl"])
class TestEveryDomain:
    def test_is_asked_every_template_in_its_own_words(self, source: str, tmp_path: Path) -> None:
        box, log = domain(source, tmp_path)
        assert box.validate(log.state(), log) == []
        answers = survey(box, log)
        assert {answer.template for answer in answers} == set(TEMPLATES)
        assert {answer.answer for answer in answers if answer.template == "happened"} == {"yes", "no"}
        branches = [answer.answer for answer in answers if answer.template == "without_knowing"]
        assert any(" instead of " in text for text in branches)
        assert not any("urn:" in answer.question + answer.answer for answer in answers)

    def test_did_it_happen_and_when(self, source: str, tmp_path: Path) -> None:
        box, log = domain(source, tmp_path)
        events = Oracle(box, log).events()
        assert len({tick for _, tick, _ in events.values()}) > 1
        for kind in {kind for kind, _, _ in events.values()}:
            for who in {who for _, _, who in events.values()}:
                ticks = sorted(at for class_, at, by in events.values() if (class_, by) == (kind, who))
                about = {"kind": kind, "participants": who}
                happened, when = (ask(box, log, template, **about) for template in ("happened", "when"))
                assert happened.answer == ("yes" if ticks else "no")
                assert when.answer == (f"at tick {', '.join(map(str, ticks))}" if ticks else "never")
                assert [log[position].tick for position in when.evidence] == ticks

    def test_who_knew_and_where(self, source: str, tmp_path: Path) -> None:
        box, log = domain(source, tmp_path)
        oracle = Oracle(box, log)
        facts = {fact for _, fact in oracle.pairs(UNTIL, AWARE_OF)}
        entities = {entity for tick in oracle.states for entity, _ in oracle.pairs(tick, LOCATION)}
        assert facts
        assert entities
        for tick in oracle.states:
            knowing, placed = oracle.pairs(tick, AWARE_OF), oracle.pairs(tick, LOCATION)
            for fact in facts:
                who = [s for s, o in knowing if o == fact]
                knew = ask(box, log, "who_knew", fact=fact, tick=tick)
                assert knew.answer == (oracle.names(who) or "nobody")
                ways = {oracle.names([s]): oracle.chains(s, fact, tick) for s in who}
                parts = ask(box, log, "learned_from", fact=fact, tick=tick).answer.split("; ")
                assert len(parts) == max(1, len(ways))
                assert all(any(f"{name} {way}" in parts for way in texts) for name, texts in ways.items())
            for entity in entities:
                places = oracle.names(o for s, o in placed if s == entity)
                assert ask(box, log, "where", entity=entity, tick=tick).answer == (places or "nowhere")

    def test_without_knowing(self, source: str, tmp_path: Path) -> None:
        box, log = domain(source, tmp_path)
        oracle = Oracle(box, log)
        predicates = [NamedNode(name) for name in sorted(oracle.below(AWARE_OF))]
        seen = set()
        for tick in range(1, log.last_tick + 1):
            for predicate in predicates:
                for agent, _, fact in oracle.states[tick - 1].match(None, predicate, None):
                    # The expected words: events that happen instead of lost ones, then who knows less or
                    # more. The fact itself comes first, and goes without its name.
                    change = RetractAwareness(agent, fact, predicate)  # pyright: ignore
                    branch = fork(log, tick, change, RuleEmitter(box))
                    here, there = (Oracle(box, arm) for arm in (log, branch))
                    lost = here.happening_without(there, tick)
                    gained = there.happening_without(here, tick)
                    parts = [f"{gained or 'nothing'} instead of {lost}" if lost else gained]
                    ever = [arm.ever_aware(tick) for arm in (here, there)]
                    for how, known in (("unknown to", ever[0] - ever[1]), ("known to", ever[1] - ever[0])):
                        for known_fact in sorted({o for _, o in known}, key=lambda o: (o != fact, str(o))):
                            who = oracle.names(s for s, o in known - {(agent, fact)} if o == known_fact)
                            label = "" if known_fact == fact else f": {box.label(known_fact)}"
                            parts.append(f"{how} {who}{label}" if who else "")
                    expected = "; ".join(filter(None, parts)) or "nothing else"
                    reply = ask(box, log, "without_knowing", agent=agent, fact=fact, tick=tick)
                    assert reply.answer == expected
                    seen.add(expected)
        assert len(seen) > 1
