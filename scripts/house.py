"""Measure the house: what a change makes stale, how long listing its stages takes, how large its rooms are.

    python scripts/house.py            every figure, as a table
    python scripts/house.py stale      those whose names hold a word

A change is made in a copy of the tree that git knows; nothing here is touched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from statistics import median

from tabulate import tabulate

ROOT = Path(__file__).resolve().parents[1]
JOURNAL = "substrate/log/journal.py"
PUBLISHED = "orchestration/scoring/published.yaml"
BABI = "substrate/domains/babi/interpreter.py"
_STAGES = """
import json
from orchestration.pipeline.graph import STAGES
print(json.dumps({name: dict(stage.code) for name, stage in STAGES.items()}))
"""
_LOADING = """
import time
begin = time.process_time()
import {module}
print(time.process_time() - begin)
"""
Change = tuple[str, Callable[[str], str]]
"""A file by its path in the project, and a change of its text."""
Codes = Mapping[str, Mapping[str, str]]
"""By stage: the files of its code, each with a hash of what counts of it."""


def main(word: str = "") -> None:
    """Print the figures whose names hold a word."""
    rows = [(name, figure()) for name, figure in FIGURES.items() if word in name]
    rows += [row for row in flat() if word in row[0]]
    sys.stdout.write(tabulate(rows, ("figure", "now"), tablefmt="github", disable_numparse=True) + "\n")


@cache
def tracked() -> tuple[str, ...]:
    """The files that git knows, or would add, and that are there."""
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(sorted({file for file in listed.splitlines() if (ROOT / file).is_file()}))


@cache
def copy() -> Path:
    """A copy of the code in which a change can be tried; it goes when the process ends."""
    folder = _KEPT.name
    for file in tracked():
        if file.startswith(("orchestration/", "substrate/", "tboxes/")):
            (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, Path(folder) / file)
    return Path(folder)


_KEPT = tempfile.TemporaryDirectory(prefix="substrate-house-")


def _run(program: str, root: Path = ROOT) -> str:
    environment = os.environ | {"PYTHONPATH": str(root)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@cache
def codes() -> Codes:
    """The code of each stage of the tree as it is."""
    return json.loads(_run(_STAGES, copy()))


def stale(*changes: Change) -> list[str]:
    """The stages that changes of files make stale.

    Raises:
        ValueError: one of them changes nothing.
    """
    was, before = codes(), {copy() / file: (copy() / file).read_text("utf-8") for file, _ in changes}
    try:
        for file, change in changes:
            text = (copy() / file).read_text("utf-8")
            if change(text) == text:
                raise ValueError(f"{file}: nothing was changed")
            (copy() / file).write_text(change(text), "utf-8")
        now = json.loads(_run(_STAGES, copy()))
    finally:
        for path, text in before.items():
            path.write_text(text, "utf-8")
    return [name for name, code in was.items() if code != now[name]]


def remark(text: str) -> str:
    """The text with a comment at its end."""
    return f"{text}# A remark.\n"


def docstring(text: str) -> str:
    """Python with another first line of its docstring."""
    return text.replace('"""', '"""Say more. ', 1)


def reflow(text: str) -> str:
    """Python as a formatter of shorter lines writes it."""
    command = [sys.executable, "-m", "ruff", "format", "--line-length=60", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def citation(text: str) -> str:
    """The published figures with another citation."""
    return text.replace("Yi et al., CLEVRER", "Yi and others, CLEVRER", 1)


def rule(text: str) -> str:
    """The interpreter with another statement in the function that answers a story."""
    at = text.index('    """', text.index("def answer_story("))
    return f"{text[:at]}    assert True\n{text[at:]}"


def stages_stale(file: str, change: Callable[[str], str]) -> str:
    """The number of stages that a change makes stale, of all, and their names."""
    found = stale((file, change))
    scores = sum(name.endswith("/scores") for name in found)
    others = [name for name in found if not name.endswith("/scores")]
    said = ", ".join([*((f"{scores} × scores",) if scores else ()), *others])
    return f"{len(found)} of {len(codes())}{f': {said}' if said else ''}"


def closures() -> str:
    """The median and the largest number of files of a stage's code."""
    sizes = {name: len(code) for name, code in codes().items()}
    largest = max(sizes, key=lambda name: sizes[name])
    return f"{median(sizes.values()):g}, {sizes[largest]} ({largest})"


def loading(times: int = 3) -> str:
    """Processor time of loading the definitions beside Dagster alone: the least of a few."""
    _run(_LOADING.format(module="orchestration.definitions"))
    alone, whole = (
        min(float(_run(_LOADING.format(module=module))) for _ in range(times))
        for module in ("dagster", "orchestration.definitions")
    )
    return f"{whole / alone:.1f} times ({whole:.1f} s beside {alone:.1f} s)"


def flat() -> list[tuple[str, str]]:
    """The number of files that lie flat in each room, where it is more than one."""
    code = (file for file in tracked() if file.startswith(("substrate/", "orchestration/")))
    rooms = Counter(str(Path(file).parent) for file in code if file.endswith(".py"))
    return [(f"files flat in {room}", str(count)) for room, count in sorted(rooms.items()) if count > 1]


def lines(wanted: Callable[[str], bool]) -> str:
    """The number of lines of files."""
    counts = (len((ROOT / file).read_bytes().splitlines()) for file in tracked() if wanted(file))
    return f"{sum(counts):,}"


def of_pins(file: str) -> bool:
    """Tell whether a file is one of pins, locks or DVC."""
    return file.startswith("pins/") or file in {"dvc.yaml", "dvc.lock", "data.dvc", "requirements.lock"}


def exported() -> str:
    """The number of names that `substrate` exports."""
    return _run("import substrate; print(len(substrate.__all__))")


FIGURES: Mapping[str, Callable[[], str]] = {
    "stale after a remark in published.yaml": partial(stages_stale, PUBLISHED, remark),
    "stale after a docstring in the journal": partial(stages_stale, JOURNAL, docstring),
    "stale after a reflow of the journal": partial(stages_stale, JOURNAL, reflow),
    "stale after a changed citation": partial(stages_stale, PUBLISHED, citation),
    "stale after a changed rule of bAbI": partial(stages_stale, BABI, rule),
    "files of a stage's code: median, largest": closures,
    "loading definitions, beside `import dagster`": loading,
    "lines of the platform": partial(
        lines, lambda file: file.startswith("orchestration/") and file.endswith(".py")
    ),
    "tracked lines of pins, locks and DVC": partial(lines, of_pins),
    "names that `substrate` exports": exported,
}


if __name__ == "__main__":
    main(*sys.argv[1:2])
