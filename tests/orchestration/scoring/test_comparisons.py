"""The substrate beside language models: the questions that both were asked, their counts, and Table 2."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from orchestration.benchmarks.baselines import COMPARISONS
from orchestration.models.answering import ANSWERING, AnsweringModel
from orchestration.models.exchange import Answerer
from orchestration.project import SETTINGS
from orchestration.registry import BENCHMARKS
from orchestration.rendering.layouts.results import LAYOUTS
from orchestration.scoring.counting import RIGHT, Comparison, compare
from orchestration.scoring.scores import score
from orchestration.settings import load_settings
from orchestration.workspace.folders import Workspace
from substrate.base.files import write_json
from substrate.domains.rows import Row, encode

ROOT = Path(__file__).resolve().parents[3]


def write(folder: Path, benchmark: str, right: Sequence[tuple[int, int, bool]]) -> Path:
    """Answers of a benchmark: scene, question, and whether it was right."""
    asked = partial(Row, benchmark=benchmark, split="generated", subset="control", expected="yes", log="0")
    answers = ((scene, question, good, "yes" if good else "no") for scene, question, good in right)
    rows = [asked(scene=s, question=q, correct=good, predicted=said) for s, q, good, said in answers]
    path = folder / benchmark / "answers.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(encode(row) + b"\n" for row in rows))
    return path


def arms(*pairs: str) -> list[tuple[int, int, bool]]:
    """Both arms of each specification: "10" has the first right and the second wrong."""
    return [(number, arm, good == "1") for number, pair in enumerate(pairs) for arm, good in enumerate(pair)]


def test_a_pair_counts_as_right_only_where_both_arms_are_and_only_where_both_were_asked(
    tmp_path: Path,
) -> None:
    ours = write(tmp_path, "twin", arms("11", "11", "11", "10", "11"))
    theirs = write(tmp_path, "twin_direct", arms("11", "10", "00", "11"))
    pair = compare(ours, theirs, BENCHMARKS["twin"].whole)
    assert (pair.both, pair.first_only, pair.second_only, pair.neither) == (1, 2, 1, 0)
    assert (pair.n, pair.difference, pair.mcnemar) == (4, 0.25, 1.0)
    assert pair.newcombe is not None
    assert pair.newcombe[0] < 0.25 < pair.newcombe[1]


def test_single_questions_are_matched_by_scene_and_question(tmp_path: Path) -> None:
    ours = write(tmp_path, "clevrer", [(1, 1, True), (1, 2, True), (2, 1, False), (3, 1, True)])
    theirs = write(tmp_path, "controlled", [(1, 2, False), (2, 1, False)])
    pair = compare(ours, theirs, RIGHT)
    assert (pair.both, pair.first_only, pair.second_only, pair.neither) == (0, 1, 0, 1)


def test_without_answers_nothing_is_compared(tmp_path: Path) -> None:
    ours, theirs = write(tmp_path, "twin", arms("11")), write(tmp_path, "twin_direct", [])
    pair = compare(ours, theirs, BENCHMARKS["twin"].whole)
    assert (pair.n, pair.difference, pair.newcombe, pair.mcnemar) == (0, None, None, None)


def test_table_2_has_measured_figures_beside_published_ones(tmp_path: Path) -> None:
    comparison = Comparison("twin", "twin_direct", 406, 94, 0, 0, 0.188, (0.155279, 0.224578), 1.00974e-28)
    counts = {name: 1000 if name.endswith("per_arm") else 500 for name in BENCHMARKS["twin"].numbers}
    scores = {name: score(name, n, n) for name, n in counts.items()}
    scores |= {name: score(name, 406, 500) for name in BENCHMARKS["twin_direct"].numbers}
    scores |= {name: score(name, 0, 0) for name in BENCHMARKS["twin_concordia"].numbers}
    workspace = Workspace(tmp_path, load_settings(ROOT / "params.yaml", SETTINGS))
    workspace.path(COMPARISONS).parent.mkdir(parents=True)
    other = Comparison("twin", "twin_concordia", 0, 0, 0, 0, None, None, None)
    write_json(workspace.path(COMPARISONS), [comparison, other], indent=1)
    benchmarks = [BENCHMARKS[name] for name in ("twin", "twin_direct", "twin_concordia")]
    common = {"split": "generated", "subset": "direct", "scene": 1, "predicted": "yes", "log": "sha256:aa"}
    for benchmark in benchmarks:
        rows = [
            Row(benchmark=benchmark.name, question=arm, expected=gold, correct=gold == "yes", **common)
            for arm, gold in enumerate(("yes", "no") if benchmark.name != "twin_concordia" else ())
        ]
        (workspace.artifacts / benchmark.name).mkdir(exist_ok=True)
        (workspace.artifacts / benchmark.name / "answers.jsonl").write_bytes(b"\n".join(map(encode, rows)))
    by = Answerer("Small", "b1", "server 1", "Q4", "sha256:0123456789abcdef")
    costs = AnsweringModel("Small", "sha256:0123456789abcdef", [by], 2, 30, 6, 1.5, 1, 1)
    (workspace.data / "twin_direct").mkdir(parents=True)
    write_json(workspace.data / "twin_direct" / ANSWERING, costs, indent=1)
    declared = benchmarks[0].table[0]
    table = LAYOUTS[declared.layout](declared, benchmarks, scores, workspace)
    column = table.heads.index("direct, Small")
    assert table.heads[column + 1] == "Llama-3.1-8B direct (text), published"
    direct = {row[0]: list(row[column : column + 2]) for row in table.rows}
    for row, cells in {
        "joint accuracy (A and B)": ["81.20 % [77.54, 84.38]", "81.20 % [77.54, 84.38]"],
        "joint: substrate minus this, measured here": ["+18.80 pp [15.53, 22.46]", ""],
        "joint: substrate minus the best constant, measured here": ["+100.00 pp, always “yes”", ""],
        "McNemar, exact, two-sided p, measured here": ["1e-28", ""],
        "joint: substrate minus this, as the paper prints it": ["", "+18.80 pp [15.53, 22.46]"],
        "McNemar's p, as the paper prints it": ["", "1e-28"],
    }.items():
        assert direct[row] == cells
    assert "twin_direct: Small (Q4, weights 0123456789ab, server 1)" in table.caption
    assert direct["per-arm accuracy, always “yes”"][0] == "50.00 %"
    assert direct["joint accuracy (A and B), always “no”"][0] == "0.00 %"
    assert direct["divergence detection, always “no”"][0] == "0.00 %"
    assert direct["unreadable replies"][0] == "0 of 2, 0.00 %"
    assert direct["same reply when asked again"][0] == "1 of 1"
    assert direct["cost"][0] == "2 requests, 30 tokens in, 6 out, 1.5 s a request"
    rows = zip(table.rows, table.numbers, strict=True)
    assert all(len(row) == len(table.heads) == len(names) for row, names in rows)
