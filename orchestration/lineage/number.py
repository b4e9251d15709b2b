"""From a number to its sources: cells, score, rows, logs, inputs, and the stages between them.

Everything is read from the files of runs. Every file on the way is hashed again; a mismatch is a problem.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from fnmatch import filter as filter_names
from functools import cached_property, lru_cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import msgspec

from orchestration.base.git import git
from orchestration.code import PACKAGES, ROOT
from orchestration.fetch.sources import official_sources
from orchestration.fetch.sources import read_pins as read_downloads
from orchestration.ledger.pinned import read_pins
from orchestration.ledger.records import LOCK, lock_hash, parameter, read_records, version_of
from orchestration.models.transcript import read_told
from orchestration.registry import BENCHMARKS
from orchestration.scoring.counting import counts_for, graded_rows, line_count, split_name
from orchestration.scoring.scores import Score, score_file
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import NAMED
from orchestration.workspace.tables import read_index
from substrate.base.errors import ParameterError
from substrate.base.files import sha256
from substrate.domains.rows import Row


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
    """The rows behind a number: how many the file has, how many count, and how many of ``n`` are right."""

    file: File
    rows: int
    counted: int
    n: int
    correct: int
    wrong: list[str]
    """The first rows that are not right, as SUBSET/SCENE/QUESTION with the question as answers name it."""


class Logs(msgspec.Struct, frozen=True):
    """A folder of event logs: how many it has, and how many of them the counted rows were computed from."""

    file: File
    logs: int
    used: int
    sources: list[str]
    """The first input files that those logs were made from."""


class Source(msgspec.Struct, frozen=True):
    """The origin of a dataset: a generated world, or files, which ``official`` names with their hashes."""

    file: File
    kind: str
    worlds: list[str]
    parameters: dict[str, Any]
    official: list[dict[str, str]]


class Step(msgspec.Struct, frozen=True):
    """A stage on the way: the code it ran, its parameters, what it read and made."""

    stage: str
    code_version: str
    code: dict[str, str]
    parameters: dict[str, Any]
    inputs: dict[str, str]
    outs: dict[str, str]
    changed_since: list[str]
    """Code files and parameters that have changed since the stage ran."""


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
    sources: list[Source]
    steps: list[Step]
    environment: Environment
    problems: list[str]


_SHOWN = 5
ROWS, LOGS = "*/answers.jsonl", "*/logs/index.jsonl"
"""The paths of files of answers, and of indexes of event logs."""


def benchmark_of(number: str) -> str:
    """The benchmark a number belongs to.

    >>> all(benchmark_of(number) == name for name, one in BENCHMARKS.items() for number in one.numbers)
    True

    Raises:
        ParameterError: there is no such number.
    """
    for benchmark in BENCHMARKS.values():
        if number in benchmark.numbers:
            return benchmark.name
    known = [name for benchmark in BENCHMARKS.values() for name in benchmark.numbers]
    near = ", ".join(get_close_matches(number, known))
    hint = f"Perhaps {near}" if near else f"Write BENCHMARK/SUBSET/METRIC of one of {', '.join(BENCHMARKS)}"
    raise ParameterError(f"no number is named {number!r}", hint=hint)


class Lineage:
    """The records of a profile's stages, and the files that they name.

    Args:
        stages: the stages whose records count; by default all stages with a record.
        known: the present stages; a step compares its recorded code with theirs.

    Raises:
        ParameterError: no stage has run.
    """

    def __init__(
        self, workspace: Workspace, stages: Collection[str] | None = None, known: Stages | None = None
    ) -> None:
        self.workspace, self.known = workspace, known or {}
        # A clone has the pins alone: their code is taken to be that of now.
        records = read_records(workspace) or {
            name: msgspec.structs.replace(pin, code=dict(self.known[name].code))
            for name, pin in read_pins(workspace.root, workspace.settings.profile).items()
            if name in self.known
        }
        self.records = {name: made for name, made in records.items() if stages is None or name in stages}
        if not self.records:
            raise _not_there("no stage has left a record", workspace.artifacts, workspace)
        self.makers = {out: stage for stage, record in self.records.items() for out in record.outs}
        """The stage that made each path."""
        self._hashes: dict[str, str] = {}

    def hash_of(self, path: str) -> str:
        """SHA-256 of the present file at a path; empty if there is none."""
        if path not in self._hashes:
            there = self.workspace.path(path)
            self._hashes[path] = sha256(there) if there.exists() else ""
        return self._hashes[path]

    def file(self, path: str) -> File:
        """The file of a trace at a path."""
        return File(path, self.makers.get(path, ""), self.hash_of(path))

    def upstream(self, stage: str) -> list[str]:
        """A stage and all stages that it depends on, each before the stages it needs."""
        needs: dict[str, list[str]] = {}
        todo = [stage]
        while todo:
            name = todo.pop()
            if name not in needs:
                inputs = self.records[name].inputs
                needs[name] = sorted({self.makers[path] for path in inputs if path in self.makers})
                todo += needs[name]
        return list(TopologicalSorter(dict(sorted(needs.items()))).static_order())[::-1]

    def inputs(self, stages: Iterable[str], kind: str) -> list[str]:
        """The inputs of some stages that match a pattern."""
        return filter_names(sorted({path for stage in stages for path in self.records[stage].inputs}), kind)

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Every table of the run, by its path."""
        return read_tables(self.workspace)

    @cached_property
    def environment(self) -> Environment:
        """The code's commit and the locks in force."""
        return environment(self.workspace)

    def score_path(self, number: str) -> str:
        """The place of a number's score."""
        return self.workspace.name_of(self.workspace.artifacts / "scores" / score_file(number))


def _not_there(what: str, where: Path, workspace: Workspace) -> ParameterError:
    hint = f"Run `substrate reproduce --profile {workspace.settings.profile}` first"
    return ParameterError(what, where=(where,), hint=hint)


def environment(workspace: Workspace) -> Environment:
    """The commit of the code and the hashes of the locks."""
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
        named: the most wrong rows to name.
        rows: whether to count the rows again and find their logs; otherwise only files are followed.

    Raises:
        ParameterError: there is no such number, or it was not computed.
    """
    benchmark_of(number)
    workspace, score_path = lineage.workspace, lineage.score_path(number)
    if not (path := workspace.path(score_path)).is_file():
        raise _not_there("is not there", path, workspace)
    score = msgspec.json.decode(path.read_bytes(), type=Score)
    cells = list(cells_of(lineage, score))
    standing = {f"{cell.file.removesuffix('md')}json" for cell in cells}
    way = lineage.upstream(lineage.makers[score_path])
    steps = [*sorted({lineage.makers[path] for path in standing if path in lineage.makers}), *way]
    problems = [problem for stage in steps for problem in problems_of(lineage, stage)]
    counted, logs, answers = None, list[Logs](), lineage.inputs(way[:1], ROWS)
    if rows and len(answers) == 1:
        counting = counted_rows(workspace.path(answers[0]), number)
        counted, digests = _counted(lineage, answers[0], number, counting, named), {r.log for r in counting}
        indexes = lineage.inputs([lineage.makers[answers[0]]], LOGS)
        logs = [_logs(lineage, path, digests) for path in indexes]
        if (counted.correct, counted.n) != (score.correct, score.n):
            counts = f"{score.correct} of {score.n}, its rows say {counted.correct} of {counted.n}"
            problems.append(f"{score_path} says {counts}")
    made = ((stage, path) for stage in way for path in lineage.records[stage].outs)
    return Trace(
        number=number,
        profile=workspace.settings.profile,
        cells=cells,
        score=score,
        score_file=lineage.file(score_path),
        rows=counted,
        logs=logs,
        sources=[source_of(lineage, stage, path) for stage, path in made if path.startswith("data/")],
        steps=[step_of(lineage, stage) for stage in steps],
        environment=lineage.environment,
        problems=problems,
    )


def cells_of(lineage: Lineage, score: Score) -> Iterator[Cell]:
    """The cells that show a number, in the tables' Markdown."""
    for path, table in lineage.tables.items():
        file = f"{path.removesuffix('json')}md"
        for row, numbers in zip(table["rows"], table["numbers"], strict=False):
            for column, (head, text, name) in enumerate(zip(table["heads"], row, numbers, strict=True)):
                if name == score.name:
                    cited = table["cited"][column] if table["cited"] else {}
                    citations = {who: citation for who, citation in cited.items() if who in score.published}
                    yield Cell(file, row[0], head, text, citations)


def problems_of(lineage: Lineage, stage: str) -> Iterator[str]:
    """The places where a stage's record differs from the files, or from the record of the stage before it."""
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


class Tally(msgspec.Struct, frozen=True):
    """The contribution to a number of a question or of a scene's questions: right answers and total."""

    rows: list[Row]
    right: int
    n: int


def tallies(number: str, rows: Iterable[Row]) -> list[Tally]:
    """The parts of a number that the rows that count add; rows of one scene may be judged together."""
    metric = BENCHMARKS[benchmark_of(number)].metrics[split_name(number)[1]]
    return [Tally(list(unit), *metric.measure(unit)) for unit in metric.units(rows)]


def counted_rows(path: Path, number: str) -> list[Row]:
    """The rows that count for a number: those of its subset that have gold."""
    state = path.stat()
    return [row for row in _graded(path, state.st_mtime_ns, state.st_size) if counts_for(row, number)]


@lru_cache(maxsize=1)
def _graded(path: Path, *_: int) -> list[Row]:
    """The rows of a file that have gold; cached, since the numbers of a benchmark come in sequence."""
    return list(graded_rows(path))


def _counted(lineage: Lineage, path: str, number: str, rows: list[Row], named: int) -> Counted:
    added = [tally for tally in tallies(number, rows) if tally.n]
    question_of, count = BENCHMARKS[benchmark_of(number)].asked, sum(len(tally.rows) for tally in added)
    first = [tally.rows[0] for tally in added if tally.right < tally.n][:named]
    wrong = [f"{row.subset}/{row.scene}/{question_of(row)}" for row in first]
    n, right = sum(tally.n for tally in added), sum(tally.right for tally in added)
    every = line_count(lineage.workspace.path(path))
    return Counted(lineage.file(path), every, count, n, right, wrong)


def _logs(lineage: Lineage, path: str, digests: set[str]) -> Logs:
    index = lineage.workspace.path(path)
    used = [entry.source for entry in read_index(index) if entry.log in digests]
    return Logs(lineage.file(path), line_count(index), len(used), used[:_SHOWN])


def source_of(lineage: Lineage, stage: str, path: str) -> Source:
    """The origin of a dataset."""
    record, benchmark = lineage.records[stage], path.rpartition("/")[2]
    folders = (file.split("/") for file in record.code if file.startswith("substrate/generators/"))
    worlds = sorted({parts[2] for parts in folders if len(parts) > 3})
    settings = next((value for key, value in record.parameters.items() if key.startswith("profiles.")), None)
    official = isinstance(settings, dict) and settings.get("source") == "official"
    # What a dataset reads from outside the project are the files that a user named.
    named = {file: digest for file, digest in record.inputs.items() if file not in lineage.makers}
    if who := read_told(lineage.workspace.path(path)):
        kind, files = f"transcript of {who.name}, {who.requests:,} requests", []
    elif official:
        kind, files = "official", list(_official(lineage.workspace, benchmark))
    elif named and (lineage.workspace.path(path) / NAMED).is_file():
        kind, given = "official files of the user", sorted(named.items())
        files = [{"name": Path(file).name, "file": file, "sha256": digest} for file, digest in given]
    elif worlds and isinstance(settings, dict) and settings.get("source") != "local":
        kind, files = "generated", []
    else:
        kind, files = "no files are named: nothing is measured", []
    return Source(lineage.file(path), kind, worlds if kind == "generated" else [], record.parameters, files)


def _official(workspace: Workspace, benchmark: str) -> Iterator[dict[str, str]]:
    pins = read_downloads(workspace.root / "pins" / "downloads.json")
    for file in official_sources()[benchmark].files:
        pin = pins.get(f"{benchmark}/{file.name}")
        source = {"name": file.name, "url": file.urls[0]} | ({"git blob": file.blob} if file.blob else {})
        if not file.extra:
            yield source | ({"sha256": pin.sha256} if pin else {})


def step_of(lineage: Lineage, stage: str) -> Step:
    """A stage's record as a step of a trace."""
    record, now = lineage.records[stage], lineage.known[stage].code if stage in lineage.known else {}
    changed = [file for file, short in record.code.items() if now.get(file) != short]
    for key, value in record.parameters.items():
        if msgspec.json.decode(msgspec.json.encode(parameter(lineage.workspace, key))) != value:
            changed.append(key)
    made_from = record.code, record.parameters, record.inputs
    return Step(stage, version_of(record.code), *made_from, record.outs, changed)
