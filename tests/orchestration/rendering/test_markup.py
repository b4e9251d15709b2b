"""Names are text: markup in the name of a model, a file or a system is shown, never interpreted."""

from __future__ import annotations

import json
from pathlib import Path

import pyoxigraph as ox

from orchestration.dagster.previews import preview
from orchestration.lineage.number import Lineage, trace_number
from orchestration.project import open_workspace
from orchestration.rendering.report.report import write_report
from orchestration.rendering.tables import FORMATS, Table
from orchestration.stages.graph import STAGES
from research.exporters.prov import write_prov

NAME = '<script>alert("1")</script>|<img src=x onerror=y>'


def test_a_name_in_a_table_is_no_tag_and_ends_no_cell() -> None:
    table = Table(f"caption {NAME}", ["metric", NAME], [[NAME, "1"]])
    for suffix in FORMATS:
        text = table.render(suffix)
        if suffix in ("md", "html"):
            assert "<script>" not in text, suffix
            assert "<img" not in text, suffix
    first, *_ = table.render("md").splitlines()
    assert first.replace(r"\|", "").count("|") == 3, "a name ends no cell"
    assert json.loads(table.render("json"))["rows"] == [[NAME, "1"]]


def test_a_name_in_a_table_is_no_link_no_end_of_a_cell_and_no_command_of_tex() -> None:
    table = Table(r"caption \input{x} $", ["metric", "n"], [["[x](javascript:y)", "1"], ["a\\|b\r\n", "1"]])
    text = table.render("md")
    assert "](" not in text
    assert r"a\\\|b" in text
    assert r"\caption{caption \textbackslash{}input\{x\} \$}" in table.render("tex")


def test_names_with_markup_are_escaped_in_report_and_previews(reproduced: Path, tmp_path: Path) -> None:
    workspace = open_workspace()
    for path in (workspace.artifacts / "tables").glob("*.json"):
        record = json.loads(path.read_bytes())
        record["caption"] += NAME
        record["heads"][1] = record["rows"][0][0] = NAME
        path.write_text(json.dumps(record), "utf-8")
        table = Table(record["caption"], record["heads"], record["rows"])
        for suffix in ("md", "html"):
            path.with_suffix(f".{suffix}").write_text(table.render(suffix), "utf-8")
    rows = workspace.artifacts / "clevrer" / "answers.jsonl"
    first, *others = rows.read_bytes().splitlines(keepends=True)
    row = json.loads(first) | {"predicted": NAME, "correct": False}
    rows.write_bytes(json.dumps(row).encode() + b"\n" + b"".join(others))
    questions_file = workspace.data / "clevrer" / "questions.json"
    scenes = json.loads(questions_file.read_bytes())
    for question in (question for scene in scenes for question in scene["questions"]):
        question["question"] += NAME
        for choice in question.get("choices", []):
            choice["choice"] += NAME
    questions_file.write_text(json.dumps(scenes), "utf-8")
    write_report(workspace, tmp_path / "report")
    for file in (tmp_path / "report").rglob("*.html"):
        assert "<script>alert" not in file.read_text("utf-8")
        assert "<img src=x" not in file.read_text("utf-8")
    for file in (tmp_path / "report/answers/clevrer").glob("why-*.js"):
        assert "&lt;script&gt;alert" in file.read_text("utf-8"), "a choice's text, in an explanation"
        assert "<script>alert" not in file.read_text("utf-8")
    page = (tmp_path / "report/index.html").read_text("utf-8")
    assert "&lt;script&gt;alert" in page
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    lineage = Lineage(workspace, STAGES)
    ways = [trace_number(lineage, "twin/joint", rows=False)]
    write_prov(lineage, ways, tmp_path / "prov.ttl")
    list(ox.parse(path=tmp_path / "prov.ttl"))
    previewed = preview([workspace.artifacts / "tables/twin.md"])
    assert "&lt;script" in str(previewed["table"])
    assert "<script>alert" not in str(previewed["table"])
