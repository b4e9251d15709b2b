"""Every answer of a run: a page per benchmark, with scripts that hold its rows and their explanations.

A page from disk can load only scripts; the scripts of explanations are loaded when a reader opens a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

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
ROWS_A_SHARD = 5_000
BYTES_A_SHARD = 250_000
"""The size of a shard of explanations in bytes."""
Wordings = Mapping[tuple[str, str, str], Wording]
"""The text of questions, by subset, scene and question."""
SHOWN = 60
"""The most wrong answers of a language model whose prompts its page shows."""


class Wrong(NamedTuple):
    """A wrong answer: its name as `substrate explain` takes it, its question, and what is wrong with it."""

    name: str
    text: str
    fault: str


@dataclass
class Answers:
    """The counts of a benchmark's answers."""

    benchmark: Benchmark
    subsets: dict[str, Counter[str]]
    """By subset: the number of ``answers``, of each of :data:`RESULTS`, and of those ``explained``."""
    limit: int | None
    """The wrong answers per subset that have their steps in the report; ``None`` for all."""
    wrong: dict[str, Wrong]
    """The first wrong answers of each subset, by SUBSET/SCENE/QUESTION."""

    @property
    def page(self) -> str:
        """The path of their page in the report."""
        return answers_page(self.benchmark.name)

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
        subsets, limit, wrong = keep("answers", benchmark, write)
        counted = {subset: Counter[str](counts) for subset, counts in subsets.items()}
        return Answers(benchmark, counted, limit, {key: Wrong(*of) for key, of in wrong.items()})

    files = [(benchmark, workspace.answers(name)) for name, benchmark in BENCHMARKS.items()]
    with ThreadPoolExecutor(2) as pool:
        writing = [
            pool.submit(copy_context().run, made, benchmark, file)
            for benchmark, file in files
            if file.is_file() and file.stat().st_size
        ]
        return [written.result() for written in writing]


def _write(
    workspace: Workspace,
    explain_cases: Each,
    wordings: Callable[[str], Wordings],
    benchmark: Benchmark,
    file: Path,
    out: Path,
) -> tuple[dict[str, Counter[str]], int | None, dict[str, Wrong]]:
    folder = out / "answers" / benchmark.name
    folder.mkdir(parents=True)
    answers, chosen = _counted(benchmark, file)
    shards: dict[str, int] = {}
    for number, fragments in enumerate(_explanations(workspace, explain_cases, benchmark, chosen)):
        shards |= dict.fromkeys(fragments, number)
        call = f"explanations({number}, {_json(fragments)})\n"
        (folder / f"why-{number:04d}.js").write_text(call, "utf-8")
    for row in chosen:
        answers.subsets[row.subset]["explained"] += _key(benchmark, row) in shards
    places = {subset: place for place, subset in enumerate(answers.subsets)}
    interpreted = benchmark.asks if isinstance(benchmark, LanguageModel) else benchmark
    words = wordings(interpreted.name)
    taken = Counter[str]()
    for row in rows_of(file):
        if _result(row) in ("wrong", "error") and taken[row.subset] < NAMED:
            taken[row.subset] += 1
            text = _worded(benchmark, row, words).text
            answers.wrong[_key(benchmark, row)] = Wrong(benchmark.answer_name(row), text, fault(row))
    lines = (_line(benchmark, row, places, words, shards) for row in rows_of(file))
    count = 0
    for count, shard in enumerate(batched(lines, ROWS_A_SHARD), 1):
        (folder / f"rows-{count - 1:04d}.js").write_text("rows([\n" + ",\n".join(shard) + "\n])\n", "utf-8")
    config = {
        "benchmark": benchmark.name,
        "subsets": [*answers.subsets],
        "results": RESULTS,
        "shards": count,
        "command": benchmark.name in EXPLAINED,
        "subset_in_name": benchmark.subset_in_name,
    }
    page = templates().get_template("answers.html.j2")
    text = page.render(
        profile=workspace.settings.profile,
        answers=answers,
        config=config,
        by_model=told.name if (told := read_told(workspace.data / benchmark.name)) else "",
        file=workspace.name_of(file),
        up="../",
    )
    (out / answers.page).write_text(text, "utf-8")
    return answers.subsets, answers.limit, answers.wrong


def _key(benchmark: Benchmark, row: Row) -> str:
    """The name of a row on its page."""
    return f"{row.subset}/{row.scene}/{benchmark.asked(row)}"


def _result(row: Row) -> str:
    if row.error is not msgspec.UNSET:
        return "error"
    return {None: "ungraded", True: "right", False: "wrong"}[row.correct]


def _counted(benchmark: Benchmark, file: Path) -> tuple[Answers, list[Row]]:
    """The counts of a file's rows, and the rows to explain: each subset's first wrong rows and others."""
    counts: dict[str, Counter[str]] = {}
    for row in rows_of(file):
        counts.setdefault(row.subset, Counter()).update(("answers", _result(row)))
    most = benchmark.worked if isinstance(benchmark, Explained) else SHOWN * benchmark.by_model
    limit = _limit([count["wrong"] + count["error"] for count in counts.values()], most)
    taken, chosen = Counter[tuple[str, bool]](), list[Row]()
    for row in rows_of(file):
        wrong = _result(row) in ("wrong", "error")
        wanted = limit if wrong else RIGHT
        if wanted is None or taken[row.subset, wrong] < wanted:
            taken[row.subset, wrong] += 1
            chosen.append(row)
    # Subsets follow the order of the benchmark's numbers; others come after them by name.
    named = dict.fromkeys(number.split("/")[1] for number in benchmark.numbers)
    order = [*(subset for subset in named if subset in counts), *sorted(counts.keys() - named)]
    return Answers(benchmark, {subset: counts[subset] for subset in order}, limit, {}), chosen


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
) -> Iterator[dict[str, str]]:
    """The explanations of some rows as markup by the rows' keys, in batches of limited size."""
    if isinstance(benchmark, LanguageModel):
        wanted = {_key(benchmark, row) for row in rows}
        replied = ((_key(benchmark, row), behind) for row, behind in conversations(workspace, benchmark))
        yield {key: str(macros().turns(behind)) for key, behind in replied if key in wanted}
    if not isinstance(benchmark, Explained):
        return
    rows_by_scene = by_scene(rows)
    full, shard = 0, dict[str, str]()
    for key, fragment in explain_cases(benchmark, rows_by_scene, partial(reasons, benchmark, rows_by_scene)):
        shard[key] = fragment
        full += len(fragment)
        if full >= BYTES_A_SHARD:
            yield shard
            full, shard = 0, {}
    if shard:
        yield shard


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
        texts = dict(enumerate(words.choices))
        choices = [
            (texts.get(n, ""), choice.predicted, choice.expected) for n, choice in enumerate(row.choices)
        ]
    error = None if row.error is msgspec.UNSET else row.error
    answers = (None, None) if choices else (row.predicted, row.expected)
    result, shard = RESULTS.index(_result(row)), shards.get(_key(benchmark, row))
    return _json((places[row.subset], scene, question, words.text, *answers, result, shard, choices, error))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
