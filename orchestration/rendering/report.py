"""The report: one HTML page that holds a run's tables, figures, explanations and traces, and loads nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import msgspec
from markupsafe import Markup, escape

from orchestration.logs import INDEX
from orchestration.rendering.experiments import HORIZON, cross_domain, village_twin
from orchestration.rendering.figures import Curve, ablation_curve, accuracy_by_subset
from orchestration.rendering.timelines import STATES
from orchestration.rendering.traces import trace_of
from orchestration.rendering.worked import worked_examples
from orchestration.scores import METRICS, Score, published, read_scores
from orchestration.workspace import Workspace

SUBSETS = ("descriptive", "explanatory", "counterfactual", "predictive")
TITLES = {
    "clevrer": "CLEVRER",
    "comphy": "ComPhy, no property inferred",
    "comphy_inferred": "ComPhy, mass and charge inferred",
    "gqa": "GQA",
    "babi": "bAbI",
    "clevrer_humans": "CLEVRER-Humans",
    "twin": "Twin-EventLog",
    "ablations": "Ablations on CLEVRER",
}
TABLES = {"clevrer": "Table 1: CLEVRER", "transfer": "Transfer to other benchmarks", "twin": "Table 2: Twin-EventLog", "ablations": "Ablations"}
SYSTEMS = {
    "substrate": "substrate",
    "ns_dr": "NS-DR",
    "aloe": "ALOE",
    "memn2n": "MemN2N",
    "pcr": "PCR",
    "llama_direct": "Llama-3.1-8B direct",
    "concordia": "Concordia-style",
}
"""Whose published numbers have a mark of their own, in the legend's order."""


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
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"anchor": anchor, "breakable": breakable, "percent": percent}
    environment.globals |= {"STATES": STATES, "TITLES": TITLES, "SYSTEMS": SYSTEMS, "HORIZON": HORIZON, "zip": zip}
    style = Markup((Path(__file__).parent / "report.css").read_text("utf-8"))
    return environment.get_template("report.html.j2").render(style=style, **_content(workspace))


def _content(workspace: Workspace) -> dict[str, Any]:
    folder = workspace.artifacts / "scores"
    # A baseline that was not run has no scores.
    scores = {benchmark: read_scores(folder, benchmark) for benchmark, names in METRICS.items() if (folder / f"{names[0].replace('/', '.')}.json").is_file()}
    every = [score for found in scores.values() for score in found.values()]
    sources = data_sources(workspace)
    curves = workspace.artifacts / "ablations" / "curves.json"
    drawn = msgspec.json.decode(curves.read_bytes(), type=list[Curve]) if curves.is_file() else []
    return {
        "profile": workspace.settings.profile,
        "seed": workspace.settings.seed,
        "clevrer_official": workspace.settings.data.clevrer.source == "official",
        "sources": sources,
        "summary": _summary(workspace, every, sources),
        "official": {source.kind for source in sources} == {"official"},
        "generated": any(source.kind == "generated" for source in sources),
        "tables": {table.name: table for table in _tables(workspace, scores)},
        "forest": forest(scores),
        "accuracy": Markup(accuracy_by_subset("accuracy", scores["clevrer"], SUBSETS)),
        "curves": [(curve, Markup(ablation_curve(f"curve{number}", curve))) for number, curve in enumerate(drawn)],
        "domains": cross_domain(),
        "twin": village_twin(),
        "worked": list(worked_examples(workspace)),
        "traces": {benchmark: [trace_of(workspace, score) for score in found.values()] for benchmark, found in scores.items()},
        "citations": published()["citations"],
    }


def data_sources(workspace: Workspace) -> list[Source]:
    """What each of the profile's benchmarks was computed on: ``official``, ``generated`` or ``none``."""
    found = []
    for benchmark, data in msgspec.to_builtins(workspace.settings.data).items():
        values = {key: value for key, value in (data or {}).items() if value}
        named = any(isinstance(value, str) for key, value in values.items() if key not in ("source", "mirror"))
        kind = values.pop("source", "official" if named else "generated" if values else "none")
        sizes = [f"{value:,} {_COUNTED.get(key, key)}" for key, value in values.items() if isinstance(value, int) and key != "first_scene"]
        found.append(Source(str(TITLES.get(benchmark, benchmark)).partition(",")[0], kind, ", ".join(sizes)))
    return found


_COUNTED = {"questions": "questions a task"}


def _summary(workspace: Workspace, scores: Sequence[Score], sources: Iterable[Source]) -> list[tuple[str, str]]:
    """The figures of the strip under the title, each with what it counts."""
    folders = [workspace.artifacts / benchmark for benchmark in METRICS]
    answers, logs = (sum(_lines(folder / file) for folder in folders) for file in ("answers.jsonl", f"logs/{INDEX}"))
    measured = sum(score.accuracy is not None for score in scores)
    official = [source.title for source in sources if source.kind == "official"]
    return [
        (f"{answers:,}", "answers, each a row with the hash of its log"),
        (f"{logs:,}", "event logs"),
        (f"{measured}", f"numbers measured, {len(scores) - measured} not"),
        (f"{len(official)}", "benchmarks on official data" + (f": {', '.join(official)}" if official else "")),
    ]


def _lines(path: Path) -> int:
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _tables(workspace: Workspace, scores: Mapping[str, Mapping[str, Score]]) -> list[PrintedTable]:
    """The run's tables. On generated data a gap to a rival on official data would compare nothing, and its column is left out."""
    made = []
    for name, title in TABLES.items():
        path = workspace.artifacts / "tables" / f"{name}.md"
        if path.is_file():
            heads, rows, caption = parse_table(path.read_text("utf-8"))
            linked = link(name, heads, rows, [score for found in scores.values() for score in found.values()])
            kept = [i for i, head in enumerate(heads) if not (head.startswith("gap") and "not the official data" in caption)]
            made.append(PrintedTable(name, title, [heads[i] for i in kept], [[row[i] for i in kept] for row in linked], caption))
    return made


def parse_table(text: str) -> tuple[list[str], list[list[str]], str]:
    """Heads, rows and caption of a Markdown table as the tables' stage writes it.

    >>> parse_table("| a | b |\\n|---|---|\\n| x | 1.00 % |\\n\\n*A caption.*\\n")
    (['a', 'b'], [['x', '1.00 %']], 'A caption.')
    """
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return lines[0], lines[2:], text.rpartition("\n\n")[2].strip().strip("*")


def link(table: str, heads: Sequence[str], rows: Iterable[Sequence[str]], scores: Sequence[Score]) -> list[list[Cell]]:
    """The table's cells, those that show a score tied to it.

    A cell shows the score that has its text and, of several, the one whose name shares most words with
    its table, row and head; a score is shown once.
    """
    left = list(scores)
    linked = []
    for row in rows:
        cells = []
        for head, text in zip(heads, row, strict=True):
            same = [] if head in _PUBLISHED_HEADS else [score for score in left if text.partition(" [")[0] == percent(score)]
            words = _words(f"{table} {row[0]} {head}")
            best = max(same, key=lambda score: len(_words(score.name) & words), default=None)
            if best:
                left.remove(best)
            cells.append(Cell(text, best and best.name))
        linked.append(cells)
    return linked


_PUBLISHED_HEADS = ("paper", "others", "NS-DR", "ALOE")


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


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


def forest(scores: Mapping[str, Mapping[str, Score]]) -> Forest:
    """The forest plot of every number: measured with its interval, and what was published of it."""
    every = [score for found in scores.values() for score in found.values()]
    values = [value for score in every for value in (*(score.wilson or ()), *score.published.values())]
    low = math.floor(10 * min(values, default=0)) / 10

    def place(value: float) -> float:
        return round(100 * (value - low) / (1 - low), 2)

    groups = [
        (
            TITLES.get(benchmark, benchmark),
            [
                ForestRow(
                    score,
                    f"{score.subset} {score.metric}".replace("_", " ").strip(),
                    None if score.accuracy is None else place(score.accuracy),
                    score.wilson and (place(score.wilson[0]), place(score.wilson[1])),
                    [(who, place(value), f"{SYSTEMS.get(who, who)} {100 * value:.2f} %") for who, value in score.published.items()],
                )
                for score in found.values()
            ],
        )
        for benchmark, found in scores.items()
    ]
    axis = [(place(tick / 100), f"{tick}") for tick in range(100, round(100 * low) - 1, -20)]
    there = {who for score in every for who in score.published}
    return Forest(groups, axis, [who for who in SYSTEMS if who in there] + sorted(there - SYSTEMS.keys()))
