"""The stages that show results: comparisons, tables, list of numbers, report, provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from orchestration.base.beyond import beyond
from orchestration.benchmarks.baselines import COMPARED, COMPARISONS, LanguageModel
from orchestration.benchmarks.benchmark import Benchmark, Explained, Interpreted, Table
from orchestration.pins.paths import OF_CLAIMS, pin_name
from orchestration.registry import STAGES_BEYOND, STUDIES
from orchestration.rendering.layouts.results import LAYOUTS
from orchestration.rendering.report.part_cache import PartCache
from orchestration.rendering.report.report import write_report
from orchestration.rendering.tables import FORMATS, write_csv
from orchestration.scoring.counting import compare
from orchestration.scoring.scores import Score, read_scores
from orchestration.spark.answers import each_case
from orchestration.stage import Stage, in_order, needed
from orchestration.workspace.folders import Workspace
from substrate.base.files import write_json

Benchmarks = Sequence[Benchmark]
# Pairs of a benchmark that the substrate answers and a language model's.
Pairs = Sequence[tuple[Benchmark, Benchmark]]
REPORT = "artifacts/{profile}/report"
HEADS = ("number", "n", "correct", "accuracy", "low", "high")


def result_stages(benchmarks: Benchmarks, tables: Iterable[tuple[Table, Benchmarks]]) -> Iterator[Stage]:
    """Make the stages of the tables, each of some benchmarks, and of the files next to them."""
    if pairs := _pairs(benchmarks):
        yield Stage(
            COMPARED,
            (COMPARISONS,),
            partial(make_comparisons, pairs),
            "The substrate against each language model on what both were asked: Newcombe's interval of the "
            "difference, McNemar's exact p.",
            needs=tuple(sorted({f"{benchmark.name}/answers" for pair in pairs for benchmark in pair})),
            functions=tuple(pair[1].whole.measure for pair in pairs),
        )
    studies = {study.name for study in STUDIES}
    for table, members in tables:
        sources = sorted({benchmark.source.name for benchmark in members if not benchmark.by_model})
        keys = sorted({key for benchmark in members for key in benchmark.keys})
        yield Stage(
            f"tables/{table.name}",
            tuple(f"artifacts/{{profile}}/tables/{table.name}.{suffix}" for suffix in FORMATS),
            partial(make_table, table, members),
            table.about,
            needs=(
                *(f"{benchmark.name}/scores" for benchmark in members),
                *(f"{data}/dataset" for data in sources),
                # The rows that trivial methods are compared with, and the name of the model that answered.
                *(f"{benchmark.name}/answers" for benchmark in members),
                *(f"{benchmark.name}/dataset" for benchmark in members if benchmark.by_model),
                *(stage for stage in table.trivial if stage.partition("/")[0] in studies),
                *table.needs,
            ),
            parameters=("seed", *(f"profiles.{{profile}}.{data}" for data in sources), *keys),
            functions=tuple(call for benchmark in members for call in _counted_by(benchmark)),
        )
    yield Stage(
        "tables/numbers",
        ("artifacts/{profile}/tables/numbers.csv",),
        partial(make_numbers, tuple(benchmarks)),
        "Every measured number with its counts and 95 % interval as CSV, which `dvc plots` draws.",
        needs=tuple(f"{benchmark.name}/scores" for benchmark in benchmarks),
    )


def describing_stages(benchmarks: Benchmarks, stages: Iterable[Stage]) -> Iterator[Stage]:
    """Make the stages of report and provenance; they describe the other stages and depend on their code."""
    named = in_order(stages)
    # The report has a section for each of these kinds of stages; stages that none of them needs are left out.
    parts = ("tables/", "/scores", "/curves", "reliability/")
    reported = [name for name in named if any(part in name for part in parts)]
    described = tuple(named[name] for name in needed(named, reported))
    keys = tuple(sorted({key for stage in described for key in stage.parameters}))
    needs = tuple(stage.name for stage in described)
    of_studies = (call for study in STUDIES for call in (study.sections, study.figures))
    calls = (*_describing(benchmarks), *of_studies)
    yield Stage(
        "report/html",
        (REPORT,),
        partial(make_report, described, calls),
        "Tables, figures, every answer, explanations and traces as HTML pages that open from disk.",
        needs=needs,
        parameters=("profiles.{profile}", *keys),
        functions=calls,
        describes=described,
        kinds=("spark",),
        pinned_by="nothing",
        outside=_pins_of_others,
    )
    for name in STAGES_BEYOND:
        if make := beyond(name):
            yield make(benchmarks, described)


def _pins_of_others(workspace: Workspace) -> dict[str, Path]:
    """The pins of the other profiles that decide the paper's claims."""
    own = pin_name(workspace.settings.profile)
    return {name: path for name in OF_CLAIMS if name != own and (path := workspace.root / name).is_file()}


def _counted_by(benchmark: Benchmark) -> Iterator[Callable[..., Any]]:
    """The functions that count a benchmark's questions and, for trivial constants, its right answers."""
    yield benchmark.source.size
    yield from (metric.measure for metric in benchmark.metrics.values())


def _describing(benchmarks: Iterable[Benchmark]) -> Iterator[Callable[..., Any]]:
    """The functions by which benchmarks describe their questions and answers."""
    for benchmark in benchmarks:
        yield from (benchmark.asked, *_counted_by(benchmark))
        if isinstance(benchmark, Interpreted):
            yield benchmark.wordings
        if isinstance(benchmark, Explained):
            yield from (benchmark.explain, benchmark.picture)
            yield from (given.shown for given in (*benchmark.exhibits, *benchmark.pages))


def _pairs(benchmarks: Benchmarks) -> tuple[tuple[Benchmark, Benchmark], ...]:
    """Each language model that answers from logs, paired with the benchmark that it is asked about."""
    models = [model for model in benchmarks if isinstance(model, LanguageModel)]
    # A model that sees photographs gets other questions than the substrate: photographs have no log.
    pairs: list[tuple[Benchmark, Benchmark]] = [(model.base, model) for model in models if not model.sees]
    # The models that are judged scene by scene come first, in the order of table 2.
    return tuple(sorted(pairs, key=lambda pair: not pair[1].whole.together))


def make_comparisons(pairs: Pairs, workspace: Workspace, out: Path) -> dict[str, Any]:
    """Compare the answers of each pair."""
    answers = workspace.answers
    compared = [compare(answers(first.name), answers(second.name), second.whole) for first, second in pairs]
    write_json(out, compared, indent=1)
    apart = {f"{pair.first} - {pair.second}": pair.difference for pair in compared}
    return {pair: "not measured" if value is None else value for pair, value in apart.items()}


def _scores(workspace: Workspace, benchmarks: Benchmarks) -> dict[str, Score]:
    numbers = [number for benchmark in benchmarks for number in benchmark.numbers]
    return read_scores(workspace.artifacts, numbers)


def make_table(table: Table, benchmarks: Benchmarks, workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Write a table of results in each format."""
    # The table also has numbers of other benchmarks, below the numbers of its own.
    scores = _scores(workspace, benchmarks) | read_scores(workspace.artifacts, table.beyond)
    laid_out = LAYOUTS[table.layout](table, benchmarks, scores, workspace)
    for suffix, out in zip(FORMATS, outs, strict=True):
        out.write_text(laid_out.render(suffix), "utf-8")
    return {}


def make_numbers(benchmarks: Benchmarks, workspace: Workspace, out: Path) -> dict[str, Any]:
    """Write one line per measured number."""
    scores = _scores(workspace, benchmarks).values()
    measured = [(s.name, s.n, s.correct, s.accuracy, *s.wilson) for s in scores if s.wilson]
    write_csv(out, [HEADS, *measured])
    return {"numbers": len(measured)}


def make_report(
    described: Sequence[Stage], calls: Sequence[Callable[..., Any]], workspace: Workspace, out: Path
) -> dict[str, Any]:
    """Pages for a reader of the whole run.

    Args:
        calls: the functions by which benchmarks and studies say what is shown.
    """
    each = partial(each_case, workspace, "report/html")
    cache = PartCache(workspace.root, write_report, *calls)
    return write_report(workspace, out, {stage.name: stage for stage in described}, each, cache)
