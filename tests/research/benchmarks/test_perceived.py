"""`perceived`: a user's proposals, named where the rest of CLEVRER is; and no way from gold to an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Case
from orchestration.benchmarks.clevrer import ClevrerData
from orchestration.code.closure import Closure
from orchestration.pipeline.resources import WorkspaceResource
from orchestration.pipeline.run import run_stages
from research.benchmarks import perceived
from research.benchmarks.perceived import PerceivedData
from research.domains.perception.judge import gold_of
from research.generators.proposals import seen_files
from research.studies.reliability import perceived_rows

SCENES = (10_001, 10_003)


def test_proposals_named_with_clevrer_are_what_perceived_reads() -> None:
    given = ClevrerData(source="local", proposals="p.zip", questions="q.json")
    profile = SimpleNamespace(clevrer=given)
    data = PerceivedData(source="local").among(profile)
    assert (data.source, data.proposals, data.questions) == ("local", "p.zip", "q.json")
    assert given.among(profile).questions is None, "there is nothing that CLEVRER's own logs could be made of"
    beside = PerceivedData(source="local", events="e.jsonl").among(profile)
    assert (beside.events, beside.proposals) == ("e.jsonl", "p.zip"), "the truth is perceived's alone"


def test_annotations_beside_proposals_keep_their_questions() -> None:
    given = ClevrerData(source="local", annotations="a.zip", proposals="p.zip", questions="q.json")
    profile = SimpleNamespace(clevrer=given)
    assert given.among(profile) == given
    assert PerceivedData(source="local").among(profile).annotations == "a.zip"


def test_a_generated_world_stays_one() -> None:
    given = PerceivedData(source="generated", scenes=3)
    assert given.among(SimpleNamespace(clevrer=ClevrerData(proposals="p.zip"))) == given


GOLD = {
    "Question",
    "SceneQuestions",
    "decode_annotation",
    "decode_scene_events",
    "read_questions",
    "read_scene_events",
    "scene_logs",
    "truth_of",
}
"""The definitions through which gold comes in."""


def test_no_definition_between_proposals_and_a_log_reads_gold() -> None:
    perceives = Closure([perceived.logs]).definitions
    assert {file.rpartition("/")[2] for file, _ in perceives} >= {"masks.py", "tracks.py", "collisions.py"}
    assert {name for _, name in perceives} & GOLD == set()
    judges = {
        "research/domains/perception/judge.py",
        "research/domains/perception/calibrate.py",
    }
    assert {file for file, _ in perceives} & judges == set()
    held_beside = Closure([perceived_rows]).definitions
    assert {name for _, name in held_beside} >= {"truth_of", "decode_annotation"}, "or nothing was looked for"


def written(folder: Path, *, lying: bool) -> dict[str, Path]:
    """Generated videos as files of a user's; where they lie, proposals and events tell a false truth."""
    proposals = folder / "proposals"
    proposals.mkdir(parents=True)
    questions: list[Any] = []
    events: list[dict[str, Any]] = []
    thing = {"color": "red", "material": "metal", "shape": "cube", "id": 0}
    for scene in SCENES:
        files = seen_files(scene, 20)
        questions.append(files["questions"])
        name = f"sim_{scene:05d}.json"
        video = files[f"proposals/{name}"]
        if lying:
            hit = {"object": [0, 0], "frame": 3}
            video["ground_truth"] = {"objects": [thing], "collisions": [hit]}
            moves = [{"frame": 5, "object": 0, "type": "in"}]
            about = {"scene_index": scene, "n_frames": 128, "objects": [thing]}
            events.append({**about, "in_outs": moves, "collisions": []})
        (proposals / name).write_text(json.dumps(video), "utf-8")
    (folder / "questions.json").write_bytes(msgspec.json.encode(questions))
    paths = {"proposals": proposals, "questions": folder / "questions.json"}
    if lying:
        paths["events"] = folder / "events.jsonl"
        paths["events"].write_text("".join(f"{json.dumps(line)}\n" for line in events), "utf-8")
    return paths


def test_a_false_truth_changes_no_log_and_no_answer(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    root = make_project()
    stages = [f"perceived/{stage}" for stage in ("dataset", "logs", "answers", "scores")]

    def run(files: dict[str, Path]) -> tuple[list[str], bytes, list[tuple[int, int]]]:
        overrides = [f"profiles.local.perceived.{name}={path}" for name, path in files.items()]
        run_stages(stages, WorkspaceResource(profile="local", overrides=overrides))
        made = root / "artifacts/local"
        index = (made / "perceived/logs/index.jsonl").read_text("utf-8").splitlines()
        scores = [json.loads(score.read_bytes()) for score in sorted((made / "scores").glob("perceived.*"))]
        answers = (made / "perceived/answers.jsonl").read_bytes()
        return (
            [json.loads(line)["log"] for line in index],
            answers,
            [(s["correct"], s["n"]) for s in scores],
        )

    plain = run(written(tmp_path / "plain", lying=False))
    assert len(plain[0]) == len(SCENES)
    assert plain[1].count(b"\n") > 10
    files = written(tmp_path / "lying", lying=True)
    (case,) = perceived.cases(files, [SCENES[0]]).each
    assert isinstance(case, Case)
    truth = perceived.truth_of(case)
    assert truth is not None
    assert gold_of(truth).crossings == {(("red", "metal", "cube"), "in"): 5}, "the false truth was not seen"
    assert run(files) == plain
