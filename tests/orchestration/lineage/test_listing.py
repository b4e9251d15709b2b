"""`substrate trace --list`, and what `substrate trace` takes beside a number's name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import invoke, printed

from orchestration.lineage.listing import Listing
from orchestration.models.answering import ANSWERING, AnsweringModel
from orchestration.models.exchange import Answerer
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import Comparison
from orchestration.scoring.published import Kind
from orchestration.scoring.scores import score, score_file

KEYS = ["name", "where", "paper", "citation", "measured", "n", "interval", "data", "answered_by"]
JOINT = "twin/joint/minus/twin_direct/joint"
NS_DR = "clevrer/explanatory/per_question/minus/ns_dr"


def trace(*arguments: str) -> Any:
    return json.loads(printed("trace", *arguments, "--json"))


def listed() -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in trace("--list")}


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    """A project that was not reproduced."""
    return make_project()


def write_scores(root: Path, kind: Kind, split: str) -> None:
    """Write some scores, as if the paper's own accuracies had been measured here."""
    folder = root / "artifacts/sample/scores"
    folder.mkdir(parents=True)
    for name, right, n in (
        ("clevrer/explanatory/per_question", 7727, 7738),
        ("ablations/explanatory.global/per_question", 7141, 7738),
        ("comphy/factual/per_question", 4300, 5882),
        ("twin/joint", 500, 500),
        ("twin_direct/joint", 406, 500),
    ):
        (folder / score_file(name)).write_bytes(msgspec.json.encode(score(name, right, n, kind, split)))
    # Of 500 specifications both are right on 406, the substrate alone on 94; then the difference, its
    # interval, and p.
    pair = Comparison("twin", "twin_direct", 406, 94, 0, 0, 0.188, (0.155279, 0.224578), 1.00974e-28)
    (root / "artifacts/sample/twin").mkdir()
    (root / "artifacts/sample/twin/comparisons.json").write_bytes(msgspec.json.encode([pair]))


def test_every_number_is_listed_before_anything_was_measured(project: Path) -> None:
    entries = listed()
    assert all(list(entry) == KEYS for entry in entries.values())
    assert sum(entry["paper"] is not None for entry in entries.values()) >= 107
    assert {name for benchmark in BENCHMARKS.values() for name in benchmark.numbers} <= set(entries)
    assert {entry["measured"] for entry in entries.values()} == {None}
    assert all(entry["citation"] for entry in entries.values() if entry["paper"] is not None)
    predictive = entries["clevrer/predictive/per_question"]
    assert (predictive["paper"], predictive["n"]) == ("69.50", 3557)
    assert predictive["where"] == "section 1, table 1, section 6"
    text = printed("trace", "--list")
    assert "clevrer/predictive/per_question" in text
    assert max(map(len, text.splitlines())) <= 110
    of_table = {entry["name"].split("/")[0] for entry in trace("--list", "Table 2")}
    assert of_table == {"twin", "twin_direct", "twin_concordia"}
    claim = trace("kinematics_order")
    assert (claim["relation"], claim["verdict"], claim["printed"]) == ("order", "not measured", "consistent")


def test_differences_bounds_and_p_stand_beside_the_papers(project: Path) -> None:
    write_scores(project, "official", "validation")
    entries = listed()
    assert entries[NS_DR] | {"where": "", "citation": ""} == {
        "name": NS_DR,
        "where": "",
        "paper": "20.26",
        "citation": "",
        "measured": None,  # two sources disagree on the split of NS-DR's figure
        "n": 7738,
        "interval": None,
        "data": "official",
        "answered_by": None,
    }
    reference = "clevrer/explanatory/per_question/minus/ablations/explanatory.global/per_question"
    assert entries[reference]["measured"] == pytest.approx(7.573, abs=1e-3)
    bounds = [entries[f"comphy/factual/per_question/substrate/{edge}"] for edge in ("low", "high")]
    assert [bound["paper"] for bound in bounds] == ["71.94", "74.23"]
    assert [round(bound["measured"], 2) for bound in bounds] == [71.96, 74.22]
    assert (entries[JOINT]["paper"], entries[JOINT]["measured"]) == ("18.80", 18.8)
    assert entries[JOINT]["interval"] == pytest.approx([15.5279, 22.4578])
    assert entries[f"{JOINT}/p"]["measured"] == pytest.approx(1e-28, rel=0.02)


def test_a_models_number_names_the_model_that_answered_here(project: Path) -> None:
    write_scores(project, "generated", "generated")
    assert listed()["twin_direct/joint"]["answered_by"] is None
    folder = project / "data/sample/twin_direct"
    folder.mkdir(parents=True)
    by = Answerer("Small", "b1", "server 1", "Q4", "sha256:0123456789abcdef")
    costs = AnsweringModel("Small", "sha256:0123456789abcdef", [by], 2, 30, 6, 1.5, 1, 1)
    (folder / ANSWERING).write_bytes(msgspec.json.encode(costs))
    entries = listed()
    assert entries["twin_direct/joint"]["answered_by"] == "Small (Q4, weights 0123456789ab, server 1)"
    assert entries[JOINT]["answered_by"] == "Small (Q4, weights 0123456789ab, server 1)"
    assert entries["twin/joint"]["answered_by"] is None


def test_a_difference_to_unlike_data_is_not_measured(project: Path) -> None:
    write_scores(project, "generated", "generated")
    assert listed()[NS_DR]["measured"] is None
    pair = {"n": 500, "file": "artifacts/sample/twin/comparisons.json"}
    ours, theirs = {"number": "twin", "correct": 500}, {"number": "twin_direct", "correct": 406}
    assert trace(JOINT)["counts"] == [ours | pair, theirs | pair]


def test_a_figure_of_the_paper_finds_its_number_or_the_several_that_match(project: Path) -> None:
    difference = "clevrer/descriptive/per_question/minus/controlled/descriptive/accuracy"
    assert trace("46.99")["number"]["name"] == difference
    assert trace("-15.75")["number"]["paper"] == "-15.75"
    assert [entry["name"] for entry in trace("99.86")] == [
        "clevrer/explanatory/per_question",
        "ablations/explanatory.event/per_question",
    ]
    assert trace("5,882")["number"]["name"] == "comphy/factual/per_question/n"


def test_trace_takes_every_cell_of_a_table(reproduced: Path) -> None:
    assert trace("explanatory per-question")["trace"]["number"] == "clevrer/explanatory/per_question"
    refused = invoke("trace", "12.3456", code=1)
    assert "no number is named '12.3456'" in refused.stderr
    for path in sorted((reproduced / "artifacts/sample/tables").glob("*.json")):
        table = json.loads(path.read_bytes())
        row, names = table["rows"][0], table["numbers"][0]
        for cell, name in zip(row, names, strict=True):
            result = invoke("trace", cell, "--json", code=None) if cell else None
            assert result is None or (result.exit_code == 0 and name in result.stdout), cell


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("clevrer/explanatory/per_option/n", ["clevrer/explanatory/per_option"]),
        ("clevrer/explanatory/per_question/low", ["clevrer/explanatory/per_question"]),
        (
            "clevrer/counterfactual/per_question/minus/ablations/counterfactual.duality/per_question",
            ["clevrer/counterfactual/per_question", "ablations/counterfactual.duality/per_question"],
        ),
    ],
)
def test_a_derived_number_walks_down_through_the_counts_it_is_made_of(
    reproduced: Path, name: str, counted: list[str]
) -> None:
    traced = trace(name)
    assert [count["number"] for count in traced["counts"]] == counted
    for count, way in zip(traced["counts"], traced["traces"], strict=True):
        assert way["problems"] == []
        assert (way["rows"]["correct"], way["rows"]["n"]) == (count["correct"], count["n"])
        assert json.loads((reproduced / count["file"]).read_bytes())["n"] == count["n"]
    text = invoke("trace", name, code=None).stdout
    assert "made of" in text
    assert "answers.jsonl" in text


def test_a_figure_finds_a_measured_number_by_the_digits_that_tables_print(project: Path) -> None:
    write_scores(project, "official", "validation")
    path = project / "artifacts/sample/scores" / score_file("clevrer/predictive/per_question")
    path.write_bytes(msgspec.json.encode(score("clevrer/predictive/per_question", 176, 373, "generated")))
    listing = Listing(open_workspace("sample"))
    assert listing.find("47.18") == ["clevrer/predictive/per_question"]
    assert listing.find("47.19") == [], "176 of 373 is 47.18"
