"""Every answer of a run: a page per benchmark, with scripts that hold its rows and their explanations.

A page from disk can load only scripts; the scripts of explanations are loaded when a reader opens a row.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.benchmarks.benchmark import Benchmark, Explained, Wording
from orchestration.lineage.explain import Each, by_scene, explain_case
from orchestration.models.answering import read_model
from orchestration.registry import BENCHMARKS, EXPLAINED, INTERPRETED
from orchestration.rendering.report.examples import pictured
from orchestration.rendering.report.page import NAMED, RIGHT, answers_page, macros, write_page, write_script
from orchestration.rendering.report.part_cache import Keep
from orchestration.rendering.report.shown_rows import RESULTS, fault, first_rows, limit_for, result_of
from orchestration.scoring.counting import rows_of
from orchestration.scoring.names import name_of
from orchestration.workspace.dataset_files import files_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.model_requests import conversations
from orchestration.workspace.storage import batched
from substrate.domains.rows import Row

# The rows, and the explanations, of a script; an explanation takes some 10 kB.
_ROWS_A_SHARD, _EXPLANATIONS_A_SHARD = 5_000, 25
_Wordings = Mapping[tuple[str, str, str], Wording]
_Worded = Callable[[str], _Wordings]  # given a benchmark's name
# The most wrong answers of a language model for which its page shows the prompts.
_SHOWN = 60


class WrongAnswer(msgspec.Struct, frozen=True):
    """A wrong answer: its name for `substrate explain`, the text of its question, and its fault."""

    name: str
    text: str
    fault: str


@dataclass
class Answers:
    """The counts of a benchmark's answers.

    Attributes:
        benchmark: the benchmark.
        subsets: by subset, the number of ``answers``, of each of :data:`RESULTS`, and of ``explained``.
        wrong: the first wrong answers of each subset, by SUBSET/SCENE/QUESTION.
    """

    benchmark: Benchmark
    subsets: dict[str, Counter[str]]
    wrong: dict[str, WrongAnswer]

    @property
    def count(self) -> Counter[str]:
        """The counts of all subsets, added up."""
        return sum(self.subsets.values(), Counter[str]())


@dataclass(frozen=True)
class _Asked:
    """A benchmark with its questions in words.

    Attributes:
        benchmark: the benchmark.
        wordings: the questions, by subset, scene and question.
    """

    benchmark: Benchmark
    wordings: _Wordings

    def wording(self, row: Row) -> Wording:
        """The text of a row's question; subset ``""`` has the questions of all subsets."""
        question = self.benchmark.asked(row)
        worded = (self.wordings.get((subset, str(row.scene), question)) for subset in ("", row.subset))
        return next(filter(None, worded), Wording(question, ""))

    def wrong_answers(self, rows: Iterable[Row]) -> dict[str, WrongAnswer]:
        """The first wrong answers of each subset, by their keys."""
        wrong: dict[str, WrongAnswer] = {}
        for row in first_rows(rows, NAMED, 0):
            name, text = self.benchmark.answer_name(row), self.wording(row).text
            wrong[_key(self.benchmark, row)] = WrongAnswer(name, text, fault(row))
        return wrong

    def line(self, row: Row, places: Mapping[str, int], shards: Mapping[str, int]) -> str:
        """A row as a line of a script, given the places of subsets and the scripts of explanations."""
        words, choices = self.wording(row), None
        if row.choices is not msgspec.UNSET:
            options = zip(row.choices, chain(words.choices, repeat("")), strict=False)
            choices = [(text, choice.predicted, choice.expected) for choice, text in options]
        answers = (None, None) if choices else (row.predicted, row.expected)
        error = None if row.error is msgspec.UNSET else row.error
        question = places[row.subset], str(row.scene), self.benchmark.asked(row), words.text
        result, shard = RESULTS.index(result_of(row)), shards.get(_key(self.benchmark, row))
        # The order in which `rows` in answers.js reads a line.
        record = (*question, *answers, result, shard, choices, error)
        return msgspec.json.encode(record).decode()


def write_answers(workspace: Workspace, explain_cases: Each, keep: Keep) -> list[Answers]:
    """Write the pages of all benchmarks that have answers, and the scripts beside them.

    Args:
        explain_cases: explains the answers, which takes most of the time: meanwhile the page of another
            benchmark is written.
        keep: makes a benchmark's part, or knows it.
    """
    wordings = cache(partial(_wordings, workspace))  # a model shares the questions of its benchmark

    def made(benchmark: Benchmark, file: Path) -> Answers:
        write = partial(_write, workspace, explain_cases, wordings, benchmark, file)
        subsets, wrong = keep("answers", benchmark, write)
        counted = {subset: Counter[str](counts) for subset, counts in subsets.items()}
        return Answers(benchmark, counted, msgspec.convert(wrong, dict[str, WrongAnswer]))

    files = [(benchmark, workspace.answers(name)) for name, benchmark in BENCHMARKS.items()]
    answered = [(benchmark, file) for benchmark, file in files if file.is_file() and file.stat().st_size]
    with ThreadPoolExecutor(2) as pool:
        writing = [pool.submit(copy_context().run, made, *of) for of in answered]
        return [written.result() for written in writing]


def _write(
    workspace: Workspace, explain_cases: Each, wordings: _Worded, benchmark: Benchmark, file: Path, out: Path
) -> tuple[dict[str, Counter[str]], dict[str, WrongAnswer]]:
    """Write a benchmark's page, and the scripts of its rows and explanations; return parts of `Answers`."""
    folder = out / "answers" / benchmark.name
    folder.mkdir(parents=True)
    # The file is read anew for each use: a benchmark may have more rows than fit in memory.
    rows = partial(rows_of, file)
    subsets = _counted(benchmark, rows())
    # Only a language model has something to show beside an answer that is not explained: its prompts.
    most = benchmark.worked if isinstance(benchmark, Explained) else _SHOWN if benchmark.by_model else 0
    limit = limit_for([count["wrong"] + count["error"] for count in subsets.values()], most)
    chosen = list(first_rows(rows(), limit, RIGHT))
    shards = _write_explanations(folder, _explanations(workspace, explain_cases, benchmark, chosen))
    for row in chosen:
        subsets[row.subset]["explained"] += _key(benchmark, row) in shards
    asking = benchmark.base if isinstance(benchmark, LanguageModel) else benchmark
    asked = _Asked(benchmark, wordings(asking.name))
    places = {subset: place for place, subset in enumerate(subsets)}
    for number, shard in enumerate(batched(rows(), _ROWS_A_SHARD)):
        lines = ",\n".join(asked.line(row, places, shards) for row in shard)
        (folder / f"rows-{number:04d}.js").write_text(f"rows([\n{lines}\n])\n", "utf-8")
    files = math.ceil(sum(count["answers"] for count in subsets.values()) / _ROWS_A_SHARD)
    config = {"benchmark": benchmark.name, "subsets": [*subsets], "results": RESULTS, "shards": files}
    config |= {"command": benchmark.name in EXPLAINED, "subset_in_name": benchmark.subset_in_name}
    by_model = model.name if (model := read_model(workspace.data / benchmark.name)) else ""
    content = {"subsets": subsets, "limit": limit, "config": config, "by_model": by_model}
    content |= {"profile": workspace.settings.profile, "title": benchmark.title}
    content["file"] = workspace.name_of(file)
    write_page(out, answers_page(benchmark.name), "answers.html.j2", **content)
    return subsets, asked.wrong_answers(rows())


def _write_explanations(folder: Path, explanations: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Write the scripts of explanations; return the number of the script of each, by its row's key."""
    shards: dict[str, int] = {}
    for number, shard in enumerate(batched(explanations, _EXPLANATIONS_A_SHARD)):
        fragments = dict(shard)
        shards |= dict.fromkeys(fragments, number)
        write_script(folder / f"why-{number:04d}.js", "explanations", number, fragments)
    return shards


def _key(benchmark: Benchmark, row: Row) -> str:
    """The name of a row on its page."""
    return f"{row.subset}/{row.scene}/{benchmark.asked(row)}"


def _counted(benchmark: Benchmark, rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """The counts of some rows by subset."""
    counts = defaultdict[str, Counter[str]](Counter)
    for row in rows:
        counts[row.subset].update(("answers", result_of(row)))
    # Subsets follow the order of the benchmark's numbers; others come after them by name.
    named = dict.fromkeys(name_of(number).subset for number in benchmark.numbers)
    order = [*(subset for subset in named if subset in counts), *sorted(counts.keys() - named)]
    return {subset: counts[subset] for subset in order}


def _explanations(
    workspace: Workspace, explain_cases: Each, benchmark: Benchmark, rows: list[Row]
) -> Iterator[tuple[str, str]]:
    """The explanations of some rows as markup, each after its row's key."""
    if isinstance(benchmark, LanguageModel):
        wanted = {_key(benchmark, row) for row in rows}
        for row, behind in conversations(workspace, benchmark):
            if (key := _key(benchmark, row)) in wanted:
                yield key, str(macros().turns(behind))
    elif isinstance(benchmark, Explained):
        rows_by_scene = by_scene(rows)
        yield from explain_cases(benchmark, rows_by_scene, partial(reasons, benchmark, rows_by_scene))


def reasons(benchmark: Explained, rows: Mapping[str, Sequence[Row]], *case: Any) -> Iterator[tuple[str, str]]:
    """The explanations of a case's rows as markup, each with its row's key; arguments as for
    :func:`orchestration.lineage.explain.explain_case`.
    """
    for explained in explain_case(benchmark, rows, *case):
        yield _key(benchmark, explained.row), str(macros().reasons(pictured(benchmark, explained)))


def _wordings(workspace: Workspace, name: str) -> _Wordings:
    """The questions of a benchmark's answers as text."""
    benchmark = INTERPRETED[name]
    files = files_of(workspace, benchmark.source)
    cases = benchmark.source.cases(files, None, False).each if files else ()
    every = ((case, words) for case in cases for words in benchmark.wordings(case))
    return {(words.subset, str(case.scene), words.question): words for case, words in every}
