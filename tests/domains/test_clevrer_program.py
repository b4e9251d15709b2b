"""The program language: every opcode's meaning on a scene whose answers can be read off."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from clevrer_scenes import annotation, filmed_log

from substrate import EventLog, FormatError, ProgramError
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains.clevrer.deltas import NAMESPACE, annotation_log, film_log
from substrate.domains.clevrer.film import decode_film
from substrate.domains.clevrer.format import decode_annotation
from substrate.domains.clevrer.parameters import Counterfactual, Explanatory, Parameters, Predictive
from substrate.domains.clevrer.program import World, run
from substrate.domains.clevrer.scene import QUERIES, Scene

# Programs that choose the objects 0, 1, 2 and 3 of `clevrer_scenes.LOOKS`; the blue one is a sphere, the
# green one a cylinder.
RED_CUBE = "objects cube filter_shape unique"
BLUE = "objects blue filter_color unique"
GREEN = "objects green filter_color unique"
RED_SPHERE = "objects red filter_color sphere filter_shape unique"


def world(*, parameters: Parameters = Parameters(), **scene: Any) -> World:  # noqa: B008  # immutable
    return World(Scene(filmed_log(**scene)), parameters)


@pytest.fixture(scope="module")
def busy() -> World:
    """0 enters at 10 and meets 1 at 30; 1 meets 2 at 60; 3 leaves at 90. 1 moves from 30 to 79."""
    views = {0: range(10, 128), 3: range(90)}
    return world(
        collisions=[(0, 1, 30), (1, 2, 60)],
        views=views,
        moving={0: range(128), 1: range(30, 80), 3: range(128)},
    )


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ("objects red filter_color count", "2"),
        ("objects metal filter_material cube filter_shape exist", "yes"),
        (f"{BLUE} query_material", "rubber"),
        ("objects null filter_stationary unique query_color", "green"),
        ("objects start get_frame filter_moving count", "1"),
        ("objects end get_frame filter_moving unique query_shape", "cube"),
        (f"objects events {GREEN} filter_collision unique get_frame filter_moving count", "3"),
        ("events objects filter_in unique get_object query_color", "red"),
        ("events objects filter_out unique query_object query_shape", "sphere"),
        (f"events {BLUE} filter_collision first filter_order {BLUE} get_col_partner query_shape", "cube"),
        (
            f"events {BLUE} filter_collision last filter_order {BLUE} query_collision_partner query_shape",
            "cylinder",
        ),
        (f"events events objects filter_in unique filter_after {BLUE} filter_collision count", "2"),
        (f"events events {GREEN} filter_collision unique filter_before objects filter_collision count", "1"),
        (f"{RED_CUBE} events events {GREEN} filter_collision unique filter_ancestor belong_to", "yes"),
        (
            f"events {RED_SPHERE} filter_out unique events events {GREEN} filter_collision unique "
            "filter_ancestor belong_to",
            "no",
        ),
        (
            f"all_events {BLUE} filter_collision {GREEN} filter_collision unique "
            f"all_events {RED_CUBE} get_counterfact belong_to",
            "no",
        ),
        (
            f"all_events {BLUE} filter_collision {RED_CUBE} filter_collision unique "
            f"all_events {GREEN} filter_counterfact belong_to",
            "yes",
        ),
    ],
)
def test_answers(busy: World, program: str, answer: str) -> None:
    assert run(program.split(), busy) == answer


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("objects frobnicate", r"program\[1\]: unknown opcode 'frobnicate'"),
        ("filter_color", r"program\[0\]: stack underflow: filter_color takes 2, the stack holds 0"),
        ("objects gray filter_color unique query_shape", r"program\[3\]: unique on 0 elements"),
        ("objects red filter_shape count", r"program\[2\]: filter_shape takes SHAPE, the stack holds COLOR"),
        ("objects", r"leaves OBJECTS on the stack"),
        (f"events {GREEN} filter_in first filter_order get_object query_color", "first of 0 events"),
        (
            f"events {BLUE} filter_collision first filter_order {GREEN} get_col_partner query_shape",
            "takes no part in this collision",
        ),
        (
            f"objects all_events {BLUE} filter_collision {GREEN} filter_collision unique "
            "get_frame filter_moving count",
            "was not observed",
        ),
    ],
)
def test_a_program_that_cannot_run_says_where_and_why(busy: World, program: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        run(program.split(), busy)


def pair(a: str, b: str) -> str:
    return f"all_events {a} filter_collision {b} filter_collision unique"


@pytest.mark.parametrize(("method", "answer"), [("partner", "yes"), ("duality", "no")])
def test_two_partners_of_the_removed_object_meet_without_it_by_the_partner_rule(
    method: Literal["partner", "duality"], answer: str
) -> None:
    star = world(
        collisions=[(0, 1, 30), (0, 2, 60)], parameters=Parameters(counterfactual=Counterfactual(method))
    )
    assert run(f"{pair(BLUE, GREEN)} all_events {RED_CUBE} get_counterfact belong_to".split(), star) == answer


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (pair(BLUE, GREEN), "no yes yes yes"),  # observed, and it rests on the cube: prevented
        (pair(BLUE, RED_CUBE), "no yes no no"),  # the cube's own
        (pair(GREEN, RED_SPHERE), "yes no yes yes"),  # observed, and nothing of the cube is behind it
        (pair(BLUE, RED_SPHERE), "yes yes no yes"),  # two partners of the cube, not observed
    ],
)
def test_algorithm_2_as_printed_says_the_opposite_of_what_was_observed(event: str, expected: str) -> None:
    collisions = [(2, 3, 20), (0, 3, 30), (0, 1, 40), (1, 2, 60)]

    def told(method: Any) -> str:
        imagined = world(collisions=collisions, parameters=Parameters(counterfactual=Counterfactual(method)))
        return run(f"{event} all_events {RED_CUBE} get_counterfact belong_to".split(), imagined)

    assert " ".join(map(told, ("partner", "printed", "filmed", "filmed_partner"))) == expected


def test_the_reference_frame_decides_what_is_a_cause() -> None:
    # 2 meets 3 only after 1 met 2: in a global frame that later meeting counts as a cause of what came before
    # it.
    chain = {"collisions": [(1, 2, 20), (0, 1, 40), (2, 3, 30)]}
    meeting = f"events {GREEN} filter_collision {RED_SPHERE} filter_collision unique"
    cause = f"{meeting} events events {RED_CUBE} filter_collision unique filter_ancestor belong_to".split()
    answers = {
        frame: run(cause, world(parameters=Parameters(explanatory=Explanatory(frame)), **chain))
        for frame in ("event", "global")
    }  # pyright: ignore[reportArgumentType]
    assert answers == {"event": "no", "global": "yes"}


PASSING = {
    0: (-3.0, 0.0, 1.0, 0.0),
    1: (0.0, 1.0, 0.0, 0.0),
    2: (50.0, 50.0, 0.0, 0.0),
    3: (-50.0, 50.0, 0.0, 0.0),
}
"""The cube on a straight line that passes the ball at one unit; the others lie far away."""


@pytest.mark.parametrize(
    ("configuration", "tau", "answer"),
    [("C", None, "yes"), ("A", None, "no"), ("B", None, "no"), ("C", 0.4, "no")],
)
def test_straight_lines_that_pass_at_one_unit(configuration: str, tau: float | None, answer: str) -> None:
    predictive = Predictive(configuration, tau=tau)  # pyright: ignore[reportArgumentType]
    scene = world(ends=PASSING, parameters=Parameters(predictive=predictive))
    assert run(f"{pair(RED_CUBE, BLUE)} unseen_events belong_to".split(), scene) == answer


def test_an_object_out_of_view_at_the_end_is_not_projected() -> None:
    ends = PASSING | {1: (0.0, 0.0, 0.0, 0.0)}
    scene = world(ends=ends, views={0: range(127)})
    assert run(f"{pair(RED_CUBE, BLUE)} unseen_events belong_to".split(), scene) == "no"


def test_a_scene_reads_what_its_queries_find(busy: World) -> None:
    """The query that an explanation shows behind a step gives what the step had."""
    scene, log = busy.scene, busy.scene.log

    def found(query: str, frame: int) -> set[tuple[str, ...]]:
        rows = log.state(frame).query(QUERIES[query])
        return {
            tuple("" if term is None else term.value.rpartition("clevrer:")[2] for term in row)  # pyright: ignore
            for row in rows  # pyright: ignore[reportGeneralTypeIssues]
        }

    assert found("objects", scene.end) == {
        (str(n), thing.color, thing.material, thing.shape, "true" if thing.moved else "")
        for n, thing in scene.objects.items()
    }
    assert found("events", scene.end) == {
        (e.iri.rpartition("clevrer:")[2], e.kind, str(e.frame), str(number) if e.objects else "")
        for e in scene.events
        for number in e.objects or (0,)
    }
    for frame in (0, 10, 29, 30, 79, 80, 90, 127):
        moves = {(str(n), "moving" if moves else "stationary") for n, moves in scene.motion(frame).items()}
        assert found("motion", frame) == moves
    assert {(number, pose.partition(" ")[0]) for number, pose in found("poses", scene.end)} == {
        (str(number), str(frame)) for frame, poses in scene.poses.items() for number in poses
    }


def test_a_film_gives_the_log_of_its_annotation_and_refuses_what_that_would_hold() -> None:
    record = annotation(collisions=[(0, 1, 30)])
    source = ("film.json", json.dumps(record).encode())
    whole = annotation_log(decode_annotation(source))
    assert film_log(decode_film(source)).to_patch() == whole.to_patch()
    record["motion_trajectory"][29]["objects"][1]["orientation"][2] = "north"
    source = ("film.json", json.dumps(record).encode())
    place = r"film.json: \$.motion_trajectory\[29\].objects\[1\].orientation\[2\]: Expected `float`"
    with pytest.raises(FormatError, match=place):
        film_log(decode_film(source))


def test_the_scene_of_a_log_that_grew_has_what_it_says_now() -> None:
    log = filmed_log()
    before = len(Scene.of(log).events)
    event = f"<{Scene.of(log).iri}:event:99>"
    facts = (f"<{RDF_TYPE.value}> <{NAMESPACE}Collision>", f'<{NAMESPACE}frame> "127"')
    as_it_was = EventLog.from_patch(log.to_patch())
    log.extend_lines((log.last_tick, f"A {event} {fact} .") for fact in facts)
    assert len(Scene.of(as_it_was).events) == before
    assert len(Scene.of(log).events) == before + 1
