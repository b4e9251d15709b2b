"""Jobs that can be launched in the UI, and those that launch by themselves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from projects import link_code

from orchestration.definitions import build_definitions, defs
from orchestration.fetch.sources import official_sources
from orchestration.ledger import dvc as pins
from orchestration.ledger.drift import Difference
from orchestration.ledger.verification import Report
from orchestration.pipeline import assets, code_links, jobs
from orchestration.pipeline.assets import asset_key
from orchestration.pipeline.compared import KEY
from orchestration.pipeline.graph import STAGES, stages_of
from orchestration.pipeline.previews import preview
from orchestration.pipeline.resources import WorkspaceResource
from orchestration.pipeline.run import run_stages


def look(cursor: str | None = None) -> dg.SensorResult | dg.SkipReason:
    found = jobs.new_official_data(dg.build_sensor_context(cursor=cursor))
    assert isinstance(found, dg.SensorResult | dg.SkipReason)
    return found


def test_definitions_load_and_nothing_launches_by_itself_until_it_is_turned_on() -> None:
    dg.Definitions.validate_loadable(defs)
    assert jobs.new_official_data.default_status == dg.DefaultSensorStatus.STOPPED
    assert jobs.nightly_drift.default_status == dg.DefaultScheduleStatus.STOPPED
    assert jobs.stale_stages.default_status == dg.DefaultSensorStatus.STOPPED
    assert defs.resolve_job_def("verify")


def test_a_benchmarks_job_holds_all_that_its_scores_need() -> None:
    held = {
        key.to_user_string()
        for key in defs.resolve_job_def("reproduce_comphy_inferred").asset_layer.selected_asset_keys
    }
    assert held == {
        "comphy/dataset",
        "comphy_inferred/logs",
        "comphy_inferred/answers",
        "comphy_inferred/scores",
    }


def test_official_files_start_one_run_when_all_of_them_are_whole(make_project: Callable[..., Path]) -> None:
    root = make_project()
    assert isinstance(look(), dg.SkipReason)
    folder = root / "downloads/clevrer"
    folder.mkdir(parents=True)
    first, *others = [file.name for file in official_sources()["clevrer"].files if not file.extra]
    (folder / first).write_text("one", "utf-8")
    (folder / f"{others[-1]}.part").write_text("ha", "utf-8")
    assert isinstance(look(), dg.SkipReason)
    for name in others:
        (folder / name).write_text("whole", "utf-8")
    found = look()
    assert isinstance(found, dg.SensorResult)
    (request,) = found.run_requests or []
    assert {key.to_user_string() for key in request.asset_selection or []} == set(stages_of("clevrer"))
    again = look()
    assert isinstance(again, dg.SensorResult)
    assert (again.run_requests or [])[0].run_key == request.run_key
    assert isinstance(look(found.cursor), dg.SkipReason)
    (folder / first).write_text("new version", "utf-8")
    changed = look(found.cursor)
    assert isinstance(changed, dg.SensorResult)
    assert (changed.run_requests or [])[0].run_key != request.run_key


def test_the_nightly_job_recomputes_inside_its_run_and_fails_naming_what_drifted(
    make_project: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project()
    found: list[Difference] = []

    def recompute(*_: object, **__: object) -> Report:
        run_stages(
            ["clevrer_humans/dataset"], WorkspaceResource(scratch=str(tmp_path / "scratch"), force=True)
        )
        return Report("sample", recomputed=True, differences=found, causes=[])

    monkeypatch.setattr(jobs, "verify_profile", recompute)
    job = build_definitions().resolve_job_def("verify")
    assert job.execute_in_process().success
    found.append(Difference("clevrer/answers", "row", "scene 3 question 4", "yes", "no"))
    with pytest.raises(dg.Failure) as failure:
        job.execute_in_process()
    assert failure.value.metadata["differences"].value == ["clevrer/answers: scene 3 question 4: yes -> no"]


def test_a_run_of_the_ui_is_pinned_like_one_of_the_command(make_project: Callable[..., Path]) -> None:
    root = make_project()
    (root / "dvc.yaml").write_text(pins.render_dvc_yaml(STAGES), "utf-8")
    link_code(root)
    job = build_definitions().resolve_job_def("reproduce_clevrer_humans")
    with dg.instance_for_test() as instance:
        for overrides in (["seed=3"], []):
            config = {"resources": {"workspace": {"config": {"profile": "sample", "overrides": overrides}}}}
            result = job.execute_in_process(instance=instance, run_config=config)
            context = dg.build_run_status_sensor_context(
                "settled_pins", result.get_run_success_event(), instance, result.dagster_run
            )
            if not (root / ".dvc").is_dir():
                assert isinstance(jobs.settled_pins(context), dg.SkipReason)
                subprocess.run(
                    [sys.executable, "-m", "dvc", "init", "--no-scm", "--quiet"], cwd=root, check=True
                )
            jobs.settled_pins(context)
            lock = root / "dvc.lock"
            locked = lock.is_file() and "clevrer_humans-answers" in lock.read_text("utf-8")
            assert locked == (not overrides)


def test_a_stage_is_stale_where_its_code_or_the_bytes_of_what_it_reads_changed() -> None:
    def project(code: str) -> dg.Definitions:
        @dg.asset
        def read() -> None: ...

        @dg.asset(deps=[read], code_version=code, automation_condition=assets.STALE)
        def made() -> None: ...

        return dg.Definitions([read, made])

    with dg.DagsterInstance.ephemeral() as instance:

        def happens(key: str, data: str = "") -> None:
            tags = {"dagster/data_version": data} if data else {}
            instance.report_runless_asset_event(dg.AssetMaterialization(key, tags=tags))

        cursor, stale = None, list[int]()
        for code, step in (
            ("1", [("read", "a"), ("made", "")]),
            ("1", []),
            ("1", [("read", "a")]),
            ("1", [("read", "b")]),
            ("1", [("made", "")]),
            ("2", []),
        ):
            for key, data in step:
                happens(key, data)
            found = dg.evaluate_automation_conditions(
                project(code), instance, asset_selection=dg.AssetSelection.assets("made"), cursor=cursor
            )
            cursor = found.cursor
            stale.append(found.total_requested)
        assert stale == [0, 0, 0, 1, 0, 1], "equal bytes ask for nothing"
    asked = {"/".join(spec.key.path) for spec in defs.resolve_all_asset_specs() if spec.automation_condition}
    assert {"clevrer/dataset", "twin/answers", "report/html"} <= asked
    assert "twin_direct/dataset" not in asked, "nobody but a person asks a model"


def test_profiles_are_partitions_of_a_job_and_of_no_asset() -> None:
    job = defs.resolve_job_def("reproduce_profiles")
    assert job.partitions_def
    assert list(job.partitions_def.get_partition_keys()) == ["sample", "full", "paper"]
    config: Any = jobs.profile_config.get_run_config_for_partition_key("full")
    assert config["resources"]["workspace"]["config"]["profile"] == "full"
    assert not any(spec.partitions_def for spec in defs.resolve_all_asset_specs())


def test_the_columns_of_a_result_are_its_schema(tmp_path: Path) -> None:
    rows = tmp_path / "answers.jsonl"
    rows.write_text(
        '{"scene": 1, "question": 2, "predicted": "yes", "correct": true, "subset": "a"}\n', "utf-8"
    )
    schema = preview([rows])["dagster/column_schema"]
    assert {one.name: one.type for one in schema.columns}["correct"] == "bool"


def test_a_link_leads_to_the_commit_beside_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_links, "source_of", lambda _: "https://github.com/some/where/blob/12ab")
    (asset,) = assets.assets_of({"babi/dataset": STAGES["babi/dataset"]})
    (spec,) = asset.specs
    here, *_, there = spec.metadata["dagster/code_references"].code_references
    assert here.file_path.endswith("orchestration/pipeline/benchmark_stages.py")
    assert there.url.startswith("https://github.com/some/where/blob/12ab/orchestration/")


def test_every_asset_leads_to_the_lines_of_code_that_it_runs() -> None:
    graph = defs.resolve_asset_graph()
    assert graph.get(KEY).metadata["dagster/code_references"].code_references
    for stage in STAGES:
        found = graph.get(asset_key(stage)).metadata["dagster/code_references"].code_references
        assert found, stage
        for one in found:
            if not isinstance(one, dg.LocalFileCodeReference):
                continue
            assert one.line_number
            assert one.label
            lines = Path(one.file_path).read_text("utf-8").splitlines()[one.line_number - 1 :]
            name = one.label.rpartition(".")[2]
            assert any(f"def {name}(" in line for line in lines[:9]) or "lambda" in lines[0], one
