"""ComPhy: the meaning of programs, the properties that motion gives and those it does not, refused files."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from clevrer_scenes import LOOKS
from msgspec.structs import replace
from releases import write_folder

from research.domains.comphy.facts import hidden
from research.domains.comphy.motion import SIMULATED
from research.domains.comphy.properties import infer
from substrate import ProgramError, TBox
from substrate.base.errors import FormatError
from substrate.domains.clevrer.format import (
    SECONDS_PER_FRAME,
    Annotation,
    Collision,
    Frame,
    MotionState,
    ObjectProperty,
)
from substrate.domains.clevrer.program import World
from substrate.domains.clevrer.scene import Scene
from substrate.domains.comphy.deltas import target_log
from substrate.domains.comphy.format import Target, direction, read_questions, read_target, target_names
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.program import run
from substrate.domains.comphy.scene import TargetScene
from substrate.generators.comphy import target_files
from substrate.log.event_log import EventLog

# Programs that choose the objects 0, 1, 2 and 3 of `clevrer_scenes.LOOKS`: a red cube of metal, a blue rubber
# sphere, a green metal cylinder and a red rubber sphere.
RED_CUBE, BLUE, GREEN, RED_SPHERE = (
    "objects cube filter_shape unique",
    "objects blue filter_color unique",
    "objects green filter_color unique",
    "objects rubber filter_material red filter_color unique",
)
INFERRED = Parameters(infer_properties=True)


def log_of(target: Target) -> EventLog:
    """The log of a target with what its reference videos show."""
    return target_log(target, hidden(target))


def says(program: str, scene: Scene, **parameters: Any) -> str:
    return run(program.split(), World(scene, Parameters(**parameters)))


# x, y, vx, vy.
State = tuple[float, float, float, float]


def film(
    states: Callable[[int], list[State]],
    frames: int,
    looks: list[int],
    collisions: Sequence[tuple[int, int, int]] = (),
) -> Annotation:
    def state(number: int, s: State) -> MotionState:
        return MotionState(
            number, (s[0], s[1], 0.2), (0.0, 0.0, 0.0), (s[2], s[3], 0.0), (0.0, 0.0, 0.0), True
        )

    properties = [
        ObjectProperty(place, *LOOKS[number])  # pyright: ignore[reportArgumentType]
        for place, number in enumerate(looks)
    ]
    trajectory = [Frame(f, [state(n, s) for n, s in enumerate(states(f))]) for f in range(frames)]
    return Annotation(
        7,
        "sim_00007.mp4",
        properties,
        trajectory,
        [Collision((a, b), f, (0.0, 0.0, 0.2)) for a, b, f in collisions],
    )


def still(looks: list[int], frames: int = 50) -> Annotation:
    return film(lambda frame: [(3.0 * n, 0.0, 0.0, 0.0) for n in range(len(looks))], frames, looks)


def impact(first: int, second: int, ratio: float) -> Annotation:
    """The second comes at the resting first and passes momentum on at frame 20; ``ratio`` is the first's mass
    over the second's.
    """
    before, time = 2.0, SECONDS_PER_FRAME
    won = 1.6 * before / (1 + ratio)  # coefficient of restitution 0.6
    left = before - ratio * won

    def states(frame: int) -> list[State]:
        past = max(0, frame - 20) * time
        here = min(frame, 20) * time * before + past * left
        return [
            (0.4 + past * won, 0.0, won if frame >= 20 else 0.0, 0.0),
            (-20 * time * before + here, 0.0, left if frame >= 20 else before, 0.0),
        ]

    return film(states, 50, [first, second], [(0, 1, 20)])


def pull(
    first: int, second: int, strength: float, masses: tuple[float, float] = (1, 1), drag: float = 0.0
) -> Annotation:
    """Two bodies that pass each other; ``strength`` is positive where they repel.

    Integrated in small steps, with drag.
    """
    bodies = [[-1.2, 0.0, 0.3, 0.5], [1.2, 0.3, -0.2, -0.6]]
    poses: list[list[State]] = []
    for _ in range(50):
        poses.append([(b[0], b[1], b[2], b[3]) for b in bodies])
        for _ in range(20):
            dx, dy = bodies[0][0] - bodies[1][0], bodies[0][1] - bodies[1][1]
            cube, step = math.hypot(dx, dy) ** 3, SECONDS_PER_FRAME / 20
            for body, sign, mass in zip(bodies, (1, -1), masses, strict=True):
                body[2] += step * (sign * strength * dx / cube / mass - drag * body[2])
                body[3] += step * (sign * strength * dy / cube / mass - drag * body[3])
            for body in bodies:
                body[0] += step * body[2]
                body[1] += step * body[3]
    return film(lambda frame: poses[frame], 50, [first, second])


def target(
    *references: Annotation, looks: tuple[int, ...] = (0, 1, 2, 3), annotation: Annotation | None = None
) -> Target:
    return Target(
        7,
        annotation or still(list(looks), 128),
        (*references, *(still([0]) for _ in range(4 - len(references)))),
    )


@pytest.fixture(scope="module")
def known() -> World:
    """0 is heavy; 1 and 2 carry opposite charges; 3 is light and uncharged.

    Object 1 moves right, then up, then diagonally.
    """
    velocity = {0: (0.0, 1.0), 60: (-1.0, 0.0), 100: (1.0, 1.0)}

    def states(frame: int) -> list[State]:
        vx, vy = velocity[max(f for f in velocity if f <= frame)]
        return [(3.0 * n, 0.0, vx if n == 1 else 0.0, vy if n == 1 else 0.0) for n in range(4)]

    video = film(states, 128, [0, 1, 2, 3], [(0, 3, 60), (0, 2, 110)])
    references = impact(0, 1, 5.0), impact(1, 2, 1.0), impact(2, 3, 1.0), pull(1, 2, -1.5)
    return World(TargetScene(log_of(target(*references, annotation=video))), INFERRED)


@pytest.fixture(scope="module")
def unknown() -> World:
    return World(TargetScene(target_log(target(impact(0, 1, 5.0), pull(1, 2, -1.5)))), Parameters())


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ("objects filter_charged count", "2"),
        ("objects filter_heavy unique query_color", "red"),
        ("objects filter_light count", "3"),
        ("objects filter_opposite query_both_color", "blue and green"),
        ("objects filter_same exist", "no"),
        (f"{BLUE} filter_opposite unique query_shape", "cylinder"),
        (f"{BLUE} {GREEN} equal_charge", "no"),
        (f"{RED_CUBE} {RED_SPHERE} equal_charge not", "yes"),
        (
            "objects cube filter_shape filter_mass unique "
            "objects blue filter_color filter_mass unique is_heavier",
            "yes",
        ),
        (f"{BLUE} {RED_CUBE} is_lighter", "yes"),
    ],
)
def test_answers_need_inferred_properties_and_say_so(
    known: World, unknown: World, program: str, answer: str
) -> None:
    assert run(program.split(), known) == answer
    with pytest.raises(ProgramError, match=r"the (mass|charge) of object \d is not known"):
        run(program.split(), unknown)


def test_a_property_of_too_small_a_probability_is_not_known() -> None:
    """The two are filmed in one collision only: it is likely, not certain, that they carry no charge."""
    scene, program = TargetScene(log_of(target(impact(0, 1, 5.0)))), f"{RED_CUBE} {BLUE} equal_charge"
    assert says(program, scene, infer_properties=True) == "no"
    with pytest.raises(ProgramError, match=r"the charge of object 0 is 0 with a probability of 0\.9\d+ only"):
        says(program, scene, infer_properties=True, least_probability=0.99)


def test_a_mass_that_nothing_was_compared_with_has_its_priors_probability() -> None:
    inferred = infer(target(impact(0, 1, 5.0)))
    assert inferred.mass_probability[3] == pytest.approx(0.75)
    assert inferred.mass_probability[0] > 0.99


@pytest.mark.parametrize(
    ("degrees", "way"), [(19.0, "right"), (21.0, None), (-19.0, "right"), (69.0, None), (71.0, "up")]
)
def test_a_direction_reaches_twenty_degrees_to_either_side(degrees: float, way: str | None) -> None:
    angle = math.radians(degrees)
    assert direction(-math.sin(angle), math.cos(angle)) == way


@pytest.mark.parametrize(
    ("frame", "way"),
    [("start get_frame", "right"), (f"events {RED_SPHERE} filter_collision unique query_frame", "up")],
)
def test_directions_are_those_the_camera_shows(known: World, frame: str, way: str) -> None:
    assert run(f"{BLUE} {frame} query_direction".split(), known) == way


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (f"{BLUE} end get_frame query_direction", "none of the four directions at frame 127"),
        (f"{BLUE} null query_direction", "Name a frame"),
        (f"all_events {BLUE} red filter_counterfact", "takes CHANGE, the stack holds COLOR"),
    ],
)
def test_a_program_that_cannot_run_says_why(known: World, program: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        run(program.split(), known)


# --- inference: motion made up here, by nothing but Newton


@pytest.mark.parametrize(("ratio", "masses"), [(5.0, (5, 1)), (1.0, (1, 1)), (0.2, (1, 5))])
def test_masses_from_one_exchange_of_momentum(ratio: float, masses: tuple[int, int]) -> None:
    inferred = infer(target(impact(0, 1, ratio), looks=(0, 1)))
    assert (inferred.masses[0], inferred.masses[1]) == masses
    (evidence,) = inferred.evidence
    assert (evidence.kind, evidence.video, evidence.first, evidence.second) == ("MomentumExchange", 0, 0, 1)
    assert (evidence.since, evidence.until) == (18, 23)
    assert evidence.ratio == pytest.approx(ratio, rel=1e-6)


def test_masses_pass_along_a_chain_of_contacts() -> None:
    # 0 and 1 are alike, 1 is five times 2: so 0 is heavy too, though it never met a light one.
    assert infer(target(impact(0, 1, 1.0), impact(1, 2, 5.0))).masses == {0: 5, 1: 5, 2: 1, 3: 1}


@pytest.mark.parametrize(
    ("strength", "charges"), [(-1.5, {0: 1, 1: -1}), (1.5, {0: 1, 1: 1}), (0.0, {0: 0, 1: 0})]
)
@pytest.mark.parametrize("drag", [0.0, 0.3])
def test_charges_from_motion_without_contact(strength: float, charges: dict[int, int], drag: float) -> None:
    inferred = infer(target(still([2]), pull(0, 1, strength, drag=drag), looks=(0, 1)))
    assert inferred.charges == charges
    assert inferred.strength == pytest.approx(abs(strength), rel=0.05)
    assert [(e.kind, e.video) for e in inferred.evidence] == ([("DistantForce", 1)] if strength else [])


def test_two_charges_tell_their_masses_without_touching() -> None:
    assert infer(target(pull(0, 1, 1.5, masses=(5, 1)), looks=(0, 1))).masses == {0: 5, 1: 1}


def test_an_object_is_known_again_by_its_looks_not_its_number() -> None:
    assert infer(target(impact(3, 1, 5.0))).masses == {0: 1, 1: 1, 2: 1, 3: 5}


def test_motion_out_of_view_is_not_used() -> None:
    video = impact(0, 1, 5.0)
    frames = [
        replace(f, objects=[replace(o, inside_camera_view=f.frame_id < 19) for o in f.objects])
        for f in video.motion_trajectory
    ]
    assert infer(target(replace(video, motion_trajectory=frames), looks=(0, 1))).evidence == ()


def test_the_log_names_the_evidence_and_fits_the_tbox() -> None:
    log = log_of(target(impact(0, 1, 5.0), pull(1, 2, -1.5)))
    ask = """ASK { o:0 :mass 5 ; :evidence ?e .
        ?e a :MomentumExchange ; :video 0 ; :since 18 ; :until 23 ; :first o:0 ; :second o:1 }"""
    assert log.state(0).query(ask, prefixes={"": "urn:substrate:comphy:", "o": "urn:comphy:7:object:"})
    assert TBox.load("comphy").validate(log.state(), log) == []
    unplaced = EventLog([d for d in log if ":since" not in d.triple[1].value])
    assert TBox.load("comphy").validate(unplaced.state()) != []


def test_the_tbox_keeps_up_with_the_one_it_extends() -> None:
    extended = TBox.load("comphy").turtle.partition("# As in clevrer.ttl\n\n# Classes")[2]
    assert TBox.load("clevrer").turtle.partition("# Classes")[2] == extended


def test_without_inference_nothing_of_the_references_is_in_the_log() -> None:
    plain = target_log(target())
    assert plain.digest == target_log(target(impact(0, 1, 5.0), pull(1, 2, -1.5))).digest
    assert not any(word in str(delta.triple[1]) for delta in plain for word in ("mass", "charge", "evidence"))


# --- imagined worlds


def collide(a: str, b: str) -> str:
    return f"all_events {a} filter_collision {b} filter_collision unique"


def changed(event: str, thing: str, change: str) -> str:
    """A program that asks whether an event happens where a thing is changed."""
    return f"{event} all_events {thing} counterfact_{change} filter_counterfact belong_to"


@pytest.mark.parametrize("emitter", ["kinematic", "motion"])
def test_an_event_that_a_change_cannot_reach_stays_as_observed(emitter: Any) -> None:
    video = film(lambda frame: [(3.0 * n, 0.0, 0.0, 0.0) for n in range(4)], 128, [0, 1, 2, 3], [(0, 3, 60)])
    scene = TargetScene(log_of(target(annotation=video)), SIMULATED)
    program = changed(collide(RED_CUBE, RED_SPHERE), BLUE, "heavier")
    assert says(program, scene, infer_properties=True, emitter=emitter) == "yes"


def test_duality_prevents_an_event_that_rests_on_an_earlier_collision_of_the_changed(known: World) -> None:
    # 0 (the red cube) meets 3 (the red sphere), then 2 (green): with a heavier 3 the first still happens; the
    # second is prevented. So it is with a lighter 3, although 3 is light already: duality asks only whether
    # the event depends on the changed object, not what changes.
    for pair, answer in ((collide(RED_CUBE, RED_SPHERE), "yes"), (collide(RED_CUBE, GREEN), "no")):
        assert says(changed(pair, RED_SPHERE, "heavier"), known.scene, infer_properties=True) == answer
    lighter = f"{RED_SPHERE} counterfact_lighter counterfact_events belong_to negate"
    assert says(f"{collide(RED_CUBE, GREEN)} {lighter}", known.scene, infer_properties=True) == "yes"


def test_a_heavier_target_stops_what_a_light_one_would_pass_on() -> None:
    # 1 runs into 0, which is driven into 2. Were 0 heavy, it would hardly move: no second collision before
    # the end.
    time, speed = SECONDS_PER_FRAME, 1.5

    def states(frame: int) -> list[State]:
        past = max(0, frame - 20) * time * speed
        return [
            (0.4 + min(past, 2.6), 0.0, speed if frame >= 20 and past < 2.6 else 0.0, 0.0),
            (min(frame - 20, 0) * time * speed, 0.0, speed if frame < 20 else 0.0, 0.0),
            (3.4, 0.0, 0.0, 0.0),
        ]

    video = film(states, 128, [1, 3, 2], [(0, 1, 20), (0, 2, 82)])
    scene = TargetScene(log_of(Target(7, video, tuple(still([0]) for _ in range(4)))), SIMULATED)
    first, second = (changed(collide(BLUE, other), BLUE, "heavier") for other in (RED_SPHERE, GREEN))
    assert says(second, scene, infer_properties=True, emitter="motion") == "no"
    assert says(first, scene, emitter="motion") == "yes"


# --- files


def test_a_mass_or_charge_in_a_file_is_never_read(tmp_path: Path) -> None:
    write_folder(tmp_path, [target_files(index, seed=101) for index in range(8)])
    digests: list[list[str]] = []
    for _ in range(2):
        names = target_names(tmp_path / "annotation")
        digests += [[log_of(read_target(tmp_path / "annotation", *of)).digest for of in names.items()]]
        for path in (tmp_path / "annotation").rglob("*.json"):
            record = json.loads(path.read_bytes())
            for number, thing in enumerate(record["object_property"]):
                thing |= {"mass": 5 - 4 * (number % 2), "charge": 1}
            path.write_text(json.dumps(record))
    assert digests[0] == digests[1]


# --- bad input


def test_a_missing_reference_video_is_named(tmp_path: Path) -> None:
    write_folder(tmp_path, [target_files(4, seed=1)])
    next(tmp_path.rglob("annotation_00004_2.json")).unlink()
    with pytest.raises(FormatError, match=r"scene 4 lacks annotation_00004_2\.json"):
        target_names(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(scene_index=5), r"annotation_00004_1.json: \$.scene_index: scene_index is 5"),
        (
            lambda r: r["object_property"].__setitem__(1, {**r["object_property"][0], "object_id": 1}),
            r"\$.object_property\[1\]: a second",
        ),
    ],
)
def test_a_broken_annotation_is_named(tmp_path: Path, change: Callable[[Any], None], message: str) -> None:
    write_folder(tmp_path, [target_files(4, seed=1)])
    path = next(tmp_path.rglob("annotation_00004_1.json"))
    record = json.loads(path.read_bytes())
    change(record)
    path.write_text(json.dumps(record))
    with pytest.raises(FormatError, match=message):
        read_target(tmp_path, 4, target_names(tmp_path)[4])


def _record(**changes: Any) -> dict[str, Any]:
    return {
        "scene_index": 1,
        "questions": [
            {"question_id": 0, "question": "?", "program": ["objects", "count"], "answer": "3", **changes}
        ],
    }


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "holds no question"),
        ([_record(), _record()], "scene 1 occurs twice"),
        (
            [{**_record(), "questions": _record()["questions"] * 2}],
            r"\$.questions\[1\]: question 0 occurs twice",
        ),
        (
            [_record(choices=[{"choice_id": 0, "choice": "?", "program": ["objects"]}])],
            "has an answer and choices",
        ),
    ],
)
def test_a_broken_question_file_is_named(tmp_path: Path, records: list[Any], message: str) -> None:
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(records))
    with pytest.raises(FormatError, match=message) as caught:
        read_questions(path)
    assert str(path) in str(caught.value)
