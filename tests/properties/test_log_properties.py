"""Properties of every log: replay is a fold, deltas are set operations, forks keep the earlier deltas."""

from __future__ import annotations

import pickle
from io import BytesIO
from itertools import accumulate, product
from typing import Any
from unittest.mock import patch

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate import Assert, Delta, Emitter, EventLog, LogError, Op, Replay, Retract, fork
from substrate.base.ntriples import quads_of, text_of, texts_of
from substrate.log import difference, histories
from substrate.log._spelling import is_plain
from substrate.log._triples import fitting
from substrate.log.patch import verify

thorough = settings(max_examples=200)
XSD = "http://www.w3.org/2001/XMLSchema#"

iris = st.sampled_from([ox.NamedNode(f"urn:{name}") for name in "abcd"])
blanks = st.sampled_from([ox.BlankNode(name) for name in ("b0", "b1")])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
literals = st.one_of(
    texts.map(ox.Literal),
    st.builds(lambda t, lang: ox.Literal(t, language=lang), texts, st.sampled_from(["en", "de-at"])),
    st.builds(
        lambda t, way: ox.Literal(t, language="he", direction=way),
        texts,
        st.sampled_from([ox.BaseDirection.LTR, ox.BaseDirection.RTL]),
    ),
    st.builds(
        lambda t, kind: ox.Literal(t, datatype=ox.NamedNode(XSD + kind)),
        st.sampled_from(["1", "01", "1.0", "x"]),
        st.sampled_from(["integer", "double", "decimal"]),
    ),
)
flat = st.one_of(iris, blanks, literals)
terms = st.one_of(
    flat, st.builds(ox.Triple, iris | blanks, iris, st.one_of(flat, st.builds(ox.Triple, iris, iris, flat)))
)
wide = st.tuples(iris | blanks, iris, terms)
few = st.tuples(
    iris,
    iris,
    st.sampled_from(
        [
            ox.NamedNode("urn:a"),
            ox.Literal("1", datatype=ox.NamedNode(XSD + "integer")),
            ox.Literal("01", datatype=ox.NamedNode(XSD + "integer")),
        ]
    ),
)


@st.composite
def deltas(draw: Any, triples: Any = few, most: int = 25) -> list[Delta]:
    steps = draw(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(Op), triples), max_size=most))
    ticks = accumulate(step for step, _, _ in steps)
    return [Delta(tick, op, triple) for tick, (_, op, triple) in zip(ticks, steps, strict=True)]


def apply(state: set[Any], steps: list[Delta]) -> set[Any]:
    for _, op, triple in steps:
        state = state | {triple} if op is Op.INSERT else state - {triple}
    return state


@thorough
@given(deltas(), st.lists(st.integers(-1, 55), max_size=8))
def test_every_way_to_a_tick_leads_to_one_state(steps: list[Delta], visits: list[int]) -> None:
    log = EventLog(steps)
    replay = Replay(log)
    for tick in visits:
        wanted = apply(set(), [d for d in steps if d.tick <= tick])
        assert set(replay.seek(tick)) == set(log.state(tick)) == wanted
        assert len(replay.state) == len(wanted)
        assert {t for t in wanted if t in replay.state} == wanted
        for pattern in [
            (ox.NamedNode("urn:a"), None, None),
            (None, None, ox.Literal("1", datatype=ox.NamedNode(XSD + "integer"))),
        ]:
            assert set(replay.state.match(*pattern)) == {
                t for t in wanted if all(p in (None, q) for p, q in zip(pattern, t, strict=True))
            }
        values = ox.Store()
        values.extend(ox.Quad(*t) for t in wanted)
        assert len(list(replay.state.query("SELECT * { ?s ?p ?o }"))) == len(values)  # pyright: ignore


@thorough
@given(deltas(wide, most=10))
def test_a_patch_gives_the_same_log_back(steps: list[Delta]) -> None:
    back = EventLog.from_patch(EventLog(steps).to_patch())
    assert list(back) == steps
    assert back.digest == EventLog(steps).digest


@thorough
@given(deltas(), deltas())
def test_digests_are_equal_where_logs_are(left: list[Delta], right: list[Delta]) -> None:
    assert (EventLog(left).digest == EventLog(right).digest) == (left == right)


class _Nothing:
    def emit(self, branch: EventLog, parent: EventLog, at: int) -> list[Delta]:
        return []


@thorough
@given(deltas())
def test_a_history_holds_where_the_state_does(steps: list[Delta]) -> None:
    log = EventLog(steps)
    for story in histories(log):
        assert all(
            story.holds(tick) == (story.triple in log.state(tick)) for tick in range(log.last_tick + 1)
        )
        assert len(story.changes) >= 2 * len(story.intervals) - 1
        assert all(i.end is None or i.start < i.end for i in story.intervals)


@thorough
@given(deltas(wide, most=6), st.permutations(["b0", "b1"]))
def test_the_hash_of_a_state_does_not_depend_on_labels_or_order(steps: list[Delta], names: list[str]) -> None:
    log = EventLog(steps)
    renaming = {"_:b0": f"_:{names[0]}x", "_:b1": f"_:{names[1]}x"}
    standing = sorted({str(ox.Triple(*t)) for t in log.state()}, reverse=True)
    plain = [line for line in standing if '"' not in line]
    for statements in (standing, plain):
        direct, other = EventLog(), EventLog()
        direct.extend_lines((0, f"A {line} .") for line in sorted(statements))
        if statements is plain:
            statements = [
                line.replace("_:b0", "_:tmp")
                .replace("_:b1", renaming["_:b1"])
                .replace("_:tmp", renaming["_:b0"])
                for line in statements
            ]
        other.extend_lines((0, f"A {line} .") for line in statements)
        assert direct.state().digest == other.state().digest


@thorough
@given(deltas(), st.data())
def test_forks_of_forks_are_what_copies_would_be(steps: list[Delta], data: st.DataObject) -> None:
    """Logs that share columns, checkpoints and chain, beside lists of deltas that share nothing."""
    family: list[tuple[EventLog, list[Delta]]] = [(EventLog(steps), list(steps))]
    for _ in range(data.draw(st.integers(1, 5))):
        log, plain = data.draw(st.sampled_from(family))
        at = data.draw(st.integers(0, log.last_tick + 1))
        triple = data.draw(few)
        before = apply(set(), [d for d in plain if d.tick < at])
        intervention = data.draw(
            st.sampled_from([None, Retract(triple) if triple in before else Assert(triple)])
        )
        emitter: Emitter | None = data.draw(st.sampled_from([None, _Nothing()]))
        first = intervention.deltas(log.state(at - 1), at) if intervention else []
        earlier, later = [d for d in plain if d.tick < at], [d for d in plain if d.tick >= at]
        family.append((fork(log, at, intervention, emitter), [*earlier, *first, *(() if emitter else later)]))
        # Any log of the family grows, which must change no other.
        grown, lines = data.draw(st.sampled_from(family))
        more = Delta(grown.last_tick + 1, data.draw(st.sampled_from(Op)), data.draw(wide))
        grown.append(more)
        lines.append(more)
    for log, plain in family:
        alone = EventLog(plain)
        assert list(log) == plain
        assert [log[position] for position in range(len(log))] == plain
        assert (log.digest, log.ticks) == (alone.digest, alone.ticks)
        a, b = data.draw(st.integers(-1, log.last_tick + 1)), data.draw(st.integers(-1, log.last_tick + 1))
        assert log.digest_at(a) == alone.digest_at(a)
        assert set(log.state(a)) == apply(set(), [d for d in plain if d.tick <= a])
        assert log.diff(a, b) == alone.diff(a, b)
        assert histories(log) == histories(alone)


@thorough
@given(deltas(wide, most=8), st.lists(st.sampled_from(["grow", "ask", "fork"]), max_size=8), st.data())
def test_the_head_is_the_state_at_the_end(steps: list[Delta], does: list[str], data: st.DataObject) -> None:
    log = EventLog(steps)
    head = log.head
    for what in does:
        if what == "grow":
            log.extend([Delta(log.last_tick + 1, *data.draw(st.tuples(st.sampled_from(Op), wide | few)))])
        elif what == "ask":
            assert bool(head.query("ASK { ?s ?p ?o }")) == bool(len(log.state()))
        else:
            log = fork(log, log.last_tick + 1)
            head = log.head
        fresh = log.state()
        assert (set(head), head.tick, head.nquads()) == (set(fresh), fresh.tick, fresh.nquads())
        for triple in [*fresh, *(delta.triple for delta in log)]:
            assert (triple in head) == (triple in fresh) == (triple in set(fresh))
        every = "SELECT * { ?s ?p ?o }"
        assert len(list(head.query(every))) == len(list(fresh.query(every)))  # pyright: ignore[reportArgumentType]


@thorough
@given(deltas(), st.integers(-1, 55), st.integers(-1, 55))
def test_a_difference_from_the_index_is_that_of_the_states(steps: list[Delta], a: int, b: int) -> None:
    log = EventLog(steps)
    assert log.diff(a, b) == difference(log.state(a), log.state(b))


@thorough
@given(wide)
def test_a_spelling_is_the_quads_own_and_leads_back(triple: Any) -> None:
    text = text_of(triple)
    assert text == str(ox.Quad(*triple)) == texts_of([ox.Quad(*triple)])[0]
    assert quads_of([text]) == [ox.Quad(*triple)]
    for pattern in [(triple[0], None, None), (None, triple[1], None), (None, None, triple[2]), triple]:
        assert fitting(*pattern)(text)
    assert not fitting(ox.NamedNode("urn:no"))(text)
    assert not fitting(None, None, ox.NamedNode("urn:no"))(text)


@thorough
@given(deltas(wide, most=10), st.integers(1, 200), st.data())
def test_a_file_is_read_back_and_none_of_its_bits_may_change(
    steps: list[Delta], pace: int, data: st.DataObject
) -> None:
    """Ticks have different numbers of digits here, and lines need a parser or need none."""
    log = EventLog(Delta(tick * pace, op, triple) for tick, op, triple in steps)
    assert list(pickle.loads(pickle.dumps(log))) == list(log)
    with patch("substrate.log._spelling.is_plain", lambda _: False):
        assert list(pickle.loads(pickle.dumps(log))) == list(log)
    if steps:
        whole = bytearray(log.to_patch().encode())
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.sampled_from([1, 4, 32, 128, 255]))
        with pytest.raises(LogError):
            list(verify(BytesIO(whole), "log"))


def test_a_parser_finds_no_fault_with_what_the_pattern_takes() -> None:
    pieces = ("a", "b.c", "//", "/", "?", "#", ":", ":80", "%41", "@", "[", "..", "é", "|", "\\u0041")
    starts = ("urn:", "http://", "a+b:", "1:", "")
    some = [
        f"<{start}{''.join(path)}>"
        for start in starts
        for n in range(4)
        for path in product(pieces, repeat=n)
    ]
    signs = ("a", "é", "\\n", '\\"', "\\u0041", "\\", "\t", "\x7f", "\ufffe", "\U0010ffff", "\u2028", "<")
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    ends = ("", "@en", "@EN", "@en-gb", "@x", f"^^<{XSD}string>", f"^^<{XSD}integer>", f"^^<{rdf}langString>")
    some += [f'"{"".join(text)}"{end}' for end in ends for n in range(3) for text in product(signs, repeat=n)]
    some += ["_:b0", "_:0", "_:a-b", "_:a.b", "a", "", "<urn:a> <urn:b>"]
    texts = [f"<urn:s> <urn:p> {term}" for term in some] + [f"{term} <urn:p> <urn:o>" for term in some]
    texts += [f"<urn:s> <urn:p> <<( {text} )>>" for text in texts]
    taken = [text for text in texts if is_plain(f"A {text} .\n")]
    assert len(taken) > len(texts) // 8
    assert texts_of(quads_of(taken)) == taken
