"""The content of the report's first page, and the files that it links to: drawings and tables.

:func:`first_page` gathers everything that the template ``report.html.j2`` shows, except the lists of answers
and videos, whose pages are written meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from orchestration.benchmarks.benchmark import BEYOND, Exhibit, Explained, belongs
from orchestration.benchmarks.real import METHODS, REAL
from orchestration.ledger.verdicts import verdicts_here
from orchestration.lineage.number import environment
from orchestration.registry import BENCHMARKS, EXPLAINED, SOURCES, STUDIES, TABLES
from orchestration.rendering import figures
from orchestration.rendering.report import claims, diagrams, examples, sheet, sizes
from orchestration.rendering.report.forest import forest
from orchestration.rendering.report.number_pages import Scores
from orchestration.rendering.report.table_view import TableView, table_view, write_files
from orchestration.rendering.tables import read_list, read_table
from orchestration.rendering.wording import label
from orchestration.scoring.counting import rows_of
from orchestration.scoring.published import Kind, published
from orchestration.scoring.scores import Score
from orchestration.scoring.verdict import ClaimVerdict
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, kind_of
from orchestration.workspace.real import is_real, names_of
from substrate.domains.smallville.experiment import HORIZON

# The tables by name, each with its heading and its path without the suffix.
_TABLES = {
    table.name: (table.title, f"artifacts/{{profile}}/tables/{table.name}")
    for table in (REAL, METHODS, *TABLES.values())
} | {study.name: (study.title, study.file("table")) for study in STUDIES if study.title}
# The kinds of exhibits by their names in declarations: the template of each, and the function that draws.
DRAWN: Mapping[str, tuple[str, Callable[[Any], str]]] = {"fork": ("fork.html.j2", diagrams.forked)}


class FirstPage(NamedTuple):
    """The first page, and the parts of it that other pages use.

    Attributes:
        verdicts: the verdicts on the paper's claims.
        measured: the kind of data of each measured number; empty for other numbers.
        worked: the worked examples, each after the title of its kind.
        content: all variables of the template by name.
    """

    verdicts: Sequence[ClaimVerdict]
    measured: Mapping[str, str]
    worked: Sequence[tuple[str, examples.WorkedExample]]
    content: dict[str, Any]


def first_page(workspace: Workspace, scores: Scores, out: Path) -> FirstPage:
    """Gather the content of the first page; write its drawings and tables into the report's folder."""
    verdicts = verdicts_here(workspace)
    every = {name: score for numbers in scores.values() for name, score in numbers.items()}
    groups = {
        BENCHMARKS[name].title: [(label(number).partition(": ")[2], of) for number, of in numbers.items()]
        for name, numbers in scores.items()
    }
    curves = read_list(workspace.artifacts / "ablations" / "curves.json", figures.Curve)
    tables = dict(_tables(workspace, every, out))
    sections = [section for study in STUDIES for section in study.sections(workspace)]
    exhibits, worked = list(_exhibits(workspace)), list(examples.worked_examples(workspace))
    domains = diagrams.domains_of()
    both = examples.asked_of_both(workspace, [example for _, example in worked])
    drawings = {"cross-domain": diagrams.cross_domain(domains, sizes.lines_reached(*diagrams.INTERPRETER))}
    drawings |= {of.name: DRAWN[exhibit.drawn][1](content) for of, exhibit, content in exhibits}
    drawings |= {"models": diagrams.parametric(both)} if both else {}
    (out / "figures").mkdir()
    for name, drawing in drawings.items():
        (out / f"figures/{name}.svg").write_text(drawing, "utf-8")
    measured = defaultdict(str, {name: score.data for name, score in every.items()})
    content = {
        "profile": workspace.settings.profile,
        "seed": workspace.settings.seed,
        "sources": list(_sources(workspace)),
        "BEYOND": BEYOND,
        "claims": verdicts,
        "measured": measured,
        "lead": claims.lead(verdicts),
        "plot": forest({"": [*claims.official_scores(workspace)]}, 0.3, claims.mark_text),
        "beaten": [*claims.beaten(workspace, every, verdicts)],
        "tables": tables,
        # The tables of studies come after the tables of benchmarks.
        "in_order": sorted(tables, key=lambda name: any(study.name == name for study in STUDIES)),
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
        "drawings": {name: Markup(sheet.in_page(drawing)) for name, drawing in drawings.items()},
        "both": both,
        "sizes": list(sizes.sizes()),
        "environment": environment(workspace),
        "citations": {who: system.citation for who, system in published().systems.items()},
        "HORIZON": HORIZON,
    }
    return FirstPage(verdicts, measured, worked, content)


def _sources(workspace: Workspace) -> Iterator[tuple[str, Kind, str]]:
    """The data that the run measured, or would have measured if they were there: title, kind and size."""
    settings = workspace.settings
    for source in SOURCES.values():
        kind, data = kind_of(workspace, source), settings.data(source.name)
        is_due = kind != "none" or belongs(source.profiles, settings.profile)
        if names_of(workspace, source) or (is_due and not is_real(workspace)):
            yield source.title, kind, source.size(data) if data.source == "generated" else ""


def _exhibits(workspace: Workspace) -> Iterator[tuple[Explained, Exhibit, Any]]:
    """The sections that benchmarks contribute: the benchmark, the section, and its content."""
    for benchmark in EXPLAINED.values():
        file = workspace.answers(benchmark.name)
        for exhibit in benchmark.exhibits if file.is_file() else ():
            yield benchmark, exhibit, exhibit.shown(rows_of(file), files_of(workspace, benchmark.source))


def _tables(workspace: Workspace, scores: Mapping[str, Score], out: Path) -> Iterator[tuple[str, TableView]]:
    """The run's tables by name, each as the page shows it."""
    for name, (title, place) in _TABLES.items():
        path = workspace.path(f"{place}.json")
        if path.is_file():
            table = read_table(path)
            files = write_files(table, name, path.with_suffix(".tex"), out)
            yield name, table_view(title, table, scores, files)
