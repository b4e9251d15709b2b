"""The report: one page that stands by itself, shows every number, and has the same bytes each time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from orchestration.cli.main import app
from orchestration.pins import dvc as pins
from orchestration.pins.records import read_record, record_path
from orchestration.pipeline.graph import STAGES
from orchestration.project import open_workspace
from orchestration.rendering.report import anchor, percent, render
from orchestration.scoring.scores import Score

PAGE = Path("artifacts/sample/report/index.html")
VOID = {"meta", "link", "wbr", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """A page's ids, links, resources and text; open elements must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.described: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        self.described += [
            name for key in ("aria-labelledby", "aria-describedby") for name in given.get(key, "").split()
        ]
        if tag in ("a", "use"):
            self.links.append(given["href"])
        elif "href" in given or "src" in given:
            self.loads.append(given.get("href") or given["src"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_a_run_ends_in_a_page_that_stands_by_itself(
    reproduced: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = (reproduced / PAGE).read_text("utf-8")
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert [name for name, times in Counter(page.ids).items() if times > 1] == []
    assert set(page.links) <= {f"#{name}" for name in page.ids}, "every link stays in the page and arrives"
    assert set(page.described) <= set(page.ids)
    assert page.loads == ["data:,"], "nothing is loaded; an empty icon keeps a browser from asking for one"
    assert not re.search(r"@import|url\((?!#)", text)
    assert str(tmp_path_factory.getbasetemp()) not in text
    assert "file://" not in text
    assert len(text.encode()) < 2_000_000

    words = " ".join("".join(page.words).split())
    assert "Not the paper" in words
    assert "CLEVRER: generated, 3 scenes" in words
    assert "CLEVRER-Humans: no data, not measured" in words
    assert (
        words.index("Table 1: CLEVRER")
        < words.index("Transfer to other benchmarks")
        < words.index("Ablations")
        < words.index("Worked explanations")
        < words.index("Traces")
    )
    for kind in (
        "CLEVRER, descriptive",
        "CLEVRER, explanatory",
        "CLEVRER, counterfactual",
        "ComPhy",
        "bAbI",
        "GQA",
    ):
        assert kind in words


def test_every_number_is_in_the_page_with_its_trace(reproduced: Path) -> None:
    page = Page((reproduced / PAGE).read_text("utf-8"))
    words = " ".join("".join(page.words).split())
    links = Counter(page.links)
    scores = [
        msgspec.json.decode(path.read_bytes(), type=Score)
        for path in (reproduced / "artifacts/sample/scores").glob("*.json")
    ]
    assert {found.name.partition("/")[0] for found in scores} >= {
        "clevrer",
        "comphy",
        "gqa",
        "babi",
        "clevrer_humans",
        "ablations",
    }
    for found in scores:
        assert links[f"#{anchor(found.name)}"] >= (2 if found.n else 1), (
            f"{found.name} stands in a table and in the forest plot"
        )
        assert f"{found.name} {percent(found)}" in words, f"the trace of {found.name} says what it is"
    record = read_record(record_path(open_workspace("sample"), "clevrer/answers"))
    assert record
    for proof in (
        record.code_version,
        *record.outs.values(),
        "clevrer.predictive.configuration = C",
        "profiles.sample.clevrer.scenes = 3",
    ):
        assert proof in words


def test_what_was_not_measured_is_said_and_not_drawn(reproduced: Path) -> None:
    artifacts = reproduced / "artifacts/sample"
    files = list((artifacts / "scores").glob("*.json"))
    for path in files:
        found = msgspec.json.decode(path.read_bytes(), type=Score)
        path.write_bytes(
            msgspec.json.encode(msgspec.structs.replace(found, n=0, correct=0, accuracy=None, wilson=None))
        )
    for path in artifacts.glob("*/answers.jsonl"):
        path.write_bytes(b"")
    text = render(open_workspace("sample"))
    words = " ".join("".join(Page(text).words).split())
    assert "clevrer/descriptive/per_question not measured" in words
    assert f"numbers measured, {len(files)} not</dt><dd>0</dd>" in text
    assert 'class="interval"' not in text
    assert 'class="question"' not in text, "no worked example without an answer"


def test_neither_repetition_nor_hash_seed_changes_a_byte(reproduced: Path) -> None:
    first = (reproduced / PAGE).read_bytes()
    code = """if True:
        import sys
        from orchestration.rendering.report import render
        from orchestration.project import open_workspace
        sys.stdout.write(render(open_workspace("sample")))"""
    for seed, locale, zone in (("1", "C.UTF-8", "UTC"), ("7", "POSIX", "Asia/Tokyo")):
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "LC_ALL": locale,
            "TZ": zone,
            "PYTHONUTF8": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        again = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, cwd=reproduced, env=environment
        )
        assert again.stdout == first


def test_every_table_and_score_is_read_and_no_pin_waits_for_the_page() -> None:
    needs = {stage.name: stage.needs for stage in STAGES.values()}
    needed = set(needs["report/html"])
    shown = {
        stage.name
        for stage in STAGES.values()
        if stage.name.endswith("/scores") or any(out.endswith(".md") for out in stage.outs)
    }
    assert shown <= needed
    assert "report-html" not in pins.render_dvc_yaml(STAGES), (
        "the page names code versions: pinned, each change of code would be drift"
    )


def test_the_command_says_where_the_report_lies(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project()
    monkeypatch.setattr("orchestration.pipeline.run.run_stages", lambda *_: [])
    monkeypatch.setattr("orchestration.pins.dvc.settle", lambda *_: {})
    for name in (
        stage.name
        for stage in STAGES.values()
        if stage.name.startswith("tables/") and stage.name != "tables/numbers"
    ):
        table = root / f"artifacts/sample/{name}.md"
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text("| a |\n", "utf-8")
    result = CliRunner().invoke(app, ["reproduce"])
    assert result.exit_code == 0, result.output
    assert f"The report: {root / PAGE}" in result.output
