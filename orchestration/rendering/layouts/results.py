"""The layouts of the tables of results; each table has a caption about its data.

A layout is a function from a table's declaration, its benchmarks, their scores and the workspace. It makes
columns, each of which turns a score, or a row of the layout's own, into a cell. :data:`LAYOUTS` names all.
The functions of :mod:`orchestration.scoring.comparability`, here named ``cells``, make most cells.
Here are the tables whose rows are scores beside published figures; the table and the rows of language models
are in :mod:`.language_models`, the tables of official data in :mod:`.official`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.benchmarks.benchmark import Benchmark
from orchestration.benchmarks.benchmark import Table as DeclaredTable
from orchestration.lineage.number import NUMBERS
from orchestration.registry import SOURCES
from orchestration.rendering.layouts.best_trivial import trivial_columns
from orchestration.rendering.layouts.captions import caption, source_of
from orchestration.rendering.layouts.language_models import NO_MODEL, answering_models, by_metric, rows_beside
from orchestration.rendering.layouts.official import by_pair, official
from orchestration.rendering.tables import Column, Table, read_list
from orchestration.scoring import comparability as cells
from orchestration.scoring.names import MINUS, kind_and_variant
from orchestration.scoring.published import PAPER, published
from orchestration.scoring.scores import Score
from orchestration.studies.determinism import Repetition
from orchestration.workspace.dataset_files import kind_of
from orchestration.workspace.folders import Workspace

Benchmarks = Sequence[Benchmark]
Scores = Mapping[str, Score]

# The hashes of answers that were computed in several ways.
REPEATED = "artifacts/{profile}/ablations/determinism.json"


def by_subset(table: DeclaredTable, benchmarks: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Make table 1 of the paper, with the input of each system and the rows that go beyond the paper."""
    data = [_asked_of(benchmark, scores, workspace) for benchmark in benchmarks]
    about = caption("by_subset", data=data, table=table, benchmark=benchmarks[0].name)
    usual, rivals_shown = cells.reads(PAPER), ("ns_dr", "aloe")

    def label(score: Score) -> str:
        read = cells.reads(PAPER, score.name)
        other = "" if read == usual else f", from {read}"
        return f"{score.subset} {score.metric.replace('_', '-')}{other}"

    papers_gap = partial(_to_best_rival, _printed_gap)
    our_gap = partial(_to_best_rival, partial(cells.compared_cell, named=True))
    heads = [
        Column("subset", label),
        *_measured("substrate"),
        *trivial_columns(table, workspace),
        _PAPERS_N,
        *map(_figures_of, (PAPER, *rivals_shown)),
        Column("paper's gap", papers_gap, cited=[PAPER, *rivals_shown], place="detail"),
        _minus_paper("substrate minus paper"),
        Column("gap (substrate vs. best)", our_gap, cited=rivals_shown, place="detail"),
    ]
    return Table.of(about, heads, scores.values())


def _asked_of(benchmark: Benchmark, scores: Scores, workspace: Workspace) -> str:
    """Describe a benchmark with its data; for a user's files, also the number of their questions."""
    words = f"{benchmark.title}, {source_of(benchmark.source, workspace)}{benchmark.source.note}"
    n = sum(s.n for name, s in scores.items() if name in benchmark.numbers and s.metric == "per_question")
    of_user = n and kind_of(workspace, benchmark.source) == "local"
    return f"{words}, ours of {n:,} of the official questions" if of_user else words


def by_number(table: DeclaredTable, benchmarks: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Make the table of the other benchmarks: measurements, systems, and figures of the paper and others."""
    own = [benchmark for benchmark in benchmarks if not benchmark.by_model]
    interpreted = [benchmark.base for benchmark in benchmarks if isinstance(benchmark, LanguageModel)]
    source_names = dict.fromkeys(benchmark.source.name for benchmark in own or interpreted)
    known = (SOURCES[name] for name in source_names)
    sources = [f"{source.title}, {source_of(source, workspace)}{source.note}" for source in known]
    answering = answering_models(benchmarks, workspace)
    others = {who for benchmark in benchmarks for name in benchmark.numbers for who in cells.rivals(name)}
    papers = [PAPER, *(who for who in published().systems if who in others)]
    about = caption("by_number", data=sources, benchmarks=source_names, systems=papers, answering=answering)
    systems = [who for who in published().systems if who != PAPER]

    def measured_of(score: Score) -> str:
        benchmark = NUMBERS[score.name]
        if not benchmark.by_model:
            return f"substrate ({cells.reads(PAPER, score.name)})"
        return model.name if (model := answering.get(benchmark.name)) else NO_MODEL

    heads = [
        Column("number", lambda score: score.name),
        Column("measured of", measured_of),
        *_measured("measured"),
        *trivial_columns(table, workspace),
        _PAPERS_N,
        _figures_of(PAPER, "paper"),
        Column("paper's 95 % interval", _papers_interval, cited=[PAPER], place="below"),
        _minus_paper("measured minus paper"),
        Column("others", partial(_to_others, _printed_figure), cited=systems),
        Column("paper's gap", partial(_to_others, _printed_gap), cited=systems, place="detail"),
        Column("measured minus others", partial(_to_others, _minus_other), cited=systems, place="detail"),
    ]
    rows: list[Score | list[str]] = []
    for benchmark in sorted(benchmarks, key=lambda benchmark: benchmark.table[1]):
        rows += (scores[name] for name in benchmark.numbers)
        model = answering.get(benchmark.name)
        for label, *texts in rows_beside(benchmark, model, workspace) if model else ():
            rows.append([f"{benchmark.name}: {label}", *texts])
    return Table.of(about, heads, rows)


def _printed_figure(score: Score, who: str) -> str:
    return f"{cells.printed(score.name, who)} {cells.marked(who, score.name)}"


def _minus_other(score: Score, who: str) -> str:
    # A published figure belongs to another model: no difference to it is computed.
    return cells.NOT_REPORTED if NUMBERS[score.name].by_model else cells.compared_cell(score, who, named=True)


def by_variant(table: DeclaredTable, benchmarks: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Make the table of section 6: variants per question and per option, and hashes of repeated answers."""
    repeated = read_list(workspace.path(REPEATED), Repetition)
    title, data = benchmarks[0].title, source_of(benchmarks[0].source, workspace)
    about = caption("by_variant", title=title, data=data, repeated=repeated)
    # A variant has two consecutive numbers.
    pairs = zip(benchmarks[0].numbers[::2], benchmarks[0].numbers[1::2], strict=True)

    def label(score: Score) -> str:
        kind, variant = kind_and_variant(score.subset)
        return f"{table.labels[kind]}: {variant}"

    variant, (best, test) = Column("variant", label), trivial_columns(table, workspace)
    count, *per_question = _measured("per question")
    options, *per_option = _measured("per option")
    options = options._replace(head="options", place="detail")
    papers = _PAPERS_N, _figures_of(PAPER)
    first = count, *per_question, best, test, *papers, _minus_paper("per question minus paper")
    second = options, *per_option, best, *papers, _minus_paper("per option minus paper")
    # A row is a pair of scores: the columns of the first half show its first, the others its second.
    heads = [column.at(index) for index, half in enumerate(((variant, *first), second)) for column in half]
    return Table.of(about, heads, [tuple(scores[name] for name in pair) for pair in pairs])


def _measured(head: str) -> list[Column]:
    """Return the columns of a measurement: n, accuracy and interval."""
    n = Column("n", lambda score: f"{score.n:,}")
    return [n, Column(head, cells.percent), Column("95 % interval", cells.bounded, place="below")]


def _figures_of(who: str, head: str = "") -> Column:
    """Return the column of a system's published figures; its head marks the system unless given."""
    return Column(head or cells.marked(who), lambda score: cells.printed(score.name, who), cited=[who])


def _papers_interval(score: Score) -> str:
    return cells.interval(score.name, PAPER)


def _papers_n(score: Score) -> str:
    return cells.printed_n(score.name) if PAPER in published().accuracies(score.name) else ""


_PAPERS_N = Column("paper's n", _papers_n, cited=[PAPER], place="detail")


def _minus_paper(head: str) -> Column:
    """Return the column of the differences to the paper, or of the reasons for none."""
    return Column(head, partial(cells.compared_cell, system=PAPER), cited=[PAPER])


# The two functions below choose the systems that a cell compares a score with; `cell` compares it with one.


def _to_best_rival(cell: Callable[[Score, str], str], score: Score) -> str:
    """Return a cell about a score and the rival with the highest figure of its number."""
    best = cells.best_rival(score.name)
    return cell(score, best) if best else cells.NOT_REPORTED


def _to_others(cell: Callable[[Score, str], str], score: Score) -> str:
    """Return cells about a score and each system, except the paper's, that has a figure of its number."""
    return "; ".join(cell(score, who) for who in published().accuracies(score.name) if who != PAPER)


def _printed_gap(score: Score, rival: str) -> str:
    """Return the difference to a rival as the paper prints it."""
    number = published().numbers.get(score.name)
    gap = number.figures.get(f"{MINUS}{rival}") if number else None
    if gap is None:
        return cells.NOT_REPORTED
    return f"{'+' if gap.value > 0 else ''}{gap.printed} pp vs. {published().systems[rival].title}"


# The layouts of tables, by the names in :attr:`orchestration.benchmarks.benchmark.Table.layout`.
LAYOUTS: Mapping[str, Callable[[DeclaredTable, Benchmarks, Scores, Workspace], Table]] = {
    "by subset": by_subset,
    "by number": by_number,
    "by metric": by_metric,
    "by variant": by_variant,
    "by pair": by_pair,
    "official": official,
}
