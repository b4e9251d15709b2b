"""The profile `real`: official files are computed and pinned; without them the pinned numbers are shown."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import invoke, output_of, printed
from projects import ROOT

from orchestration.benchmarks.babi import STORIES
from orchestration.benchmarks.clevrer import SCENES
from orchestration.fetch.downloads import unpack
from orchestration.project import open_workspace
from orchestration.settings import REAL
from orchestration.workspace.official_files import absent, content_digest
from research.benchmarks.make_real import make
from substrate.domains.clevrer.format import read_questions

GRAPHS = "gqa/graphvqa_debug_sceneGraphs.json"
PINS = ("pins/real.json", "pins/real", "pins/real.accepted.jsonl")


@pytest.fixture
def small(make_project: Callable[..., Path], real_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose profile `real` has only the public scene graphs and the generated Twin."""
    root = make_project()
    path = root / "params.yaml"
    parameters = yaml.safe_load(path.read_text("utf-8"))
    names = ("gqa_scenes", "twin")
    parameters["profiles"]["real"] = {name: parameters["profiles"]["real"][name] for name in names}
    path.write_text(yaml.safe_dump(parameters), "utf-8")
    monkeypatch.setenv(REAL, str(real_data))
    return root


def test_official_files_are_computed_pinned_and_held(
    small: Path, real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, number = ("--profile", "real"), "gqa_scenes/by_id/accuracy"
    invoke("reproduce", *real)
    invoke("accept", *real, "the first")
    invoke("reproduce", *real, "--fail-on-drift")
    invoke("verify", *real, "--no-recompute")
    answers = small / "artifacts/real/gqa_scenes/answers.jsonl"
    scores = small / "artifacts/real/scores/gqa_scenes.by_id.accuracy.json"
    assert json.loads(scores.read_bytes())["data"] == "official"
    assert GRAPHS in printed("trace", number, *real)

    # A row, a score and an input that somebody changed are each named.
    originals = {path: path.read_bytes() for path in (answers, scores)}
    answers.write_bytes(originals[answers].replace(b'"correct": true', b'"correct": false', 1))
    scores.write_bytes(originals[scores].replace(b'"n": 2', b'"n": 3', 1))
    assert all(path.read_bytes() != data for path, data in originals.items())
    doctored = tmp_path / "doctored"
    shutil.copytree(real_data / "gqa", doctored / "gqa")
    (doctored / GRAPHS).write_bytes(b"{}")
    monkeypatch.setenv(REAL, str(doctored))
    output = output_of("verify", *real, "--no-recompute", code=1)
    assert "gqa_scenes/answers.jsonl" in output
    assert "scores/gqa_scenes.by_id.accuracy.json" in output
    assert GRAPHS in output
    for path, data in originals.items():
        path.write_bytes(data)
    output = output_of("reproduce", *real, code=1)
    assert f"{GRAPHS}: has SHA-256 44136fa355b3" in output, "the hash of {}"


def test_without_the_files_the_pinned_numbers_are_shown(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project()
    (root / "pins").mkdir(exist_ok=True)
    for name in PINS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    monkeypatch.delenv(REAL, raising=False)
    output = output_of("reproduce", "--profile", "real", "--fail-on-drift")
    assert "As pinned: CLEVRER: explanatory, per question 564 of 564 (100.00 %)" in output
    assert len(output.partition("The paper's")[2].splitlines()) <= 10
    assert "to get: babi/en: substrate fetch real" in output
    assert f"not in {root / 'downloads/real'}" in output
    output = output_of("verify", "--profile", "real")
    assert "not looked at, since these official files are not there" in output
    assert "clevrer/proposals.zip" in output


def test_a_profile_of_official_files_says_which_are_not_there(
    make_project: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project()
    monkeypatch.setenv(REAL, str(tmp_path))
    (tmp_path / "babi/en").mkdir(parents=True)
    missing = absent(open_workspace("real"), (SCENES, STORIES))
    assert missing == {
        "clevrer": [
            "clevrer/ground_truth_train.jsonl.gz",
            "clevrer/explanatory_train.jsonl.gz",
            "clevrer/questions_train_causalsight.jsonl.gz",
        ]
    }
    assert absent(open_workspace("sample"), (SCENES, STORIES)) == {}


def test_what_a_file_holds_has_one_hash_however_it_is_packed(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "packed").mkdir()
    (tmp_path / "plain/one.txt").write_bytes(b"1")
    (tmp_path / "packed/one.txt.gz").write_bytes(gzip.compress(b"1", 1))
    assert content_digest(tmp_path / "plain") == content_digest(tmp_path / "packed")
    for name, how in (("a.zip", zipfile.ZIP_STORED), ("b.zip", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(tmp_path / name, "w", how) as archive:
            archive.writestr("one.txt", b"1")
    assert content_digest(tmp_path / "a.zip") == content_digest(tmp_path / "b.zip")
    (tmp_path / "plain/two.txt").write_bytes(b"")
    assert content_digest(tmp_path / "plain") != content_digest(tmp_path / "packed")


def test_the_official_files_are_made_of_ns_drs_release(real_data: Path, tmp_path: Path) -> None:
    """Proposals with their truth put back, as NS-DR releases them, give the files at hand again."""
    given, release, scenes = real_data / "clevrer", tmp_path / "release", (0, 70)
    release.mkdir()
    with gzip.open(given / "ground_truth_train.jsonl.gz", "rt", encoding="utf-8") as lines:
        truths: dict[int, Any] = {
            truth["scene_index"]: truth for truth in map(json.loads, lines) if truth["scene_index"] in scenes
        }
    before = {}
    with zipfile.ZipFile(given / "proposals.zip") as archive:
        for scene in scenes:
            before[scene] = archive.read(f"processed_proposals/sim_{scene:05d}.json")
            truth = {key: truths[scene][key] for key in ("objects", "in_outs", "collisions")}
            record = {**json.loads(before[scene]), "ground_truth": truth}
            (release / f"sim_{scene:05d}.json").write_text(json.dumps(record), "utf-8")
    questions = read_questions(given / "explanatory_train.jsonl.gz").raw
    made = [*make(release, questions, tmp_path / "made")]
    assert [Path(name).name for name in made] == [
        "proposals.zip",
        "ground_truth_train.jsonl.gz",
        "ground_truth_test.jsonl.gz",
    ]
    with zipfile.ZipFile(tmp_path / "made/proposals.zip") as archive:
        assert {
            scene: archive.read(f"processed_proposals/sim_{scene:05d}.json") for scene in scenes
        } == before
    events = gzip.decompress((tmp_path / "made/ground_truth_train.jsonl.gz").read_bytes()).splitlines()
    assert [json.loads(line) for line in events] == [truths[scene] for scene in scenes]


def test_babis_training_files_are_unpacked_where_the_profile_looks(tmp_path: Path) -> None:
    source = tmp_path / "qa.txt"
    source.write_bytes(b"1 Mary went home.\n")
    with tarfile.open(tmp_path / "tasks_1-20_v1-2.tar.gz", "w:gz") as archive:
        for part in ("en", "en-10k", "hn"):
            for name in ("qa1_one_train.txt", "qa3_three_train.txt", "qa1_one_test.txt"):
                archive.add(source, f"tasks_1-20_v1-2/{part}/{name}")
    unpack("real", tmp_path, tmp_path)
    unpacked = sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.glob("babi/*/*"))
    tasks = ("en-10k/qa1_one", "en/qa1_one", "en/qa3_three")
    assert unpacked == [f"babi/{task}_train.txt" for task in tasks]
