"""The content of the report's first page, and the files that it links to: drawings and tables.

The fields of :class:`FirstPage` are the variables of the template ``report.html.j2``. Only the lists of
answers and videos are not among them, because :mod:`.report` writes their pages meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from orchestration.benchmarks.benchmark import Exhibit, Explained, belongs
from orchestration.benchmarks.real import METHODS, REAL
from orchestration.drift.claim_verdicts import verdicts_here
from orchestration.lineage.number import Environment, environment
from orchestration.registry import BENCHMARKS, EXPLAINED, SOURCES, STUDIES, TABLES
from orchestration.rendering import figures
from orchestration.rendering.report import claims, diagrams, examples, sheet, sizes
from orchestration.rendering.report.diagrams import AskedOfBoth
from orchestration.rendering.report.forest import Forest, forest
from orchestration.rendering.report.number_pages import Scores
from orchestration.rendering.report.table_view import TableView, table_view, write_files
from orchestration.rendering.tables import read_list, read_table
from orchestration.rendering.wording import label
from orchestration.scoring.counting import rows_of
from orchestration.scoring.published import Kind, Size
from orchestration.scoring.scores import Score
from orchestration.scoring.verdict import ClaimVerdict
from orchestration.workspace.dataset_files import files_of, kind_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import is_real, names_of

# The tables by name, each with its heading and its path without the suffix.
_TABLES = {
    table.name: (table.title, f"artifacts/{{profile}}/tables/{table.name}")
    for table in (REAL, METHODS, *TABLES.values())
} | {study.name: (study.title, study.file("table")) for study in STUDIES if study.title}
# The kinds of exhibits by their names in declarations: the template of each, and the function that draws.
DRAWN: Mapping[str, tuple[str, Callable[[Any], str]]] = {"fork": ("fork.html.j2", diagrams.forked)}
# A section that a benchmark contributes, with its content.
_Shown = tuple[Explained, Exhibit, Any]


class FirstPage(NamedTuple):
    """The first page: the variables of its template, in the order of the page.

    Attributes:
        seed: the seed of generated data.
        claims: the verdicts on the paper's claims.
        lead: their counts in a sentence.
        plot: the numbers of the claims on official data, as a plot.
        beaten: the cases in which a trivial method is better on generated data, or an order is reversed.
        sources: the title, kind and size of each source's data.
        tables: the tables by name, in the order of the contents.
        in_order: their names in the order of the page: the tables of studies come last.
        study_figures: by study, the text above its table and the figures there.
        curves: the curves of the ablations, each with its drawing.
        sections: the further sections of studies.
        kind_of: by benchmark of these sections, the kind of its data.
        forest: every number with its interval, as a plot.
        measured: the kind of data of each measured number; empty for other numbers.
        environment: the commit and the locks of the run.
        both: the question that the substrate and a model were asked; ``None`` if there is none.
        domains: two domains, asked the same questions.
        sizes: the sizes that the paper prints, each with the count here.
        exhibits: the sections of benchmarks: the benchmark, the section, and its content.
        worked: the worked examples, each after the title of its kind.
        drawings: the drawings of all these sections by name.
    """

    seed: int
    claims: Sequence[ClaimVerdict]
    lead: str
    plot: Forest
    beaten: Sequence[str]
    sources: Sequence[tuple[str, Kind, str]]
    tables: Mapping[str, TableView]
    in_order: Sequence[str]
    study_figures: Mapping[str, tuple[str, Sequence[Any]]]
    curves: Sequence[tuple[figures.Curve, Markup]]
    sections: Sequence[Any]
    kind_of: Mapping[str, Kind]
    forest: Forest
    measured: Mapping[str, str]
    environment: Environment
    both: AskedOfBoth | None
    domains: Sequence[diagrams.Domain]
    sizes: Sequence[tuple[Size, str]]
    exhibits: Sequence[_Shown]
    worked: Sequence[tuple[str, examples.WorkedExample]]
    drawings: Mapping[str, Markup]


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
    return FirstPage(
        seed=workspace.settings.seed,
        claims=verdicts,
        lead=claims.lead(verdicts),
        plot=forest({"": [*claims.official_scores(workspace)]}, 0.3, claims.mark_text),
        beaten=[*claims.beaten(workspace, every, verdicts)],
        sources=list(_sources(workspace)),
        tables=tables,
        in_order=sorted(tables, key=lambda name: any(study.name == name for study in STUDIES)),
        study_figures={study.name: study.figures(workspace) for study in STUDIES},
        curves=[(of, Markup(figures.ablation_curve(f"curve{at}", of))) for at, of in enumerate(curves)],
        sections=sections,
        kind_of={of.name: kind_of(workspace, BENCHMARKS[of.name].source) for of in sections},
        forest=forest(groups),
        measured=defaultdict(str, {name: score.data for name, score in every.items()}),
        environment=environment(workspace),
        both=both,
        domains=domains,
        sizes=list(sizes.sizes()),
        exhibits=exhibits,
        worked=worked,
        drawings=dict(_drawings(both, domains, exhibits, out)),
    )


def _drawings(
    both: AskedOfBoth | None, domains: Sequence[diagrams.Domain], exhibits: Sequence[_Shown], out: Path
) -> Iterator[tuple[str, Markup]]:
    """Write the drawings as files; yield each for the page, after its name."""
    drawings = {"cross-domain": diagrams.cross_domain(domains, sizes.lines_reached(*diagrams.INTERPRETER))}
    drawings |= {of.name: DRAWN[exhibit.drawn][1](content) for of, exhibit, content in exhibits}
    drawings |= {"models": diagrams.parametric(both)} if both else {}
    (out / "figures").mkdir()
    for name, drawing in drawings.items():
        (out / f"figures/{name}.svg").write_text(drawing, "utf-8")
        yield name, Markup(sheet.in_page(drawing))


def _sources(workspace: Workspace) -> Iterator[tuple[str, Kind, str]]:
    """The data that the run measured, or would have measured if they were there: title, kind and size."""
    settings = workspace.settings
    for source in SOURCES.values():
        kind, data = kind_of(workspace, source), settings.data(source.name)
        is_due = kind != "none" or belongs(source.profiles, settings.profile)
        if names_of(workspace, source) or (is_due and not is_real(workspace)):
            yield source.title, kind, source.size(data) if data.source == "generated" else ""


def _exhibits(workspace: Workspace) -> Iterator[_Shown]:
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
