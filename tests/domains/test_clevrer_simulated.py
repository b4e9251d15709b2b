"""Simulated forks: scenes laid out by hand, in which it can be read off what must happen without an object,
or after the video.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from clevrer_scenes import annotation, scene_events
from msgspec.structs import replace
from pyoxigraph import NamedNode

from research.domains.positions import tracked_log
from research.domains.possible import PossibleEvent, PossibleScene, answer_possible
from substrate import EventLog, LogError, ProgramError, Retract, TBox, fork
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.counterfactual import Fate, judge
from substrate.domains.clevrer.deltas import NAMESPACE, annotation_log, events_log
from substrate.domains.clevrer.emitter import MotionEmitter, future, without
from substrate.domains.clevrer.explain import explain
from substrate.domains.clevrer.format import (
    RECORDED_AFTER,
    SECONDS_PER_FRAME,
    Annotation,
    Choice,
    CompactCollision,
    CompactObject,
    InOut,
    Question,
    SceneEvents,
    decode_annotation,
    tracks,
)
from substrate.domains.clevrer.motion.course import course
from substrate.domains.clevrer.motion.engine import Body
from substrate.domains.clevrer.parameters import Counterfactual, Parameters, Predictive
from substrate.domains.clevrer.program import World, run
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.domains.comphy.parameters import Parameters as ComphyParameters

# From a frame on, an object moves on a straight line: frame, x, y (units), vx, vy (units/s).
Leg = tuple[int, float, float, float, float]
SIMULATED = Parameters(counterfactual=Counterfactual("simulated"), predictive=Predictive("S"))
# The numbers of the four objects that `clevrer_scenes.LOOKS` describes: a red cube, a blue ball, a green can
# (a cylinder) and a second ball, which is red.
CUBE, BALL, CAN, SPHERE = range(4)
AWAY = {
    CUBE: [(0, -9.0, 9.0, 0.0, 0.0)],
    BALL: [(0, -9.0, -9.0, 0.0, 0.0)],
    CAN: [(0, 9.0, 9.0, 0.0, 0.0)],
    SPHERE: [(0, 9.0, -9.0, 0.0, 0.0)],
}


# The ball is stopped half-way by the cube, at frame 11.
STOPPED: dict[int, list[Leg]] = {
    BALL: [(0, -1.0, 0.0, 2.0, 0.0), (11, -0.4, 0.0, 0.0, 0.0)],
    CUBE: [(0, 0.0, 0.0, 0.0, 0.0)],
}
# The words of a program that choose one of them; only the ball is blue.
_BALL, _CUBE, _CAN = "blue filter_color", "cube filter_shape", "cylinder filter_shape"


def film(
    legs: dict[int, list[Leg]],
    collisions: Sequence[tuple[int, int, int]] = (),
    views: dict[int, range] | None = None,
) -> Annotation:
    """A cube, a ball, a can and a second ball; an object without legs rests far from the others."""
    record = annotation(collisions, views=views)
    for frame in record["motion_trajectory"]:
        for state in frame["objects"]:
            own = (AWAY | legs)[state["object_id"]]
            since, x, y, vx, vy = [leg for leg in own if leg[0] <= frame["frame_id"]][-1]
            time = (frame["frame_id"] - since) * SECONDS_PER_FRAME
            state["location"], state["velocity"] = [x + time * vx, y + time * vy, 0.2], [vx, vy, 0.0]
    return decode_annotation(("film", json.dumps(record).encode()))


def scene(*given: Any, **also: Any) -> Scene:
    return Scene(annotation_log(film(*given, **also)))


def verdict(
    observed: Scene,
    a: int,
    b: int,
    *,
    removed: int,
    method: Literal["duality", "partner", "simulated"] = "simulated",
    horizon: int = RECORDED_AFTER,
) -> Fate:
    hit = SceneEvent("Collision", None, frozenset((a, b)))
    return judge(observed, hit, removed, Counterfactual(method, horizon))


def happening(branch: Scene) -> list[tuple[str, int | None, list[int]]]:
    return [(event.kind, event.frame, sorted(event.objects)) for event in branch.events]


def collisions(branch: Scene) -> list[SceneEvent]:
    return [event for event in branch.events if event.kind == "Collision"]


def collide(a: str, b: str) -> str:
    return f"all_events objects {a} unique filter_collision objects {b} unique filter_collision unique"


@pytest.fixture(scope="module")
def blocked() -> Scene:
    """A ball rolls at a can, and is stopped half-way by the cube, at frame 11."""
    return scene(STOPPED | {CAN: [(0, 1.2, 0.0, 0.0, 0.0)]}, [(CUBE, BALL, 11)])


def test_a_ball_hits_what_the_removed_object_kept_it_from(blocked: Scene) -> None:
    assert verdict(blocked, BALL, CAN, removed=CUBE) == Fate(True, "simulated")
    (collision,) = collisions(without(blocked, CUBE))
    assert collision.objects == {BALL, CAN}
    assert 32 <= (collision.frame or 0) <= 36  # 1.8 units at 2 units/s are 32 frames; drag costs a few
    # Neither rule of the paper can know: the can has met nobody.
    assert not verdict(blocked, BALL, CAN, removed=CUBE, method="partner").occurs
    assert not verdict(blocked, BALL, CAN, removed=CUBE, method="duality").occurs


def test_a_removal_that_moves_nobody_is_judged_from_the_observed_events(blocked: Scene) -> None:
    assert verdict(blocked, CAN, SPHERE, removed=SPHERE) == Fate(False, "dual")
    assert verdict(blocked, CUBE, SPHERE, removed=CAN, horizon=0) == Fate(False, "observed")
    assert verdict(blocked, CUBE, BALL, removed=CAN) == Fate(True, "dual")


def test_a_world_without_an_object_goes_on_after_the_video() -> None:
    """The ball rolls towards the can, and would reach it 20 frames after the video, also without the cube."""
    rolling = scene({BALL: [(0, -6.0, 0.0, 1.5, 0.0)], CAN: [(0, 0.2, 0.0, 0.0, 0.0)]})
    assert verdict(rolling, BALL, CAN, removed=CUBE) == Fate(True, "simulated")
    assert not verdict(rolling, BALL, CAN, removed=CUBE, horizon=0).occurs
    assert not verdict(rolling, BALL, CAN, removed=CUBE, horizon=5).occurs
    branch = without(rolling, CUBE, horizon=51)
    (late,) = collisions(branch)
    assert late.objects == {BALL, CAN}
    assert 127 < (late.frame or 0) <= branch.end == 178
    assert branch.simulated == {BALL, CAN, SPHERE}, "after the video nobody was observed"
    assert branch.log.state(127) == without(rolling, CUBE).log.state(127), "until its end all were"


def test_a_chain_does_not_happen_without_its_first_link() -> None:
    # The sphere drives the ball into the cube, which drives the can away.
    chain = scene(
        {
            SPHERE: [(0, -2.0, 0.0, 2.0, 0.0), (20, -0.9, 0.0, 0.0, 0.0)],
            BALL: [(0, -0.5, 0.0, 0.0, 0.0), (20, -0.5, 0.0, 1.5, 0.0), (35, 0.1, 0.0, 0.0, 0.0)],
            CUBE: [(0, 0.5, 0.0, 0.0, 0.0), (35, 0.5, 0.0, 1.2, 0.0), (50, 1.0, 0.0, 0.0, 0.0)],
            CAN: [(0, 1.4, 0.0, 0.0, 0.0), (50, 1.4, 0.0, 0.5, 0.0)],
        },
        [(BALL, SPHERE, 20), (CUBE, BALL, 35), (CUBE, CAN, 50)],
    )
    for a, b in ((CUBE, BALL), (CUBE, CAN)):
        assert verdict(chain, a, b, removed=SPHERE) == Fate(False, "simulated")
    assert happening(without(chain, SPHERE)) == [("Start", 0, []), ("End", 127, [])]
    # Without the cube the first link holds, and the ball rolls on to the can.
    assert verdict(chain, BALL, SPHERE, removed=CUBE) == Fate(True, "dual")
    assert verdict(chain, BALL, CAN, removed=CUBE) == Fate(True, "simulated")


def test_an_event_may_happen_although_the_removed_object_was_an_ancestor() -> None:
    # The cube slides against the can and barely moves it; later the ball hits the can hard, where it stands
    # with or without that.
    nudged = scene(
        {
            CUBE: [(0, 0.0, -0.8, 0.0, 0.5), (28, 0.0, -0.42, 0.0, 0.0)],
            CAN: [(0, 0.0, 0.0, 0.0, 0.0), (28, 0.0, 0.0, 0.0, 0.01), (30, 0.0, 0.0, 0.0, 0.0)],
            BALL: [(0, -6.0, 0.0, 2.5, 0.0), (80, -0.4, 0.0, 0.0, 0.0)],
        },
        [(CUBE, CAN, 28), (BALL, CAN, 80)],
    )
    assert not verdict(nudged, BALL, CAN, removed=CUBE, method="duality").occurs
    assert verdict(nudged, BALL, CAN, removed=CUBE) == Fate(True, "simulated")


def test_an_event_may_be_prevented_by_a_collision_that_was_not_seen() -> None:
    # Stopped by the cube, the ball never reached the can, which the sphere hit in the end. Without the cube
    # the can is gone by then.
    spared = scene(
        {
            **STOPPED,
            CAN: [(0, 1.2, 0.0, 0.0, 0.0)],
            SPHERE: [(0, 1.2, 5.9, 0.0, -2.0), (98, 1.2, 0.4, 0.0, 0.0)],
        },
        [(CUBE, BALL, 11), (CAN, SPHERE, 98)],
    )
    assert verdict(spared, CAN, SPHERE, removed=CUBE, method="duality") == Fate(True, "dual")
    assert verdict(spared, CAN, SPHERE, removed=CUBE) == Fate(False, "simulated")


def test_an_object_that_no_change_reaches_moves_and_collides_as_observed() -> None:
    # The sphere's recorded path bends at the can against the laws of motion: the branch keeps it as observed.
    bent = scene(
        {
            **STOPPED,
            CAN: [(0, 3.0, 3.0, 0.0, 0.0)],
            SPHERE: [(0, 2.0, 3.0, 1.0, 0.0), (21, 2.6, 3.0, 0.0, 2.0)],
        },
        [(CUBE, BALL, 11), (CAN, SPHERE, 21)],
    )
    branch = without(bent, CUBE)
    assert ("Collision", 21, [CAN, SPHERE]) in happening(branch)
    assert branch.simulated == {BALL}
    assert branch.poses[127][SPHERE] == bent.poses[127][SPHERE]
    assert CUBE not in branch.objects


def test_an_object_that_enters_later_joins_where_it_was_seen_to_enter(blocked: Scene) -> None:
    for y, on_its_way in ((2.0, False), (0.0, True)):
        legs = STOPPED | {SPHERE: [(0, 1.4, y, 0.0, 0.0)]}
        late = scene(legs, [(CUBE, BALL, 11)], views={SPHERE: range(25, 128)})
        assert ("Entry", 25, [SPHERE]) in happening(without(late, CUBE))
        assert verdict(late, BALL, SPHERE, removed=CUBE).occurs is on_its_way


# The branch as a log


def test_the_branch_is_a_log_that_can_be_kept_checked_and_asked(blocked: Scene, tmp_path: Path) -> None:
    digest = blocked.log.digest
    branch = without(blocked, CUBE).log
    assert blocked.log.digest == digest
    assert (branch.parent_digest, branch.branch_tick) == (digest, 1), "the cube goes with the first frame"
    assert TBox.load("clevrer").validate(branch.state(), branch) == []
    branch.save(tmp_path / "without.rdfp")
    assert EventLog.read(tmp_path / "without.rdfp").digest == branch.digest != digest
    hit = "ASK { ?e a :Collision ; :simulated true ; :participant ?o . ?o :shape :cylinder }"
    assert branch.state().query(hit, prefixes={"": NAMESPACE})
    assert not branch.state().query("ASK { ?o :shape :cube }", prefixes={"": NAMESPACE})
    assert not branch.state(10).query("ASK { ?o :simulated true }", prefixes={"": NAMESPACE})
    # An object that the simulator moves is in no camera's view, so it has no state of motion.
    assert without(blocked, CUBE).motion(127) == {SPHERE: False}


@pytest.mark.parametrize("horizon", [0, 51])
def test_a_branch_has_the_events_of_its_log(blocked: Scene, horizon: int) -> None:
    """A branch takes its events from the simulated course; a scene that is read from its log has the same."""
    branches = [without(blocked, number, horizon=horizon) for number in blocked.objects]
    assert {event.objects for branch in branches for event in branch.events} > {frozenset((BALL, CAN))}
    late = scene({}, [(CUBE, BALL, 30)], views={CUBE: range(5, 128)})  # removed after it entered
    for branch in (*branches, future(blocked, horizon), without(late, CUBE)):
        read = Scene(branch.log)
        assert (branch.events, branch.simulated) == (read.events, read.simulated)


def test_a_log_without_motion_cannot_be_simulated() -> None:
    log = events_log(scene_events(("red cube", "blue sphere"), [(0, 1, 30)]))
    with pytest.raises(ProgramError, match="a compact event file has no motion"):
        judge(Scene(log), SceneEvent("Collision", None, frozenset((1, 2))), 0, Counterfactual("simulated"))
    with pytest.raises(LogError, match="no pose"):
        fork(log, 3, emitter=MotionEmitter())


@pytest.mark.parametrize(
    ("removed", "at", "left"),
    [
        (0, 30, [60]),  # without its hit at 30, object 1 does not hit 2 at 50
        (0, 31, [50, 60]),  # its collision has happened by then
        (4, 1, [30, 50]),
        (2, 1, [30, 60]),
    ],
)
def test_without_motion_an_event_that_rests_on_a_missing_object_does_not_happen(
    removed: int, at: int, left: list[int]
) -> None:
    log = events_log(scene_events(["red cube"] * 5, [(0, 1, 30), (1, 2, 50), (3, 4, 60)]))
    thing = NamedNode(f"{Scene(log).iri}:object:{removed}")
    gone = Retract((thing, RDF_TYPE, NamedNode(f"{NAMESPACE}Object")))
    branch = Scene(fork(log, at, gone, MotionEmitter(by_ancestry=True)))
    assert [event.frame for event in collisions(branch)] == left
    assert sorted(branch.objects) == [number for number in range(5) if number != removed]
    assert TBox.load("clevrer").validate(branch.log.state(), branch.log) == []


# Positions that a tracker gave


def tracked(filmed: Annotation) -> SceneEvents:
    """The true events of a film with the positions in every fifth frame in which an object is in view."""
    views, points = {}, {}
    for number, states in tracks(filmed).items():
        views[number] = [frame for frame, state in enumerate(states) if state.inside_camera_view]
        points[number] = [(frame, *states[frame].location[:2]) for frame in views[number] if not frame % 5]
    entries = [InOut(seen[0], number, "in") for number, seen in views.items() if seen[0]]
    things = [CompactObject(o.color, o.material, o.shape, o.object_id) for o in filmed.object_property]
    hits = [CompactCollision(hit.object_ids, hit.frame_id) for hit in filmed.collision]
    return SceneEvents(filmed.scene_index, 128, things, entries, hits, points)


@pytest.fixture(scope="module")
def watched() -> SceneEvents:
    """The ball is stopped by the cube before it reaches the can; a sphere enters at frame 83 and goes on."""
    legs = STOPPED | {CAN: [(0, 1.2, 0.0, 0.0, 0.0)], SPHERE: [(0, -9.0, 3.0, 2.2, 0.0)]}
    return tracked(film(legs, [(CUBE, BALL, 11)], views={SPHERE: range(83, 128)}))


def test_positions_give_the_motion_and_the_view_that_an_annotation_has(watched: SceneEvents) -> None:
    scene = Scene(tracked_log(watched))
    assert scene.tracked
    assert scene.motion(0) == {CUBE: False, BALL: True, CAN: False}
    assert all(scene.motion(frame)[SPHERE] for frame in (83, 127))
    assert {number: thing.moved for number, thing in scene.objects.items() if number != CUBE} == {
        BALL: True,
        CAN: False,
        SPHERE: True,
    }
    # The first position of the sphere is at frame 85; it is known where it enters, two frames before.
    x, _, _, vx, *_ = scene.poses[83][SPHERE]
    assert (x, vx) == pytest.approx((-9 + 83 * SECONDS_PER_FRAME * 2.2, 2.2), abs=0.05)
    assert TBox.load("clevrer").validate(scene.log.state(), scene.log) == []
    late = {n: [*points, (128, 5.0, 5.0)] for n, points in (watched.trajectory or {}).items()}
    assert tracked_log(replace(watched, trajectory=late)).digest == scene.log.digest, "past the video"


# Without the cube, does the ball hit the can?
WITHOUT = Question(
    0,
    "?",
    "counterfactual",
    [*f"objects {_CUBE} unique counterfact_events belong_to".split()],
    choices=[Choice(0, "?", collide(_BALL, _CAN).split(), "correct")],
)


def test_tracked_positions_are_simulated_unless_a_method_is_named(watched: SceneEvents) -> None:
    """Without the cube the ball rolls on to the can, and no rule of the paper can know it."""

    def outcome_of(events: SceneEvents, **given: Any) -> tuple[str, Any]:
        (row,) = answer_scene(tracked_log(events), 7, [WITHOUT], Parameters(**given), "x")
        return row.predicted, row.note or ""

    # "correct" says that the only choice is answered with yes, "wrong" with no.
    assert outcome_of(watched) == ("correct", "")
    assert outcome_of(watched, counterfactual=Counterfactual("partner")) == ("wrong", "")
    points = {number: points for number, points in (watched.trajectory or {}).items() if number != CAN}
    assert outcome_of(replace(watched, trajectory=points)) == (
        "wrong",
        f"no positions of object {CAN} (green metal cylinder): the event graph judges it",
    )
    why = explain(tracked_log(watched), 7, WITHOUT, Parameters())
    assert why.parts[0].ground == "simulated"
    assert why.parts[0].rule.endswith("by the majority of 15 draws of the positions' errors")


def test_possible_worlds_of_tracked_positions_answer_about_unfilmed_events(
    watched: SceneEvents,
) -> None:
    hits = [PossibleEvent(11, "", (CUBE, BALL), 0.9)]
    record = PossibleScene(7, 128, watched.objects, hits, watched.trajectory)
    future_ = Question(1, "?", "predictive", ["unseen_events", "belong_to"], choices=WITHOUT.choices)
    rows = list(answer_possible(record, [WITHOUT, future_], Parameters(), "x"))
    assert [row.predicted for row in rows] == ["correct", "wrong"]
    assert all(0.8 < float(row.probability or 0) <= 1 for row in rows)


# The future


def test_the_future_is_simulated_from_the_last_frame() -> None:
    # The can slides at 0.3 units/s: friction stops it after less than 0.2 units. The cube goes on to it, 1.2
    # units away at 2 units/s.
    ends: dict[int, list[Leg]] = {CUBE: [(0, -6.0, 0.0, 2.0, 0.0)], CAN: [(0, 1.6, 0.0, 0.3, 0.0)]}
    moving = scene(ends)
    program = f"{collide(_CUBE, _CAN)} unseen_events belong_to".split()
    assert run(program, World(moving, SIMULATED)) == "yes"
    assert run(program, World(moving, Parameters(predictive=Predictive("S", horizon=5)))) == "no"
    hit = [event for event in future(moving, 51).events if (event.frame or 0) > 127]
    assert [sorted(event.objects) for event in hit] == [[CUBE, CAN]]
    alone = scene({CAN: ends[CAN], BALL: [(0, 3.3, 0.0, 0.0, 0.0)]})
    assert not collisions(future(alone, 300))
    assert future(alone, 300).log.last_tick == 427


def test_straight_lines_reach_a_body_that_friction_keeps_out_of_reach() -> None:
    slow = scene({CUBE: [(0, 0.0, 0.0, 0.2, 0.0)], CAN: [(0, 1.6, 0.0, 0.0, 0.0)]})
    program = f"{collide(_CUBE, _CAN)} unseen_events belong_to".split()
    assert run(program, World(slow, Parameters(predictive=Predictive("A")))) == "yes"
    assert run(program, World(slow, SIMULATED)) == "no"


def test_a_pair_that_has_met_does_not_meet_again() -> None:
    again = scene(
        {CUBE: [(0, 0.0, 0.0, 0.0, 0.0), (20, -6.3, 0.0, 2.0, 0.0)], CAN: [(0, 0.41, 0.0, 0.0, 0.0)]},
        [(CUBE, CAN, 20)],
    )
    assert not [event for event in collisions(future(again, 51)) if (event.frame or 0) > 127]


def test_an_object_that_has_left_the_view_rolls_on() -> None:
    legs: dict[int, list[Leg]] = {CAN: [(0, 2.0, 0.0, 0.0, 0.0)], SPHERE: [(0, -5.4, 0.0, 2.0, 0.0)]}
    for last in (128, 120):
        met = collisions(future(scene(legs, views={SPHERE: range(last)}), 51))
        assert [event.objects for event in met] == [{CAN, SPHERE}]


# Rows and explanations


QUESTION = Question(
    question_id=3,
    question="What will happen without the cube?",
    question_type="counterfactual",
    program=["all_events", "objects", "cube", "filter_shape", "unique", "get_counterfact", "belong_to"],
    choices=[
        Choice(0, "The blue sphere and the cylinder collide", collide(_BALL, _CAN).split()),
        Choice(1, "The cube and the blue sphere collide", collide(_CUBE, _BALL).split()),
    ],
)


def test_an_explanation_shows_the_ground_and_the_forks_events(blocked: Scene) -> None:
    grounds = {}
    for method in ("partner", "simulated"):
        parameters = Parameters(counterfactual=Counterfactual(method))
        why = explain(blocked.log, 7, QUESTION, parameters)
        first, second = why.parts
        grounds[method] = (first.answer, first.ground, second.answer, second.ground)
        (step,) = [step for step in first.steps if step.name == "get_counterfact"]
        simulated = [why.delta(piece) for piece in step.evidence if piece.log]
        assert bool(simulated) is (method == "simulated")
        assert ("forked at tick 1 of sha256:" in why.text()) is (method == "simulated")
    assert grounds == {
        "partner": ("no", "heuristic", "no", "dual"),
        "simulated": ("yes", "simulated", "no", "dual"),
    }
    # `simulated` is of the second method.
    collided = [delta.tick for delta in simulated if delta.triple[2] == NamedNode(f"{NAMESPACE}Collision")]
    assert collided
    assert set(collided) <= set(range(32, 37))
    question = Question(0, "How many?", "descriptive", ["objects", "count"])
    plain = explain(blocked.log, 7, question, SIMULATED)
    assert [part.ground for part in plain.parts] == ["observed"]
    assert not any(
        blocked.log[position].triple[1].value == f"{NAMESPACE}pose" for position in plain.evidence()
    )


@pytest.mark.parametrize(
    ("type_", "given", "message"),
    [
        (Parameters, {"counterfactual": {"method": "guess"}}, r"counterfactual.method"),
        (Parameters, {"predictive": {"configuration": "S", "tau": 0.4}}, "reads neither frames nor tau"),
        (ComphyParameters, {"predictive": {"configuration": "S"}}, "emitter: motion"),
    ],
)
def test_wrong_or_unfit_parameters_are_refused(type_: type, given: dict[str, Any], message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        msgspec.convert(given, type_)


# The course of events alone


def test_a_removed_collision_changes_every_later_one_of_its_chain() -> None:
    """0 was observed to hit 1, and 1 to hit 2: without 0, neither 1 nor 2 moves, and 3, who was to hit 2
    where it lay then, passes.
    """
    start = {n: Body(n, "sphere", x, 0.0, vx) for n, x, vx in ((0, -1.0, 2.0), (1, 0.0, 0.0), (2, 1.0, 0.0))}
    seen = [(11, 0, 1), (25, 1, 2), (90, 2, 3)]
    late = {3: Body(3, "cube", 5.0, 0.0)}
    outcome = course({0: start, 60: late}, seen, start=0, end=127, departing=[], without=[0])
    assert outcome.contacts == outcome.standing == []
    assert outcome.departed == {0: 0, 1: 11, 2: 25, 3: 90}
    assert outcome.states[127][0] == start[1]


def test_an_imagined_answer_has_a_probability_that_only_the_graph_makes_certain(blocked: Scene) -> None:
    why = explain(blocked.log, 7, QUESTION, SIMULATED)
    chances = {part.title: (part.ground, part.probability) for part in why.parts}
    assert any(ground == "simulated" for ground, _ in chances.values())
    for ground, probability in chances.values():
        assert probability is not None
        assert 0 < probability <= 1
        # However many draws agree, a simulation is no proof.
        assert probability < 1 or ground != "simulated"
    assert why == explain(blocked.log, 7, QUESTION, SIMULATED)
    assert f"probability {why.parts[0].probability:g}" in why.text()
    paper = explain(blocked.log, 7, QUESTION, Parameters())
    assert [part.probability for part in paper.parts] == [None, None]


def test_a_clear_hit_is_surer_than_a_graze() -> None:
    def probability_of_yes(off: float) -> float:
        film = scene(STOPPED | {CAN: [(0, 1.2, off, 0.0, 0.0)]}, [(CUBE, BALL, 11)])
        (part, *_) = explain(film.log, 7, QUESTION, SIMULATED).parts
        assert part.probability is not None
        return part.probability if part.answer == "yes" else 1 - part.probability

    clear, graze = probability_of_yes(0.0), probability_of_yes(0.402)
    assert clear > 0.95
    assert abs(graze - 0.5) < abs(clear - 0.5)
    assert probability_of_yes(0.8) < 0.05
