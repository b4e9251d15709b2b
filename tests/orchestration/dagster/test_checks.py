"""The checks of assets, each on what it must let pass and on what it must find."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
import releases
import yaml

from orchestration.dagster.checks import SAMPLE, checks_of
from orchestration.dagster.keys import EVERY, asset_key
from orchestration.dagster.pin_checks import ERROR, WARN, stops_run
from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import run_stages
from orchestration.ledger.stage_results import measure
from orchestration.pins.pin_files import write_pins
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS, LOGGERS
from orchestration.scoring.published import Kind, published
from orchestration.scoring.scores import metrics_file, score, write_metrics
from orchestration.stages.graph import STAGES
from substrate.domains.clevrer.deltas import annotation_log
from substrate.generators.clevrer import generate_annotation
from substrate.log.event_log import EventLog


def declared(asset: str, name: str) -> dg.AssetChecksDefinition:
    key = dg.AssetCheckKey(asset_key(asset), name)
    (matching,) = [definition for definition in checks_of(STAGES) if definition.check_key == key]
    return matching


def check(
    asset: str, name: str, profile: str = "sample", overrides: list[str] | None = None
) -> dg.AssetCheckResult:
    result = declared(asset, name)(workspace=WorkspaceResource(profile=profile, overrides=overrides or []))
    assert isinstance(result, dg.AssetCheckResult)
    return result


# By profile, the kind of its data and their split.
DATA: dict[str, tuple[Kind, str]] = {"sample": ("generated", "generated"), "paper": ("official", "test")}


def write_scores(root: Path, benchmark: str, accuracy: float, ns: dict[str, int], profile: str) -> None:
    path = root / "artifacts" / profile / metrics_file(benchmark)
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = {name: ns.get(name, 1000) for name in BENCHMARKS[benchmark].numbers}
    write_metrics(path, [score(name, round(n * accuracy), n, *DATA[profile]) for name, n in numbers.items()])


def write_logs(logs: list[EventLog]) -> None:
    releases.write_logs("clevrer", {f"{number:05d}": log for number, log in enumerate(logs)})


@pytest.fixture(scope="module")
def log() -> EventLog:
    """The event log of one generated scene."""
    return annotation_log(generate_annotation(10000, 3))


def test_every_stage_has_a_check_against_its_pin_and_every_benchmark_one_of_its_shapes() -> None:
    keys, every = (
        {(key.asset_key, key.name) for definition in checks_of(stages) for key in definition.check_keys}
        for stages in (STAGES, EVERY)
    )
    pinned = {stage.name: stage for stage in STAGES.values() if stage.pinned_by != "nothing"}
    data = {name: stage for name, stage in pinned.items() if stage.pinned_by == "data.dvc"}
    inputs = {name for name, stage in data.items() if not stage.asks_server}
    assert {(asset_key(name), "pinned" if name in inputs else "drift") for name in pinned} <= keys
    assert inputs < pinned.keys()
    shaped = [name for name, logger in LOGGERS.items() if logger.shapes]
    assert {(asset_key(f"{name}/logs"), "shapes") for name in shaped} <= every
    assert {(asset_key("clevrer/scores"), "counts")} <= keys


def test_drift_warns_and_stops_a_run_only_in_ci(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project()
    answers = root / "artifacts/sample/clevrer/answers.jsonl"
    answers.parent.mkdir(parents=True)
    answers.write_text("{}\n", "utf-8")
    assert check("clevrer/answers", "drift").description == "not compared: nothing is pinned"
    workspace = open_workspace()
    write_pins(workspace, measure(workspace, STAGES, [STAGES["clevrer/answers"]]))
    assert check("clevrer/answers", "drift").description == "every out is as pinned"
    answers.write_text("{ }\n", "utf-8")
    result = check("clevrer/answers", "drift")
    assert (result.passed, result.severity) == (False, WARN)
    (spec,) = declared("clevrer/answers", "drift").check_specs
    assert not spec.blocking, "a warning is not blocking"
    assert "artifacts/sample/clevrer/answers.jsonl is modified against its pin" in str(result.description)
    other = check("clevrer/answers", "drift", overrides=["seed=3"])
    assert (other.passed, other.severity) == (False, WARN), "compared with nothing, and no stop"
    monkeypatch.setenv("CI", "true")
    assert check("clevrer/answers", "drift").severity == ERROR
    (spec,) = declared("clevrer/answers", "drift").check_specs
    assert spec.blocking
    monkeypatch.setenv("DVC_EXP_BASELINE_REV", "abc")  # as in an experiment of DVC
    other = check("clevrer/answers", "drift")
    assert (other.passed, other.severity) == (False, WARN)


def test_a_check_names_the_drifted_row_its_answers_and_the_cause(reproduced: Path) -> None:
    answers = reproduced / "artifacts/sample/clevrer/answers.jsonl"
    first, *others = answers.read_bytes().splitlines(keepends=True)
    row = json.loads(first)
    changed = first.replace(b'"predicted": "%s"' % row["predicted"].encode(), b'"predicted": "changed"', 1)
    answers.write_bytes(b"".join([changed.replace(b'"correct": true', b'"correct": false'), *others]))
    parameters = yaml.safe_load((reproduced / "params.yaml").read_text("utf-8"))
    parameters["clevrer"]["counterfactual"]["method"] = "duality"
    (reproduced / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")
    result = check("clevrer/answers", "drift")
    which = f"scene {row['scene']}, question {row['question']} ({row['subset']})"
    assert f"1 row differs: {which}: " in str(result.description)
    assert result.metadata["rows"].value == 1
    table = result.metadata["differences"]
    assert isinstance(table, dg.TableMetadataValue)
    (record,) = table.records
    assert record.data["which"] == which
    was, is_ = str(record.data["was"]), str(record.data["is"])
    assert was.startswith(f'"{row["predicted"]}" {"right" if row["correct"] else "wrong"}, ')
    assert is_.startswith('"changed" wrong, ')
    assert is_.partition(", log ")[2][:8] == was.partition(", log ")[2][:8]
    because = str(result.metadata["because"].value)
    assert 'parameter clevrer.counterfactual.method "partner" -> "duality" (clevrer/answers)' in because
    assert check("clevrer/logs", "drift").passed
    # A later stage names a cause in an earlier one.
    score = reproduced / "artifacts/sample/scores/clevrer.descriptive.per_question.json"
    score.write_bytes(score.read_bytes().replace(b'"correct": ', b'"correct": 1'))
    result = check("clevrer/scores", "drift")
    assert result.metadata["scores"].value == 1
    assert "clevrer.counterfactual.method" in str(result.metadata["because"].value)
    # Where data changed, their file is named.
    (reproduced / "data/sample/clevrer/questions.json").write_text("[]", "utf-8")
    result = check("clevrer/dataset", "pinned")
    assert (result.passed, result.severity) == (False, ERROR)
    assert result.metadata["files"].value == 1
    assert "questions.json" in str(result.metadata["differences"].value)


def test_counts_are_the_profiles_on_generated_data_and_the_papers_on_official_data(
    make_project: Callable[..., Path], log: EventLog
) -> None:
    root = make_project(scenes=3)
    write_logs([log] * 3)
    assert check("clevrer/scores", "counts").passed
    write_logs([log] * 2)
    result = check("clevrer/scores", "counts")
    assert not result.passed
    assert result.description == "logs: 2 instead of 3"
    ns = {name: n for name in BENCHMARKS["clevrer"].numbers if (n := published().n(name))}
    write_scores(root, "clevrer", 0.9, ns | {"clevrer/explanatory/per_option": 30000}, "paper")
    assert check("clevrer/scores", "counts", profile="paper").passed
    write_scores(root, "clevrer", 0.9, ns | {"clevrer/predictive/per_question": 3556}, "paper")
    result = check("clevrer/scores", "counts", profile="paper")
    assert result.description == "clevrer/predictive/per_question: 3,556 instead of 3,557"


def test_shapes_are_checked_on_logs_from_all_over_the_index(
    make_project: Callable[..., Path], log: EventLog
) -> None:
    make_project()
    number = 4 * SAMPLE
    write_logs([log] * number)
    result = check("clevrer/logs", "shapes")
    assert result.passed
    assert f"{SAMPLE} of {number} logs conform" in str(result.description)
    colourless = EventLog([delta for delta in log if "color" not in delta.triple[1].value])
    assert len(colourless) < len(log)
    write_logs([*[log] * (number // 2), *[colourless] * (number // 2)])
    result = check("clevrer/logs", "shapes")
    assert not result.passed
    assert str(result.description).startswith(f"{number // 2:05d}: ")


def test_every_measured_number_is_in_one_file(make_project: Callable[..., Path]) -> None:
    root = make_project()
    usual = [name for name in BENCHMARKS if f"{name}/scores" in STAGES]
    for benchmark in usual:
        write_scores(root, benchmark, 0.5, {"gqa/by_id/accuracy": 0}, "sample")
    run_stages(["tables/numbers"], WorkspaceResource(profile="sample"))
    heads, first, *others = (root / "artifacts/sample/tables/numbers.csv").read_text("utf-8").splitlines()
    assert heads == "number,n,correct,accuracy,low,high"
    assert first == "clevrer/descriptive/per_question,1000,500,0.5,0.46907,0.53093"
    # All but `first`, and the number that has no questions and so no accuracy.
    assert len(others) == sum(len(BENCHMARKS[name].numbers) for name in usual) - 2


def test_a_ci_that_is_set_to_false_stops_no_run_for_a_drifted_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "false")
    assert not stops_run(STAGES["clevrer/answers"])
