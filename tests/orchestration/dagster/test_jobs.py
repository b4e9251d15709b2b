"""Jobs that can be launched in the UI, and schedules and sensors that launch jobs by themselves."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
import yaml
from commands import hold, lock_held, python
from projects import ROOT, link_code

from orchestration.dagster import assets, jobs
from orchestration.dagster.form import form_resource
from orchestration.dagster.previews import preview
from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import RunError, run_stages
from orchestration.dagster.run_tags import SETTINGS_TAG
from orchestration.definitions import build_definitions, defs
from orchestration.drift.as_pinned import Difference
from orchestration.dvc import dvc_files
from orchestration.settings import REAL
from orchestration.stages.graph import STAGES
from orchestration.verification.verify import Report


def test_definitions_load_and_nothing_launches_by_itself_until_it_is_turned_on() -> None:
    dg.Definitions.validate_loadable(defs)
    assert jobs.nightly_drift.default_status == dg.DefaultScheduleStatus.STOPPED
    assert jobs.stale_stages.default_status == dg.DefaultSensorStatus.STOPPED
    assert defs.resolve_job_def("verify")


def test_a_benchmarks_job_holds_all_that_its_scores_need() -> None:
    layer = defs.resolve_job_def("reproduce_comphy_inferred").asset_layer
    selected = {key.to_user_string() for key in layer.selected_asset_keys}
    steps = ("logs", "answers", "scores")
    assert selected == {"comphy_dataset", *(f"comphy_inferred_{step}" for step in steps)}


def test_the_nightly_job_recomputes_inside_its_run_and_fails_with_the_differences(
    make_project: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project()
    differences: list[Difference] = []

    def recompute(*_: object, **__: object) -> Report:
        resource = WorkspaceResource(profile="beyond", scratch=str(tmp_path / "scratch"), force=True)
        run_stages(["clevrer_humans/dataset"], resource)
        return Report("sample", recomputed=True, differences=differences, causes=[])

    monkeypatch.setattr(jobs, "verify_profile", recompute)
    job = build_definitions().resolve_job_def("verify")
    assert job.execute_in_process().success
    differences.append(Difference("clevrer/answers", "row", "scene 3 question 4", "yes", "no"))
    with pytest.raises(dg.Failure) as failure:
        job.execute_in_process()
    assert failure.value.metadata["differences"].value == ["clevrer/answers: scene 3 question 4: yes -> no"]


def test_the_drift_check_passes_over_official_files_that_are_not_there_and_names_one_of_other_bytes(
    make_project: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, official = make_project(), tmp_path / "official"
    official.mkdir()
    shutil.copytree(ROOT / "pins", root / "pins", ignore=shutil.ignore_patterns("sample*", "claims*"))
    monkeypatch.setenv(REAL, str(official))
    monkeypatch.setattr(jobs, "recompute", lambda *_: None)
    job = build_definitions().resolve_job_def("verify")
    config = {"resources": {"workspace": {"config": {"profile": "real"}}}}
    with dg.instance_for_test() as instance:
        result = job.execute_in_process(instance=instance, run_config=config)
        logged = " ".join(record.user_message for record in instance.all_logs(result.run_id))
    assert "not looked at, since these official files are not there" in logged
    assert "clevrer/proposals.zip" in logged
    (official / "babi/en").mkdir(parents=True)
    with pytest.raises(dg.Failure) as failure:
        job.execute_in_process(run_config=config)
    assert "real: babi/en: " in str(failure.value.metadata["differences"].value)


@pytest.mark.long
def test_a_run_of_the_ui_is_pinned_like_one_of_the_command(make_project: Callable[..., Path]) -> None:
    root = make_project()
    parameters = yaml.safe_load((root / "params.yaml").read_text("utf-8"))
    parameters["profiles"]["sample"]["comphy"] = {"source": "none"}  # so that nothing is computed on Spark
    (root / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")
    (root / "dvc.yaml").write_text(dvc_files.render_dvc_yaml(STAGES), "utf-8")
    link_code(root)
    job = build_definitions().resolve_job_def("reproduce_comphy")
    with dg.instance_for_test() as instance:
        # DVC's lock gets the outs only if the project is DVC's and the run has the project's own settings.
        for init, changed in ((False, {}), (True, {"seed": 3}), (True, {})):
            if init and not (root / ".dvc").is_dir():
                assert python("-m", "dvc", "init", "--no-scm", "--quiet", cwd=root).returncode == 0
            config = {"resources": {"workspace": {"config": {"profile": "sample", "set": changed}}}}
            assert job.execute_in_process(instance=instance, run_config=config).success
            lock = root / "dvc.lock"
            locked = lock.is_file() and "comphy-answers" in lock.read_text("utf-8")
            assert locked == (init and not changed)
        (root / "pins/sample.json").write_text("{", "utf-8")
        with pytest.raises(dg.DagsterResourceFunctionError) as refused:
            job.execute_in_process(instance=instance, run_config=config)
        assert "sample.json: is damaged" in str(refused.value.__cause__)


def change_seed(root: Path) -> None:
    path = root / "params.yaml"
    path.write_text(path.read_text("utf-8").replace("\nseed: 20", "\nseed: 21"), "utf-8")


def test_a_run_of_the_ui_holds_the_project_and_keeps_its_settings_to_the_end(
    make_project: Callable[..., Path],
) -> None:
    root, seeds = make_project(), []

    @dg.asset
    def first(workspace: WorkspaceResource) -> None:
        seeds.append(workspace.open().settings.seed)
        # Another process asks for the project's lock and is refused
        _, refused = hold(root, 0).communicate()
        assert f"a run is under way: process {os.getpid()} (run " in refused
        change_seed(root)

    @dg.asset(deps=[first])
    def second(workspace: WorkspaceResource) -> None:
        seeds.append(workspace.open().settings.seed)

    both, resources = [dg.define_asset_job("both")], {"workspace": form_resource()}
    job = dg.Definitions([first, second], jobs=both, resources=resources).resolve_job_def("both")
    with dg.instance_for_test() as instance:
        for _ in range(2):
            result = job.execute_in_process(instance=instance)
            logged = [record.user_message for record in instance.all_logs(result.run_id)]
            (settings,) = (text.partition("settings: ")[2] for text in logged if "settings: " in text)
            assert json.loads(settings)["seed"] == seeds[-1]
            run = instance.get_run_by_id(result.run_id)
            assert run
            assert run.tags[SETTINGS_TAG] == hashlib.sha256(settings.encode()).hexdigest()
        assert seeds == [20, 20, 21, 21]
        with lock_held(root) as holder, pytest.raises(dg.DagsterResourceFunctionError) as refused:
            job.execute_in_process(instance=instance)
        message = f"a run is under way: process {holder.pid} (a long run), since "
        assert message in str(refused.value.__cause__)


def test_a_command_whose_settings_change_before_its_run_begins_is_refused(
    make_project: Callable[..., Path],
) -> None:
    root = make_project()

    def opened() -> dg.DagsterInstance:
        change_seed(root)
        return dg.DagsterInstance.ephemeral()

    with pytest.raises(RunError, match=r"params\.yaml: changed during the run"):
        run_stages(["gqa/dataset"], WorkspaceResource(profile="sample"), opened)
    assert not (root / "data/sample/gqa").exists()


def test_a_stage_is_stale_where_its_code_or_the_bytes_of_its_inputs_changed() -> None:
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

        # A code version, and the events after it; the first evaluation asks for nothing.
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
            evaluated = dg.evaluate_automation_conditions(
                project(code), instance, asset_selection=dg.AssetSelection.assets("made"), cursor=cursor
            )
            cursor = evaluated.cursor
            stale.append(evaluated.total_requested)
        assert stale == [0, 0, 0, 1, 0, 1], "equal bytes ask for nothing"
    specs = [spec for spec in defs.resolve_all_asset_specs() if spec.automation_condition]
    automatic = {"/".join(spec.key.path) for spec in specs}
    assert {"clevrer_dataset", "twin_answers", "report_html"} <= automatic
    assert "twin_direct_dataset" not in automatic, "nobody but a person asks a model"


def test_the_columns_of_a_result_are_its_schema(tmp_path: Path) -> None:
    rows = tmp_path / "answers.jsonl"
    row = '{"scene": 1, "question": 2, "predicted": "yes", "correct": true, "subset": "a"}\n'
    rows.write_text(row, "utf-8")
    schema = preview([rows])["dagster/column_schema"]
    assert {column.name: column.type for column in schema.columns}["correct"] == "bool"
