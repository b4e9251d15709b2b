"""Measure the house: its rooms, its weight, and the stages that a change makes stale.

.venv/bin/python scripts/house.py            every figure; the changes are tried on a copy of the tree
.venv/bin/python scripts/house.py --quick    without those changes and without timing
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PINS = ("pins", "dvc.lock", "dvc.yaml", "data.dvc", ".dvc")
"""All that git holds of results."""
CODE = """
import json
from orchestration.pipeline.graph import STAGES
print(json.dumps({name: dict(stage.code) for name, stage in STAGES.items()}))
"""
"""Prints the code of each stage: its files, each with a hash of what the stage reaches in it."""
BENCHMARKS = """
import json
from orchestration.registry import INTERPRETED, STUDIES
studies = {study.name for study in STUDIES}
print(json.dumps([name for name in INTERPRETED if name not in studies]))
"""
"""Prints the names of the benchmarks that the substrate answers; a study's files bear the study's name."""
Change = Callable[[str], str]


def remark(text: str) -> str:
    """The text with a remark behind it."""
    return f"{text}\n# A remark.\n"


def docstring(text: str) -> str:
    """The text with another first docstring."""
    return re.sub(r'"""', '"""Said otherwise. ', text, count=1)


def citation(text: str) -> str:
    """The published figures with another citation of a rival."""
    return text.replace("ICLR 2020, Table 3", "ICLR 2020, Table 4")


def rule(text: str) -> str:
    """A TBox with one more statement."""
    return f"{text}\n<urn:house:probe> a <urn:house:Probe> .\n"


CHANGES: dict[str, tuple[str, Change]] = {
    "a remark in published.yaml": ("orchestration/scoring/published.yaml", remark),
    "a docstring in the journal": ("substrate/log/journal.py", docstring),
    "a changed citation": ("orchestration/scoring/published.yaml", citation),
    "a changed rule of bAbI": ("tboxes/babi.ttl", rule),
}


def tracked(*patterns: str) -> list[Path]:
    """The tracked files that fit some patterns of git's."""
    said = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in said.stdout.split("\0") if name and (ROOT / name).is_file()]


def lines(*patterns: str) -> int:
    """The lines of the tracked files that fit."""
    return sum(path.read_bytes().count(b"\n") for path in tracked(*patterns))


def rooms() -> Iterator[tuple[str, int]]:
    """The rooms with the number of Python files that stand flat in each."""
    counts: dict[str, int] = {}
    for path in tracked("substrate/*.py", "orchestration/*.py"):
        room = path.parent.relative_to(ROOT).as_posix()
        counts[room] = counts.get(room, 0) + (path.name != "__init__.py")
    yield from sorted(counts.items())


def exported() -> int:
    """The number of names that `substrate` exports."""
    return int(_run("import substrate; print(len(substrate.__all__))", ROOT))


def naming() -> dict[str, list[str]]:
    """By benchmark, the files of the platform whose code, examples and docstrings left out, names it; its own
    module, the registry and the studies may.
    """
    found: dict[str, list[str]] = {benchmark: [] for benchmark in json.loads(_run(BENCHMARKS, ROOT))}
    for path in tracked("orchestration/*.py"):
        name = path.relative_to(ROOT / "orchestration").as_posix()
        tree = ast.parse(path.read_bytes())
        for node in ast.walk(tree):
            if isinstance(body := getattr(node, "body", None), list):
                node.body = [one for one in body if not _is_text(one)] or [ast.Pass()]  # pyright: ignore
        text = ast.unparse(tree)
        for benchmark, files in found.items():
            own = ("registry.py", f"benchmarks/{benchmark}.py", "studies/")
            if not name.startswith(own) and re.search(rf"\b{benchmark}\b", text, re.IGNORECASE):
                files.append(name)
    return found


def _is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _run(program: str, root: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(root)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles all modules anew
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


def code(root: Path) -> dict[str, dict[str, str]]:
    """The code of each stage of a tree."""
    return json.loads(_run(CODE, root))


def stale() -> Iterator[tuple[str, list[str]]]:
    """The stages whose code each change alters, in a copy of the tracked files."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for path in tracked("."):
            there = copy / path.relative_to(ROOT)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())
        before = code(copy)
        for what, (name, change) in CHANGES.items():
            file = copy / name
            text = file.read_text("utf-8")
            changed = change(text)
            assert changed != text, f"{what} changes nothing in {name}"
            file.write_text(changed, "utf-8")
            after = code(copy)
            yield what, [stage for stage in before if before[stage] != after[stage]]
            file.write_text(text, "utf-8")


def seconds(program: str) -> float:
    """The processor time of a fresh interpreter that runs a program: the least of three."""
    found: list[float] = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run(f"{program}\nprint()\nprint('done')", ROOT)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def say(what: str, value: object, *details: str) -> None:
    """Print a figure, and what it counts."""
    sys.stdout.write(f"{what:<58} {value}  {' '.join(details)}".rstrip() + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print every figure."""
    for room, count in rooms():
        if room.count("/") <= 1:
            say(f"Python files flat in {room}", count)
    say("lines of Python in orchestration", lines("orchestration/*.py"))
    say("lines of Python in orchestration/ledger", lines("orchestration/ledger/*.py"))
    for benchmark, files in naming().items():
        say(f"files that name {benchmark} outside its own", len(files), *files)
    say("lines of pins, locks and DVC files", lines(*PINS))
    say("names that substrate exports", exported())
    counts = [len(found) for found in code(ROOT).values()]
    say("files of a stage's code, median and largest", f"{statistics.median(counts):g}, {max(counts)}")
    if "--quick" in sys.argv:
        return
    for what, stages in stale():
        say(f"stages of {len(counts)} that are stale after {what}", len(stages))
    own, dagster = seconds("import orchestration.definitions"), seconds("import dagster")
    say(
        "loading definitions, beside import dagster",
        f"{own:.2f} s, {dagster:.2f} s: {own / dagster:.1f} times",
    )


if __name__ == "__main__":
    main()
