"""Compare the project's size with its limits, and count the stages that some changes of the code make stale.

.venv/bin/python scripts/house.py            print every figure; try the changes on a copy of the tree
.venv/bin/python scripts/house.py --quick    skip the changes
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from orchestration.rendering.report.sizes import code_lines

ROOT = Path(__file__).resolve().parents[1]
PINS = ("pins", "dvc.lock", "dvc.yaml", "data.dvc", ".dvc")
"""The files of results in git."""
CODE = """
import json
from orchestration.stages.graph import STAGES
print(json.dumps({name: dict(stage.code) for name, stage in STAGES.items()}))
"""
"""A program that prints the files of each stage's code, each with a hash of its reached statements."""
BENCHMARKS = """
import json
from orchestration.registry import INTERPRETED, STUDIES
studies = {study.name for study in STUDIES}
print(json.dumps([name for name in INTERPRETED if name not in studies]))
"""
"""A program that prints the names of the benchmarks that the substrate answers, without studies."""
MOST = {"substrate": 20_000, "orchestration": 12_500, "research": 9_500, "tests": 22_000, "benchmarks": 2_200}
"""The packages, each with its maximum number of code lines."""
INTERVENTIONS = "substrate/branch/interventions.py"
Change = Callable[[str], str]
"""A change of a file's text; each of these should make few stages stale, or none."""


def remark(text: str) -> str:
    """Append a comment to the text."""
    return f"{text}\n# A remark.\n"


def docstring(text: str) -> str:
    """Change the first docstring of the text."""
    return re.sub(r'"""', '"""Said otherwise. ', text, count=1)


def citation(text: str) -> str:
    """Change a rival's citation in the published figures."""
    return text.replace("ICLR 2020, Table 3", "ICLR 2020, Table 4")


def rule(text: str) -> str:
    """Add a statement to a TBox."""
    return f"{text}\n<urn:house:probe> a <urn:house:Probe> .\n"


CHANGES: dict[str, tuple[str, Change]] = {
    "a remark in published.yaml": ("orchestration/scoring/published.yaml", remark),
    "a docstring in the journal": ("substrate/log/journal.py", docstring),
    "a changed citation": ("orchestration/scoring/published.yaml", citation),
    "a changed rule of bAbI": ("tboxes/babi.ttl", rule),
}


def tracked(*patterns: str) -> list[Path]:
    """Return the tracked files that match some git patterns."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def lines(*patterns: str) -> int:
    """Count the lines of the matching tracked files."""
    return sum(path.read_bytes().count(b"\n") for path in tracked(*patterns))


def parsed(*patterns: str) -> dict[str, tuple[str, ast.Module]]:
    """Return the text and the syntax tree of the matching tracked Python files, by name."""
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in tracked(*patterns)}
    return {name: (text, ast.parse(text)) for name, text in texts.items()}


def private_imports(tree: ast.Module) -> int:
    """Count the private names that a module imports from packages outside the project."""
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
            private = any(name[0] == "_" and name[:2] != "__" for name in names)
            count += private and names[0] not in MOST
    return count


def executes(tree: ast.Module) -> bool:
    """Tell whether a module runs generated source."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Name) and called.id in ("exec", "eval") for called in calls)


def named(tree: ast.Module) -> set[str]:
    """Return the names and strings in a module's code."""
    names: set[str] = set()
    for node in ast.walk(tree):
        fields = (getattr(node, field, None) for field in ("id", "attr", "name", "value"))
        names.update(field for field in fields if isinstance(field, str))
    return names


def weight() -> Iterator[tuple[str, int, int, list[str]]]:
    """Yield each counted item: its name, its number, the maximum, and its files."""
    product: dict[str, tuple[str, ast.Module]] = {}
    for package, most in MOST.items():
        files = parsed(f"{package}/*.py")
        yield f"code lines of {package}", sum(code_lines(*file) for file in files.values()), most, []
        if package != "tests":
            product |= files
    private = {name: count for name, (_, tree) in product.items() if (count := private_imports(tree))}
    yield "private names of other packages", sum(private.values()), 0, list(private)
    generating = [name for name, (_, tree) in product.items() if executes(tree)]
    yield "files that run generated source", len(generating), 0, generating
    kinds = {
        node.name
        for node in ast.walk(product[INTERVENTIONS][1])
        if isinstance(node, ast.ClassDef) and not node.bases
    }
    naming_one = [name for name, (_, tree) in product.items() if named(tree) & kinds]
    yield "product files that name an intervention", len(naming_one), 4, naming_one
    long = [name for name, (text, _) in product.items() if text.count("\n") > 400]
    yield "product files over 400 lines", len(long), 5, long


def naming() -> dict[str, list[str]]:
    """Return, by benchmark, the platform files whose code names it, without examples and docstrings.

    The benchmark's own module, the registry and the studies are exempt.
    """
    by_benchmark: dict[str, list[str]] = {benchmark: [] for benchmark in json.loads(_run(BENCHMARKS, ROOT))}
    for path in tracked("orchestration/*.py"):
        name = path.relative_to(ROOT / "orchestration").as_posix()
        tree = ast.parse(path.read_bytes())
        for node in ast.walk(tree):
            if isinstance(body := getattr(node, "body", None), list):
                node.body = [statement for statement in body if not _is_text(statement)] or [ast.Pass()]  # pyright: ignore
        text = ast.unparse(tree)
        for benchmark, files in by_benchmark.items():
            own = ("registry.py", f"benchmarks/{benchmark}.py", "studies/")
            if not name.startswith(own) and re.search(rf"\b{benchmark}\b", text, re.IGNORECASE):
                files.append(name)
    return by_benchmark


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
    """Return the code of each stage of a tree."""
    return json.loads(_run(CODE, root))


def stale() -> Iterator[tuple[str, list[str]]]:
    """Yield the stages whose code each change alters, in a copy of the tracked files."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for path in tracked("."):
            target = copy / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
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


def say(what: str, value: object, *details: str) -> None:
    """Print a figure with its name and details."""
    sys.stdout.write(f"{what:<58} {value}  {' '.join(details)}".rstrip() + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print every figure."""
    for what, count, most, files in weight():
        say(f"{what} (at most {most})", count, *files)
    for benchmark, files in naming().items():
        say(f"files that name {benchmark} outside its own", len(files), *files)
    say("lines of pins, locks and DVC files", lines(*PINS))
    if "--quick" in sys.argv:
        return
    for what, stages in stale():
        say(f"stages that are stale after {what}", len(stages))


if __name__ == "__main__":
    main()
