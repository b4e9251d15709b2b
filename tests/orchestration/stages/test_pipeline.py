"""The pipeline as its users meet it: one run from data to table, the same bytes however it is divided."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from commands import invoke

from orchestration.dagster.keys import EVERY, OWN_ASSETS, asset_key
from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import RunError, run_stages
from orchestration.definitions import defs
from orchestration.dvc.dvc_files import render_dvc_yaml
from orchestration.stages.graph import BEYOND_STAGES, GRAPHS, STAGES, stages_of
from substrate.base.errors import ParameterError
from substrate.domains.rows import decode

ROOT = Path(__file__).resolve().parents[3]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".ledger", ".code"} & {*path.parts}
    }


def test_a_run_ends_in_a_table(unchanged_project: Path) -> None:
    made = snapshot(unchanged_project / "artifacts")
    rows = [decode(line) for line in made["sample/clevrer/answers.jsonl"].splitlines()]
    assert [(row.scene, row.question) for row in rows] == sorted((row.scene, row.question) for row in rows)
    assert {row.subset for row in rows} >= {"descriptive", "explanatory", "counterfactual"}
    assert all(row.error is not None for row in rows if row.predicted == "error")
    logs = [json.loads(line) for line in made["sample/clevrer/logs/index.jsonl"].splitlines()]
    assert {row.log for row in rows} == {entry["log"] for entry in logs}
    table = made["sample/tables/clevrer.md"].decode()
    assert "not the official data: 3 scenes" in table
    rows_shown = sum(line.startswith("| ") for line in table.splitlines())
    assert rows_shown == 1 + 7 + 6, "read from annotations, and the variants; proposals are beyond the paper"
    assert "babi/qa20/accuracy" in made["sample/tables/transfer.md"].decode()
    total = json.loads(made["sample/scores/clevrer.descriptive.per_question.json"])
    graded = [row for row in rows if row.subset == "descriptive"]
    assert (total["n"], total["correct"]) == (len(graded), sum(bool(row.correct) for row in graded))


def test_neither_repetition_nor_partitions_change_a_byte(reproduced: Path) -> None:
    first = snapshot(reproduced / "artifacts"), snapshot(reproduced / "data")
    resource = WorkspaceResource(profile="sample", overrides=["spark.partitions=3"], force=True)
    run_stages(stages_of("comphy"), resource)
    assert (snapshot(reproduced / "artifacts"), snapshot(reproduced / "data")) == first
    verified = invoke("verify", "--no-recompute", code=None)
    assert verified.exit_code == 0, "how the work was divided is not verified"


def test_shards_that_are_computed_at_once_change_no_byte(reproduced: Path) -> None:
    first = snapshot(reproduced / "artifacts"), snapshot(reproduced / "data")
    overrides = ["spark.shard=1", "spark.partitions=1"]
    resource = WorkspaceResource(profile="sample", overrides=overrides, force=True)
    run_stages(["gqa/dataset", "gqa/logs", "gqa/answers"], resource)
    assert (snapshot(reproduced / "artifacts"), snapshot(reproduced / "data")) == first
    assert len(list((reproduced / "storage/sample/logs/gqa").rglob("0*.parquet"))) == 3
    assert all(any(path.iterdir()) for path in (reproduced / "storage").rglob("*") if path.is_dir())


def test_a_stage_that_fails_names_the_file_and_leaves_what_was_there(reproduced: Path) -> None:
    before = snapshot(reproduced / "artifacts")
    questions = reproduced / "data/sample/clevrer/questions.json"
    questions.write_bytes(questions.read_bytes()[:-1000])
    with pytest.raises(RunError, match=r"clevrer/logs.*questions\.json.*cut off"):
        run_stages(["clevrer/logs"], WorkspaceResource(profile="sample"))
    assert snapshot(reproduced / "artifacts") == before
    assert not list((reproduced / "artifacts").rglob(".logs.*"))


def test_a_stage_whose_input_was_never_made_names_it(make_project: Callable[..., Path]) -> None:
    make_project()
    with pytest.raises(RunError, match=r"babi/logs: .*/data/sample/babi is not there\."):
        run_stages(["babi/logs"], WorkspaceResource(profile="sample"))


def test_dvc_yaml_is_what_the_asset_graph_says() -> None:
    assert (ROOT / "dvc.yaml").read_text("utf-8") == render_dvc_yaml(STAGES), "run `substrate dvc sync`"
    described = yaml.safe_load(render_dvc_yaml(STAGES))["stages"]
    # DVC has one stage more, `code`, which says of each other stage whether its code changed.
    assert len(described) == len([s for s in STAGES.values() if s.pinned_by == "dvc.yaml"]) + 1


def test_stages_beyond_the_paper_have_a_profile_of_their_own() -> None:
    assert {"perceived/scores", "tables/robustness"} <= BEYOND_STAGES.keys() - STAGES.keys()
    assert {"ablations/determinism", "babi/scores"} <= STAGES.keys() - BEYOND_STAGES.keys()
    with pytest.raises(ParameterError, match="--profile beyond"):
        stages_of("perceived")


def test_every_read_is_an_edge_and_no_two_boxes_of_a_group_share_a_name() -> None:
    specs = {spec.key: spec for spec in defs.resolve_all_asset_specs()}
    for stage in (*EVERY.values(), *OWN_ASSETS.values()):
        edges = {dep.asset_key for dep in specs[asset_key(stage.name, stage.profile)].deps}
        assert edges == {asset_key(need, stage.profile) for need in stage.needs}
    boxes = Counter((spec.group_name, spec.key.path[-1]) for spec in specs.values())
    assert set(boxes.values()) == {1}
    groups = Counter(group for group, _ in boxes)
    assert max(groups.values()) <= 12, groups


def test_a_job_of_a_profile_holds_every_stage_that_its_stages_read() -> None:
    """A project without data can then run it at once: no input of a stage lies outside the job."""
    for profile in GRAPHS:
        layer = defs.resolve_job_def(f"reproduce_{profile}").asset_layer
        selected = layer.selected_asset_keys
        for key in selected:
            assert layer.get(key).parent_keys <= selected


def test_the_definitions_load_and_every_asset_is_described() -> None:
    specs = list(defs.resolve_all_asset_specs())
    elsewhere = {asset_key(stage.name, stage.profile) for stage in OWN_ASSETS.values()}
    assert {spec.key for spec in specs} == {*map(asset_key, EVERY)} | elsewhere
    assert all(spec.description for spec in specs)
    assert all(spec.code_version for spec in specs if spec.key in {*map(asset_key, STAGES)})
    selected = defs.resolve_job_def("reproduce_sample").asset_layer.selected_asset_keys
    assert {*selected} == {*map(asset_key, STAGES)}
    assert {job.name for job in defs.resolve_all_job_defs()} >= {
        "reproduce_sample",
        "reproduce_full",
        "reproduce_paper",
    }


def test_a_benchmark_takes_what_it_needs_and_no_language_model() -> None:
    for name in ("twin", "babi", "gqa"):
        assert stages_of(name) == [f"{name}/{step}" for step in ("dataset", "logs", "answers", "scores")]
    assert stages_of("twin_direct")[0] == "twin/dataset"
    assert "tables/clevrer" in stages_of("clevrer")
