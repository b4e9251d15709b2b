"""The report's timelines: how each event is related to an answer, and where two arms differ."""

from __future__ import annotations

from clevrer_scenes import scene_events
from logs import unfolded

from substrate.ask import occurrences
from substrate.cause.pictures import Timeline
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.explain import explain
from substrate.domains.clevrer.format import Choice, Question
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.picture import scene_timeline
from substrate.domains.clevrer.scene import Scene
from substrate.domains.smallville.experiment import village_twin
from substrate.domains.smallville.picture import arm_timeline

EVENTS = scene_events(
    ("red cube", "green cube", "blue cube", "cyan cube"),
    [(2, 3, 5), (0, 1, 10), (1, 2, 20)],
    in_outs=[{"frame": 50, "object": 2, "type": "out"}],
    n_frames=100,
)
GREEN, BLUE = (
    ["objects", color, "filter_color", "unique", "filter_collision"] for color in ("green", "blue")
)
CHOICE = ["all_events", *GREEN, *BLUE, "unique"]


def picture(program: list[str], choice: list[str]) -> Timeline:
    """The timeline of a question on the scene above."""
    question = Question(0, "?", "descriptive", program, choices=[Choice(0, "it", choice)])
    log = events_log(EVENTS)
    return scene_timeline(Scene(log), explain(log, 7, question, Parameters()))


def marks(*states: str) -> set[tuple[int | None, str, str]]:
    """The marks of the scene's four events, in these states."""
    return {*zip((5, 10, 20, 50), (*["Collision"] * 3, "Exit"), states, strict=True)}


def test_a_removed_object_and_the_events_lost_with_it_are_marked() -> None:
    red = ["objects", "red", "filter_color", "unique"]
    for removal in (["all_events", *red, "get_counterfact"], [*red, "counterfact_events"]):
        timeline = picture([*removal, "belong_to"], CHOICE)
        assert [lane.removed for lane in timeline.lanes] == [True, False, False, False]
        assert {(mark.tick, mark.kind, mark.state) for mark in timeline.marks} == marks("", *["lost"] * 3)


def test_ancestors_and_the_event_they_lead_to_are_marked() -> None:
    target = ["events", "objects", "blue", "filter_color", "unique", "filter_out", "unique"]
    timeline = picture(
        ["events", *target, "filter_ancestor", "belong_to"],
        ["events", "objects", "red", "filter_color", "unique", "filter_collision", "unique"],
    )
    states = {(mark.tick, mark.kind, mark.state) for mark in timeline.marks}
    assert states == marks(*["ancestor"] * 3, "focus")


def test_the_arms_of_the_village_part_where_the_news_does_not_travel() -> None:
    twin = village_twin()
    only = {
        (tick.tick, arm, event.words)
        for tick in twin.ticks
        for arm, events in (("a", tick.a), ("b", tick.b))
        for event in events
        if not event.shared
    }
    assert only == {
        (8, "a", "telling: John Lin, Maria Lopez"),
        (8, "a", "telling: John Lin, Sam Moore"),
        (12, "b", "telling: Klaus Mueller, Maria Lopez"),
    }
    assert twin.differing == 3
    party = "knows there is a party at Hobbs Cafe on Valentine's Day"
    knowing = {fact.removesuffix(f" {party}"): spans for fact, *spans in twin.facts if fact.endswith(party)}
    assert knowing["John Lin"] == [[(2, None)], [(2, 6)]], "he forgets it in arm B alone"
    assert knowing["Sam Moore"] == [[(8, None)], []]
    assert all(bool(tick.prefix) == (tick.tick < twin.branch) for tick in twin.ticks)


def test_an_arm_has_a_lane_for_each_participant_and_marks_the_event_behind_the_answer() -> None:
    tbox, log = unfolded("village", until=4)
    first = occurrences(log, tbox)[0]
    timeline = arm_timeline(tbox, log, [first.position])
    assert {tbox.label(who) for who in first.participants} <= {lane.label for lane in timeline.lanes}
    (focus,) = (mark for mark in timeline.marks if mark.state == "focus")
    assert (focus.tick, focus.title.endswith(" of Klaus Mueller and Maria Lopez")) == (0, True)
    assert [timeline.lanes[lane].label for lane in focus.lanes] == ["Klaus Mueller", "Maria Lopez"]
