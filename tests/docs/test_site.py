"""The documentation is built as a site, and a broken link stops it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from commands import python

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings_handlers.python")

ROOT = Path(__file__).resolve().parents[2]


def lay_out(folder: Path) -> Path:
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    for name in ("scripts", "substrate"):
        (folder / name).symlink_to(ROOT / name)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return lay_out(tmp_path)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with a report of two pages."""
    folder = lay_out(tmp_path_factory.mktemp("site"))
    report = folder / "report"
    (report / "numbers").mkdir(parents=True)
    (report / "index.html").write_text('<a href="numbers/a.html?x=1#b">a</a><img src="data:,">', "utf-8")
    (report / "numbers/a.html").write_text('<p id="b"><a href="../index.html">up</a></p>', "utf-8")
    done = script(folder, "site.py", report)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build/site"


@pytest.mark.long
def test_the_site_holds_the_pages_the_programs_and_the_docstrings(site: Path) -> None:
    memory = (site / "reference/memory/index.html").read_text("utf-8")
    assert "who_knew" in memory
    assert ":class:" not in memory, "roles are written as code"
    programs = (site / "programs/index.html").read_text("utf-8")
    assert "spared so far" in programs
    assert "imagine" in programs, "the programs too, and not their output alone"
    assert (site / "comparison/index.html").is_file()


def test_a_broken_link_stops_the_build(folder: Path) -> None:
    """The pages are built without the reference, which takes most of the time and adds nothing here."""
    page = folder / "docs/index.md"
    page.write_text(page.read_text("utf-8") + "\n[nowhere](no-such-page.md)\n", "utf-8")
    (folder / "pages.yml").write_text("INHERIT: mkdocs.yml\nplugins: []\n", "utf-8")
    command = ("-m", "mkdocs", "build", "--strict", "--config-file", "pages.yml")
    done = python(*command, cwd=folder, NO_MKDOCS_2_WARNING="1")
    assert done.returncode != 0
    broken = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    assert len(broken) == 1
    assert "no-such-page.md" in broken[0]


def test_the_report_is_part_of_the_site_and_each_link_is_followed(site: Path, tmp_path: Path) -> None:
    assert 'href="../report/index.html"' in (site / "tutorial/index.html").read_text("utf-8")
    faults = (
        ("report/index.html", "numbers/c.html", "no such file"),
        ("report/index.html", "numbers/a.html#c", "no such id on that page"),
        ("report/numbers/a.html", "../../../../x", "leads out of the folder"),
        ("tutorial/index.html", "../report/nowhere.js", "no such file"),
    )
    damaged = shutil.copytree(site, tmp_path / "damaged")
    for name, link, _ in faults:
        with (damaged / name).open("a", encoding="utf-8") as page:
            page.write(f'<a href="{link}">x</a>')
    done = script(tmp_path, "check_links.py", damaged)
    assert done.returncode == 1
    assert {f"{name}: {link}: {fault}" for name, link, fault in faults} <= {*done.stderr.splitlines()}


def test_a_site_without_a_report_names_the_command_that_makes_it(folder: Path) -> None:
    done = script(folder, "site.py", folder / "report")
    assert done.returncode != 0
    assert "`substrate reproduce` makes the report" in done.stderr


def script(folder: Path, name: str, given: Path) -> subprocess.CompletedProcess[str]:
    return python(ROOT / "scripts" / name, given, cwd=folder)
