"""The layouts of the tables of results; each table has a caption about its data.

A layout is a function from a table's declaration, its benchmarks, their scores and the workspace. It makes
columns, each of which turns a score, or a row of the layout's own, into a cell. :data:`LAYOUTS` names all;
the layouts of official data are in :mod:`.official`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from orchestration.benchmarks.baselines import COMPARISONS, LanguageModel
from orchestration.benchmarks.benchmark import Benchmark
from orchestration.benchmarks.benchmark import Table as DeclaredTable
from orchestration.lineage.number import NUMBERS
from orchestration.models.transcript import Told, read_told
from orchestration.registry import BENCHMARKS, SOURCES
from orchestration.rendering.best_trivial import graded, trivial_columns
from orchestration.rendering.captions import caption, source_of
from orchestration.rendering.official import by_pair, official
from orchestration.rendering.tables import Column, Table, read_list
from orchestration.scoring import trivial as trivially
from orchestration.scoring.comparability import (
    NOT_MEASURED,
    NOT_REPORTED,
    best_rival,
    bounded,
    compared_cell,
    interval,
    marked,
    own,
    percent,
    printed,
    printed_n,
    reads,
    rivals,
)
from orchestration.scoring.counting import RIGHT, Comparison
from orchestration.scoring.formatting import bounds, paired, share
from orchestration.scoring.published import MINUS, PAPER, published
from orchestration.scoring.scores import Score
from orchestration.scoring.statistics import wilson
from orchestration.studies.determinism import Repetition
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import kind_of
from substrate.domains.rows import Row

Benchmarks = Sequence[Benchmark]
Scores = Mapping[str, Score]

REPEATED = "artifacts/{profile}/ablations/determinism.json"
"""The hashes of answers that were computed in several ways."""
NO_MODEL = "no model"
"""The label of a column without a model."""
REPLIES = ("unreadable replies", "same reply when asked again", "cost")
"""The rows of a table about the outcome of a model's replies."""


def by_subset(table: DeclaredTable, benchmarks: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Make table 1 of the paper, with the input of each system and the rows that go beyond the paper."""
    data = [_asked_of(benchmark, scores, workspace) for benchmark in benchmarks]
    about = caption("by_subset", data=data, table=table, benchmark=benchmarks[0].name)
    usual, rivals_shown = reads(PAPER), ("ns_dr", "aloe")

    def label(score: Score) -> str:
        read = reads(PAPER, score.name)
        other = "" if read == usual else f", from {read}"
        return f"{score.subset} {score.metric.replace('_', '-')}{other}"

    def of_best(cell: Callable[[Score, str], str], score: Score) -> str:
        best = best_rival(score.name)
        return cell(score, best) if best else NOT_REPORTED

    columns = [
        Column("subset", label),
        *_measured("substrate"),
        *trivial_columns(table, workspace),
        _PAPERS_N,
        *(Column(marked(who), partial(_printed, who), (who,)) for who in (PAPER, *rivals_shown)),
        Column("paper's gap", partial(of_best, _printed_gap), (PAPER, *rivals_shown), place="detail"),
        Column("substrate minus paper", _minus_paper, (PAPER,)),
        Column("gap (substrate vs. best)", partial(of_best, _minus_other), rivals_shown, place="detail"),
    ]
    return Table.of(about, columns, scores.values())


def _measured(head: str) -> list[Column]:
    """Return the columns of a measurement: n, accuracy and interval."""
    n = Column("n", lambda score: f"{score.n:,}")
    return [n, Column(head, percent), Column("95 % interval", bounded, place="below")]


def _papers_n(score: Score) -> str:
    return printed_n(score.name) if PAPER in published().accuracies(score.name) else ""


def _printed(who: str, score: Score) -> str:
    return printed(score.name, who)


_PAPERS_N = Column("paper's n", _papers_n, (PAPER,), place="detail")
_minus_paper = partial(compared_cell, system=PAPER)


def _asked_of(benchmark: Benchmark, scores: Scores, workspace: Workspace) -> str:
    """Describe a benchmark with its data; for a user's files, also the number of their questions."""
    words = f"{benchmark.title}, {source_of(benchmark.source, workspace)}{benchmark.source.note}"
    n = sum(s.n for name, s in scores.items() if name in benchmark.numbers and s.metric == "per_question")
    of_user = n and kind_of(workspace, benchmark.source) == "local"
    return f"{words}, ours of {n:,} of the official questions" if of_user else words


def _printed_gap(score: Score, rival: str) -> str:
    """Return the difference to a rival as the paper prints it."""
    number = published().numbers.get(score.name)
    figure = number.figures.get(f"{MINUS}{rival}") if number else None
    if figure is None:
        return NOT_REPORTED
    return f"{'+' if figure.value > 0 else ''}{figure.printed} pp vs. {published().systems[rival].title}"


def by_number(table: DeclaredTable, benchmarks: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Make the table of the other benchmarks: measurements, systems, and figures of the paper and others."""
    own = [benchmark for benchmark in benchmarks if not benchmark.by_model]
    interpreted = [benchmark.base for benchmark in benchmarks if isinstance(benchmark, LanguageModel)]
    source_names = dict.fromkeys(benchmark.source.name for benchmark in own or interpreted)
    known = (SOURCES[name] for name in source_names)
    sources = [f"{source.title}, {source_of(source, workspace)}{source.note}" for source in known]
    answering = _answering(benchmarks, workspace)
    others = {who for benchmark in benchmarks for name in benchmark.numbers for who in rivals(name)}
    papers = [PAPER, *(who for who in published().systems if who in others)]
    about = caption("by_number", data=sources, benchmarks=source_names, systems=papers, answering=answering)
    systems = [who for who in published().systems if who != PAPER]

    def measured_of(score: Score) -> str:
        benchmark = NUMBERS[score.name]
        if not benchmark.by_model:
            return f"substrate ({reads(PAPER, score.name)})"
        return told.name if (told := answering.get(benchmark.name)) else NO_MODEL

    columns = [
        Column("number", lambda score: score.name),
        Column("measured of", measured_of),
        *_measured("measured"),
        *trivial_columns(table, workspace),
        _PAPERS_N,
        Column("paper", partial(_printed, PAPER), (PAPER,)),
        Column("paper's 95 % interval", lambda score: interval(score.name, PAPER), (PAPER,), place="below"),
        Column("measured minus paper", _minus_paper, (PAPER,)),
        Column("others", partial(_of_others, _figure), systems),
        Column("paper's gap", partial(_of_others, _printed_gap), systems, place="detail"),
        Column("measured minus others", partial(_of_others, _minus_other), systems, place="detail"),
    ]
    rows: list[Score | list[str]] = []
    for benchmark in sorted(benchmarks, key=lambda benchmark: benchmark.table[1]):
        rows += (scores[name] for name in benchmark.numbers)
        model = answering.get(benchmark.name)
        for label, *cells in _beside(benchmark, model, workspace) if model else ():
            rows.append([f"{benchmark.name}: {label}", *cells])
    return Table.of(about, columns, rows)


def _of_others(cell: Callable[[Score, str], str], score: Score) -> str:
    """Return a cell's text for each system beside the paper that has a figure of a number."""
    return "; ".join(cell(score, who) for who in published().accuracies(score.name) if who != PAPER)


def _figure(score: Score, who: str) -> str:
    return f"{printed(score.name, who)} {marked(who, score.name)}"


def _minus_other(score: Score, who: str) -> str:
    # A published figure belongs to another model: no difference to it is computed.
    return NOT_REPORTED if NUMBERS[score.name].by_model else compared_cell(score, who, named=True)


def _beside(benchmark: Benchmark, model: Told, workspace: Workspace) -> Iterator[list[str]]:
    """Yield the rows for judging a model's number: constants, the substrate, the outcome of its replies."""
    rows = graded(workspace, benchmark.name)
    counts = trivially.counted(rows, RIGHT, trivially.constants(rows))
    trivial = {name: right for name, (right, _) in counts.items()}
    for label, right in trivial.items():
        yield [label, "a constant", f"{len(rows):,}", share(right, len(rows)), bounds(right, len(rows))]
    # A run of a single baseline compares nothing.
    for pair in read_list(workspace.path(COMPARISONS), Comparison):
        if pair.second == benchmark.name and pair.mcnemar is not None:
            right = pair.both + pair.first_only
            p = f"the substrate on the same questions, McNemar's exact p {pair.mcnemar:.2g}"
            best = max(trivial, key=trivial.__getitem__)
            p += at_chance(sum(bool(row.correct) for row in rows), best, trivial[best], len(rows))
            yield [p, "substrate", f"{pair.n:,}", share(right, pair.n), bounds(right, pair.n)]
    for label, cell in _replies(model, rows).items():
        yield [label, "", cell]


def by_variant(table: DeclaredTable, benchmarks: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Make the table of section 6: variants per question and per option, and hashes of repeated answers."""
    repeated = read_list(workspace.path(REPEATED), Repetition)
    title, data = benchmarks[0].title, source_of(benchmarks[0].source, workspace)
    about = caption("by_variant", title=title, data=data, repeated=repeated)
    # A variant has two consecutive numbers.
    pairs = zip(benchmarks[0].numbers[::2], benchmarks[0].numbers[1::2], strict=True)

    def label(score: Score) -> str:
        study, _, variant = score.subset.partition(".")
        return f"{table.labels[study]}: {variant}"

    columns = [Column("variant", label).at(0)]
    best, test = trivial_columns(table, workspace)
    for place, (n, metric) in enumerate((("n", "per question"), ("options", "per option"))):
        count_column, *measured = _measured(metric)
        paper = Column(marked(PAPER), partial(_printed, PAPER), (PAPER,))
        apart = Column(f"{metric} minus paper", _minus_paper, (PAPER,))
        count_column = count_column._replace(head=n, place="detail" if place else "")
        trivial = [best] if place else [best, test]
        own_columns = (count_column, *measured, *trivial, _PAPERS_N, paper, apart)
        columns += (column.at(place) for column in own_columns)
    return Table.of(about, columns, [tuple(scores[name] for name in pair) for pair in pairs])


def _answering(benchmarks: Benchmarks, workspace: Workspace) -> dict[str, Told]:
    """Return, by benchmark, the language models that answered."""
    told = ((benchmark.name, read_told(workspace.data / benchmark.name)) for benchmark in benchmarks)
    return {name: who for name, who in told if who}


def by_metric(table: DeclaredTable, benchmarks: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Make table 2 of the paper: the substrate, the models, and the paired difference in joint accuracy."""
    first = benchmarks[0].name
    rivals = [benchmark.name for benchmark in benchmarks[1:]]
    answering = _answering(benchmarks, workspace)
    n, systems = scores[f"{first}/joint"].n, [own(f"{rival}/joint") for rival in rivals]
    made = {"title": benchmarks[0].title, "n": n, "settings": workspace.settings}
    about = caption("by_metric", **made, answering=answering, systems=[PAPER, *systems])
    pairs = {pair.second: pair for pair in read_list(workspace.path(COMPARISONS), Comparison)}
    labels = {label: f"{first}/{metric}" for metric, label in table.labels.items()}
    columns, rows = [Column("metric", str, (), partial(_at, labels))], [*labels, "specifications", *_PAIRED]
    for name, who in zip((first, *rivals), (PAPER, *systems), strict=True):
        of = {label: f"{name}/{metric}" for metric, label in table.labels.items()}
        here = {label: f"{percent(scores[n])} {bounded(scores[n])}".strip() for label, n in of.items()}
        there = {label: f"{printed(n, own(n))} {interval(n, own(n))}".strip() for label, n in of.items()}
        joint = of["specifications"] = f"{name}/joint"
        here["specifications"], there["specifications"] = f"{scores[joint].n:,}", printed_n(joint)
        heads = "substrate", marked(PAPER, joint)
        if name != first:
            of |= dict.fromkeys(_PAIRED, joint)
            trivial = _constants(workspace, name, "joint")
            here, there = here | _measured_apart(pairs[name], trivial), there | _printed_apart(pairs[name])
            model = transcript.answered[0].model if (transcript := answering.get(name)) else NO_MODEL
            heads = f"{name.removeprefix(f'{first}_')}, {model}", f"{marked(who)}, published"
        judged = _constants_beside(workspace, name, table.labels) | dict.fromkeys(REPLIES, "")
        if name in answering:
            judged |= _replies(answering[name], graded(workspace, name))
        here |= judged
        rows = list(dict.fromkeys([*rows, *judged]))
        columns.append(Column(heads[0], partial(_at, here), (), partial(_at, of)))
        columns.append(Column(heads[1], partial(_at, there), (who,), partial(_at, of)))
    return Table.of(about, columns, rows)


_APART = "joint: substrate minus this, measured here"
_ABOVE = "joint: substrate minus the best constant, measured here"
_P = "McNemar, exact, two-sided p, measured here"
_PAPERS = "joint: substrate minus this, as the paper prints it", "McNemar's p, as the paper prints it"
_PAIRED = (_APART, _ABOVE, _P, *_PAPERS)


def _at(cells: Mapping[str, str], label: str) -> str:
    return cells.get(label, "")


def _constants_beside(workspace: Workspace, name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Return the cells of constants on the questions of a column."""
    cells: dict[str, str] = {}
    for metric, label in labels.items():
        for answer, (right, most) in _constants(workspace, name, metric).items():
            cells[f"{label}, {answer}"] = share(right, most) if most else ""
    return cells


def _constants(workspace: Workspace, name: str, metric: str) -> dict[str, tuple[int, int]]:
    """Return, for each of two constants, its number of right answers to a benchmark, and the total."""
    return trivially.counted(graded(workspace, name), BENCHMARKS[name].metrics[metric], trivially.YES_OR_NO)


def at_chance(right: int, constant: str, trivial: int, n: int) -> str:
    """Return a remark on a model that is not significantly better than a constant; else empty.

    >>> at_chance(133, "always “no”", 126, 500)
    '; the model is at chance: 26.60 % beside 25.20 % of always “no”'
    >>> at_chance(406, "always “no”", 126, 500)
    ''
    """
    if not n or wilson(right, n)[0] > trivial / n:
        return ""
    return f"; the model is at chance: {share(right, n)} beside {share(trivial, n)} of {constant}"


def _measured_apart(pair: Comparison, trivial: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    """Return the measured paired differences in joint accuracy: to a model and to the best constant."""
    if pair.difference is None or pair.mcnemar is None:
        return dict.fromkeys((_APART, _ABOVE, _P), NOT_MEASURED)
    constant = max(trivial, key=lambda answer: trivial[answer][0])
    right, n = trivial[constant]
    chance = at_chance(pair.both + pair.second_only, constant, right, pair.n)
    above = 100 * ((pair.both + pair.first_only) / pair.n - right / n)
    return {
        _APART: paired(pair.both, pair.first_only, pair.second_only, pair.neither) + chance,
        _ABOVE: f"{above:+.2f} pp, {constant}",
        _P: f"{pair.mcnemar:.2g}{chance and ', against a model at chance'}",
    }


def _printed_apart(pair: Comparison) -> dict[str, str]:
    """Return the difference and the p that the paper prints."""
    figures = published().numbers[f"{pair.first}/joint"].figures
    edges = (figures.get(f"{MINUS}{pair.second}/joint{edge}") for edge in ("", "/low", "/high", "/p"))
    apart, low, high, p = (figure and figure.printed for figure in edges)
    cells = f"+{apart} pp{f' [{low}, {high}]' if low and high else ''}", p or NOT_REPORTED
    return dict(zip(_PAPERS, cells, strict=True))


def _replies(model: Told, rows: Sequence[Row]) -> dict[str, str]:
    """Describe the outcome of a model's replies, given their rows."""
    lost = sum(row.error is not msgspec.UNSET for row in rows)
    tokens = f"{model.prompt_tokens:,} tokens in, {model.completion_tokens:,} out"
    pace = f", {model.seconds:.1f} s a request" if model.seconds else ""
    cells = (
        f"{lost:,} of {len(rows):,}, {share(lost, len(rows))}",
        f"{model.agreed:,} of {model.repeated:,}",
        f"{model.requests:,} requests, {tokens}{pace}",
    )
    return dict(zip(REPLIES, cells, strict=True))


LAYOUTS: Mapping[str, Callable[[DeclaredTable, Benchmarks, Scores, Workspace], Table]] = {
    "by subset": by_subset,
    "by number": by_number,
    "by metric": by_metric,
    "by variant": by_variant,
    "by pair": by_pair,
    "official": official,
}
"""The layouts of tables, by the names in :attr:`orchestration.benchmarks.benchmark.Table.layout`."""
