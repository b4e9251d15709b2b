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
from orchestration.models.exchange import Answerer, Reply, make_record
from orchestration.rendering.report.diagrams import AskedOfBoth, cross_domain, domains_of, forked, parametric
from substrate.domains.rows import Row
from substrate.domains.smallville.experiment import village_twin

SVG = "{http://www.w3.org/2000/svg}"
# The most that a character of the figures' font is wide, in units of the drawing.
CHARACTER = 0.61 * 11


def both(replies: bool) -> AskedOfBoth:
    """A specification whose arms have different answers, and a model that says yes to each."""
    graded = next(spec for spec in twin_specs() if (spec.gold.a, spec.gold.b) == ("yes", "no"))
    record, gold = msgspec.json.encode(graded), msgspec.json.encode(graded.gold)
    case = Case(graded.spec, "", record, gold)
    logs = TWIN.logs(case, None)
    rows = list(TWIN.rows(case, logs, None, ""))
    whys = [why for arm in "ab" if (why := TWIN.explain(case, logs, None, "", arm))]
    replied: list[tuple[Row, list[object]]] = []
    for row, prompt in zip(rows, ("A village.\nAll goes on.", "A village.\nIsabella stays."), strict=True):
        request = {"model": "a-model", "messages": [{"role": "user", "text": prompt}]}
        reply = Reply('{"answer": "yes"}', "stop", "text", Answerer(weights="sha256:" + "0" * 64))
        answer = msgspec.structs.replace(row, predicted="yes", correct=row.expected == "yes")
        replied.append((answer, [make_record(request, reply)]))
    return AskedOfBoth("ab", whys, rows, "Twin-EventLog", replied if replies else [])  # pyright: ignore[reportArgumentType]


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


def test_the_arms_leave_the_shared_log_after_its_last_event_and_before_the_branch() -> None:
    twin = village_twin()
    drawn = " ".join(path.get("d", "") for path in ElementTree.fromstring(forked(twin)).iter(f"{SVG}path"))
    events = re.findall(r"M([\d.]+) (\d+)a4 ", drawn)
    shared = [float(x) + 4 for x, y in events if y == "64"]
    in_arms = [float(x) + 4 for x, y in events if y != "64"]
    assert len(shared) == sum(bool(tick.prefix) for tick in twin.ticks)
    assert len(in_arms) == sum(bool(arm) for tick in twin.ticks for arm in (tick.a, tick.b))
    assert shared + in_arms == sorted(shared + in_arms)
    parting = re.findall(r"M0 64H([\d.]+)L([\d.]+) 32", drawn)
    assert parting == re.findall(r"M([\d.]+) 64L([\d.]+) 96", drawn)
    leaves, branch = map(float, parting[0])
    assert max(shared) < leaves < branch < min(in_arms)


@pytest.mark.parametrize("name", DRAWN)
def test_words_stay_in_their_boxes_and_apart(name: str) -> None:
    root = ElementTree.fromstring(DRAWN[name]())
    height = float(root.get("viewBox", "").split()[3])
    edges, taken = list(boxes(root)), set[tuple[float, float]]()
    assert edges
    for text in root.iter(f"{SVG}text"):
        x, y, label = float(text.get("x", "")), float(text.get("y", "")), text.text or ""
        assert y < height
        assert (x, y) not in taken
        taken.add((x, y))
        for left, top, width, tall in edges:
            if left <= x < left + width and top <= y <= top + tall:
                assert x + CHARACTER * len(label) <= left + width, label
                break
        else:
            assert all(not top - 2 < y < top + tall for _, top, _, tall in edges), (
                f"{label} is crossed by a box"
            )


def test_a_fork_shows_the_deltas_of_each_arm_alone() -> None:
    lines = words(forked(village_twin()))
    a, b = lines.index("2 deltas of arm A alone"), lines.index("2 deltas of arm B alone")
    assert lines[a + 1].startswith("  8 + Maria Lopez knows")
    assert lines[b + 1].startswith("  6 − John Lin knows")


def test_substrate_and_model_are_shown_on_one_question_with_prompt_and_steps() -> None:
    asked_of_both = both(True)
    lines = words(parametric(asked_of_both))
    assert "Parametric: a-model" in lines
    assert "Isabella stays." in lines, "the second prompt's own line"
    assert lines.count('{"answer": "yes"}') == 2
    verdicts = [line for line in lines if line.startswith("arm ")]
    assert verdicts == ["arm a: yes, right", "arm b: no, right", "arm a: yes, right", "arm b: yes, wrong"]
    step = asked_of_both.whys[0].parts[0].steps[-1]
    assert step.gave in " ".join(lines)


def test_no_reply_is_drawn_where_no_model_was_asked() -> None:
    lines = words(parametric(both(False)))
    assert "Parametric: no model was asked in this run" in lines
    assert lines[-1] == "not measured"
