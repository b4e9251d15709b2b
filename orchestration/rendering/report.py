"""The report: a folder of HTML pages with a run's tables, figures, answers, explanations and traces.

It opens from disk and loads nothing from outside the folder.
"""

from __future__ import annotations

import hashlib
import math
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from orchestration.benchmarks.benchmark import BEYOND, belongs
from orchestration.benchmarks.real import METHODS, REAL
from orchestration.ledger.verdicts import verdicts_here
from orchestration.lineage.explain import Each, each_here
from orchestration.lineage.number import Lineage, environment
from orchestration.registry import BENCHMARKS, EXPLAINED, SOURCES, STUDIES, TABLES
from orchestration.rendering import claims, diagrams, examples, figures, sizes
from orchestration.rendering.answers import Answers, write_answers
from orchestration.rendering.numbers import Scores, write_numbers
from orchestration.rendering.page import HERE, SHARED, answers_page, label, number_page, templates
from orchestration.rendering.part_cache import PartCache, cached_parts
from orchestration.rendering.report_tables import report_table, write_files
from orchestration.rendering.scenes import write_scenes
from orchestration.rendering.tables import read_list, read_table
from orchestration.scoring.comparability import percent, stated
from orchestration.scoring.counting import rows_of
from orchestration.scoring.published import Kind, published
from orchestration.scoring.scores import Score, metrics_file, read_metrics
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, kind_of
from orchestration.workspace.real import is_real, names_of
from substrate import TBox, unfold
from substrate.ask import survey
from substrate.ask.questions import TEMPLATES
from substrate.domains.smallville.experiment import HORIZON

_TABLES = {
    table.name: (table.title, f"artifacts/{{profile}}/tables/{table.name}")
    for table in (REAL, METHODS, *TABLES.values())
} | {study.name: (study.title, study.file("table")) for study in STUDIES if study.title}
"""The tables by name, each with its heading and its path without the suffix."""
_OF_STUDIES = {study.name for study in STUDIES}
"""The tables that come after those of benchmarks."""
DRAWN: Mapping[str, tuple[str, Callable[[Any], str]]] = {"fork": ("fork.html.j2", diagrams.forked)}
"""The kinds of exhibits by their names in declarations: the template of each, and the function that draws."""


class Forest(NamedTuple):
    """Labelled numbers by benchmark, and the systems with published figures of them.

    ``place`` gives the position of a proportion in percent of the axis, ``axis`` its labels with their
    positions, ``said`` the words for a system's figure of a number.
    """

    groups: Mapping[str, Collection[tuple[str, Score]]]
    systems: list[str]
    place: Callable[[float], float]
    axis: list[tuple[float, str]]
    said: Callable[[Score, str], str]


def write_report(
    workspace: Workspace,
    out: Path,
    known: Stages | None = None,
    explain_cases: Each | None = None,
    cache: PartCache | None = None,
) -> dict[str, int]:
    """Write the report of a run to a new folder: its first page, and a page for each number, benchmark and
    scene.

    Args:
        known: the stages that it describes.
        explain_cases: makes what is shown of cases; in this process unless given.
        cache: the parts of earlier reports; those that this code made unless given.

    Returns:
        The counts of numbers, answers and explained answers.
    """
    lineage = Lineage(workspace, known or {})
    explain_cases = explain_cases or partial(each_here, workspace)
    cache = cache or PartCache(workspace.root, write_report)
    keep = cached_parts(workspace, known or {}, cache, out)
    out.mkdir()
    for name in SHARED:
        shutil.copyfile(HERE / name, out / name)
    # A baseline that was not run has no scores; files of benchmarks that left the profile do not count.
    profile = workspace.settings.profile
    own = [name for name, benchmark in BENCHMARKS.items() if benchmark.profile(profile) == profile]
    files = {name: workspace.artifacts / metrics_file(name) for name in own}
    scores = {name: {s.name: s for s in read_metrics(file)} for name, file in files.items() if file.is_file()}
    with ThreadPoolExecutor(1) as pool:  # the answers are made meanwhile
        rest = pool.submit(_content, workspace, scores, out, cache)
        answered = write_answers(workspace, explain_cases, keep)
        videos = write_scenes(workspace, explain_cases, keep)
        content = rest.result()
    write_numbers(lineage, scores, answered, out, cache)
    claims.write_claims(profile, content["claims"], content["measured"], out)
    examples.write_states(profile, content["worked"], out)
    sought = msgspec.json.encode([*_sought(scores, answered)]).decode()
    (out / "search.js").write_text(f"found({sought})\n", "utf-8")
    page = templates().get_template("report.html.j2").render(answered=answered, videos=videos, **content)
    cache.forget()
    (out / "index.html").write_text(page, "utf-8")
    return {
        "numbers": sum(map(len, scores.values())),
        "answers": sum(answers.count["answers"] for answers in answered),
        "answers with their steps": sum(answers.count["explained"] for answers in answered),
    }


def _sought(scores: Scores, answered: Iterable[Answers]) -> Iterator[tuple[str, str, int]]:
    """Yield for the search the text and page of each number, of kind 0, and of each page of answers, of 1."""
    for numbers in scores.values():
        for name, score in numbers.items():
            yield f"{label(name)} · {name}: {percent(score)}", number_page(name), 0
    for answers in answered:
        text = f"{answers.benchmark.title}: {answers.count['answers']:,} answers"
        yield text, answers_page(answers.benchmark.name), 1


def _content(workspace: Workspace, scores: Scores, out: Path, cache: PartCache) -> dict[str, Any]:
    figures.DRAWINGS.set(cache.part)  # of this thread alone
    now = verdicts_here(workspace)
    every = {name: score for numbers in scores.values() for name, score in numbers.items()}
    groups = {
        BENCHMARKS[name].title: [(label(number).partition(": ")[2], of) for number, of in numbers.items()]
        for name, numbers in scores.items()
    }
    curves = read_list(workspace.artifacts / "ablations" / "curves.json", figures.Curve)
    tables = dict(_tables(workspace, every, out))
    sections = [section for study in STUDIES for section in study.sections(workspace)]
    exhibits, worked = list(_exhibits(workspace)), list(examples.worked_examples(workspace))
    domains, both = domains_of(), examples.asked_of_both(workspace, [example for _, example in worked])
    drawings = {"cross-domain": diagrams.cross_domain(domains, sizes.lines_reached(survey, unfold))}
    drawings |= {of.name: DRAWN[exhibit.drawn][1](content) for of, exhibit, content in exhibits}
    drawings |= {"models": diagrams.parametric(both)} if both else {}
    (out / "figures").mkdir()
    for name, drawing in drawings.items():
        (out / f"figures/{name}.svg").write_text(drawing, "utf-8")
    return {
        "profile": workspace.settings.profile,
        "seed": workspace.settings.seed,
        "sources": list(_sources(workspace)),
        "BEYOND": BEYOND,
        "claims": now,
        "measured": defaultdict(str, {name: score.data for name, score in every.items()}),
        "lead": claims.lead(now),
        "plot": forest({"": [*claims.official_scores(workspace)]}, 0.3, claims.mark_text),
        "beaten": [*claims.beaten(workspace, every, now)],
        "tables": tables,
        "in_order": sorted(tables, key=lambda name: name in _OF_STUDIES),
        "forest": forest(groups),
        "curves": [
            (curve, Markup(figures.ablation_curve(f"curve{at}", curve))) for at, curve in enumerate(curves)
        ],
        "study_figures": {study.name: study.figures(workspace) for study in STUDIES},
        "sections": sections,
        "kind_of": {of.name: kind_of(workspace, BENCHMARKS[of.name].source) for of in sections},
        "domains": domains,
        "exhibits": exhibits,
        "DRAWN": DRAWN,
        "worked": worked,
        "drawings": {name: Markup(diagrams.in_page(drawing)) for name, drawing in drawings.items()},
        "both": both,
        "sizes": list(sizes.sizes()),
        "environment": environment(workspace),
        "citations": {who: system.citation for who, system in published().systems.items()},
        "HORIZON": HORIZON,
    }


def _sources(workspace: Workspace) -> Iterator[tuple[str, Kind, str]]:
    """The data that the run measured, or would have measured if they were there: title, kind and size."""
    settings = workspace.settings
    for source in SOURCES.values():
        kind, data = kind_of(workspace, source), settings.data(source.name)
        is_due = kind != "none" or belongs(source.profiles, settings.profile)
        if names_of(workspace, source) or (is_due and not is_real(workspace)):
            yield source.title, kind, source.size(data) if data.source == "generated" else ""


def _exhibits(workspace: Workspace) -> Iterator[tuple[Any, ...]]:
    """The sections that benchmarks contribute: the benchmark, the section, and its content."""
    for benchmark in EXPLAINED.values():
        file = workspace.answers(benchmark.name)
        for exhibit in benchmark.exhibits if file.is_file() else ():
            yield benchmark, exhibit, exhibit.shown(rows_of(file), files_of(workspace, benchmark.source))


def _tables(
    workspace: Workspace, scores: Mapping[str, Score], out: Path
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The run's tables by name, each as the page shows it."""
    for name, (title, place) in _TABLES.items():
        path = workspace.path(f"{place}.json")
        if path.is_file():
            table = read_table(path)
            files = write_files(table, name, path.with_suffix(".tex"), out)
            yield name, report_table(title, table, scores, files)


def forest(
    groups: Mapping[str, Collection[tuple[str, Score]]],
    low: float = 1.0,
    said: Callable[[Score, str], str] = stated,
) -> Forest:
    """The forest plot of groups of labelled numbers: measurements with intervals, and published figures.

    Args:
        low: where the axis begins at most, as a proportion; it begins below the least value.
        said: from a score and a system to the words for the system's figure.
    """
    every = [score for numbers in groups.values() for _, score in numbers]
    values = [value for score in every for value in (*(score.wilson or ()), *score.published.values())]
    start = min(low, math.floor(10 * min(values, default=0)) / 10)

    def place(value: float) -> float:
        return round(100 * (value - start) / (1 - start), 2)

    axis = [(place(tick / 100), f"{tick}") for tick in range(100, round(100 * start) - 1, -20)]
    there = {who for score in every for who in score.published}
    return Forest(groups, [who for who in published().systems if who in there], place, axis, said)


def domains_of(names: Iterable[str] = ("village", "clinical")) -> list[diagrams.Domain]:
    """Every question template asked of each domain; answers with evidence come first.

    >>> [sorted(domain.answers) == sorted(TEMPLATES) for domain in domains_of()]
    [True, True]
    """
    domains: list[diagrams.Domain] = []
    for name in names:
        tbox = TBox.load(name)
        log = unfold(tbox, tbox.opening(), until=HORIZON)
        answers = sorted(survey(tbox, log), key=lambda answer: not answer.evidence)
        by_template = {template: [a for a in answers if a.template == template] for template in TEMPLATES}
        turtle = f"sha256:{hashlib.sha256(tbox.turtle.encode()).hexdigest()}"
        domains.append(diagrams.Domain(name, turtle, len(log), log.digest, by_template))
    return domains
