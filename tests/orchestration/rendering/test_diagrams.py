"""The paper's three figures: data of a run, in words that stay in their boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import msgspec
import pytest
from twin_specs import twin_specs

from orchestration.benchmarks.benchmark import Case
from orchestration.benchmarks.twin import TWIN
from orchestration.models.transcript import Answerer, Reply, make_record
from orchestration.rendering.diagrams import AskedOfBoth, cross_domain, forked, in_page, parametric
from orchestration.rendering.report import domains_of
from orchestration.rendering.sizes import sizes
from substrate.domains.clevrer.program import OPCODES
from substrate.domains.rows import Row
from substrate.domains.smallville.experiment import village_twin

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 0.61 * 11


def both(replies: bool) -> AskedOfBoth:
    """A specification whose arms answer apart, and a model that says yes to each."""
    graded = next(one for one in twin_specs() if (one.gold.a, one.gold.b) == ("yes", "no"))
    record, gold = msgspec.json.encode(graded), msgspec.json.encode(graded.gold)
    case = Case(graded.spec, "", record, gold)
    logs = [named.log for named in TWIN.logs(case, None)]
    rows = list(TWIN.rows(case, logs, None, ""))
    whys = [why for arm in "ab" if (why := TWIN.explain(case, logs, None, "", arm))]
    said: list[tuple[Row, list[object]]] = []
    for row, prompt in zip(rows, ("A village.\nAll goes on.", "A village.\nIsabella stays."), strict=True):
        request = {"model": "a-model", "messages": [{"role": "user", "text": prompt}]}
        reply = Reply('{"answer": "yes"}', "stop", "text", Answerer(weights="sha256:" + "0" * 64))
        answer = msgspec.structs.replace(row, predicted="yes", correct=row.expected == "yes")
        said.append((answer, [make_record(request, reply)]))
    return AskedOfBoth("ab", whys, rows, "Twin-EventLog", said if replies else [])  # pyright: ignore[reportArgumentType]


DRAWN = {
    "parametric": lambda: parametric(both(True)),
    "not asked": lambda: parametric(both(False)),
    "cross-domain": lambda: cross_domain(domains_of(), 1234),
    "forked": lambda: forked(village_twin()),
}


def words(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def boxes(root: ElementTree.Element) -> Iterator[tuple[float, float, float, float]]:
    for path in root.iter(f"{SVG}path"):
        if edge := re.fullmatch(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", path.get("d", "")):
            yield tuple(map(float, edge.groups()))  # pyright: ignore[reportReturnType]


@pytest.mark.parametrize("name", DRAWN)
def test_words_stay_in_their_boxes_and_apart(name: str) -> None:
    root = ElementTree.fromstring(DRAWN[name]())
    height = float(root.get("viewBox", "").split()[3])
    edges, taken = list(boxes(root)), set[tuple[float, float]]()
    assert edges
    for text in root.iter(f"{SVG}text"):
        x, y, said = float(text.get("x", "")), float(text.get("y", "")), text.text or ""
        assert y < height
        assert (x, y) not in taken
        taken.add((x, y))
        for left, top, width, tall in edges:
            if left <= x < left + width and top <= y <= top + tall:
                assert x + CHARACTER * len(said) <= left + width, said
                break
        else:
            assert all(not top - 2 < y < top + tall for _, top, _, tall in edges), (
                f"{said} is crossed by a box"
            )


def test_a_fork_shows_the_deltas_of_each_arm_alone() -> None:
    said = words(forked(village_twin()))
    a, b = said.index("2 deltas of arm A alone"), said.index("2 deltas of arm B alone")
    assert said[a + 1].startswith("  8 + Maria Lopez knows")
    assert said[b + 1].startswith("  6 − John Lin knows")


def test_both_are_shown_on_one_question_with_what_each_rests_on() -> None:
    asked = both(True)
    said = words(parametric(asked))
    assert "Parametric: a-model" in said
    assert "Isabella stays." in said, "the second prompt's own line"
    assert said.count('{"answer": "yes"}') == 2
    verdicts = [line for line in said if line.startswith("arm ")]
    assert verdicts == ["arm a: yes, right", "arm b: no, right", "arm a: yes, right", "arm b: yes, wrong"]
    step = asked.whys[0].parts[0].steps[-1]
    assert step.gave in " ".join(said)


def test_no_reply_is_drawn_where_no_model_was_asked() -> None:
    said = words(parametric(both(False)))
    assert "Parametric: no model was asked in this run" in said
    assert said[-1] == "not measured"


def test_what_xml_may_not_hold_is_shown_as_a_sign() -> None:
    asked = both(False)
    strange = msgspec.structs.replace(asked.whys[0], question="Who\x00 & <b>?")
    assert "Who\ufffd & <b>?" in words(parametric(asked._replace(whys=[strange, asked.whys[1]])))


def test_both_domains_stand_under_one_interpreter() -> None:
    said = " ".join(words(cross_domain(domains_of(), 1234)))
    for domain in domains_of():
        assert f"{domain.name}.ttl" in said
        assert domain.digest[:19] in said
        for answers in domain.answers.values():
            assert answers[0].answer[:20] in said
    assert "One interpreter, 1,234 lines of code: 6 question templates" in said


def test_a_page_gives_a_drawing_its_colours() -> None:
    drawn = in_page(forked(village_twin()))
    assert not re.search(r"#[0-9a-f]{6}", drawn)
    assert "var(--muted)" in drawn


def test_sizes_are_counted_when_they_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted() -> dict[str, str]:
        return {one.printed.what: one.here for one in sizes()}

    before = counted()
    monkeypatch.setitem(OPCODES, "another", OPCODES["count"]._replace(query="another"))
    after = counted()
    assert re.fullmatch(r"\d+ opcodes, under \d+ names", before["language of CLEVRER"])
    opcodes, names = (int(word) for word in re.findall(r"\d+", before["language of CLEVRER"]))
    assert after["language of CLEVRER"] == f"{opcodes + 1} opcodes, under {names + 1} names"
    assert re.fullmatch(r"\d,\d{3} lines in \d+ modules", before["CLEVRER interpreter"])
