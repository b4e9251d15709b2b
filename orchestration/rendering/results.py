"""What the tables say: the paper's results as measured here, each captioned with its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestration.benchmarks.benchmark import Benchmark, Data
from orchestration.rendering.tables import Table
from orchestration.scoring.scores import Comparison, Repetition, Score, published
from orchestration.settings import Settings

Benchmarks = Sequence[Benchmark]

BEYOND = tuple(
    f"ablations/{name}/{metric}"
    for name in ("counterfactual.simulated", "predictive.S")
    for metric in ("per_question", "per_option")
)
"""What stands below the paper's rows in Table 1: calibrated simulation behind a fork."""


def clevrer_table(shown: Benchmarks, scores: Mapping[str, Score], settings: Settings) -> Table:
    """Table 1 of the paper: subset, n, substrate, interval, NS-DR, ALOE, gap to the better of the two; and
    the rows that go past it.
    """
    cited = published()["citations"]
    caption = (
        f"CLEVRER, {_source(shown[0], settings)}. "
        "n counts questions, or options where the row says so; intervals are Wilson, 95 %. "
        "The rows of a dotted name are not the paper's: forks simulated by the calibrated law of motion. "
        f"NS-DR ({cited['ns_dr']}) and ALOE ({cited['aloe']}) are as published, on the official validation "
        "split."
    )
    return Table(
        caption,
        ("subset", "n", "substrate", "95 % interval", "NS-DR", "ALOE", "gap (substrate vs. best)"),
        [_clevrer_row(s) for s in scores.values()],
        [[name] * 7 for name in scores],
        [
            {},
            {},
            {},
            {},
            {"ns_dr": cited["ns_dr"]},
            {"aloe": cited["aloe"]},
            {who: cited[who] for who in ("ns_dr", "aloe")},
        ],
    )


def transfer_table(shown: Benchmarks, scores: Mapping[str, Score], settings: Settings) -> Table:
    """The other benchmarks: number, n, substrate, interval, what the paper printed, what others did."""
    cited = published()["citations"]
    sources = [
        f"{one.title.partition(',')[0]}, {_source(one, settings)}{one.note}" for one in shown if one.world
    ]
    caption = (
        f"Transfer: {'; '.join(sources)}. Intervals are Wilson, 95 %. Paper: {cited['transfer']}, on "
        "official "
        f"data; MemN2N: {cited['memn2n']}; PCR: {cited['pcr']}."
    )
    rows: list[list[str]] = []
    numbers: list[list[str]] = []
    for benchmark in sorted(shown, key=lambda benchmark: benchmark.table[1]):
        for name in benchmark.numbers:
            rows.append(_transfer_row(scores[name], benchmark.by_model))
            numbers.append([name] * len(rows[-1]))
    return Table(
        caption,
        ("number", "n", "substrate", "95 % interval", "paper", "others"),
        rows,
        numbers,
        [
            {},
            {},
            {},
            {},
            {"substrate": cited["transfer"]},
            {who: cited.get(who, cited["transfer"]) for who in NAMES},
        ],
    )


_STUDIES = {
    "explanatory": "reference frame",
    "counterfactual": "world without an object",
    "predictive": "motion after the video",
}


def ablations_table(
    shown: Benchmarks, scores: Mapping[str, Score], repeated: Sequence[Repetition], settings: Settings
) -> Table:
    """Section 6 of the paper: each variant per question and per option, beside what was published; and hashes
    of answers computed in several ways.
    """
    hashes = len({one.sha256 for one in repeated})
    ways = "; ".join(one.how for one in repeated)
    same = (
        f"{repeated[0].rows:,} answers, computed in {len(repeated)} ways ({ways}), have {hashes} distinct "
        f"{'hash' if hashes == 1 else 'hashes'}"
    )
    cited = published()["citations"]["ablations"]
    caption = (
        f"Ablations on CLEVRER, {_source(shown[0], settings)}. Intervals are Wilson, 95 %. "
        f"Paper: {cited}, on the official validation split. Determinism: {same}."
    )
    heads = (
        "variant",
        "n",
        "per question",
        "95 % interval",
        "paper",
        "options",
        "per option",
        "95 % interval",
        "paper",
    )
    rows: list[list[str]] = []
    numbers: list[list[str]] = []
    # A variant has two numbers, one after the other.
    for question, option in zip(shown[0].numbers[::2], shown[0].numbers[1::2], strict=True):
        rows.append(_ablation_row(scores[question], scores[option]))
        numbers.append([question] * 5 + [option] * 4)
    columns = [{"substrate": cited} if head == "paper" else {} for head in heads]
    return Table(caption, heads, rows, numbers, columns)


def _ablation_row(question: Score, option: Score) -> list[str]:
    study, _, label = question.subset.partition(".")
    cells = [f"{_STUDIES[study]}: {label}"]
    for score in (question, option):
        cells += [*_measured(score), _published(score)]
    return cells


def _published(score: Score) -> str:
    paper = score.published.get("substrate")
    return "not reported" if paper is None else _percent(paper, 2)


_RIVALS = {"twin_direct": "Llama-3.1-8B direct", "twin_concordia": "Concordia-style"}
_TWIN_METRICS = {
    "per_arm": "per-arm accuracy",
    "joint": "joint accuracy (A and B)",
    "divergence": "divergence detection",
}


def twin_table(scores: Mapping[str, Score], comparisons: Sequence[Comparison], settings: Settings) -> Table:
    """Table 2 of the paper: the substrate and two language-model baselines, and on joint accuracy the paired
    difference.
    """
    models = sorted({getattr(settings.of("baselines"), rival).model for rival in _RIVALS})
    specifications = f"{scores['twin/joint'].n:,}, seed {settings.seed} (profile {settings.profile})"
    caption = (
        f"Twin-EventLog, generated specifications, not the paper's: {specifications}. Their gold comes "
        "from an "
        f"oracle that shares no code with the substrate. Models: {', '.join(models)}. "
        "Intervals are Wilson, 95 %; of the paired difference, Newcombe's method 10. "
        f"Paper: {published()['citations']['twin']}."
    )
    by_second = {comparison.second: comparison for comparison in comparisons}
    rows = [
        [
            label,
            _with_interval(scores[f"twin/{metric}"]),
            *(_beside(scores[f"{rival}/{metric}"]) for rival in _RIVALS),
        ]
        for metric, label in _TWIN_METRICS.items()
    ]
    rows.append(["specifications", *(f"{scores[f'{name}/joint'].n:,}" for name in ("twin", *_RIVALS))])
    rows.append(["joint: substrate minus this", "", *(_difference(by_second[rival]) for rival in _RIVALS)])
    rows.append(["McNemar, exact, two-sided p", "", *(_p_value(by_second[rival]) for rival in _RIVALS)])
    numbers = [
        [f"twin/{metric}", *(f"{name}/{metric}" for name in ("twin", *_RIVALS))] for metric in _TWIN_METRICS
    ]
    joint = [f"{rival}/joint" for rival in _RIVALS]
    numbers += [["", "twin/joint", *joint], ["", "", *joint], ["", "", *joint]]
    paper = published()["citations"]["twin"]
    return Table(
        caption,
        ("metric", "substrate", *_RIVALS.values()),
        rows,
        numbers,
        [{}, {}, {"llama_direct": paper}, {"concordia": paper}],
    )


def _with_interval(score: Score) -> str:
    return " ".join(_measured(score)[1:]).strip()


def _beside(score: Score) -> str:
    """A model's number as measured, and as published."""
    cited = next(
        (f"published {_percent(value, 2)}" for who, value in score.published.items() if who != "substrate"),
        "not reported",
    )
    return f"{_with_interval(score) if score.n else 'not measured here'}; {cited}"


def _difference(comparison: Comparison) -> str:
    cited = published()["comparisons"][comparison.second]
    interval = " [{:.2f}, {:.2f}]".format(*cited["newcombe"]) if "newcombe" in cited else ""
    here = "not measured here"
    if comparison.difference is not None and comparison.newcombe:
        here = (
            f"{100 * comparison.difference:+.2f} pp [{100 * comparison.newcombe[0]:.2f}, "
            f"{100 * comparison.newcombe[1]:.2f}]"
        )
    return f"{here}; published {cited['difference']:+.2f} pp{interval}"


def _p_value(comparison: Comparison) -> str:
    cited = published()["comparisons"][comparison.second].get("mcnemar")
    here = "not measured here" if comparison.mcnemar is None else f"{comparison.mcnemar:.2g}"
    return f"{here}; {'not reported' if cited is None else f'published {cited:.0e}'}"


def _source(benchmark: Benchmark, settings: Settings) -> str:
    """Which data a benchmark was measured on, in words."""
    data: Data = settings.data(benchmark.data_of)
    if data.source == "official":
        return f"official {benchmark.split_text} (profile {settings.profile})"
    if data.source == "generated":
        size = benchmark.size(data)
        return (
            f"generated world, not the official data: {size}, seed {settings.seed} (profile "
            f"{settings.profile})"
        )
    return "not measured"


def _measured(score: Score) -> list[str]:
    """n, accuracy and interval, as cells."""
    if score.accuracy is None or score.wilson is None:
        return ["0", "not measured", ""]
    return [
        f"{score.n:,}",
        _percent(score.accuracy, 2),
        f"[{100 * score.wilson[0]:.2f}, {100 * score.wilson[1]:.2f}]",
    ]


def _clevrer_row(score: Score) -> list[str]:
    rivals = {"NS-DR": score.published.get("ns_dr"), "ALOE": score.published.get("aloe")}
    cells = [_percent(value, 1) if value is not None else "not reported" for value in rivals.values()]
    gap = ""
    if score.accuracy is not None:
        best = max(
            (name for name, value in rivals.items() if value is not None), key=lambda name: rivals[name] or 0
        )
        gap = f"{100 * (score.accuracy - (rivals[best] or 0)):+.2f} pp vs. {best}"
    return [f"{score.subset} {score.metric.replace('_', '-')}", *_measured(score), *cells, gap]


NAMES = {
    "substrate": "substrate",
    "ns_dr": "NS-DR",
    "aloe": "ALOE",
    "memn2n": "MemN2N",
    "pcr": "PCR",
    "llama": "Llama-3.1-8B",
    "llama_direct": "Llama-3.1-8B direct",
    "concordia": "Concordia-style",
    "qwen_vl": "Qwen2.5-VL-3B",
    "extractor": "language model as extractor",
}
"""Whose published numbers are cited, in words and in the order of a legend."""


def _transfer_row(score: Score, by_model: bool) -> list[str]:
    if by_model:
        # Not the substrate's number: it stands among the others.
        others = f"{_beside(score)} {', '.join(NAMES[who] for who in score.published)}"
        return [score.name, f"{score.n:,}", "", "", "", others]
    others = ", ".join(
        f"{_percent(value, 1)} {NAMES[who]}" for who, value in score.published.items() if who != "substrate"
    )
    return [score.name, *_measured(score), _published(score), others]


def _percent(value: float, digits: int) -> str:
    return f"{100 * value:.{digits}f} %"
