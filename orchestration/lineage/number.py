"""From a number to its sources: cells, score, rows, logs, inputs, and the stages between them.

Everything is read from the files of runs. Every file on the path is hashed again; a mismatch is a problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from fnmatch import filter as filter_names
from functools import cache, lru_cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import msgspec

from orchestration.base.git import git
from orchestration.code import PACKAGES, ROOT
from orchestration.fetch.downloads import read_downloads
from orchestration.fetch.sources import official_sources
from orchestration.ledger.environment import LOCK, lock_hash
from orchestration.ledger.manifest import version_of
from orchestration.ledger.stage_records import read_records
from orchestration.models.answering import read_model
from orchestration.pins.pin_files import read_pins
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import Unit, counts_for, graded_rows, line_count, total
from orchestration.scoring.names import name_of
from orchestration.scoring.scores import Score, score_file
from orchestration.settings import value_at
from orchestration.stage import Stages
from orchestration.workspace.dataset_files import NAMED
from orchestration.workspace.folders import Workspace
from orchestration.workspace.log_table import read_index
from substrate.base.errors import ParameterError
from substrate.base.files import sha256

# The benchmark of every number.
NUMBERS = {name: benchmark for benchmark in BENCHMARKS.values() for name in benchmark.numbers}
# The maximum number of wrong rows to name.
_SHOWN = 5
# The paths of files of answers, and of indexes of event logs.
ROWS, LOGS = "*/answers.jsonl", "*/logs/index.jsonl"


class Cell(msgspec.Struct, frozen=True):
    """A cell that shows the number; ``citations`` has the citation of each source's figure."""

    file: str
    row: str
    column: str
    text: str
    citations: dict[str, str]


class File(msgspec.Struct, frozen=True):
    """A file or folder, the stage that made it, and its present hash."""

    path: str
    stage: str
    sha256: str


class Counted(msgspec.Struct, frozen=True):
    """The counts behind a number: rows in the file, rows counted, and the right answers among the
    ``n`` that the number's metric counts in them.

    ``wrong`` has the first wrong rows as SUBSET/SCENE/QUESTION, with the question named as in answers.
    """

    file: File
    rows: int
    counted: int
    n: int
    correct: int
    wrong: list[str]


class Logs(msgspec.Struct, frozen=True):
    """A folder of event logs: their number, and the number of those behind the counted rows."""

    file: File
    logs: int
    used: int


class DatasetOrigin(msgspec.Struct, frozen=True):
    """The origin of a dataset: a generated world, or the files in ``official``, with their hashes."""

    file: File
    kind: str
    worlds: list[str]
    parameters: dict[str, Any]
    official: list[dict[str, str]]


class TraceStep(msgspec.Struct, frozen=True):
    """A stage on the path: its code, parameters, inputs and outs; and the code files and parameters that have
    changed since.
    """

    stage: str
    code_version: str
    code: dict[str, str]
    parameters: dict[str, Any]
    inputs: dict[str, str]
    outs: dict[str, str]
    changed_since: list[str]


class Environment(msgspec.Struct, frozen=True):
    """The commit of the code (with ``+`` if files differ from it) and the hashes of the locks."""

    commit: str | None
    requirements_lock: str
    dvc_lock: str


class Trace(msgspec.Struct, frozen=True):
    """The path from a number to its sources."""

    number: str
    profile: str
    cells: list[Cell]
    score: Score
    score_file: File
    rows: Counted | None
    logs: list[Logs]
    sources: list[DatasetOrigin]
    steps: list[TraceStep]
    environment: Environment
    problems: list[str]


def require_number(number: str) -> None:
    """Check that a number exists.

    Raises:
        ParameterError: there is no such number.
    """
    if number not in NUMBERS:
        near = ", ".join(get_close_matches(number, NUMBERS))
        form = f"Write BENCHMARK/SUBSET/METRIC of one of {', '.join(BENCHMARKS)}"
        hint = f"Perhaps {near}" if near else form
        raise ParameterError(f"no number is named {number!r}", hint=hint)


class Lineage:
    """The records of a profile's stages, and the files that they name.

    Args:
        known: the present stages; a step compares its recorded code with theirs.

    Raises:
        ParameterError: no stage has run.
    """

    def __init__(self, workspace: Workspace, known: Stages) -> None:
        self.workspace, self.known = workspace, known
        self.environment = environment(workspace)
        self.tables = read_tables(workspace)
        profile = workspace.settings.profile
        # A clone has only the pins; their code is assumed to be the present code.
        self.records = read_records(workspace) or {
            name: msgspec.structs.replace(pin, code=dict(known[name].code))
            for name, pin in read_pins(workspace.root, profile).items()
            if name in known
        }
        if not self.records:
            raise _not_there("no stage has left a record", workspace.artifacts, profile)
        self.versions = {stage: version_of(record.code) for stage, record in self.records.items()}
        self.makers = {out: stage for stage, record in self.records.items() for out in record.outs}
        scores = workspace.artifacts / "scores"
        self.score_paths = {number: workspace.name_of(scores / score_file(number)) for number in NUMBERS}
        # The SHA-256 of the present file at a path; empty if there is none.
        self.hash_of = cache(lambda path: sha256(there) if (there := workspace.path(path)).exists() else "")
        # The numbers of a benchmark follow one another.
        self.graded = lru_cache(maxsize=1)(lambda path: list(graded_rows(workspace.path(path))))

    def file(self, path: str) -> File:
        """Make the trace's entry for the file at a path."""
        return File(path, self.makers.get(path, ""), self.hash_of(path))

    def upstream(self, stage: str) -> list[str]:
        """Return a stage and all its dependencies, each before the stages that it needs."""
        needs: dict[str, list[str]] = {}
        todo = [stage]
        while todo:
            name = todo.pop()
            if name not in needs:
                inputs = self.records[name].inputs
                needs[name] = sorted({self.makers[path] for path in inputs if path in self.makers})
                todo += needs[name]
        return list(TopologicalSorter(dict(sorted(needs.items()))).static_order())[::-1]

    def inputs(self, stages: Iterable[str], glob: str) -> list[str]:
        """Return the inputs of some stages that match a pattern."""
        return filter_names(sorted({path for stage in stages for path in self.records[stage].inputs}), glob)


def _not_there(what: str, where: Path, profile: str) -> ParameterError:
    hint = f"Run `substrate reproduce --profile {profile}`, then trace with `--profile {profile}`"
    return ParameterError(what, where=(where,), hint=hint)


def environment(workspace: Workspace) -> Environment:
    """Read the commit of the code and the hashes of the locks."""
    dvc_lock = workspace.root / "dvc.lock"
    head, code = git(ROOT, "rev-parse", "HEAD"), (*PACKAGES, LOCK)
    changed = git(ROOT, "status", "--porcelain", "--untracked-files=no", "--", *code)
    commit = head.decode().strip() + "+" * bool(changed) if head else None
    return Environment(commit, lock_hash(), sha256(dvc_lock) if dvc_lock.is_file() else "")


def read_tables(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Every table of the run, by its path."""
    paths = sorted((workspace.artifacts / "tables").glob("*.json"))
    return {workspace.name_of(path): msgspec.json.decode(path.read_bytes()) for path in paths}


def trace_number(lineage: Lineage, number: str, *, rows: bool = True, named: int = _SHOWN) -> Trace:
    """Follow a number to its sources, and check every step.

    Args:
        named: a cap on the wrong rows to name.
        rows: whether to count the rows again and find their logs; otherwise only files are followed.

    Raises:
        ParameterError: there is no such number, or it was not computed.
    """
    require_number(number)
    workspace, score_path = lineage.workspace, lineage.score_paths[number]
    if not (path := workspace.path(score_path)).is_file():
        raise _not_there("is not there", path, NUMBERS[number].profile(workspace.settings.profile))
    score = msgspec.json.decode(path.read_bytes(), type=Score)
    cells = list(_cells_of(lineage, score))
    standing = {f"{cell.file.removesuffix('md')}json" for cell in cells}
    way = lineage.upstream(lineage.makers[score_path])
    stages = [*sorted({lineage.makers[path] for path in standing if path in lineage.makers}), *way]
    made = ((stage, path) for stage in way for path in lineage.records[stage].outs)
    sources = [_source_of(lineage, stage, path) for stage, path in made if path.startswith("data/")]
    steps = [step_of(lineage, stage) for stage in stages]
    problems = [problem for stage in stages for problem in _problems_of(lineage, stage)]
    counted, logs, answers = None, list[Logs](), lineage.inputs(way[:1], ROWS)
    if rows and len(answers) == 1:
        counted, logs = _behind(lineage, answers[0], number, named)
        if (counted.correct, counted.n) != (score.correct, score.n):
            counts = f"{score.correct} of {score.n}, its rows say {counted.correct} of {counted.n}"
            problems.append(f"{score_path} says {counts}")
    profile, file, here = workspace.settings.profile, lineage.file(score_path), lineage.environment
    return Trace(number, profile, cells, score, file, counted, logs, sources, steps, here, problems)


def _cells_of(lineage: Lineage, score: Score) -> Iterator[Cell]:
    """Yield the cells that show a number, in the tables' Markdown."""
    for path, table in lineage.tables.items():
        file = f"{path.removesuffix('json')}md"
        for row, numbers in zip(table["rows"], table["numbers"], strict=False):
            for column, (head, text, name) in enumerate(zip(table["heads"], row, numbers, strict=True)):
                if name == score.name:
                    cited = table["cited"][column] if table["cited"] else {}
                    citations = {who: citation for who, citation in cited.items() if who in score.published}
                    yield Cell(file, row[0], head, text, citations)


def _source_of(lineage: Lineage, stage: str, path: str) -> DatasetOrigin:
    """Return the origin of a dataset."""
    record, benchmark = lineage.records[stage], path.rpartition("/")[2]
    folders = (file.split("/") for file in record.code if file.startswith("substrate/generators/"))
    worlds = sorted({parts[2] for parts in folders if len(parts) > 3})
    settings = next((value for key, value in record.parameters.items() if key.startswith("profiles.")), None)
    origin = settings.get("source") if isinstance(settings, dict) else "local"
    # The inputs outside the project are files that a user named.
    named = {file: digest for file, digest in record.inputs.items() if file not in lineage.makers}
    by_model, files = benchmark in BENCHMARKS and BENCHMARKS[benchmark].by_model, list[dict[str, str]]()
    if by_model and (who := read_model(lineage.workspace.path(path))):
        kind = f"transcript of {who.name}, {who.requests:,} requests"
    elif origin == "official":
        kind, files = "official", list(_official(lineage.workspace, benchmark))
    elif named and (lineage.workspace.path(path) / NAMED).is_file():
        kind, given = "official files of the user", sorted(named.items())
        files = [{"name": Path(file).name, "file": file, "sha256": digest} for file, digest in given]
    elif worlds and origin != "local":
        kind = "generated"
    else:
        kind = "no files are named: nothing is measured"
    worlds = worlds if kind == "generated" else []
    return DatasetOrigin(lineage.file(path), kind, worlds, record.parameters, files)


def _official(workspace: Workspace, benchmark: str) -> Iterator[dict[str, str]]:
    pins = read_downloads(workspace.root / "pins" / "downloads.json")
    for file in official_sources()[benchmark].files:
        pin = pins.get(f"{benchmark}/{file.name}")
        source = {"name": file.name, "url": file.url} | ({"git blob": file.blob} if file.blob else {})
        yield source | ({"sha256": pin.sha256} if pin else {})


def step_of(lineage: Lineage, stage: str) -> TraceStep:
    """Return a stage's record as a step of a trace."""
    record, now = lineage.records[stage], lineage.known[stage].code if stage in lineage.known else {}
    changed = [file for file, short in record.code.items() if now.get(file) != short]
    values = record.parameters.items()
    changed += [key for key, value in values if value_at(lineage.workspace.settings, key) != value]
    made_from = record.code, record.parameters, record.inputs
    return TraceStep(stage, lineage.versions[stage], *made_from, record.outs, changed)


def _problems_of(lineage: Lineage, stage: str) -> Iterator[str]:
    """Yield the differences of a stage's record from the files, or from the record of the stage before it."""
    record = lineage.records[stage]
    for path, made in record.outs.items():
        if (there := lineage.hash_of(path)) != made:
            yield f"{path} is {'not what' if there else 'not there, which'} {stage} made"
    for path, read in record.inputs.items():
        maker = lineage.makers.get(path)
        if maker and lineage.records[maker].outs[path] != read:
            yield f"{stage} read another {path} than the one that {maker} made last"
        if maker is None and stage.endswith("/dataset") and (there := lineage.hash_of(path)) != read:
            yield f"{path} is {'not what' if there else 'not there any more, which'} {stage} read"


def contributions(lineage: Lineage, number: str, path: str) -> list[Unit]:
    """Return the contributions of a file's rows to a number.

    Rows without gold or of other subsets do not count; rows of one scene may be judged together.
    """
    rows = (row for row in lineage.graded(path) if counts_for(row, number))
    return list(NUMBERS[number].metrics[name_of(number).metric].units(rows))


def _behind(lineage: Lineage, path: str, number: str, named: int) -> tuple[Counted, list[Logs]]:
    """Return the rows behind a number, counted again, and the logs behind the rows."""
    file, question_of = lineage.workspace.path(path), NUMBERS[number].asked
    every = contributions(lineage, number, path)
    added, digests = [part for part in every if part.n], {row.log for part in every for row in part.rows}
    first = [part.rows[0] for part in added if part.right < part.n][:named]
    wrong = [f"{row.subset}/{row.scene}/{question_of(row)}" for row in first]
    (right, n), count = total(added), sum(len(part.rows) for part in added)
    logs = list[Logs]()
    for index in lineage.inputs([lineage.makers[path]], LOGS):
        of_rows = [entry.log in digests for entry in read_index(lineage.workspace.path(index))]
        logs.append(Logs(lineage.file(index), len(of_rows), sum(of_rows)))
    return Counted(lineage.file(path), line_count(file), count, n, right, wrong), logs
