"""The report: a self-contained folder that shows every number and answer, the same bytes each time."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import python
from projects import pages

from orchestration.dvc import dvc_files
from orchestration.ledger.manifest import version_of
from orchestration.ledger.stage_records import read_records
from orchestration.lineage.explain import answered
from orchestration.project import open_workspace
from orchestration.rendering.report.page import number_page, templates
from orchestration.rendering.report.report import write_report
from orchestration.rendering.wording import label
from orchestration.scoring.comparability import percent
from orchestration.scoring.scores import Score, read_metrics, write_metrics
from orchestration.stages.graph import STAGES
from substrate.domains.rows import decode

ROOT = Path(__file__).resolve().parents[3]
REPORT = Path("artifacts/sample/report")
PAGE = REPORT / "index.html"
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
        elif tag == "script" and "src" not in given:
            assert given["type"] == "application/json", "no script stands in a page"
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


def shards(report: Path, benchmark: str, kind: str) -> list[Path]:
    return sorted((report / "answers" / benchmark).glob(f"{kind}-*.js"))


def listed(report: Path, benchmark: str) -> list[list[Any]]:
    """The rows that a benchmark's page lists: each a list of subset, scene, question, text, and so on.

    The field 6 says how the answer was graded (1 is wrong, 2 an error), field 7 where its explanation is, if
    any.
    """
    rows: list[list[Any]] = []
    for shard in shards(report, benchmark, "rows"):
        rows += json.loads(shard.read_text("utf-8").removeprefix("rows(").rstrip().removesuffix(")"))
    return rows


def explained(report: Path, benchmark: str) -> dict[str, str]:
    """The explanations that a benchmark's page opens, by the names of its rows."""
    explanations: dict[str, str] = {}
    for number, shard in enumerate(shards(report, benchmark, "why")):
        text = shard.read_text("utf-8").rstrip().removesuffix(")")
        explanations |= json.loads(text.removeprefix(f"explanations({number}, "))
    return explanations


def test_a_run_ends_in_a_self_contained_folder(
    reproduced: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    report = reproduced / REPORT
    paths = sorted(report.rglob("*.html"))
    assert len(paths) > 50
    for path in paths:
        text = path.read_text("utf-8")
        page = Page(text)
        assert text.startswith("<!doctype html>")
        assert [name for name, times in Counter(page.ids).items() if times > 1] == []
        away = [link for link in (*page.links, *page.loads) if re.match(r"\w+:(?!,)|//", link)]
        assert not away, "nothing is outside the folder"
        assert len(text.encode()) < 1_000_000
    for path in filter(Path.is_file, report.rglob("*")):
        text = path.read_text("utf-8")
        assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest", text)
        assert str(tmp_path_factory.getbasetemp()) not in text
        assert "file://" not in text
    checked = python(ROOT / "scripts/check_links.py", report)
    assert checked.returncode == 0, checked.stderr
    page = Page((reproduced / PAGE).read_text("utf-8"))
    figures = sorted((report / "figures").glob("*.svg"))
    assert [path.stem for path in figures] == ["cross-domain", "models", "twin"]
    assert {path.relative_to(report).as_posix() for path in figures} <= set(page.links)

    words = " ".join("".join(page.words).split())
    assert "Not the paper" in words
    assert "CLEVRER: generated, 3 scenes" in words
    transfer = "Transfer to other benchmarks"
    parts = ["Table 1: CLEVRER", "Ablations", transfer, "Every answer", "Worked explanations"]
    places = [words.index(part) for part in parts]
    assert places == sorted(places)
    for kind in ("descriptive", "explanatory", "counterfactual"):
        assert f"CLEVRER, {kind}" in words
    for benchmark in ("ComPhy", "bAbI", "GQA"):
        assert benchmark in words


def test_every_number_is_in_the_page_and_has_one_with_its_trace(reproduced: Path) -> None:
    links = Counter(Page((reproduced / PAGE).read_text("utf-8")).links)
    scores = [
        msgspec.json.decode(path.read_bytes(), type=Score)
        for path in (reproduced / "artifacts/sample/scores").glob("*.json")
    ]
    benchmarks = {score.name.partition("/")[0] for score in scores}
    assert benchmarks >= {"clevrer", "comphy", "gqa", "babi", "ablations"}
    assert len({number_page(score.name) for score in scores}) == len(scores)
    for score in scores:
        # It is in a table, and, if it was measured, in the forest plot.
        assert links[number_page(score.name)] >= (2 if score.n else 1), score.name
        words = words_of(reproduced / REPORT / number_page(score.name))
        assert f"{label(score.name)}: {percent(score)} {score.name}" in words
    record = read_records(open_workspace("sample"))["clevrer/answers"]
    words = words_of(reproduced / REPORT / number_page("clevrer/descriptive/per_question"))
    for proof in (
        version_of(record.code),
        *record.outs.values(),
        "clevrer.predictive.configuration = C",
        "profiles.sample.clevrer.scenes = 3",
    ):
        assert proof in words


def test_a_table_is_there_as_files_with_every_cell(reproduced: Path) -> None:
    made = msgspec.json.decode((reproduced / "artifacts/sample/tables/clevrer.json").read_bytes())
    files = {path.suffix: path for path in (reproduced / REPORT / "tables").glob("clevrer.*")}
    heads, *rows = csv.reader(files[".csv"].read_text("utf-8").splitlines())
    assert (heads, rows) == (made["heads"], made["rows"])
    lines = [json.loads(line) for line in files[".jsonl"].read_text("utf-8").splitlines()]
    assert [list(line.values()) for line in lines] == made["rows"]
    assert files[".tex"].read_bytes() == (reproduced / "artifacts/sample/tables/clevrer.tex").read_bytes()


def words_of(path: Path) -> str:
    return " ".join("".join(Page(path.read_text("utf-8")).words).split())


def test_every_answer_is_listed_with_its_question_and_the_wrong_ones_with_their_steps(
    reproduced: Path,
) -> None:
    report = reproduced / REPORT
    for benchmark in ("clevrer", "comphy", "babi", "gqa", "ablations", "twin"):
        answers = (reproduced / "artifacts/sample" / benchmark / "answers.jsonl").read_bytes().splitlines()
        rows, entries = [decode(line) for line in answers], listed(report, benchmark)
        shown = [(scene, result not in (1, 2)) for _, scene, _, _, _, _, result, *_ in entries]
        assert [(str(row.scene), row.correct is not False) for row in rows] == shown
        assert all(text for _, _, _, text, *_ in entries), f"each question of {benchmark} is in words"
        why = explained(report, benchmark)
        names = [
            f"{row.subset}/{scene}/{question}"
            for row, (_, scene, question, *_) in zip(rows, entries, strict=True)
        ]
        with_steps = [name for name, row in zip(names, entries, strict=True) if row[7] is not None]
        assert with_steps == [name for name in names if name in why]
        assert len(why) == len(with_steps) > 0
        if benchmark != "ablations":
            wrong = [name for name, row in zip(names, rows, strict=True) if row.correct is False]
            assert set(wrong) <= set(why)


def test_the_steps_are_those_that_explain_prints(reproduced: Path) -> None:
    why = explained(reproduced / REPORT, "clevrer")
    first = next(name for name in why if name.startswith("descriptive/"))
    name = f"clevrer/{first.partition('/')[2]}"
    printed = answered(name, open_workspace("sample")).explanation
    macros: Any = templates().globals["macros"]
    assert str(macros.steps(printed)) in why[first]
    assert f"substrate explain {name}" in why[first]


def test_a_page_names_the_answers_that_are_not_right(reproduced: Path) -> None:
    rows = (reproduced / "artifacts/sample/ablations/answers.jsonl").read_bytes().splitlines()
    wrong = [row for row in map(decode, rows) if row.subset == "counterfactual.printed" and not row.correct]
    number = number_page("ablations/counterfactual.printed/per_question")
    page = Page((reproduced / REPORT / number).read_text("utf-8"))
    assert wrong
    assert "a choice that holds is denied" in "".join(page.words)
    for row in wrong:
        assert f"ablations/{row.subset}/{row.scene}/{row.question}" in page.words
        assert f"../answers/ablations.html?answer={row.subset}/{row.scene}/{row.question}" in page.links
    assert "../answers/ablations.html?subset=counterfactual.printed&result=wrong" in page.links


def test_numbers_that_were_not_measured_are_named_and_not_drawn(reproduced: Path, tmp_path: Path) -> None:
    artifacts = reproduced / "artifacts/sample"
    files = list((artifacts / "scores").glob("*.json"))
    nothing = {"n": 0, "correct": 0, "accuracy": None, "wilson": None}
    for path in files:
        score = msgspec.json.decode(path.read_bytes(), type=Score)
        path.write_bytes(msgspec.json.encode(msgspec.structs.replace(score, **nothing)))
    for path in (artifacts / "metrics").glob("*.json"):
        write_metrics(path, [msgspec.structs.replace(score, **nothing) for score in read_metrics(path)])
    for path in artifacts.glob("*/answers.jsonl"):
        path.write_bytes(b"")
    write_report(open_workspace("sample"), tmp_path / "report")
    text = (tmp_path / "report/index.html").read_text("utf-8")
    number = tmp_path / "report" / number_page("clevrer/descriptive/per_question")
    assert "CLEVRER: descriptive, per question: not measured" in words_of(number)
    assert text.count("number absent") >= len(files)
    assert 'class="interval"' not in text
    assert 'class="question"' not in text, "no worked example without an answer"
    assert not (tmp_path / "report/answers").exists()


@pytest.mark.long
def test_neither_repetition_nor_hash_seed_changes_a_byte(reproduced: Path, tmp_path: Path) -> None:
    code = """if True:
        import sys
        from pathlib import Path
        from orchestration.stages.graph import STAGES
        from orchestration.rendering.report.report import write_report
        from orchestration.project import open_workspace
        write_report(open_workspace("sample"), Path(sys.argv[1]), STAGES)"""
    changed = {"PYTHONHASHSEED": "7", "LC_ALL": "POSIX", "TZ": "Asia/Tokyo"}
    out = tmp_path / "again"
    done = python("-c", code, out, cwd=reproduced, **changed)
    assert done.returncode == 0, done.stderr
    assert pages(out) == pages(reproduced / REPORT)


def test_every_table_and_score_is_read_and_no_pin_waits_for_the_page() -> None:
    needs = {stage.name: stage.needs for stage in STAGES.values()}
    needed = set(needs["report/html"])
    tables = {stage.name for stage in STAGES.values() if any(out.endswith(".md") for out in stage.outs)}
    assert tables | {name for name in needs if name.endswith("/scores")} <= needed
    # The page names code versions: pinned, each change of code would be drift.
    assert "report-html" not in dvc_files.render_dvc_yaml(STAGES)
