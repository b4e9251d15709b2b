"""The paper profile on archives laid out like the official ones, served on this machine."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from commands import invoke
from releases import write_folder
from serving import Quiet, serving

from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import RunError, run_stages
from orchestration.fetch import downloads
from orchestration.fetch.sources import OfficialRelease, SourceFile
from orchestration.registry import BENCHMARKS
from orchestration.scoring.published import Published
from orchestration.stages.graph import STAGES, stages_of
from substrate.domains.rows import decode
from substrate.generators.babi import TASKS, tell_task, write_texts
from substrate.generators.clevrer import scene_files
from substrate.generators.gqa import write

SCENES = range(10000, 10003)


class Files(Quiet, SimpleHTTPRequestHandler): ...


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """An address and the folder it serves: a small split in the official layout."""
    served, world = tmp_path / "served", tmp_path / "world"
    served.mkdir()
    write_folder(world, [scene_files(scene, 3) for scene in SCENES])
    (world / "questions.json").rename(served / "validation.json")
    with ZipFile(served / "annotation_validation.zip", "w") as archive:
        for path in sorted((world / "annotation").rglob("*.json")):
            archive.write(path, path.relative_to(world / "annotation").as_posix())
    handler = partial(Files, directory=str(served))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}", served


def run(address: str) -> None:
    run_stages(
        stages_of("clevrer"),
        WorkspaceResource(
            profile="paper", overrides=[f"profiles.paper.clevrer.mirror={address}"], force=True
        ),
    )


def skip_the_papers_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the check against the paper's counts, which stops a run on a part of a split."""
    monkeypatch.setattr(Published, "n", lambda _, name: None)


@pytest.mark.long
def test_official_archives_run_through_the_same_pipeline(
    make_project: Callable[..., Path], mirror: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project()
    address, served = mirror
    # The served questions are not the official ones, so their published hash cannot hold.
    files = tuple(SourceFile(name=name, url="") for name in ("validation.json", "annotation_validation.zip"))
    monkeypatch.setattr(downloads, "official_sources", lambda: {"clevrer": OfficialRelease(files=files)})
    with pytest.raises(RunError, match=r"clevrer/predictive/per_question: 1 instead of 3,557"):
        run(address)
    skip_the_papers_counts(monkeypatch)
    run(address)
    rows = [
        decode(line) for line in (root / "artifacts/paper/clevrer/answers.jsonl").read_bytes().splitlines()
    ]
    assert {row.scene for row in rows} == set(SCENES)
    assert {row.split for row in rows} == {"validation"}
    table = (root / "artifacts/paper/tables/clevrer.md").read_text("utf-8")
    assert "official validation split" in table
    assert "annotation_validation.zip trusted on first use, sha256 " in table
    assert "annotation_validation.zip" in (root / "pins/downloads.json").read_text("utf-8")

    archive = served / "annotation_validation.zip"
    archive.write_bytes(archive.read_bytes() + b"\0")
    before = (root / "artifacts/paper/clevrer/answers.jsonl").read_bytes()
    (root / "downloads/clevrer/annotation_validation.zip").unlink()
    with pytest.raises(RunError, match=r"annotation_validation\.zip"):
        run(address)
    assert (root / "artifacts/paper/clevrer/answers.jsonl").read_bytes() == before


@pytest.mark.long
def test_the_other_benchmarks_are_taken_from_their_official_archives(
    make_project: Callable[..., Path],
    mirror: tuple[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    root = make_project()
    address, served = mirror
    paths = write_texts(tmp_path / "babi", ((task, tell_task(task, questions=2, seed=1)) for task in TASKS))
    with tarfile.open(served / "tasks_1-20_v1-2.tar.gz", "w:gz") as archive:
        for path in paths:
            archive.add(path, f"tasks_1-20_v1-2/en/{path.name}")
            archive.add(path, f"tasks_1-20_v1-2/hn/{path.name}")
    graphs, questions = write(tmp_path / "gqa", scenes=2, seed=1)
    for name, member, path in (
        ("sceneGraphs.zip", "val_sceneGraphs.json", graphs),
        ("questions1.2.zip", "val_balanced_questions.json", questions),
    ):
        with ZipFile(served / name, "w") as archive:
            archive.write(path, member)
            archive.writestr("train_sceneGraphs.json", "{}")
    parameters = yaml.safe_load((root / "params.yaml").read_text("utf-8"))
    parameters["profiles"]["paper"]["clevrer"] = {"source": "generated", "scenes": 1}
    (root / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")
    overrides = [f"profiles.paper.{benchmark}.mirror={address}" for benchmark in ("babi", "gqa")]
    with pytest.raises(RunError, match=r"gqa/by_name/accuracy: \d+ instead of 132,062"):
        run_stages(stages_of("gqa"), WorkspaceResource(profile="paper", overrides=overrides))
    skip_the_papers_counts(monkeypatch)
    in_table = (name for name, benchmark in BENCHMARKS.items() if benchmark.table[0].name == "transfer")
    benchmarks = [name for name in in_table if f"{name}/scores" in STAGES]
    stages = [stage for benchmark in benchmarks for stage in stages_of(benchmark)]
    run_stages([*stages, "tables/transfer"], WorkspaceResource(profile="paper", overrides=overrides))
    assert len(list((root / "data/paper/babi").glob("qa*_test.txt"))) == 20
    table = (root / "artifacts/paper/tables/transfer.md").read_text("utf-8")
    assert "bAbI, official test files" in table
    assert "GQA, official balanced validation split" in table
    assert any(
        line.startswith("| comphy/factual/per_question") and "not measured" in line
        for line in table.splitlines()
    )
    rows = [decode(line) for line in (root / "artifacts/paper/babi/answers.jsonl").read_bytes().splitlines()]
    assert {row.split for row in rows} == {"test"}


def test_fetch_refuses_questions_that_are_not_the_official_ones(
    make_project: Callable[..., Path], mirror: tuple[str, Path]
) -> None:
    root = make_project()
    result = invoke("fetch", "clevrer", "--base", mirror[0], code=1)
    assert "f5c170ed265baa35217b6cbcc7aa001c5f382e11" in result.stderr.replace("\n", "")
    assert not (root / "downloads/clevrer/validation.json").exists()
