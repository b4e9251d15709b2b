"""Facts: what a log says up to a tick, beside the log's own states."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from substrate import EventLog
from substrate.domains._facts import Facts, literal, term_of, text_of_term

NODES = tuple(f"<urn:{letter}>" for letter in "abc")
CHANGES = st.tuples(
    st.sampled_from("AD"), st.sampled_from(NODES), st.sampled_from(NODES), st.sampled_from(NODES)
)


@given(st.lists(CHANGES, max_size=30), st.integers(0, 30))
def test_facts_hold_what_a_state_holds(changes: list[tuple[str, str, str, str]], stop: int) -> None:
    log = EventLog()
    log.extend_lines((tick, f"{op} {s} {p} {o} .") for tick, (op, s, p, o) in enumerate(changes))
    stop = min(stop, len(log))
    facts = Facts()
    facts.follow(log, 0, stop)
    facts.follow(log, stop, len(log))
    standing = {tuple(text.split(" ")) for text in log.state().texts()}
    assert {fact for node in NODES for fact in facts.about(node)} == standing
    for s in NODES:
        for p in NODES:
            assert set(facts.objects(s, p)) == {fact[2] for fact in standing if fact[:2] == (s, p)}
            assert set(facts.subjects(p, s)) == {fact[0] for fact in standing if fact[1:] == (p, s)}


@given(st.text())
def test_a_text_comes_back_from_its_spelling(text: str) -> None:
    assert text_of_term(literal(text)) == text
    assert term_of(literal(text)).value == text  # pyright: ignore[reportAttributeAccessIssue]
