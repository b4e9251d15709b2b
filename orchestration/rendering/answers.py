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
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.benchmarks.benchmark import Benchmark, Explained, Wording
from orchestration.lineage.explain import Each, by_scene, explain_case
from orchestration.models.transcript import read_told
from orchestration.registry import BENCHMARKS, EXPLAINED, INTERPRETED
from orchestration.rendering.examples import pictured
from orchestration.rendering.page import NAMED, RIGHT, answers_page, macros, templates
from orchestration.rendering.part_cache import Keep
from orchestration.scoring.counting import rows_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of
from orchestration.workspace.requests import conversations
from orchestration.workspace.storage import batched
from substrate.domains.rows import Row

RESULTS = ("right", "wrong", "error", "ungraded")
ROWS_A_SHARD, EXPLANATIONS_A_SHARD = 5_000, 25
"""The rows, and the explanations, of a script; an explanation takes some 10 kB."""
Wordings = Mapping[tuple[str, str, str], Wording]
"""The text of questions, by subset, scene and question."""
SHOWN = 60
"""The most wrong answers of a language model whose prompts its page shows."""


Wrong = Mapping[str, str]
"""A wrong answer: its ``name`` for `substrate explain`, the ``text`` of its question, and its ``fault``."""


@dataclass
class Answers:
    """The counts of a benchmark's answers."""

    benchmark: Benchmark
    subsets: dict[str, Counter[str]]
    """By subset: the number of ``answers``, of each of :data:`RESULTS`, and of those ``explained``."""
    wrong: dict[str, Wrong]
    """The first wrong answers of each subset, by SUBSET/SCENE/QUESTION."""

    @property
    def count(self) -> Counter[str]:
        """The counts of all subsets, added up."""
        return sum(self.subsets.values(), Counter[str]())


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
        return Answers(benchmark, counted, wrong)

    files = [(benchmark, workspace.answers(name)) for name, benchmark in BENCHMARKS.items()]
    answered = [(benchmark, file) for benchmark, file in files if file.is_file() and file.stat().st_size]
    with ThreadPoolExecutor(2) as pool:
        writing = [pool.submit(copy_context().run, made, *of) for of in answered]
        return [written.result() for written in writing]


def _write(
    workspace: Workspace,
    explain_cases: Each,
    wordings: Callable[[str], Wordings],
    benchmark: Benchmark,
    file: Path,
    out: Path,
) -> tuple[dict[str, Counter[str]], dict[str, Wrong]]:
    folder = out / "answers" / benchmark.name
    folder.mkdir(parents=True)
    # The file is read anew for each use: a benchmark may have more rows than fit in memory.
    rows = partial(rows_of, file)
    subsets = _counted(benchmark, rows())
    most = benchmark.worked if isinstance(benchmark, Explained) else SHOWN * benchmark.by_model
    limit = _limit([count["wrong"] + count["error"] for count in subsets.values()], most)
    chosen = list(first_rows(rows(), limit, RIGHT))
    shards: dict[str, int] = {}
    explanations = _explanations(workspace, explain_cases, benchmark, chosen)
    for number, shard in enumerate(batched(explanations, EXPLANATIONS_A_SHARD)):
        fragments = dict(shard)
        shards |= dict.fromkeys(fragments, number)
        call = f"explanations({number}, {_json(fragments)})\n"
        (folder / f"why-{number:04d}.js").write_text(call, "utf-8")
    for row in chosen:
        subsets[row.subset]["explained"] += _key(benchmark, row) in shards
    words = wordings(benchmark.base.name if isinstance(benchmark, LanguageModel) else benchmark.name)
    wrong: dict[str, Wrong] = {}
    for row in first_rows(rows(), NAMED, 0):
        about = {"name": benchmark.answer_name(row), "text": _worded(benchmark, row, words).text}
        wrong[_key(benchmark, row)] = about | {"fault": fault(row)}
    places = {subset: place for place, subset in enumerate(subsets)}
    for number, shard in enumerate(batched(rows(), ROWS_A_SHARD)):
        lines = ",\n".join(_line(benchmark, row, places, words, shards) for row in shard)
        (folder / f"rows-{number:04d}.js").write_text(f"rows([\n{lines}\n])\n", "utf-8")
    config = {
        "benchmark": benchmark.name,
        "subsets": [*subsets],
        "results": RESULTS,
        "shards": math.ceil(sum(count["answers"] for count in subsets.values()) / ROWS_A_SHARD),
        "command": benchmark.name in EXPLAINED,
        "subset_in_name": benchmark.subset_in_name,
    }
    page = templates().get_template("answers.html.j2")
    text = page.render(
        profile=workspace.settings.profile,
        title=benchmark.title,
        subsets=subsets,
        limit=limit,
        config=config,
        by_model=told.name if (told := read_told(workspace.data / benchmark.name)) else "",
        file=workspace.name_of(file),
        up="../",
    )
    (out / answers_page(benchmark.name)).write_text(text, "utf-8")
    return subsets, wrong


def _key(benchmark: Benchmark, row: Row) -> str:
    """The name of a row on its page."""
    return f"{row.subset}/{row.scene}/{benchmark.asked(row)}"


def _result(row: Row) -> str:
    if row.error is not msgspec.UNSET:
        return "error"
    return {None: "ungraded", True: "right", False: "wrong"}[row.correct]


def _counted(benchmark: Benchmark, rows: Iterable[Row]) -> dict[str, Counter[str]]:
    """The counts of some rows by subset."""
    counts = defaultdict[str, Counter[str]](Counter)
    for row in rows:
        counts[row.subset].update(("answers", _result(row)))
    # Subsets follow the order of the benchmark's numbers; others come after them by name.
    named = dict.fromkeys(number.split("/")[1] for number in benchmark.numbers)
    order = [*(subset for subset in named if subset in counts), *sorted(counts.keys() - named)]
    return {subset: counts[subset] for subset in order}


def first_rows(
    rows: Iterable[Row], wrong: int | None, others: int, group: Callable[[Row], Any] = attrgetter("subset")
) -> Iterator[Row]:
    """The first rows of each subset, or of another group.

    Args:
        wrong: the most rows of a group that are wrong or cannot run; ``None`` for all.
        others: the most other rows of a group.
    """
    taken = Counter[tuple[Any, bool]]()
    for row in rows:
        of = group(row), _result(row) in ("wrong", "error")
        most = wrong if of[1] else others
        taken[of] += 1
        if most is None or taken[of] <= most:
            yield row


def fault(row: Row) -> str:
    """Say what is wrong with an answer, so that answers with the same fault form a group."""
    if row.error is not msgspec.UNSET:
        return f"cannot run: {row.error}"
    if row.choices is msgspec.UNSET:
        return f"“{row.predicted}” instead of “{row.expected}”"
    faults = {choice.predicted for choice in row.choices if choice.predicted != choice.expected}
    if len(faults) > 1:
        return "a choice that holds is denied, and another that does not hold is affirmed"
    if faults == {"correct"}:
        return "a choice that does not hold is affirmed"
    return "a choice that holds is denied"


def _limit(wrong: Sequence[int], most: int) -> int | None:
    """The most wrong rows to take from each subset so that the total stays within ``most``.

    >>> _limit([7, 30, 50], 60), _limit([7, 30, 50], 90)
    (26, None)
    """
    if sum(wrong) <= most:
        return None
    return max(n for n in range(most + 1) if sum(min(n, count) for count in wrong) <= most)


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


def _wordings(workspace: Workspace, name: str) -> Wordings:
    """The questions of a benchmark's answers as text."""
    benchmark = INTERPRETED[name]
    files = files_of(workspace, benchmark.source)
    cases = benchmark.source.cases(files, None, False).each if files else ()
    every = ((case, words) for case in cases for words in benchmark.wordings(case))
    return {(words.subset, str(case.scene), words.question): words for case, words in every}


def _worded(benchmark: Benchmark, row: Row, wordings: Wordings) -> Wording:
    """The text of a row's question."""
    question = benchmark.asked(row)
    worded = (wordings.get((subset, str(row.scene), question)) for subset in ("", row.subset))
    return next(filter(None, worded), Wording(question, ""))


def _line(
    benchmark: Benchmark, row: Row, places: Mapping[str, int], wordings: Wordings, shards: Mapping[str, int]
) -> str:
    """A row in the format of the page's script."""
    question, scene = benchmark.asked(row), str(row.scene)
    words = _worded(benchmark, row, wordings)
    choices = None
    if row.choices is not msgspec.UNSET:
        options = zip(row.choices, chain(words.choices, repeat("")), strict=False)
        choices = [(text, choice.predicted, choice.expected) for choice, text in options]
    error = None if row.error is msgspec.UNSET else row.error
    answers = (None, None) if choices else (row.predicted, row.expected)
    result, shard = RESULTS.index(_result(row)), shards.get(_key(benchmark, row))
    return _json((places[row.subset], scene, question, words.text, *answers, result, shard, choices, error))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
