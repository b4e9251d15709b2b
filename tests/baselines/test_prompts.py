"""The text that a model is shown: all of the input, nothing of the gold."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from itertools import repeat

import msgspec
import pytest
from clevrer_scenes import filmed_log
from pyoxigraph import NamedNode
from villages import INTERVENTIONS, VILLAGE, spec

from substrate import Delta, EventLog, Op
from substrate.base.errors import LogError
from substrate.baselines import clevrer, gqa, twin
from substrate.baselines.model import Image, ReplyError, Request, one_of, spread
from substrate.domains.smallville.format import Gold
from substrate.generators.smallville import generate


def text(request: Request) -> str:
    return "\n".join(message.text for message in request.messages)


def log() -> EventLog:
    return filmed_log([(0, 1, 30)], views={0: range(10, 90)}, moving={0: range(128), 1: range(30, 128)})


def test_every_delta_of_a_log_is_in_the_prompt() -> None:
    deltas = list(log())
    whole = clevrer.log_text(log())
    shown = [
        delta
        for delta in deltas
        if delta.op is Op.INSERT
        and not str(delta.triple[1]).endswith(("type>", "number>", "color>", "material>", "shape>", "frame>"))
    ]
    assert len(shown) > 20
    for left_out in shown:
        changed = EventLog(Delta(tick=d.tick, op=d.op, triple=d.triple) for d in deltas if d != left_out)
        with suppress(KeyError):  # without this delta, the others cannot be put into words
            assert clevrer.log_text(changed) != whole, left_out
    assert "Frame 10: Event 1: the red metal cube (object 0) enters the scene." in whole
    assert (
        "Frame 30: Event 2: the red metal cube (object 0) and the blue rubber sphere (object 1) collide."
        in whole
    )
    assert "Frame 90: The red metal cube (object 0) is out of view." in whole
    assert "Frame 30: The blue rubber sphere (object 1) is moving." in whole


def test_a_delta_that_there_are_no_words_for_is_refused() -> None:
    deltas = list(log())
    moved = next(delta for delta in deltas if str(delta.triple[1]).endswith("moved>"))
    strange = Delta(
        tick=127,
        op=Op.INSERT,
        triple=(moved.triple[0], NamedNode("urn:substrate:clevrer:mood"), moved.triple[2]),
    )
    with pytest.raises(LogError, match="there are no words for mood"):
        clevrer.log_text(EventLog([*deltas, strange]))


def test_the_same_log_is_the_same_text_and_the_answer_is_a_word_of_the_vocabulary() -> None:
    request = clevrer.request(clevrer.log_text(log()), "How many metal objects are there?")
    assert text(request) == text(
        clevrer.request(clevrer.log_text(log()), "How many metal objects are there?")
    )
    assert request.schema
    assert set(request.schema["properties"]["answer"]["enum"]) == set(clevrer.VOCABULARY)
    assert "How many metal objects are there?" in text(request)


@pytest.mark.parametrize("arm", spec().arms)
def test_a_prompt_has_the_whole_village_and_not_its_label(arm: twin.Arm) -> None:
    prompt = text(twin.request(spec(), arm))
    for named in (*VILLAGE.places, *VILLAGE.facts, *VILLAGE.agents):
        assert named.name in prompt
    assert "from tick 2 on at Hobbs Cafe" in prompt
    assert "from tick 3 on at Hobbs Cafe, if they know then: there is a party" in prompt
    assert prompt == text(twin.request(spec(linkage="control"), arm))


@pytest.mark.parametrize("intervention", INTERVENTIONS)
def test_only_the_prompt_of_arm_b_has_the_intervention(intervention: str) -> None:
    given = spec(intervention=intervention)
    first, second = (text(twin.request(given, arm)) for arm in given.arms)
    assert "At tick 1, before anything else" in second
    assert "At tick 1, before anything else" not in first
    assert first == text(
        twin.request(spec(intervention=next(other for other in INTERVENTIONS if other != intervention)), "a")
    )


def test_the_gold_is_set_beside_answers_that_never_saw_it() -> None:
    class Yes:
        def ask(self, request: Request) -> str:
            return '{"answer": "yes"}'

    inputs: list[object] = []

    def predict(model: object, given: object, arm: object) -> str | ReplyError:
        inputs.append((given, arm))
        return twin.direct(model, given, arm)  # pyright: ignore[reportArgumentType]

    rows = twin.rows(Yes(), spec(7), Gold("yes", "no"), predict, "twin_direct", "generated")
    assert [(r.scene, r.question, r.subset, r.predicted, r.expected, r.correct) for r in rows] == [
        (7, 0, "direct", "yes", "yes", True),
        (7, 1, "direct", "yes", "no", False),
    ]
    assert "gold" not in msgspec.json.encode(inputs).decode()
    assert [r.correct for r in twin.rows(Yes(), spec(7), None, twin.direct, "twin_direct", "generated")] == [
        None,
        None,
    ]


@pytest.mark.long
def test_each_prefix_of_the_asking_order_has_every_cell_s_share_and_numbers_from_the_end() -> None:
    cells = {g.spec: (g.linkage, g.gold) for g in map(generate, range(180), repeat(20))}
    share = {cell: count / 180 for cell, count in Counter(cells.values()).items()}
    order = spread(cells, 20)
    assert sorted(order) == sorted(cells)
    for n in (20, 60, 100):
        counts = Counter(cells[number] for number in order[:n])
        assert all(abs(counts[cell] - n * part) < 1.5 for cell, part in share.items())
        assert max(order[:n]) > 120
    assert order != spread(cells, 21)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        '{"answer": "maybe"}',
        '{"reply": "yes"}',
        '{"answer": "yes"',
        "Neither yes nor no",
        "<think>yes</think>",
        "It is a yes-man. Who knows?",
    ],
)
def test_a_reply_off_the_schema_is_refused(reply: str) -> None:
    request = Request((), one_of("yes", "no"))
    with pytest.raises(ReplyError, match="not what was asked for"):
        request.read(reply)


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "yes"}',
        '```json\n{"answer":"yes"}\n```',
        'Surely. {"answer": "yes"} That is it.',
        '<think>Is it {"answer": "no"}? No.</think>{"answer":"yes"}',
        "'YES!'",
        "No villager told them. The answer is: yes.",
        "**Answer:** yes",
    ],
)
def test_words_around_a_reply_are_passed_over(reply: str) -> None:
    assert Request((), one_of("yes", "no")).read(reply).answer == "yes"


def test_an_extractor_is_shown_the_image_and_its_graph_is_cleaned() -> None:
    image = Image("7", "image/jpeg", "aa")
    request = gqa.extract_request(image)
    assert request.messages[1].images == (image,)
    assert "$ref" not in json.dumps(request.schema)
    nameless = '{"name": " ", "x": 0, "y": 0, "w": 1, "h": 1, "attributes": [], "relations": []}'
    cup = (
        '{"name": "A Cup.", "x": 1, "y": 2, "w": -3, "h": 4, "attributes": ["Red", ""], '
        '"relations": [{"name": "on", "object": 0}]}'
    )
    reply = f'{{"objects": [{nameless}, {cup}], "location": "kitchen"}}'
    graph = gqa.scene_graph(request.read(reply))
    assert list(graph.objects) == ["1"]
    assert (
        graph.objects["1"].name,
        graph.objects["1"].w,
        graph.objects["1"].attributes,
        graph.objects["1"].relations,
    ) == ("a cup", 0, ["red"], [])
    assert (graph.location, graph.weather) == ("kitchen", None)
