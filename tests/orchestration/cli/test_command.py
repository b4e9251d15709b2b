"""The command itself: how it starts, what it completes, how it fails, how much it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from commands import invoke, python

from orchestration.cli.main import SECTIONS, app
from orchestration.cli.tables import run_tables
from orchestration.project import open_workspace
from orchestration.rendering.conclusion import concluded
from orchestration.stages.graph import stages_in

ROOT = Path(__file__).resolve().parents[3]
START = "from substrate.cli.launcher import main; main()"


def command(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return python("-c", f"import sys; sys.argv[0] = 'substrate'; {START}", *arguments, cwd=cwd, **environment)


def test_help_loads_neither_the_library_nor_rich_nor_the_platform() -> None:
    program = f"import atexit, sys; atexit.register(lambda: print(sorted(sys.modules))); {START}"
    done = python("-c", program, "--help", cwd=ROOT)
    assert "reproduce" in done.stdout
    loaded = set(eval(done.stdout.splitlines()[-1]))
    assert not {"substrate.base", "pyoxigraph", "rich", "dagster", "pyspark", "yaml", "msgspec"} & loaded


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["answer", "babi", "--tasks", "/nope", "--out", "OUT"], "error: --tasks: /nope: is not there."),
        (["explain", "babi/qa1/1/1", "--tasks", "/nope"], "error: --tasks: /nope: is not there."),
        (["reproduce", "--only", "nope"], "error: --only: no benchmark 'nope'."),
        (["reproduce", "--set", "nope=1"], "error: --set: cannot set 'nope=1'."),
        (["log", "show", "/nope/log.rdfp"], "error: /nope/log.rdfp: cannot be read"),
        (["generate", "babi", "--out", "/proc/nope"], "error: /proc/"),
    ],
)
def test_an_error_names_the_option_or_file_and_its_fault(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    done = invoke(*(tmp_path / "out" if a == "OUT" else a for a in arguments), code=1)
    *before, error = done.stderr.splitlines()
    assert error.startswith(message)
    assert before in ([], ["loading the pipeline"])


def test_output_of_other_libraries_goes_to_a_file_unless_it_is_asked_for(tmp_path: Path) -> None:
    # Bullet prints its build time when it is loaded.
    arguments = ["generate", "clevrer", "--scenes", "1", "--verbose", "--out"]
    assert "build time" in command(*arguments, str(tmp_path / "loud")).stderr
    arguments.remove("--verbose")
    notices = ROOT / ".dagster" / "notices.log"
    notices.unlink(missing_ok=True)
    done = command(*arguments, str(tmp_path / "a"))
    assert done.returncode == 0, done.stderr
    assert "build time" not in done.stdout + done.stderr
    assert not re.search(r"\x1b|━", done.stderr), "no bar is drawn where there is no terminal"
    assert "build time" in notices.read_text("utf-8")
    done = command(*arguments, str(tmp_path / "b"), "--json")
    assert json.loads(done.stdout) == {"out": str(tmp_path / "b"), "scenes": 1, "seed": 20}


def test_an_output_that_takes_nothing_more_is_named_once(tmp_path: Path) -> None:
    arguments = ["generate", "babi", "--questions", "20", "--out", str(tmp_path / "a")]
    start = [sys.executable, "-c", START, *arguments]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(start, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, text=True, check=False)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if line.startswith("error")] == [
        "error: standard output: No space left on device. Nothing was written there."
    ]


def test_ctrl_c_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import orchestration.cli.reproduce as command_module

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_module, "reproduced", interrupted)
    done = invoke("reproduce", code=130)
    assert done.stderr.startswith("interrupted by SIGINT: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_question_that_gqa_answers_twice_is_one_question(tmp_path: Path) -> None:
    invoke("generate", "gqa", "--scenes", "2", "--out", str(tmp_path))
    graphs, questions = tmp_path / "sceneGraphs.json", tmp_path / "questions.json"
    total = len(json.loads(questions.read_bytes()))
    options = ["--scene-graphs", str(graphs), "--questions", str(questions), "--out", str(tmp_path / "rows")]
    done = invoke("answer", "gqa", *options)
    assert done.stdout.startswith(f"{total} questions, by_id ")
    assert f" of {total} correct" in done.stdout
    assert len((tmp_path / "rows").read_text("utf-8").splitlines()) == 2 * total


def test_nothing_to_do_starts_no_run_and_says_so(reproduced: Path) -> None:
    # The copied files have new times, so the first run reads them, and finds the same contents.
    first = json.loads(invoke("reproduce", "--json").stdout)
    again = invoke("reproduce", "--tables")
    assert "Nothing to do: all " in again.stderr
    captions = [table.strip().rpartition("\n")[2].strip("*")[:60] for table in first["tables"]]
    assert all(caption in again.stdout for caption in captions)
    assert max(len(line) for line in again.stdout.splitlines() if not line.startswith("The report")) <= 110
    alone = invoke("reproduce")
    lines = alone.output.strip().splitlines()
    assert len(lines) <= 10
    assert lines[0].startswith("The paper's ")
    assert not any("verdict changed" in line for line in lines), "no verdict is pinned in this project"
    assert lines[-1].startswith("Nothing to do: ")
    result = json.loads(invoke("reproduce", "--only", "babi", "--json").stdout)
    assert (result["ran"], result["drifted"]) == (False, {})
    assert "babi/qa1/accuracy" in result["tables"][0]
    assert result["conclusion"][0].startswith("bAbI: mean, accuracy: ")
    assert invoke("reproduce", "--only", "babi", "--quiet").stderr == ""


def test_a_changed_answer_is_seen_though_size_and_name_are_the_same(reproduced: Path) -> None:
    invoke("reproduce", "--only", "babi")
    answers = reproduced / "artifacts/sample/babi/answers.jsonl"
    right = answers.read_bytes()
    os.utime(answers)
    assert not json.loads(invoke("reproduce", "--only", "babi", "--json").stdout)["ran"]
    answers.write_bytes(right.replace(b'"correct": true', b'"correct": null', 1))
    assert answers.stat().st_size == len(right)
    assert answers.read_bytes() != right
    assert json.loads(invoke("reproduce", "--only", "babi", "--json").stdout)["ran"]
    assert answers.read_bytes() == right


def test_a_run_of_one_study_shows_its_table(reproduced_beyond: Path) -> None:
    workspace = open_workspace("beyond")
    name = "artifacts/beyond/robustness/table.md"
    names = ["robustness/gqa", "tables/robustness"]
    ((table, place),) = run_tables(workspace, stages_in(workspace), names, "robustness")
    assert (table.render("md"), place) == ((reproduced_beyond / name).read_text("utf-8"), name)
    assert concluded(workspace, "robustness") == []


def test_the_help_lists_each_command_once_in_its_section() -> None:
    commands = set(typer.main.get_group(app).commands)
    listed = [name for of_section in SECTIONS.values() for name in of_section]
    assert sorted(listed) == sorted(commands)
    lines = invoke("--help").output.splitlines()
    assert all(len(line) < 80 for line in lines)
    titles = [f"{title}:" for title in SECTIONS]
    assert [line for line in lines if line in titles] == titles
