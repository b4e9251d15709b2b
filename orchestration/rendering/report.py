"""The report: one HTML page with a run's tables, figures, explanations and traces, that loads nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import msgspec
from markupsafe import Markup, escape

from orchestration.benchmarks.registry import BENCHMARKS
from orchestration.lineage.number import Lineage, environment, trace_number
from orchestration.named import kind_of
from orchestration.rendering.experiments import HORIZON, cross_domain, twin_of
from orchestration.rendering.figures import Curve, ablation_curve, accuracy_by_subset
from orchestration.rendering.tables import Table
from orchestration.rendering.timelines import STATES
from orchestration.rendering.worked import worked_examples
from orchestration.scoring.likeness import marked, stated
from orchestration.scoring.published import published
from orchestration.scoring.scores import Score, read_scores, score_file
from orchestration.workspace import Workspace

SUBSETS = ("descriptive", "explanatory", "counterfactual", "predictive")
TABLES = {
    "clevrer": "Table 1: CLEVRER",
    "transfer": "Transfer to other benchmarks",
    "twin": "Table 2: Twin-EventLog",
    "ablations": "Ablations",
}
MARKED = ("substrate", "ns_dr", "aloe", "memn2n", "pcr", "llama_direct", "concordia")
"""Whose published numbers have a mark of their own."""


class Source(NamedTuple):
    """What a benchmark's numbers were computed on."""

    title: str
    kind: str
    size: str


class Cell(NamedTuple):
    """A cell of a table; a measured number has the name that its trace goes by."""

    text: str
    number: str | None = None


class PrintedTable(NamedTuple):
    """One of the run's tables, its measured numbers tied to their scores."""

    name: str
    title: str
    heads: list[str]
    rows: list[list[Cell]]
    caption: str


class ForestRow(NamedTuple):
    """A number in the forest plot; places are per cent of the axis, from 0 to 100."""

    score: Score
    label: str
    x: float | None
    interval: tuple[float, float] | None
    published: list[tuple[str, float, str]]


class Forest(NamedTuple):
    """Numbers by benchmark, and the axis's labels with their places."""

    groups: list[tuple[str, list[ForestRow]]]
    axis: list[tuple[float, str]]
    systems: list[str]
    """Whose published numbers there are."""


def render(workspace: Workspace) -> str:
    """The page of a run, from its scores, tables, answers and logs."""
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {"anchor": anchor, "breakable": breakable, "flat": flat, "percent": percent}
    jinja.globals |= {
        "STATES": STATES,
        "TITLES": {name: benchmark.title for name, benchmark in BENCHMARKS.items()},
        "marked": marked,
        "stated": stated,
        "MARKED": MARKED,
        "HORIZON": HORIZON,
        "zip": zip,
    }
    style = Markup((Path(__file__).parent / "report.css").read_text("utf-8"))
    return jinja.get_template("report.html.j2").render(style=style, **_content(workspace))


def _content(workspace: Workspace) -> dict[str, Any]:
    folder = workspace.artifacts / "scores"
    # A baseline that was not run has no scores.
    scores = {
        name: read_scores(folder, benchmark.numbers)
        for name, benchmark in BENCHMARKS.items()
        if (folder / score_file(benchmark.numbers[0])).is_file()
    }
    every = [score for found in scores.values() for score in found.values()]
    sources = data_sources(workspace)
    curves = workspace.artifacts / "ablations" / "curves.json"
    lineage = Lineage(workspace)
    drawn = msgspec.json.decode(curves.read_bytes(), type=list[Curve]) if curves.is_file() else []
    return {
        "profile": workspace.settings.profile,
        "seed": workspace.settings.seed,
        "clevrer_on": _MEASURED_ON[kind_of(workspace, BENCHMARKS["clevrer"])],
        "sources": sources,
        "summary": _summary(workspace, every, sources),
        "official": {source.kind for source in sources} == {"official"},
        "generated": any(source.kind == "generated" for source in sources),
        "tables": {table.name: table for table in _tables(workspace, scores)},
        "forest": forest(scores),
        "accuracy": Markup(accuracy_by_subset("accuracy", scores["clevrer"], SUBSETS)),
        "curves": [
            (curve, Markup(ablation_curve(f"curve{number}", curve))) for number, curve in enumerate(drawn)
        ],
        "domains": cross_domain(),
        "twin": twin_of(workspace),
        "worked": list(worked_examples(workspace)),
        "traces": {
            benchmark: [trace_number(lineage, name) for name in found] for benchmark, found in scores.items()
        },
        "environment": environment(workspace),
        "citations": {who: system.citation for who, system in published().systems.items()},
    }


_MEASURED_ON = {
    "official": "the official validation split",
    "generated": "a generated world, which may be easier or harder",
    "local": "official files of the user",
    "none": "nothing",
}


def data_sources(workspace: Workspace) -> list[Source]:
    """What each of the profile's benchmarks was computed on: ``official``, ``generated``, ``local`` or
    ``none``.
    """
    found: list[Source] = []
    for benchmark in BENCHMARKS.values():
        if benchmark.data:
            data = workspace.settings.data(benchmark.name)
            size = benchmark.size(data) if data.source == "generated" else ""
            kind = kind_of(workspace, benchmark)
            found.append(Source(benchmark.title.partition(",")[0], kind, size))
    return found


def _summary(
    workspace: Workspace, scores: Sequence[Score], sources: Iterable[Source]
) -> list[tuple[str, str]]:
    """The figures of the strip under the title, each with what it counts."""
    folders = [workspace.artifacts / benchmark for benchmark in BENCHMARKS]
    answers, logs = (
        sum(_lines(folder / file) for folder in folders) for file in ("answers.jsonl", "logs/index.jsonl")
    )
    measured = sum(score.accuracy is not None for score in scores)
    official = [source.title for source in sources if source.kind == "official"]
    return [
        (f"{answers:,}", "answers, each a row with the hash of its log"),
        (f"{logs:,}", "event logs"),
        (f"{measured}", f"numbers measured, {len(scores) - measured} not"),
        (
            f"{len(official)}",
            "benchmarks on official data" + (f": {', '.join(official)}" if official else ""),
        ),
    ]


def _lines(path: Path) -> int:
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _tables(workspace: Workspace, scores: Mapping[str, Mapping[str, Score]]) -> list[PrintedTable]:
    """The run's tables, with every cell that the other formats have."""
    made = []
    every = {key: score for found in scores.values() for key, score in found.items()}
    for name, title in TABLES.items():
        path = workspace.artifacts / "tables" / f"{name}.json"
        if path.is_file():
            table = msgspec.json.decode(path.read_bytes(), type=Table)
            rows = zip(table.rows, table.numbers, strict=True)
            linked = [
                [
                    _cell(text, number, cited, every)
                    for text, number, cited in zip(row, numbers, table.cited, strict=True)
                ]
                for row, numbers in rows
            ]
            made.append(PrintedTable(name, title, list(table.heads), linked, table.caption))
    return made


def _cell(text: str, number: str, cited: Mapping[str, str], scores: Mapping[str, Score]) -> Cell:
    """A cell, tied to its number where it shows what was measured."""
    score = scores.get(number)
    return Cell(text, number if score and not cited and text.partition(" [")[0] == percent(score) else None)


def percent(score: Score) -> str:
    """A score as the tables print it."""
    return "not measured" if score.accuracy is None else f"{100 * score.accuracy:.2f} %"


def anchor(number: str) -> str:
    """The id of a number's trace in the page.

    >>> anchor("clevrer/predictive/per_option")
    'trace-clevrer-predictive-per_option'
    """
    return f"trace-{number.replace('/', '-')}"


def breakable(text: str) -> Markup:
    """A number's name that may be broken after a slash, a dot or an underscore.

    >>> str(breakable("babi/qa1"))
    'babi/<wbr>qa1'
    """
    return Markup(re.sub(r"([/_.])", r"\1<wbr>", str(escape(text))))


def flat(value: Any, prefix: str = "") -> list[tuple[str, str]]:
    """Nested parameters as dotted keys; those that are not set are left out.

    >>> flat({"clevrer": {"predictive": {"tau": None, "configuration": "C"}}, "seed": 20})
    [('clevrer.predictive.configuration', 'C'), ('seed', '20')]
    """
    if isinstance(value, dict):
        return [
            pair for key in sorted(value) for pair in flat(value[key], f"{prefix}.{key}" if prefix else key)
        ]
    return [] if value is None else [(prefix, str(value).lower() if isinstance(value, bool) else str(value))]


def forest(scores: Mapping[str, Mapping[str, Score]]) -> Forest:
    """The forest plot of every number: measured with its interval, and what was published of it."""
    every = [score for found in scores.values() for score in found.values()]
    values = [value for score in every for value in (*(score.wilson or ()), *score.published.values())]
    low = math.floor(10 * min(values, default=0)) / 10

    def place(value: float) -> float:
        return round(100 * (value - low) / (1 - low), 2)

    groups = [
        (
            BENCHMARKS[benchmark].title,
            [
                ForestRow(
                    score,
                    f"{score.subset} {score.metric}".replace("_", " ").strip(),
                    None if score.accuracy is None else place(score.accuracy),
                    score.wilson and (place(score.wilson[0]), place(score.wilson[1])),
                    [(who, place(value), stated(score, who)) for who, value in score.published.items()],
                )
                for score in found.values()
            ],
        )
        for benchmark, found in scores.items()
    ]
    axis = [(place(tick / 100), f"{tick}") for tick in range(100, round(100 * low) - 1, -20)]
    there = {who for score in every for who in score.published}
    return Forest(groups, axis, [who for who in published().systems if who in there])
