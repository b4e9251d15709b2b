"""Movement files made by hand: refusals with their place, and the first and last steps at places and in
conversations.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode

from research.domains.village.log import conversations, movement_log
from research.domains.village.movements import parse_movements, read_movements
from substrate import EventLog, FormatError, OverrideLocation, RuleEmitter, TBox, fork
from substrate.ask import ask

V, E = "urn:substrate:village:", "urn:village:"
CAFE, KITCHEN = "the Ville:Hobbs Cafe:cafe:counter", "the Ville:Lin family's house:kitchen:stove"
BOX = TBox.load("village")


def record(x: int, address: str, chat: list[list[str]] | None = None, y: int = 1) -> dict[str, Any]:
    description = f"being there @ {address}"
    return {"movement": [x, y], "pronunciatio": "🙂", "description": description, "chat": chat}


def talk(x: int, to: str, *lines: tuple[str, str]) -> dict[str, Any]:
    return record(x, f"<persona> {to}", [list(pair) for pair in lines])


def log_of(steps: dict[int, dict[str, Any]]) -> EventLog:
    return movement_log(parse_movements(json.dumps(steps).encode()))


def answer(log: EventLog, template: str, tick: int, **about: NamedNode) -> str:
    return ask(BOX, log, template, tick=tick, **about).answer


def node(name: str) -> NamedNode:
    return NamedNode(E + name)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"movement": [1]}, "step 4: Bo Li: $.movement"),
        ({"description": "sleeping"}, "step 4: Bo Li: $.description"),
        ({"chat": [["Ann Ray", "hi", "ho"]]}, "step 4: Bo Li: $.chat[0]"),
        ({"chat": [["Mallory", "hi"]]}, "step 4: Bo Li: $.chat: 'Mallory' speaks"),
        ({"mood": "calm"}, "step 4: Bo Li: $: Object contains unknown field `mood`"),
    ],
)
def test_a_wrong_record_is_named_by_file_step_and_persona(
    change: dict[str, Any], where: str, tmp_path: Path
) -> None:
    file = tmp_path / "movement.json"
    steps = {3: {"Ann Ray": record(1, CAFE)}, 4: {"Bo Li": record(2, CAFE) | change}}
    file.write_text(json.dumps(steps), "utf-8")
    with pytest.raises(FormatError) as error:
        read_movements(file)
    assert f"{file}: {where}" in str(error.value)


def test_a_persona_is_on_its_way_until_it_stands_where_it_acts() -> None:
    """Ann walks from the kitchen over tiles that nobody ever stood on; Bo was there before her."""
    ann = {
        1: record(1, KITCHEN),
        3: record(2, CAFE),
        4: record(3, CAFE),
        5: record(4, CAFE),
        7: record(4, "<persona> Bo Li"),
        8: record(5, "<persona> Bo Li"),
        9: record(6, KITCHEN),
    }
    steps = {t: {"Ann Ray": ann[t]} if t in ann else {} for t in range(1, 12)}
    steps[1]["Bo Li"] = record(9, CAFE)
    log = log_of(steps)
    assert [answer(log, "where", t, entity=node("ann-ray")) for t in range(1, 10)] == [
        *["Lin family's house, kitchen"] * 2,
        *["nowhere"] * 2,
        *["Hobbs Cafe, cafe"] * 4,
        "Lin family's house, kitchen",
    ]
    ann_ray, bo_li = node("ann-ray"), node("bo-li")
    met = ask(BOX, log, "when", kind=NamedNode(V + "Meeting"), participants=[ann_ray, bo_li])
    assert met.answer == "at tick 5"
    together = (ann_ray, NamedNode(V + "with"), bo_li)
    assert [t for t in range(1, 10) if together in log.state(t)] == [5, 6, 7, 8]
    assert BOX.validate(log.state(8), log) == []


def test_a_conversation_has_the_talkers_whose_records_hold_it() -> None:
    lines = (("Ann Ray", "hi"), ("Cy Fox", "hello"))
    steps = {
        1: {"Ann Ray": talk(1, "Bo Li", *lines), "Cy Fox": record(7, CAFE)},
        2: {"Bo Li": talk(2, "Ann Ray", *lines)},
        4: {"Ann Ray": record(1, CAFE), "Bo Li": talk(2, "Ann Ray", ("Bo Li", "wait"))},
        5: {"Ann Ray": talk(1, "Bo Li", *lines)},
    }
    talks = conversations(parse_movements(json.dumps(steps).encode()))
    assert [(c.start, c.talkers, c.ends) for c in talks] == [
        (1, ["Ann Ray", "Bo Li"], {"Ann Ray": 4, "Bo Li": 4}),
        (4, ["Bo Li"], {"Bo Li": None}),
        (5, ["Ann Ray"], {"Ann Ray": None}),
    ]
    states = (log_of(steps).state(tick) for tick in (1, 3, 4, 5))
    assert [len(list(state.match(None, NamedNode(V + "engagedIn")))) for state in states] == [2, 2, 1, 2]


def whisper() -> dict[int, dict[str, Any]]:
    """Ann tells Bo; Bo tells Cy, who says it back; Dee, who was not there, is made to speak of it."""
    people = {name: record(x, CAFE) for x, name in enumerate(("Ann Ray", "Bo Li", "Cy Fox", "Dee Oz"))}
    first = (("Bo Li", "Well?"), ("Ann Ray", "It is a SECRET."), ("Dee Oz", "A secret!"))
    second = (("Bo Li", "A secret was told me"), ("Cy Fox", "a secret, really?"))
    third = (("Dee Oz", "I know a secret"), ("Cy Fox", "me too"))
    return {
        3: people,
        5: {"Ann Ray": talk(0, "Bo Li", *first), "Bo Li": talk(1, "Ann Ray", *first)},
        6: {"Ann Ray": record(0, CAFE), "Bo Li": record(1, CAFE)},
        8: {"Bo Li": talk(1, "Cy Fox", *second), "Cy Fox": talk(2, "Bo Li", *second)},
        9: {"Bo Li": record(1, CAFE), "Cy Fox": record(2, CAFE)},
        12: {"Dee Oz": talk(3, "Cy Fox", *third), "Cy Fox": talk(2, "Dee Oz", *third)},
        13: {"Dee Oz": record(3, KITCHEN, y=9), "Cy Fox": record(2, CAFE)},
        14: {},
    }


def test_a_fork_at_any_tick_without_an_intervention_is_the_log() -> None:
    log = log_of(whisper())
    assert {fork(log, at, emitter=RuleEmitter(BOX)).digest for at in range(3, 14)} == {log.digest}


def test_a_persona_moved_elsewhere_takes_no_part_until_the_record_moves_it() -> None:
    log = log_of(whisper())
    kitchen = node("place:lin-family%27s-house:kitchen")
    branch = fork(log, 8, OverrideLocation(node("cy-fox"), kitchen, NamedNode(V + "at")), RuleEmitter(BOX))
    assert answer(branch, "where", 13, entity=node("cy-fox")) == "Lin family's house, kitchen"
    held = branch.state().match(None, None, NamedNode(V + "Conversation"))
    # The name of a conversation has the step in which it begins.
    assert [talk.value.split(":")[3] for talk, _, _ in held] == ["5"]  # pyright: ignore
    assert not any(True for _ in branch.state(8).match(None, NamedNode(V + "engagedIn")))
    assert not any(True for _ in branch.state(8).match(node("cy-fox"), NamedNode(V + "tile")))
    company = {o for _, _, o in branch.state(13).match(node("cy-fox"), NamedNode(V + "with"))}
    assert company == {node("dee-oz")}, "Dee comes into the kitchen at 13"
    assert BOX.validate(branch.state(8), branch) == BOX.validate(branch.state(), branch) == []


def test_names_that_would_be_one_are_refused_and_words_are_kept_as_they_are() -> None:
    with pytest.raises(FormatError, match="'ann ray' and 'Ann Ray' would be one"):
        log_of({1: {"Ann Ray": record(1, CAFE), "ann ray": record(2, CAFE)}})
    words = 'two\nlines, "quoted"\r\tand \\ 🎉'
    log = log_of({1: {"Ann Ray": talk(1, "Bo Li", ("Ann Ray", words))}})
    uttered = log.state().match(None, NamedNode(V + "words"))
    assert [o.value for _, _, o in uttered] == [words]  # pyright: ignore
    assert EventLog.from_patch(log.to_patch()).digest == log.digest
