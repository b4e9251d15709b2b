"""Visits of several kinds of readers, in a terminal and in a browser, to a project that was reproduced.

`docs/index.md` shows pictures of some; with SCREENSHOTS=FOLDER in the environment they are written to FOLDER.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
import shutil
from html import escape
from pathlib import Path

import markdown
import pytest
from browsing import Opener, fits, picture, serious_faults
from commands import ROOT, python
from playwright.sync_api import Browser, Page, expect
from shared_project import run

pytestmark = pytest.mark.long
# The visits set it to 3.0, which nobody would choose: on so few scenes a sensible one changes no answer.
TAU = "clevrer.predictive.tau"
PREDICTIVE = "clevrer/predictive/per_question"
# Two of the paper's figures, in the place where the paper has them.
PAPER = r"""\documentclass{article}\title{A paper}\begin{document}\maketitle
\section{Results} The substrate answers 59.85 percent of the counterfactual questions, NS-DR 42.2.
\end{document}
"""
# The characters of a line that a picture of a terminal shows.
_WIDE = 120


class Terminal:
    """A terminal in a project: runs commands, and keeps what was typed and printed."""

    def __init__(self, project: Path) -> None:
        self.project, self.lines = project, list[str]()

    def __call__(self, command: str, code: int = 0) -> str:
        done = run(self.project, *shlex.split(command), check=False)
        assert done.returncode == code, f"{command}\n{done.stderr}{done.stdout}"
        output = done.stderr + done.stdout
        self.lines += [f"$ {command}", output.strip(), ""]
        return output


@pytest.fixture
def terminal(reproduced: Path) -> Terminal:
    """A terminal in a copy of the reproduced project."""
    return Terminal(reproduced)


def picture_terminal(browser: Browser, text: str, name: str) -> None:
    """Picture what a terminal shows."""
    page = browser.new_page(viewport={"width": 1100, "height": 300})
    cut = "\n".join(line if len(line) <= _WIDE else f"{line[:_WIDE]}…" for line in text.splitlines())
    style = "background:#15181b;color:#e3e5e7;font:14px/1.5 monospace;padding:1rem;margin:0"
    page.set_content(f"<body style='margin:0'><pre style='{style}'>{escape(cut)}</pre>")
    picture(page, name, full_page=True)
    page.close()


def test_a_researcher_reproduces_changes_tau_and_compares(terminal: Terminal) -> None:
    assert "Nothing to do" in terminal("substrate reproduce")
    terminal(f"substrate reproduce --only clevrer --set {TAU}=3.0")
    diff = terminal(f"substrate experiment diff {TAU}-3.0")
    assert f"parameter {TAU} null -> 3.0" in diff
    assert PREDICTIVE in diff
    assert re.search(r"^right to wrong: substrate explain clevrer/\d+/\d+: ", diff, re.MULTILINE)


def test_an_auditor_goes_from_a_figure_of_the_paper_to_the_triples_in_three_clicks(
    terminal: Terminal, browser: Browser
) -> None:
    (terminal.project / "paper.tex").write_text(PAPER, "utf-8")
    assert "2 figures, 1 beside ours" in terminal("substrate paper paper.tex --out paper")
    opened = Opener(browser, terminal.project)
    page = opened("paper/index.html")
    assert serious_faults(page) == []
    page.get_by_role("link", name="59.85").first.click()
    ours = page.locator("tr:target")
    expect(ours).to_be_in_viewport()
    ours.get_by_role("link", name="clevrer/counterfactual/per_question").click()
    page.wait_for_url(re.compile("/numbers/"))
    assert page.locator(".chain > li").count() >= 4
    page.locator(".faults a").first.click()
    page.wait_for_url(re.compile("/answers/"))
    detail = page.locator("tr.detail")
    expect(detail.locator("table.steps .deltas li").first).to_contain_text(re.compile(r"tick +\d+ +insert"))
    assert detail.locator("svg.timeline .mark").count()
    name = page.locator("button.opens[aria-expanded=true]").inner_text()
    assert f"substrate explain {name}" in detail.inner_text()
    assert opened.complaints == []
    picture(page, "visit-auditor")
    opened.close()
    output = terminal(f"substrate trace clevrer/counterfactual/per_question --question {name} --reexecute")
    assert "computed again from the input row: the same, log digest: the same" in output


def test_a_maintainer_sees_a_drift_in_the_comment_on_a_change(terminal: Terminal, browser: Browser) -> None:
    parameters = terminal.project / "params.yaml"
    parameters.write_text(parameters.read_text("utf-8").replace("tau: null", "tau: 3.0"), "utf-8")
    terminal("substrate reproduce --only clevrer")
    # The workflow that writes the comment runs the same command.
    report = run(terminal.project, "substrate", "verify", "--no-recompute", check=False).stdout.strip()
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    page.set_content(rendered(f"### {report.splitlines()[-1]}\n\n```text\n{report}\n```\n"))
    expect(page.get_by_role("heading")).to_have_text(re.compile(r"^\d+ differences from the pins$"))
    text = page.locator("pre")
    expect(text).to_contain_text(re.compile(rf"{PREDICTIVE} .*[-+]\d+\.\d\d pp"))
    expect(text).to_contain_text(re.compile(r"substrate explain clevrer/\d+/\d+"))
    expect(text).to_contain_text(f"parameter {TAU} null -> 3.0")
    picture(page, "visit-maintainer")
    page.close()


def rendered(comment: str) -> str:
    """A comment's Markdown as a forge renders it."""
    body = markdown.markdown(comment, extensions=["fenced_code"])
    style = (
        "body{font:14px/1.5 sans-serif;margin:1.5rem;max-width:64rem}table{border-collapse:collapse}"
        "th,td{border:1px solid #d1d9e0;padding:.3rem .7rem}pre{background:#eef1f4;padding:.3rem}"
    )
    return f"<style>{style}</style>{body}"


def test_someone_brings_official_files(terminal: Terminal, browser: Browser, tmp_path: Path) -> None:
    annotations, questions = tmp_path / "my_scenes.zip", tmp_path / "my_questions.json.gz"
    given = terminal.project / "data/sample/clevrer"
    shutil.copy(given / "annotation.zip", annotations)
    questions.write_bytes(gzip.compress((given / "questions.json").read_bytes()))
    terminal(f"substrate answer clevrer --annotations {annotations} --questions {questions} --out rows.jsonl")
    options = f"--set profiles.local.clevrer.annotations={annotations}"
    options += f" --set profiles.local.clevrer.questions={questions}"
    table = terminal(f"substrate reproduce --tables --profile local --only clevrer {options}")
    assert "predictive per-question" in table
    assert "my_questions.json.gz" in terminal(f"substrate trace {PREDICTIVE} --profile local")
    picture_terminal(browser, "\n".join(terminal.lines).replace(f"{tmp_path}/", ""), "visit-files")


def test_picture_of_an_agents_memory(browser: Browser) -> None:
    """Picture the documentation's program for its first page: the builder of an agent visits no report."""
    if not os.environ.get("SCREENSHOTS"):
        pytest.skip("SCREENSHOTS names no folder")
    program = "docs/examples/agent_memory.py"
    picture_terminal(browser, f"$ python {program}\n{python(ROOT / program).stdout}", "memory")


def test_someone_reads_the_report_on_a_telephone(opened: Opener) -> None:
    page = opened(width=360)
    require_readable(page)
    page.get_by_role("searchbox").fill("clevrer counterfactual")
    page.locator("#found a", has_text="clevrer/counterfactual/per_question").click()
    page.wait_for_url(re.compile("/numbers/"))
    require_readable(page)
    page.locator(".faults a").first.click()
    page.wait_for_url(re.compile("/answers/"))
    expect(page.locator(".why svg.timeline")).to_be_visible()
    require_readable(page)
    assert opened.complaints == []
    page.locator("button.opens[aria-expanded=true]").scroll_into_view_if_needed()
    picture(page, "report-360")


def require_readable(page: Page) -> None:
    """Check that a page on a telephone scrolls down only, not sideways, and that its words can be read."""
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert fits(page, 360)
    outside = """elements => elements
        .filter(e => e.getBoundingClientRect().right > 360 && !e.closest('.scroll'))
        .map(e => e.outerHTML.slice(0, 80))"""
    words = "main p, main li, main h2, main h3, main td, main figcaption, main summary"
    assert page.locator(words).evaluate_all(outside) == []
    sizes = page.locator("main p, main td, main th, main li").evaluate_all(
        "elements => elements.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 11
