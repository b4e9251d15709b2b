"""Language models in tables: table 2 of the paper, and the rows that judge a model in other tables.

A model's number says little alone. So these tables set it beside constant answers to the same questions,
beside the substrate by a paired test, and beside the outcome of its replies (unreadable ones, repeats, cost).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import msgspec

from orchestration.benchmarks.baselines import COMPARISONS
from orchestration.benchmarks.benchmark import Benchmark
from orchestration.benchmarks.benchmark import Table as DeclaredTable
from orchestration.models.answering import AnsweringModel, read_model
from orchestration.registry import BENCHMARKS
from orchestration.rendering.layouts.best_trivial import graded
from orchestration.rendering.layouts.captions import caption
from orchestration.rendering.tables import Column, Table, read_list
from orchestration.scoring import comparability as cells
from orchestration.scoring import trivial
from orchestration.scoring.counting import RIGHT, Comparison
from orchestration.scoring.formatting import bounds, paired, share
from orchestration.scoring.names import MINUS
from orchestration.scoring.published import PAPER, published
from orchestration.scoring.scores import Score
from orchestration.scoring.statistics import wilson
from orchestration.workspace.folders import Workspace
from substrate.domains.rows import Row

# The label of a column without a model.
NO_MODEL = "no model"
# The rows of a table about the outcome of a model's replies.
_REPLIES = ("unreadable replies", "same reply when asked again", "cost")


def by_metric(
    table: DeclaredTable, benchmarks: Sequence[Benchmark], scores: Mapping[str, Score], workspace: Workspace
) -> Table:
    """Make table 2 of the paper: the substrate, the models, and the paired difference in joint accuracy.

    A row is a metric, or a remark on a model. Each system has two columns: our cells and the printed ones.
    """
    first = benchmarks[0].name
    rivals = [benchmark.name for benchmark in benchmarks[1:]]
    answering = answering_models(benchmarks, workspace)
    n, systems = scores[f"{first}/joint"].n, [cells.own(f"{rival}/joint") for rival in rivals]
    made = {"title": benchmarks[0].title, "n": n, "settings": workspace.settings}
    about = caption("by_metric", **made, answering=answering, systems=[PAPER, *systems])
    pairs = {pair.second: pair for pair in read_list(workspace.path(COMPARISONS), Comparison)}
    labels = {label: f"{first}/{metric}" for metric, label in table.labels.items()}
    # Cells by label; the functions named ``cells`` make them.
    heads, rows = [Column("metric", number=partial(_at, labels))], [*labels, "specifications", *_PAIRED]
    for name, who in zip((first, *rivals), (PAPER, *systems), strict=True):
        of = {label: f"{name}/{metric}" for metric, label in table.labels.items()}
        here = {label: _measured(scores[number]) for label, number in of.items()}
        there = {label: _printed(number, cells.own(number)) for label, number in of.items()}
        joint = of["specifications"] = f"{name}/joint"
        here["specifications"], there["specifications"] = f"{scores[joint].n:,}", cells.printed_n(joint)
        ours, papers = "substrate", cells.marked(PAPER, joint)
        if name != first:
            of |= dict.fromkeys(_PAIRED, joint)
            by_constant = _constants(workspace, name, "joint")
            here |= _measured_apart(pairs[name], by_constant)
            there |= _printed_apart(pairs[name])
            model = answering[name].answered[0].model if name in answering else NO_MODEL
            ours, papers = f"{name.removeprefix(f'{first}_')}, {model}", f"{cells.marked(who)}, published"
        remarks = _constant_cells(workspace, name, table.labels) | dict.fromkeys(_REPLIES, "")
        if name in answering:
            remarks |= _reply_cells(answering[name], graded(workspace, name))
        here |= remarks
        rows = list(dict.fromkeys([*rows, *remarks]))
        heads.append(Column(ours, partial(_at, here), number=partial(_at, of)))
        heads.append(Column(papers, partial(_at, there), cited=[who], number=partial(_at, of)))
    return Table.of(about, heads, rows)


_APART = "joint: substrate minus this, measured here"
_ABOVE = "joint: substrate minus the best constant, measured here"
_P = "McNemar, exact, two-sided p, measured here"
_PAPERS = "joint: substrate minus this, as the paper prints it", "McNemar's p, as the paper prints it"
_PAIRED = (_APART, _ABOVE, _P, *_PAPERS)


def _at(texts: Mapping[str, str], label: str) -> str:
    return texts.get(label, "")


def _measured(score: Score) -> str:
    return f"{cells.percent(score)} {cells.bounded(score)}".strip()


def _printed(number: str, system: str) -> str:
    return f"{cells.printed(number, system)} {cells.interval(number, system)}".strip()


def _measured_apart(pair: Comparison, constants: Mapping[str, tuple[int, int]]) -> dict[str, str]:
    """Return the measured paired differences in joint accuracy: to a model and to the best constant."""
    if pair.difference is None or pair.mcnemar is None:
        return dict.fromkeys((_APART, _ABOVE, _P), cells.NOT_MEASURED)
    constant = max(constants, key=lambda answer: constants[answer][0])
    right, n = constants[constant]
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
    texts = f"+{apart} pp{f' [{low}, {high}]' if low and high else ''}", p or cells.NOT_REPORTED
    return dict(zip(_PAPERS, texts, strict=True))


def rows_beside(benchmark: Benchmark, model: AnsweringModel, workspace: Workspace) -> Iterator[list[str]]:
    """Yield the rows for judging a model's number: constants, the substrate, the outcome of its replies."""
    rows = graded(workspace, benchmark.name)
    counts = trivial.counted(rows, RIGHT, trivial.constants(rows))
    constants = {name: right for name, (right, _) in counts.items()}
    for label, right in constants.items():
        yield [label, "a constant", f"{len(rows):,}", share(right, len(rows)), bounds(right, len(rows))]
    # A run of a single baseline compares nothing.
    for pair in read_list(workspace.path(COMPARISONS), Comparison):
        if pair.second == benchmark.name and pair.mcnemar is not None:
            right = pair.both + pair.first_only
            p = f"the substrate on the same questions, McNemar's exact p {pair.mcnemar:.2g}"
            best = max(constants, key=constants.__getitem__)
            p += at_chance(sum(bool(row.correct) for row in rows), best, constants[best], len(rows))
            yield [p, "substrate", f"{pair.n:,}", share(right, pair.n), bounds(right, pair.n)]
    for label, cell in _reply_cells(model, rows).items():
        yield [label, "", cell]


def answering_models(benchmarks: Sequence[Benchmark], workspace: Workspace) -> dict[str, AnsweringModel]:
    """Return, by benchmark, the language models that answered."""
    models = ((benchmark.name, read_model(workspace.data / benchmark.name)) for benchmark in benchmarks)
    return {name: model for name, model in models if model}


def _reply_cells(model: AnsweringModel, rows: Sequence[Row]) -> dict[str, str]:
    """Describe the outcome of a model's replies, given their rows."""
    lost = sum(row.error is not msgspec.UNSET for row in rows)
    tokens = f"{model.prompt_tokens:,} tokens in, {model.completion_tokens:,} out"
    pace = f", {model.seconds:.1f} s a request" if model.seconds else ""
    errors = f"{lost:,} of {len(rows):,}, {share(lost, len(rows))}"
    again = f"{model.agreed:,} of {model.repeated:,}"
    return dict(zip(_REPLIES, (errors, again, f"{model.requests:,} requests, {tokens}{pace}"), strict=True))


def _constants(workspace: Workspace, name: str, metric: str) -> dict[str, tuple[int, int]]:
    """Return, for each of two constants, its number of right answers to a benchmark, and the total."""
    return trivial.counted(graded(workspace, name), BENCHMARKS[name].metrics[metric], trivial.YES_OR_NO)


def _constant_cells(workspace: Workspace, name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Return the cells of constants on the questions of a model."""
    texts: dict[str, str] = {}
    for metric, label in labels.items():
        for answer, (right, most) in _constants(workspace, name, metric).items():
            texts[f"{label}, {answer}"] = share(right, most) if most else ""
    return texts


def at_chance(right: int, constant: str, constant_right: int, n: int) -> str:
    """Return a remark on a model that is not significantly better than a constant; else empty.

    >>> at_chance(133, "always “no”", 126, 500)
    '; the model is at chance: 26.60 % beside 25.20 % of always “no”'
    >>> at_chance(406, "always “no”", 126, 500)
    ''
    """
    if not n or wilson(right, n)[0] > constant_right / n:
        return ""
    return f"; the model is at chance: {share(right, n)} beside {share(constant_right, n)} of {constant}"
