"""The report: a folder of HTML pages with a run's tables, figures, answers, explanations and traces.

It opens from disk, and loads nothing that does not lie in it.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import jinja2
import msgspec
from markupsafe import Markup

from orchestration.lineage.number import Lineage, environment, trace_number
from orchestration.registry import BENCHMARKS, MAIN, SOURCES, STUDIES, TABLES
from orchestration.rendering.answers import Answers, write_answers
from orchestration.rendering.experiments import cross_domain, twin_of
from orchestration.rendering.figures import Curve, ablation_curve, accuracy_by_subset
from orchestration.rendering.page import (
    HERE,
    NAMED,
    SHARED,
    answers_page,
    number_page,
    percent,
    templates,
)
from orchestration.rendering.robustness import reliability_figures, robustness_figures
from orchestration.rendering.shown import ShownTable, shown_table, write_files
from orchestration.rendering.states import write_states
from orchestration.rendering.tables import Table
from orchestration.rendering.videos import write_videos
from orchestration.rendering.worked import worked_examples
from orchestration.scoring.counting import line_count, split_name
from orchestration.scoring.likeness import stated
from orchestration.scoring.published import published
from orchestration.scoring.scores import Score, metrics_file, read_metrics
from orchestration.stage import Stages
from orchestration.studies.reliability import SURE
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import kind_of
from substrate.domains.smallville.experiment import HORIZON

TITLES = {name: table.title for name, table in TABLES.items()} | {
    study.name: study.shares.title for study in STUDIES if study.shares
}
"""The headings of the tables, by name."""
_ELSEWHERE = {study.name: study.file("table.json") for study in STUDIES if study.shares}
MARKED = ("substrate", "ns_dr", "aloe", "memn2n", "pcr", "llama_direct", "concordia")
"""The sources whose published numbers have a mark of their own."""


class Measured(NamedTuple):
    """The data that a benchmark's numbers were computed on."""

    title: str
    kind: str
    size: str


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
    """The sources of published numbers."""


def write_report(workspace: Workspace, out: Path, known: Stages | None = None) -> dict[str, int]:
    """Write the report of a run to a new folder: its page, and one of each number, benchmark and video.

    Returns:
        How many of each there are.
    """
    jinja, lineage = templates(), Lineage(workspace, known=known)
    out.mkdir()
    for name in SHARED:
        shutil.copyfile(HERE / name, out / name)
    scores = _read(workspace)
    answered = write_answers(workspace, jinja, out)
    pages = _write_numbers(jinja, lineage, scores, {answers.benchmark.name for answers in answered}, out)
    videos = write_videos(workspace, jinja, out)
    content = _content(workspace, scores, out)
    write_states(jinja, workspace.settings.profile, content["worked"], out)
    run = jinja.get_template("run.html.j2").render(profile=workspace.settings.profile)
    (out / "run.html").write_text(run, "utf-8")
    (out / "search.js").write_text(f"found({_sought(scores, answered)})\n", "utf-8")
    page = jinja.get_template("report.html.j2").render(answered=answered, videos=videos, **content)
    (out / "index.html").write_text(page, "utf-8")
    explained = sum(answers.count.explained for answers in answered)
    answers = sum(answers.count.answers for answers in answered)
    return {"numbers": pages, "answers": answers, "answers with their steps": explained}


def _read(workspace: Workspace) -> dict[str, dict[str, Score]]:
    """The scores of each benchmark that has some: a baseline that was not run has none."""
    files = {name: workspace.artifacts / metrics_file(name) for name in BENCHMARKS}
    return {
        name: {one.name: one for one in read_metrics(file)} for name, file in files.items() if file.is_file()
    }


def _write_numbers(
    jinja: jinja2.Environment,
    lineage: Lineage,
    scores: Mapping[str, Mapping[str, Score]],
    answered: Collection[str],
    out: Path,
) -> int:
    """A page for each number, with its trace and the answers that are not right."""
    template, written = jinja.get_template("number.html.j2"), 0
    (out / "numbers").mkdir()
    for benchmark, found in scores.items():
        for number in found:
            trace = trace_number(lineage, number, shown=NAMED)
            subset, metric = split_name(number)
            of_subset = {} if subset in ("", "mean") else {"subset": subset}
            # What the metric of facts calls wrong may have been answered right.
            wrong = urlencode({**of_subset, "result": "wrong"}) if metric != "supporting" else ""
            page = template.render(
                profile=lineage.workspace.settings.profile,
                title=BENCHMARKS[benchmark].title,
                trace=trace,
                answers=f"../{answers_page(benchmark)}" if benchmark in answered else "../index.html",
                subset=of_subset.get("subset", ""),
                wrong_filter=wrong,
                up="../",
            )
            (out / number_page(number)).write_text(page, "utf-8")
            written += 1
    return written


def _sought(scores: Mapping[str, Mapping[str, Score]], answered: Iterable[Answers]) -> str:
    """The list that the search looks through, as JSON: words and page of each number and of each page of
    answers, which is searched there.
    """
    found: list[tuple[str, str, int]] = []
    for benchmark, numbers in scores.items():
        title = BENCHMARKS[benchmark].title
        for name, score in numbers.items():
            found.append((f"{name} · {title}: {percent(score)}", number_page(name), 0))
    found += [(f"{one.title}: {one.count.answers:,} answers", one.page, 1) for one in answered]
    return msgspec.json.encode(found).decode()


def _content(workspace: Workspace, scores: Mapping[str, Mapping[str, Score]], out: Path) -> dict[str, Any]:
    every = [score for found in scores.values() for score in found.values()]
    sources = data_sources(workspace)
    per_question = [score for score in scores[MAIN.name].values() if score.metric == "per_question"]
    curves = workspace.artifacts / "ablations" / "curves.json"
    drawn = msgspec.json.decode(curves.read_bytes(), type=list[Curve]) if curves.is_file() else []
    return {
        "profile": workspace.settings.profile,
        "seed": workspace.settings.seed,
        "main_on": _MEASURED_ON[kind_of(workspace, MAIN.source)],
        "sources": sources,
        "summary": _summary(workspace, every, sources),
        "official": {source.kind for source in sources} == {"official"},
        "generated": any(source.kind == "generated" for source in sources),
        "tables": {table.name: table for table in _tables(workspace, scores, out)},
        "forest": forest(scores),
        "accuracy": Markup(accuracy_by_subset("accuracy", per_question)),
        "curves": [
            (curve, Markup(ablation_curve(f"curve{number}", curve))) for number, curve in enumerate(drawn)
        ],
        "falls": robustness_figures(workspace),
        "reliability": reliability_figures(workspace),
        "measured_on": {name: _MEASURED_ON[kind_of(workspace, BENCHMARKS[name].source)] for name in SURE},
        "SURE": SURE,
        "domains": cross_domain(),
        "twin": twin_of(workspace),
        "worked": list(worked_examples(workspace)),
        "environment": environment(workspace),
        "citations": {who: system.citation for who, system in published().systems.items()},
        "MARKED": MARKED,
        "HORIZON": HORIZON,
    }


_MEASURED_ON = {
    "official": "the official validation split",
    "generated": "a generated world, which may be easier or harder",
    "local": "official files of the user",
    "none": "nothing",
}


def data_sources(workspace: Workspace) -> list[Measured]:
    """The data that each of the profile's benchmarks was computed on: ``official``, ``generated``, ``local``
    or ``none``.
    """
    found: list[Measured] = []
    for source in SOURCES.values():
        data = workspace.settings.data(source.name)
        size = source.size(data) if data.source == "generated" else ""
        found.append(Measured(source.title, kind_of(workspace, source), size))
    return found


def _summary(
    workspace: Workspace, scores: Sequence[Score], sources: Iterable[Measured]
) -> list[tuple[str, str]]:
    """The figures of the strip under the title, each with what it counts."""
    folders = [workspace.artifacts / benchmark for benchmark in BENCHMARKS]
    answers, logs = (
        sum(line_count(folder / file) for folder in folders) for file in ("answers.jsonl", "logs/index.jsonl")
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


def _tables(workspace: Workspace, scores: Mapping[str, Mapping[str, Score]], out: Path) -> list[ShownTable]:
    """The run's tables, with every cell that the other formats have."""
    made: list[ShownTable] = []
    every = {key: score for found in scores.values() for key, score in found.items()}
    for name, title in TITLES.items():
        path = workspace.path(_ELSEWHERE.get(name, f"artifacts/{{profile}}/tables/{name}.json"))
        if path.is_file():
            table = msgspec.json.decode(path.read_bytes(), type=Table)
            files = write_files(table, name, path.with_suffix(".tex"), out)
            made.append(shown_table(name, title, table, every, files))
    return made


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
