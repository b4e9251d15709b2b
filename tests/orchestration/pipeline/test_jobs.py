"""Jobs that can be launched in the UI, and those that launch by themselves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
from projects import link_code

from orchestration.definitions import build_definitions, defs
from orchestration.fetch.sources import official_sources
from orchestration.ledger import dvc as pins
from orchestration.ledger.drift import Difference
from orchestration.ledger.verification import Report
from orchestration.pipeline import jobs
from orchestration.pipeline.assets import asset_key
from orchestration.pipeline.graph import STAGES, stages_of
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
            locked = pins.pinned_md5(root, "dvc.lock") or {}
            assert ("artifacts/sample/clevrer_humans/answers.jsonl" in locked) == (not overrides)


def test_every_asset_leads_to_the_lines_of_code_that_it_runs() -> None:
    graph = defs.resolve_asset_graph()
    for stage in STAGES:
        found = graph.get(asset_key(stage)).metadata["dagster/code_references"].code_references
        assert found, stage
        for one in found:
            lines = Path(one.file_path).read_text("utf-8").splitlines()[one.line_number - 1 :]
            name = one.label.rpartition(".")[2]
            assert any(f"def {name}(" in line for line in lines[:9]) or "lambda" in lines[0], one
