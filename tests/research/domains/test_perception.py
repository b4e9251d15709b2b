"""Perception on videos made by hand: it finds objects and events, and names the fault of a wrong file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from clevrer_scenes import scene_events
from typer.testing import CliRunner

from research.domains.foretold import LINE, VOTE, foretold, from_detections
from research.domains.perception import Perceived, perceive
from research.domains.perception.camera import CAMERA
from research.domains.perception.explain import explain_perceived
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.future import met
from research.domains.perception.judge import gold_of, happenings, lost
from research.domains.perception.log import perceived_log, read_back
from research.domains.perception.parameters import Perception
from research.domains.perception.perceive import PerceivedCollision, examined, recorded
from research.domains.possible import decode_possible, worlds
from research.generators.proposals import proposals
from substrate.base.errors import FormatError
from substrate.base.extras import import_extra
from substrate.cli.main import make_app
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.format import SHAPES, Question
from substrate.domains.clevrer.motion import Body, simulate
from substrate.domains.clevrer.parameters import Parameters
from substrate.generators.clevrer import generate_scene
from substrate.log.event_log import EventLog

Change = Callable[[dict[str, Any]], None]


def mask(box: tuple[int, int, int, int]) -> dict[str, Any]:
    """A filled box, as COCO encodes it."""
    left, top, right, bottom = box
    pixels = np.zeros((320, 480), dtype=np.uint8, order="F")
    pixels[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = 1
    code = import_extra("pycocotools.mask").encode(pixels)
    return {"size": list(code["size"]), "counts": code["counts"].decode()}


def proposal(body: Body, color: str) -> dict[str, Any] | None:
    """The box of a body as a detector that never errs sees it."""
    # The last value is the turn, which matters for cubes alone.
    box = CAMERA.boxes(SHAPES.index(body.shape), *(np.array([v]) for v in (body.x, body.y, 0.0)))[0]
    left, top, right, bottom = (round(float(edge)) for edge in box)
    if right <= 0 or bottom <= 0 or left >= 480 or top >= 320:
        return None
    look = {"color": color, "material": "metal", "shape": body.shape, "score": 0.999}
    return {"mask": mask((left, top, right, bottom)), **look}


def film(bodies: list[Body], frames: int = 60) -> dict[str, Any]:
    """A video of bodies as the calibrated law moves them."""
    states = simulate(bodies, frames - 1, trace=True).states
    assert states is not None
    colors = ("red", "blue", "green", "gray")
    made: list[dict[str, Any]] = []
    for frame, there in enumerate(states):
        seen = (proposal(body, color) for body, color in zip(there, colors, strict=False))
        made.append({"frame_index": frame, "objects": [shape for shape in seen if shape]})
    return {"video_index": 7, "video_name": "sim_00007", "frames": made}


def source(video: dict[str, Any]) -> tuple[str, bytes]:
    return "sim_00007.json", json.dumps(video).encode()


def seen(video: dict[str, Any]) -> Perceived:
    return perceive(decode_proposals(source(video)), "sim_00007.json")


def run(command: str, *arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(make_app(), [command, "clevrer", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


BALL, POST = Body(0, "sphere", -1.0, -1.5, 0.2, 2.0), Body(1, "cylinder", -0.9, 0.5)


def test_a_ball_that_hits_a_post_is_seen_to_hit_it() -> None:
    events = seen(film([BALL, POST]))
    (truth,) = simulate([BALL, POST], 59).contacts
    (hit,) = events.collisions
    assert hit.object == (1, 0) or hit.object == (0, 1)
    assert abs(hit.frame - truth[0]) <= 2
    assert hit.probability > 0.9
    assert not events.in_outs


def test_no_place_rests_on_frames_after_the_last_allowed_one(tmp_path: Path) -> None:
    video = film([BALL, POST])
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    for folder, frames in ((whole, video["frames"]), (cut, video["frames"][:21])):
        folder.mkdir()
        (folder / "sim_00007.json").write_text(json.dumps(video | {"frames": frames}), "utf-8")

    run("perceive", "--proposals", whole, "--out", tmp_path / "all.jsonl")
    run("perceive", "--proposals", whole, "--until", 20, "--out", tmp_path / "until.jsonl")
    run("perceive", "--proposals", cut, "--out", tmp_path / "cut.jsonl")
    assert (tmp_path / "until.jsonl").read_bytes() == (tmp_path / "cut.jsonl").read_bytes()
    early, late = (json.loads((tmp_path / name).read_text()) for name in ("until.jsonl", "all.jsonl"))
    assert (early["until"], late["until"]) == (20, 59)
    # Later frames change the earlier places of a path, so a prediction must not use such places.
    known = [[point for point in late["trajectory"][name] if point[0] <= 20] for name in ("0", "1")]
    assert known != [early["trajectory"][name] for name in ("0", "1")]

    given = ["--trajectories", tmp_path / "all.jsonl", "--at", 20, "--out", tmp_path / "pairs.jsonl"]
    output = " ".join(run("predict", *given, code=1).split())
    assert "places of scene 7 rest on frames up to 59, later than --at 20" in output
    assert "perceive clevrer --until 20" in output
    assert not (tmp_path / "pairs.jsonl").exists()
    given[1] = tmp_path / "until.jsonl"
    assert json.loads(run("predict", *given, "--at", 45, "--json"))["scenes"] == 1
    (hit,) = (hit for hit in late["collisions"] if hit["frame"] > 20)
    lines = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert [(line["scene"], line["at"]) for line in lines] == [(7, 20), (7, 45)]
    assert lines[0]["collisions"] == [sorted(hit["object"])]


@pytest.mark.parametrize("count", [0, 1])
def test_a_scene_of_hardly_anything_is_perceived(count: int) -> None:
    video = film([BALL, POST])
    for frame in video["frames"]:
        frame["objects"] = frame["objects"][:count]
    events = seen(video)
    assert len(events.objects) == count
    assert not events.collisions
    log = perceived_log(examined(decode_proposals(source(video)), "sim_00007.json"))
    assert log.last_tick == 59


def torn_mask(video: dict[str, Any]) -> None:
    mask_ = video["frames"][3]["objects"][1]["mask"]
    mask_["counts"] = mask_["counts"][:-3]


@pytest.mark.parametrize(
    ("spoil", "place"),
    [
        (lambda video: video.update(frames=[]), "$.frames: no frames"),
        (torn_mask, "$.frames[3].objects[1].mask.counts"),
        (lambda video: video["frames"][3].update(frame_index=2), "$.frames[3]: frame_index is 2 after 2"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_named_by_file_and_frame(spoil: Change, place: str) -> None:
    video = film([BALL, POST], frames=6)
    spoil(video)
    with pytest.raises(FormatError) as caught:
        seen(video)
    assert str(caught.value).startswith("sim_00007.json: ")
    assert place in str(caught.value)


def test_two_videos_of_one_number_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sim_00007.json").write_text("{}", "utf-8")
    with pytest.raises(FormatError, match="video 7 occurs twice"):
        proposal_names(tmp_path)


def test_a_log_says_which_worlds_are_possible() -> None:
    video = examined(decode_proposals(source(film([BALL, POST]))), "sim_00007.json")
    doubtful = [PerceivedCollision((0, 1), 20, 0.3, (19, 21))]
    record = msgspec.structs.replace(recorded(video), doubtful=doubtful)
    line = decode_possible(("events.jsonl:1", msgspec.json.encode(record)))
    assert len(worlds(line)) == 2
    # A log holds poses, and no positions as they were given.
    assert worlds(read_back(perceived_log(video, record), 7)) == worlds(line._replace(trajectory=None))


def test_an_explanation_names_the_weakest_link() -> None:
    video = film([BALL, POST, Body(2, "sphere", 0.0, -4.6, 0.0, 2.2)])
    log = perceived_log(examined(decode_proposals(source(video)), "sim_00007.json"))
    program = "events objects red filter_color unique filter_collision unique get_frame"
    question = Question(0, "?", "descriptive", [*program.split()], answer="1")
    explanation = explain_perceived(log, 7, question, Parameters())
    (part,) = explanation.parts
    assert "weakest link: the collision of the " in part.ground
    assert part.probability is not None
    assert 0.9 < part.probability < 1


def test_the_future_is_foretold_from_frames_before_it() -> None:
    video = decode_proposals(source(film([BALL, POST])))
    ((hit, *_),) = simulate([BALL, POST], 59).contacts
    early = examined(video, "sim_00007.json", until=hit - 10)
    assert not met(early)
    pair = frozenset(path.look for path in early.paths)
    assert foretold(from_detections(early)) == {VOTE: {pair}, LINE: {pair}}


def truth_log(hits: list[tuple[int, int, int]], colors: tuple[str, ...] = ("red", "blue")) -> EventLog:
    """The log of a ball and a post of some colors, with collisions of two numbers at a frame."""
    ball, post = colors
    return events_log(scene_events((f"{ball} sphere", f"{post} cylinder"), hits, n_frames=60))


@pytest.mark.parametrize(
    ("truth", "stage", "words"),
    [
        (truth_log([(0, 1, 20)]), "event", "collision: missed blue metal cylinder and red metal sphere"),
        (truth_log([]), "reasoning", "the true events"),
        (truth_log([(0, 1, 20)], ("red", "green")), "detection", "missed green metal cylinder, false blue"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_answer_is_lost_to_the_first_stage_that_fails(
    truth: EventLog, stage: str, words: str
) -> None:
    video = examined(decode_proposals(source(film([BALL, Body(1, "cylinder", -0.3, 0.5)]))), "sim_00007.json")
    program = "events objects red filter_color unique filter_collision exist"
    question = Question(0, "?", "descriptive", [*program.split()], answer="yes")
    loss = lost(video, recorded(video), truth, question, Perception())
    assert loss.stage == stage
    assert words in loss.words
    events = happenings(recorded(video), gold_of(truth))
    assert [event.truly for event in events if event.wrong] == ["frame 20"] * (stage != "reasoning")


def test_the_parameters_are_the_fitted_constants() -> None:
    text = (Path(__file__).parents[3] / "params.yaml").read_text("utf-8")
    given = msgspec.convert(msgspec.yaml.decode(text)["perceived"], Perception)
    assert given == Perception()


def test_generated_proposals_are_perceived_as_they_were_made() -> None:
    scene = generate_scene(10_003, seed=20)
    made = json.dumps(proposals(scene.annotation, seed=20)).encode()
    assert made == json.dumps(proposals(scene.annotation, seed=20)).encode()
    perceived = perceive(decode_proposals(("sim_10003.json", made)), "sim_10003.json")
    looks = {o.object_id: (o.color, o.material, o.shape) for o in scene.annotation.object_property}
    there = {frozenset(looks[number] for number in c.object_ids) for c in scene.annotation.collision}
    mine = {o.id: (o.color, o.material, o.shape) for o in perceived.objects}
    assert {frozenset(mine[number] for number in c.object) for c in perceived.collisions} == there


def test_an_output_takes_the_place_of_no_other_file_of_the_user(tmp_path: Path) -> None:
    inputs = [tmp_path / "sim_00007.json", tmp_path / "note.txt"]
    for file in inputs:
        file.write_text(json.dumps(film([BALL, POST])), "utf-8")
    events, before = tmp_path / "events.jsonl", [file.read_bytes() for file in inputs]
    for _ in range(2):
        run("perceive", "--proposals", tmp_path, "--out", events, "--logs", tmp_path)
        assert (tmp_path / "00007.rdfp").is_file()
    for out in (inputs[0], tmp_path, "/"):
        run("perceive", "--proposals", tmp_path, "--out", out, code=1)
    assert "is read by this command" in run(
        "predict", "--trajectories", events, "--at", 59, "--out", events, code=1
    )
    assert [file.read_bytes() for file in inputs] == before
