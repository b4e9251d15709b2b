"""`substrate trace`: every number of every table walks down to its source, and one answer to its ticks and
triples.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from commands import invoke, printed

from orchestration.lineage.answer import trace_answer
from orchestration.lineage.explain import EXPLAINED
from orchestration.lineage.number import Lineage, trace_number
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS, INTERPRETED
from orchestration.stages.graph import BEYOND_STAGES, STAGES
from substrate.base.files import sha256
from substrate.domains.rows import Row, decode

GRAPHS = {"beyond": BEYOND_STAGES, "sample": STAGES}
# By benchmark, the profile under which tests reproduce it: `sample`, or else `beyond`.
PROFILES = {
    name: profile for profile, stages in GRAPHS.items() for name in BENCHMARKS if f"{name}/scores" in stages
}
MEASURED = {name: BENCHMARKS[name].numbers for name in PROFILES}
DESCRIPTIVE = "clevrer/descriptive/per_question"


def params(names: Iterable[str]) -> list[Any]:
    """Benchmarks as parameters: those beyond the paper need a reproduction of their own."""
    long = {"sample": (), "beyond": pytest.mark.long}
    return [pytest.param(name, marks=long[PROFILES[name]]) for name in sorted(names)]


def trace(*arguments: str, code: int = 0, profile: str = "sample") -> dict[str, Any]:
    return json.loads(printed("trace", *arguments, "--profile", profile, "--json", code=code))


def reproduced_under(profile: str, request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue("reproduced" if profile == "sample" else "reproduced_beyond")


def number_of(benchmark: str, row: Row) -> str:
    """A number of a benchmark that counts a row."""
    return next(name for name in MEASURED[benchmark] if name.count("/") == 1 or f"/{row.subset}/" in name)


def refused(*arguments: str) -> str:
    result = invoke("trace", *arguments, code=1)
    assert result.stdout == ""
    return result.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("profile", "shown"),
    [
        (
            "sample",
            ("clevrer/explanatory/per_question", "babi/qa7/accuracy", "ablations/predictive.A/per_option"),
        ),
        ("beyond", ("perceived/explanatory/per_question", "comphy_inferred/factual/per_question")),
    ],
)
def test_every_number_walks_from_its_cells_to_its_source(
    profile: str, shown: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    project = reproduced_under(profile, request)
    lineage = Lineage(open_workspace(profile), known=GRAPHS[profile])
    in_tables = {name for table in lineage.tables.values() for names in table["numbers"] for name in names}
    assert in_tables >= {*shown}
    for benchmark in (name for name, usual in PROFILES.items() if usual == profile):
        for number in MEASURED[benchmark]:
            way = trace_number(lineage, number)
            assert way.problems == [], number
            assert bool(way.cells) == (number in in_tables), number
            assert way.rows, number
            assert (way.rows.n, way.rows.correct) == (way.score.n, way.score.correct), number
            # What was not measured, or was answered from photographs, rests on no log.
            assert way.logs or not way.score.n, number
            assert way.sources, number
            stages = [step.stage for step in way.steps]
            assert f"{benchmark}/scores" in stages
            scores, answers = (stages.index(f"{benchmark}/{step}") for step in ("scores", "answers"))
            below = min(stages.index(file.file.stage) for file in (*way.logs, *way.sources))
            assert scores < answers < below
            assert all(step.changed_since == [] for step in way.steps)
            assert way.sources[0].file.sha256 == sha256(project / way.sources[0].file.path)


def test_every_cell_of_every_table_is_one_of_a_number(reproduced: Path) -> None:
    lineage = Lineage(open_workspace(), known=STAGES)
    cells = {
        (cell.file, cell.row, cell.column, cell.text)
        for name, usual in PROFILES.items()
        for number in (MEASURED[name] if usual == "sample" else ())
        for cell in trace_number(lineage, number).cells
    }
    for path in sorted((reproduced / "artifacts/sample/tables").glob("*.md")):
        head, _, *rows = [line for line in path.read_text("utf-8").splitlines() if line.startswith("|")]
        heads, *texts = ([cell.strip() for cell in line.strip("|").split("|")] for line in (head, *rows))
        # A row of a constant answer, with which a number is compared, has no number of its own.
        for row in (row for row in texts if ", always " not in row[0]):
            for column, text in zip(heads[1:], row[1:], strict=True):
                assert not text or (path.relative_to(reproduced).as_posix(), row[0], column, text) in cells


def test_a_trace_names_score_rows_logs_input_world_parameters_and_locks(reproduced: Path) -> None:
    way = trace(DESCRIPTIVE)["trace"]
    assert way["score_file"]["path"] == "artifacts/sample/scores/clevrer.descriptive.per_question.json"
    rows = [decode(line) for line in (reproduced / way["rows"]["file"]["path"]).read_bytes().splitlines()]
    assert way["rows"]["counted"] == sum(row.subset == "descriptive" for row in rows)
    assert way["rows"]["file"]["sha256"] == sha256(reproduced / "artifacts/sample/clevrer/answers.jsonl")
    assert way["logs"][0]["logs"] == 3
    (source,) = way["sources"]
    assert (source["kind"], source["worlds"], source["parameters"]["seed"]) == ("generated", ["clevrer"], 20)
    assert source["parameters"]["profiles.sample.clevrer"]["scenes"] == 3
    assert way["environment"]["requirements_lock"].startswith("sha256:")
    assert way["environment"]["dvc_lock"] == sha256(reproduced / "dvc.lock")
    answers = next(step for step in way["steps"] if step["stage"] == "clevrer/answers")
    assert "substrate/domains/clevrer/answers.py" in answers["code"]
    assert answers["parameters"]["clevrer"]["predictive"]["configuration"] == "C"
    text = invoke("trace", DESCRIPTIVE, code=None).stdout
    assert "generated by substrate/generators/clevrer" in text
    assert "stage clevrer/logs, code " in text


def test_a_published_cell_traces_to_its_citation(reproduced: Path) -> None:
    cells = {cell["column"]: cell for cell in trace(DESCRIPTIVE)["trace"]["cells"]}
    assert cells["ALOE (pixels)"]["citations"]["aloe"].startswith("Ding et al.")
    assert cells["NS-DR (pixels)"]["citations"]["ns_dr"].startswith("Yi et al.")
    assert cells["substrate"]["citations"] == {}
    (paper,) = [cell for cell in trace("babi/mean/accuracy")["trace"]["cells"] if cell["column"] == "paper"]
    assert paper["citations"]["substrate"].startswith("Rovai")


@pytest.mark.parametrize("benchmark", params(INTERPRETED.keys() & MEASURED))
def test_an_answer_walks_to_its_log_and_is_computed_again_to_the_same_bytes(
    request: pytest.FixtureRequest, benchmark: str
) -> None:
    project = reproduced_under(PROFILES[benchmark], request)
    path = project / f"artifacts/{PROFILES[benchmark]}/{benchmark}/answers.jsonl"
    lines = path.read_bytes().splitlines()
    if benchmark == "clevrer_humans":
        assert lines == [], "this profile names none of its files"
        return
    line = len(lines) // 2
    row = decode(lines[line])
    number = number_of(benchmark, row)
    question = f"{row.subset}/{row.scene}/{row.question}"
    traced = trace(number, "--question", question, "--reexecute", profile=PROFILES[benchmark])
    answer, again = traced["answer"], traced["reexecution"]
    assert (answer["file"], answer["line"]) == (path.relative_to(project).as_posix(), line + 1)
    assert answer["log"] == row.log
    assert answer["log_intact"]
    assert answer["source_sha256"] == sha256(project / answer["source_file"])
    assert answer["explanation"]
    assert (again["same_row"], again["same_log"], again["same_log_file"]) == (True, True, True)
    assert again["row"].encode() == lines[line]


@pytest.mark.parametrize("benchmark", params(EXPLAINED.keys() & MEASURED))
def test_a_trace_lists_exactly_the_deltas_of_the_explanation(
    request: pytest.FixtureRequest, benchmark: str
) -> None:
    profile = PROFILES[benchmark]
    project = reproduced_under(profile, request)
    lines = (project / f"artifacts/{profile}/{benchmark}/answers.jsonl").read_bytes().splitlines()
    rows = [decode(line) for line in lines[:: max(1, len(lines) // 25)]][:25]
    lineage = Lineage(open_workspace(profile), known=GRAPHS[profile])
    for row in rows:
        number = number_of(benchmark, row)
        answer = trace_answer(lineage, number, f"{row.subset}/{row.scene}/{row.question}")
        steps = [step for part in answer.explained["parts"] for step in part["steps"]]
        pieces = [piece for step in steps for piece in step["evidence"] if not piece["log"]]
        explained = {(piece["tick"], piece["op"], piece["triple"]) for piece in pieces}
        traced = {(piece.tick, piece.op, piece.triple) for piece in answer.evidence}
        assert traced == explained, answer.name
        logged_by, _, name = answer.log_name.partition("/")  # a benchmark, perhaps another one
        log = lineage.workspace.logs(logged_by).read(name)
        for piece in answer.evidence:
            assert piece.triple == " ".join(map(str, log[piece.position].triple))
        # An answer may also rest on what is not there, or on what the program itself says.
        missed = [step for step in steps if step["missed"] or "carries no id" in step["gave"]]
        assert traced or missed, answer.name
        error = f"error: {row.error}" if row.error else row.predicted
        assert answer.explained["answer"] == error, answer.name


def test_a_question_is_named_in_short_or_as_explain_names_it(reproduced: Path) -> None:
    in_short = trace("babi/qa7/accuracy", "--question", "0/2")
    assert in_short["answer"] == trace("babi/mean/accuracy", "--question", "babi/qa7/0/2")["answer"]
    assert trace(DESCRIPTIVE, "--question", "10001/0")["answer"]["name"] == "clevrer/10001/0"
    assert "it may be qa" in refused("babi/mean/accuracy", "--question", "0/2")
    assert "no row that counts for it answers that" in refused(DESCRIPTIVE, "--question", "99999/0")
    assert "Give --question" in refused(DESCRIPTIVE, "--reexecute")


def test_a_row_that_was_edited_is_found_by_the_trace_and_by_computing_it_again(reproduced: Path) -> None:
    path = reproduced / "artifacts/sample/clevrer/answers.jsonl"
    first, _, rest = path.read_bytes().partition(b"\n")
    row = decode(first)
    path.write_bytes(first.replace(b'"correct": true', b'"correct": false') + b"\n" + rest)
    traced = trace(DESCRIPTIVE, "--question", f"{row.scene}/{row.question}", "--reexecute", code=1)
    assert (traced["reexecution"]["same_row"], traced["reexecution"]["same_log"]) == (False, True)
    problems = traced["trace"]["problems"]
    assert "artifacts/sample/clevrer/answers.jsonl is not what clevrer/answers made" in problems
    assert any("its rows say" in problem for problem in problems)


def test_changed_settings_and_missing_runs_are_named(reproduced: Path) -> None:
    path = reproduced / "params.yaml"
    path.write_text(path.read_text("utf-8").replace("method: partner", "method: duality", 1), "utf-8")
    steps = {step["stage"]: step for step in trace(DESCRIPTIVE)["trace"]["steps"]}
    assert steps["clevrer/answers"]["changed_since"] == ["clevrer"]
    assert "Perhaps" in refused("clevrer/descriptive/per_questoin")
    assert "substrate reproduce --profile full" in refused(DESCRIPTIVE, "--profile", "full")


def test_a_clone_with_pulled_artifacts_has_the_records_of_the_pins(reproduced: Path) -> None:
    shutil.rmtree(reproduced / "artifacts/sample/.ledger")
    way = trace(DESCRIPTIVE)["trace"]
    assert way["problems"] == []
    assert "clevrer/dataset" in {step["stage"] for step in way["steps"]}
