"""The tables: the paper's results as measured here, each captioned with its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from orchestration.benchmarks.baselines import COMPARISONS, LanguageModel
from orchestration.benchmarks.benchmark import Benchmark, Source
from orchestration.benchmarks.benchmark import Table as Declared
from orchestration.models.transcript import Told, read_told
from orchestration.registry import BENCHMARKS, SOURCES
from orchestration.rendering.tables import Table, read_list
from orchestration.scoring.counting import Comparison, graded_rows
from orchestration.scoring.formatting import bounds, paired, share
from orchestration.scoring.likeness import (
    NOT_MEASURED,
    NOT_REPORTED,
    READS,
    best_rival,
    compared,
    elsewhere,
    interval,
    marked,
    own,
    printed,
    printed_n,
    reads,
    rivals,
)
from orchestration.scoring.published import MINUS, PAPER, published
from orchestration.scoring.scores import Score
from orchestration.studies.determinism import Repetition
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import kind_of, read_named, trusted_on_first_use
from substrate.domains.rows import Row

Benchmarks = Sequence[Benchmark]
Scores = Mapping[str, Score]

REPEATED = "artifacts/{profile}/ablations/determinism.json"
"""The hashes of the same answers computed in several ways."""
NO_MODEL = "no model"
"""In place of a model's name, where nothing was measured."""
REPLIES = ("unreadable replies", "same reply when asked again", "cost")
"""The rows of a table that say what became of a model's replies."""


def by_subset(table: Declared, shown: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Table 1 of the paper, each system with what it reads, and the rows that go past the paper."""
    caption = (
        f"{'; '.join(_asked_of(one, scores, workspace) for one in shown)}. "
        "n counts questions, or options where the row says so; the paper's n counts questions in every row. "
        f"Intervals are Wilson, 95 %. {table.note} "
        f"Published on the official validation split: {_cited('substrate')}; on the validation or the test "
        f"split, as sources disagree: {_cited('ns_dr', 'aloe')}. "
        f"{READS} {table.of_rivals} {elsewhere(shown[0].name)}"
    )
    rivals_shown, grid = ("ns_dr", "aloe"), _Grid("subset")
    grid.add("n", "substrate", "95 % interval")
    grid.add("paper's n", marked(PAPER), cited=(PAPER,))
    for who in rivals_shown:
        grid.add(marked(who), cited=(who,))
    grid.add("paper's gap", cited=(PAPER, *rivals_shown))
    grid.add("substrate minus paper", cited=(PAPER,))
    grid.add("gap (substrate vs. best)", cited=rivals_shown)
    usual = reads(PAPER)
    for name, score in scores.items():
        other = "" if (read := reads(PAPER, name)) == usual else f", from {read}"
        best = best_rival(name)
        grid.row(
            f"{score.subset} {score.metric.replace('_', '-')}{other}",
            *_measured(score),
            printed_n(name) if PAPER in published().accuracies(name) else "",
            *(printed(name, who) for who in (PAPER, *rivals_shown)),
            _printed_gap(name, best),
            compared(score, PAPER),
            compared(score, best, named=True) if best else NOT_REPORTED,
            of=name,
        )
    return grid.table(caption)


def _asked_of(one: Benchmark, scores: Scores, workspace: Workspace) -> str:
    """A benchmark with its data; of a user's files with how many questions they ask, too."""
    told = f"{one.title}, {_source(one.source, workspace)}{one.source.note}"
    asked = sum(s.n for name, s in scores.items() if name in one.numbers and s.metric == "per_question")
    of_user = asked and kind_of(workspace, one.source) == "local"
    return f"{told}, ours of {asked:,} of the official questions" if of_user else told


def _printed_gap(name: str, rival: str | None) -> str:
    """The difference to a rival that the paper prints beside its own figure."""
    number = published().numbers.get(name)
    figure = number.figures.get(f"{MINUS}{rival}") if number else None
    if figure is None or rival is None:
        return NOT_REPORTED
    return f"{'+' if figure.value > 0 else ''}{figure.printed} pp vs. {published().systems[rival].title}"


def by_number(_: Declared, shown: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """The other benchmarks: what was measured, of whom, and what the paper and others printed of it."""
    asked = dict.fromkeys(one.source.name for one in shown if not one.by_model) or dict.fromkeys(
        one.asks.source.name for one in shown if isinstance(one, LanguageModel)
    )
    sources = [f"{one.title}, {_source(one, workspace)}{one.note}" for one in map(SOURCES.__getitem__, asked)]
    told = {one.name: read_told(workspace.data / one.name) for one in shown if one.by_model}
    models = "; ".join(f"{name}: {who.name}" for name, who in told.items() if who)
    others = {who for one in shown for name in one.numbers for who in rivals(name)}
    cited = _cited(PAPER, *(who for who in published().systems if who in others))
    caption = (
        f"Transfer: {'; '.join(sources)}. Intervals are Wilson, 95 %. Published on official data: {cited}. "
        + "".join(f"{other} " for one in asked if (other := elsewhere(one)))
        + (f"A language model's number is its own, not the substrate's: {models}. " if models else "")
        + READS
    )
    grid = _Grid("number")
    grid.add("measured of", "n", "measured", "95 % interval")
    grid.add("paper's n", "paper", "paper's 95 % interval", "measured minus paper", cited=(PAPER,))
    systems = tuple(who for who in published().systems if who != PAPER)
    grid.add("others", "paper's gap", "measured minus others", cited=systems)
    for benchmark in sorted(shown, key=lambda benchmark: benchmark.table[1]):
        model = told.get(benchmark.name)
        for name in benchmark.numbers:
            grid.row(name, *_number_row(scores[name], benchmark, model), of=name)
        for label, *cells in _beside(benchmark, workspace) if model else ():
            grid.row(f"{benchmark.name}: {label}", *cells)
    return grid.table(caption)


def _beside(benchmark: Benchmark, workspace: Workspace) -> Iterator[list[str]]:
    """The rows by which a model's number is judged: constants, the substrate, and the fate of its replies."""
    rows = _graded(workspace, benchmark.name)
    for label, right in constants(rows).items():
        yield [label, "a constant", f"{len(rows):,}", share(right, len(rows)), bounds(right, len(rows))]
    # A run of one baseline alone compares nothing.
    for one in read_list(workspace.path(COMPARISONS), Comparison):
        if one.second == benchmark.name and one.mcnemar is not None:
            right = one.both + one.first_only
            p = f"the substrate on the same questions, McNemar's exact p {one.mcnemar:.2g}"
            yield [p, "substrate", f"{one.n:,}", share(right, one.n), bounds(right, one.n)]
    for label, cell in _replies(workspace, benchmark.name).items():
        yield [label, "", cell]


def _number_row(score: Score, benchmark: Benchmark, told: Told | None) -> list[str]:
    name, whose, others = score.name, own(score.name), list(rivals(score.name))
    measured_of = f"substrate ({reads(whose, name)})" if whose == PAPER else marked(whose)
    if benchmark.by_model:
        # A published figure is another model's: no difference is made to it.
        measured_of, others, whose = told.name if told else NO_MODEL, [*({whose} - {PAPER}), *others], PAPER
    return [
        measured_of,
        *_measured(score),
        printed_n(name) if whose in published().accuracies(name) else "",
        printed(name, whose),
        interval(name, whose),
        compared(score, whose),
        "; ".join(f"{printed(name, who)} {marked(who, name)}" for who in others),
        "; ".join(_printed_gap(name, who) for who in others),
        "; ".join(NOT_REPORTED if benchmark.by_model else compared(score, who, named=True) for who in others),
    ]


def by_variant(table: Declared, shown: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Section 6 of the paper: variants per question and per option, and hashes of repeated answers."""
    same, repeated = NOT_MEASURED, read_list(workspace.path(REPEATED), Repetition)
    if repeated:
        ways, hashes = "; ".join(one.how for one in repeated), len({one.sha256 for one in repeated})
        same = (
            f"{repeated[0].rows:,} answers, computed in {len(repeated)} ways ({ways}), have {hashes} "
            f"distinct {'hash' if hashes == 1 else 'hashes'}"
        )
    caption = (
        f"{shown[0].title}, {_source(shown[0].source, workspace)}. Intervals are Wilson, 95 %. "
        f"Published on the official validation split: {_cited(PAPER)}, section 6. Determinism: {same}."
    )
    grid = _Grid("variant")
    for n, metric in (("n", "per question"), ("options", "per option")):
        grid.add(n, metric, "95 % interval")
        grid.add("paper's n", marked(PAPER), f"{metric} minus paper", cited=(PAPER,))
    # A variant has two numbers, one after the other.
    for pair in zip(shown[0].numbers[::2], shown[0].numbers[1::2], strict=True):
        cells: list[str] = []
        for name in pair:
            n = printed_n(name) if PAPER in published().accuracies(name) else ""
            cells += [*_measured(scores[name]), n, printed(name, PAPER), compared(scores[name], PAPER)]
        study, _, label = scores[pair[0]].subset.partition(".")
        grid.row(f"{table.labels[study]}: {label}", *cells, of=[pair[0]] * 7 + [pair[1]] * 6)
    return grid.table(caption)


def by_metric(table: Declared, shown: Benchmarks, scores: Scores, workspace: Workspace) -> Table:
    """Table 2 of the paper: the substrate and models, and the paired difference on joint accuracy."""
    settings, first, rivals = workspace.settings, shown[0].name, [one.name for one in shown[1:]]
    told = {rival: read_told(workspace.data / rival) for rival in rivals}
    models = [f"{rival}: {who.name}" for rival, who in told.items() if who]
    measured = scores[f"{first}/joint"]
    made = (
        f"{measured.n:,}, seed {settings.seed} (profile {settings.profile})" if measured.n else NOT_MEASURED
    )
    systems = [own(f"{rival}/joint") for rival in rivals]
    caption = (
        f"{shown[0].title}, generated specifications, not the paper's: {made}. Their gold comes from an "
        f"oracle that shares no code with the substrate. Models: {'; '.join(models) or NO_MODEL}. "
        "Intervals are Wilson, 95 %; of the paired difference, Newcombe's method 10. A measured difference "
        "is between systems that were asked the same specifications here; none is made to a published "
        f"figure, whose specifications are not public. Published: {_cited(PAPER, *systems)}."
    )
    grid = _Grid("metric")
    grid.add("substrate")
    grid.add(marked(PAPER, measured.name), cited=(PAPER,))
    for rival, who in zip(rivals, systems, strict=True):
        named = told[rival]
        grid.add(f"{rival.removeprefix(f'{first}_')}, {named.answered[0].model if named else NO_MODEL}")
        grid.add(f"{marked(who)}, published", cited=(who,))
    names = (first, *rivals)
    for metric, label in table.labels.items():
        cells, of = list[str](), [f"{first}/{metric}"]
        for number in (f"{name}/{metric}" for name in names):
            cells.append(" ".join(_measured(scores[number])[1:]).strip())
            cells.append(" ".join((printed(number, own(number)), interval(number, own(number)))).strip())
            of += [number] * 2
        grid.row(label, *cells, of=of)
    joint = [f"{name}/joint" for name in names]
    twice = [name for name in joint for _ in range(2)]
    counts = [cell for name in joint for cell in (f"{scores[name].n:,}", printed_n(name))]
    grid.row("specifications", *counts, of=["", *twice])
    paired_with = read_list(workspace.path(COMPARISONS), Comparison)
    found = {pair.second: _against(pair) for pair in paired_with if pair.second in rivals}
    for place, label in enumerate(("joint: substrate minus this", "McNemar, exact, two-sided p")):
        against = [cell for rival in rivals for cell in found[rival][place]]
        grid.row(label, "", "", *against, of=["", "", "", *twice[2:]])
    beside = {name: _judged_beside(workspace, name, table.labels) for name in names}
    for label in beside[first]:
        grid.row(label, *(cell for name in names for cell in (beside[name][label], "")))
    return grid.table(caption)


def _judged_beside(workspace: Workspace, name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """The cells by which a column is judged: constants on its questions, and what became of its replies."""
    rows, cells = _graded(workspace, name), dict[str, str]()
    for metric, label in labels.items():
        counting = BENCHMARKS[name].metrics[metric]
        for answer in ("yes", "no"):
            said = (replace(row, predicted=answer, correct=row.expected == answer) for row in rows)
            judged = [counting.measure(unit) for unit in counting.units(said)]
            right, most = (sum(of) for of in zip(*judged, strict=True)) if judged else (0, 0)
            cells[f"{label}, always “{answer}”"] = share(right, most) if most else ""
    return cells | dict.fromkeys(REPLIES, "") | _replies(workspace, name)


def _against(one: Comparison) -> list[tuple[str, str]]:
    """The paired difference on joint accuracy and its p, each as measured and as published."""
    figures = published().numbers[f"{one.first}/joint"].figures
    edges = (figures.get(f"{MINUS}{one.second}/joint{edge}") for edge in ("", "/low", "/high", "/p"))
    apart, low, high, p = (figure and figure.printed for figure in edges)
    here = p_here = NOT_MEASURED
    if one.difference is not None:
        here = paired(one.both, one.first_only, one.second_only, one.neither)
    if one.mcnemar is not None:
        p_here = f"{one.mcnemar:.2g}"
    return [(here, f"+{apart} pp{f' [{low}, {high}]' if low and high else ''}"), (p_here, p or NOT_REPORTED)]


def _graded(workspace: Workspace, name: str) -> list[Row]:
    """The rows of a benchmark that have gold."""
    return list(graded_rows(workspace.artifacts / name / "answers.jsonl"))


def constants(rows: Sequence[Row]) -> dict[str, int]:
    """The rows that each constant answer gets right: yes, no, and the gold that is most often.

    >>> asked = {"benchmark": "b", "split": "s", "subset": "", "predicted": "", "correct": False, "log": ""}
    >>> constants([Row(**asked, scene=0, question=0, expected=gold) for gold in ("3", "no", "3")])
    {'always “yes”': 0, 'always “no”': 1, 'always the majority, “3”': 2}
    """
    gold = Counter(str(row.expected) for row in rows)
    most = min(gold, key=lambda answer: (-gold[answer], answer))
    return {f"always “{answer}”": gold[answer] for answer in ("yes", "no")} | {
        f"always the majority, “{most}”": gold[most]
    }


def _replies(workspace: Workspace, name: str) -> dict[str, str]:
    """The fate of a model's replies, in words; nothing where no model was asked."""
    told = read_told(workspace.data / name)
    if told is None:
        return {}
    rows = _graded(workspace, name)
    lost = sum(row.error is not msgspec.UNSET for row in rows)
    tokens = f"{told.prompt_tokens:,} tokens in, {told.completion_tokens:,} out"
    pace = f", {told.seconds:.1f} s a request" if told.seconds else ""
    cells = (
        f"{lost:,} of {len(rows):,}, {share(lost, len(rows))}",
        f"{told.agreed:,} of {told.repeated:,}",
        f"{told.requests:,} requests, {tokens}{pace}",
    )
    return dict(zip(REPLIES, cells, strict=True))


class _Grid:
    """A table as it is laid out: columns, each with whose published figures stand below it, then rows."""

    def __init__(self, label: str) -> None:
        self.heads = [label]
        self.cited: list[dict[str, str]] = [{}]
        self.lines: list[list[str]] = []
        self.numbers: list[Sequence[str]] = []

    def add(self, *heads: str, cited: Sequence[str] = ()) -> None:
        """Further columns, all with the same citations."""
        self.heads += heads
        self.cited += [{who: published().systems[who].citation for who in cited}] * len(heads)

    def row(self, *cells: str, of: str | Sequence[str] = "") -> None:
        """A row, its end empty where cells are missing, and the number that it or each cell speaks of."""
        self.lines.append([*cells, *[""] * (len(self.heads) - len(cells))])
        self.numbers.append([of] * len(self.heads) if isinstance(of, str) else of)

    def table(self, caption: str) -> Table:
        """The table."""
        return Table(caption, self.heads, self.lines, self.numbers, self.cited)


def _cited(*systems: str) -> str:
    return "; ".join(f"{marked(who)}: {published().systems[who].citation}" for who in systems)


def _source(source: Source, workspace: Workspace) -> str:
    """A profile's data of a source, in words."""
    settings, kind, folder = workspace.settings, kind_of(workspace, source), workspace.data / source.name
    profile = f"(profile {settings.profile})"
    if kind == "local":
        named = [f"{what} {file.name} {_hash(file.sha256)}" for what, file in read_named(folder).items()]
        return f"official files of the user, {', '.join(named)} {profile}"
    if kind == "official":
        firsts = trusted_on_first_use(folder)
        trusted = [f"; {file.name} trusted on first use, {_hash(file.sha256)}" for file in firsts]
        return f"official {source.official.words} {profile}{''.join(trusted)}"
    if kind == "generated":
        size = source.size(settings.data(source.name))
        return f"generated world, not the official data: {size}, seed {settings.seed} {profile}"
    return NOT_MEASURED


def _hash(digest: str) -> str:
    return f"sha256 {digest.removeprefix('sha256:')[:12]}"


def _measured(score: Score) -> list[str]:
    """n, accuracy and interval, as cells."""
    if not score.n:
        return ["0", NOT_MEASURED, ""]
    return [f"{score.n:,}", share(score.correct, score.n), bounds(score.correct, score.n)]


LAYOUTS: Mapping[str, Callable[[Declared, Benchmarks, Scores, Workspace], Table]] = {
    "by subset": by_subset,
    "by number": by_number,
    "by metric": by_metric,
    "by variant": by_variant,
}
"""The layouts of tables, by the names in :attr:`orchestration.benchmarks.benchmark.Table.layout`."""
