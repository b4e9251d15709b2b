"""Experiments as their users meet them: beside the results, whole or not at all, and compared row by row."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from commands import invoke, printed
from scipy.stats import binomtest

from orchestration.dagster.keys import asset_key
from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import RunError, run_stages
from orchestration.definitions import build_definitions
from orchestration.experiments.comparison import compare
from orchestration.project import name_of

CLEVRER = [f"clevrer/{step}" for step in ("dataset", "logs", "answers", "scores")]
PRINTED = "clevrer.counterfactual.method=printed"
NAME = "clevrer.counterfactual.method-printed"
ANSWERS = "artifacts/sample/clevrer/answers.jsonl"
NUMBER = "clevrer/counterfactual/per_question"


def results(root: Path) -> dict[str, bytes]:
    folders = [root / name for name in ("data", "artifacts", "pins", "storage")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in [*files, root / "params.yaml"]}


def experiment(*overrides: str, name: str = "", stages: list[str] = CLEVRER) -> None:
    run_stages(stages, WorkspaceResource(profile="sample", overrides=list(overrides), experiment=name))


def graded(path: Path) -> dict[tuple[object, object], bool]:
    rows = map(json.loads, path.read_bytes().splitlines())
    return {(r["scene"], r["question"]): r["correct"] for r in rows if r["subset"] == "counterfactual"}


def test_an_experiment_lies_beside_the_results_and_is_compared_question_by_question(reproduced: Path) -> None:
    before = results(reproduced)
    experiment(PRINTED)
    assert results(reproduced) == before
    folder = reproduced / "experiments" / NAME
    record = (folder / "experiment.json").read_bytes()
    stages = json.loads(record)["stages"]
    assert {name for name, how in stages.items() if how == "taken"} == {"clevrer/dataset", "clevrer/logs"}

    was, now = graded(reproduced / ANSWERS), graded(folder / ANSWERS)
    won = sum(now[key] and not was[key] for key in was)
    lost = sum(was[key] and not now[key] for key in was)
    assert lost, "the printed rule answers otherwise"
    compared = compare(reproduced, NAME)
    (number,) = [number for number in compared.numbers if number.name == NUMBER]
    assert (number.before.correct, number.after.correct) == (sum(was.values()), sum(now.values()))
    assert (number.won, number.lost) == (won, lost)
    assert number.mcnemar == pytest.approx(binomtest(won, won + lost).pvalue, rel=1e-5)
    assert compared.changes["right to wrong"] == lost
    assert Counter(row.change for row in compared.rows) == compared.changes
    (cause,) = map(str, compared.causes)
    assert cause == 'parameter clevrer.counterfactual.method "partner" -> "printed" (clevrer/answers)'

    # Again: nothing is computed, and not a byte differs.
    answers = (folder / ANSWERS).stat().st_ino
    experiment(PRINTED)
    assert (folder / "experiment.json").read_bytes() == record
    assert (folder / ANSWERS).stat().st_ino == answers


def test_a_run_of_the_ui_makes_the_same_experiment_from_a_selection(reproduced: Path) -> None:
    job = build_definitions().resolve_job_def("reproduce_clevrer")
    key, _, value = PRINTED.partition("=")
    config = {"resources": {"workspace": {"config": {"profile": "sample", "set": {key: value}}}}}
    keys = [asset_key(name) for name in ("clevrer/answers", "clevrer/scores")]
    with dg.instance_for_test() as instance:
        assert job.execute_in_process(instance=instance, run_config=config, asset_selection=keys).success
    of_ui = (reproduced / "experiments" / NAME / ANSWERS).read_bytes()
    invoke("experiment", "remove", NAME)
    assert not list((reproduced / "experiments").glob("[!.]*"))
    experiment(PRINTED)
    assert (reproduced / "experiments" / NAME / ANSWERS).read_bytes() == of_ui


@pytest.mark.long
def test_an_experiment_of_the_ui_runs_twice_and_leaves_the_history_of_the_asset(reproduced: Path) -> None:
    job, scores = build_definitions().resolve_job_def("reproduce_gqa"), asset_key("gqa/scores")
    of_experiment, runs = list[dg.AssetKey](), list[str]()
    with dg.instance_for_test() as instance:

        def run(**changed: Any) -> dg.ExecuteInProcessResult:
            config = {"resources": {"workspace": {"config": {"profile": "sample", "set": changed}}}}
            result = job.execute_in_process(instance=instance, run_config=config)
            assert result.success
            return result

        canonical = run().run_id
        for _ in range(2):
            again = run(**{"profiles.sample.gqa.scenes": 1})
            verdicts = {check.check_name: check for check in again.get_asset_check_evaluations()}
            assert not verdicts["drift"].passed
            assert "not compared" in str(verdicts["drift"].description)
            assert verdicts["shapes"].passed
            runs.append(again.run_id)
            record = instance.get_run_by_id(again.run_id)
            assert record
            of_experiment.append(dg.AssetKey(["experiments", record.tags["experiment"], "gqa_scores"]))
        latest = instance.get_latest_materialization_event(scores)
        assert latest
        assert latest.run_id == canonical
        records = instance.fetch_materializations(of_experiment[0], limit=9).records
        assert [record.run_id for record in records] == runs[::-1]


def test_an_experiment_on_other_data_is_not_paired(reproduced: Path) -> None:
    before = results(reproduced)
    experiment("seed=3", name="other-seed")
    assert results(reproduced) == before
    compared = compare(reproduced, "other-seed")
    assert compared.numbers
    assert all(number.mcnemar is None for number in compared.numbers), "other data are not paired"
    assert not list((reproduced / "storage").glob("experiments/*"))


def test_a_run_that_fails_leaves_nothing(reproduced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUBSTRATE_MODEL_URL", "http://127.0.0.1:9/v1")
    before = results(reproduced)
    with pytest.raises(RunError, match="controlled/dataset"):
        experiment("baselines.controlled.n=3", "baselines.attempts=1", stages=["controlled/dataset"])
    assert results(reproduced) == before
    assert json.loads(printed("experiment", "list", "--json")) == []
    assert not list((reproduced / "experiments/.making").iterdir())


def test_a_change_of_no_result_is_no_experiment(reproduced: Path) -> None:
    experiment("spark.partitions=2", "seed=20", "baselines.attempts=1", stages=["clevrer/scores"])
    assert not (reproduced / "experiments").exists()
    message = invoke("reproduce", "--set", "seed=20", "--name", "same", code=1).stderr
    assert "--name: same: names an experiment that changes nothing" in message


def test_the_command_lists_shows_refuses_and_removes(reproduced: Path) -> None:
    experiment(PRINTED, name="printed")
    assert "counterfactual.method" in printed("experiment", "list")
    (listed,) = json.loads(printed("experiment", "list", "--json"))
    assert listed["changed"] == {"clevrer.counterfactual.method": {"was": "partner", "now": "printed"}}
    record = json.loads(printed("experiment", "show", "printed", "--json"))
    assert NUMBER in printed("experiment", "show", "printed")
    diff = json.loads(printed("experiment", "diff", "printed", "--json"))
    (number,) = [compared for compared in diff["numbers"] if compared["name"] == NUMBER]
    assert number["after"] == record["numbers"][NUMBER]
    text = printed("experiment", "diff", "printed")
    for fact in (NUMBER, f"{number['after']['accuracy']:.2%}".replace("%", " %"), "right to wrong"):
        assert fact in text
    message = invoke("experiment", "show", "nope", code=1).stderr
    assert "NAME: no experiment 'nope'. There are printed" in message
    message = invoke("reproduce", "--set", "seed=3", "--name", "printed", code=1).stderr
    assert f"--name: printed: is the name of another experiment ({PRINTED})" in message
    for name in ("../results", "pinned", ".hidden", ""):
        assert "cannot be the name of an experiment" in invoke("experiment", "remove", name, code=1).stderr
    message = invoke("experiment", "diff", "printed", "workspaces", code=1).stderr
    assert "no experiment 'workspaces'. There are printed" in message
    invoke("experiment", "remove", "printed")
    assert json.loads(printed("experiment", "list", "--json")) == []


def test_a_name_is_made_of_what_changes_and_two_changes_never_share_one() -> None:
    values = [0.4, None, True, "a b", "a  b", "a/b", "x" * 200, "x" * 201]
    names = [name_of({"key": value}) for value in values]
    assert all(len(name) <= 100 and "/" not in name and " " not in name for name in names)
    assert len(set(names)) == len(values)
