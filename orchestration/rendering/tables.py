"""Tables in Markdown, LaTeX and HTML, each captioned with the data it was computed on."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import msgspec
from tabulate import tabulate

from orchestration.ablations import VARIANTS, Variant
from orchestration.determinism import Run
from orchestration.scores import Score, published
from orchestration.settings import Settings


@dataclass(frozen=True)
class Table:
    """A caption, column heads and rows of text; the first column is a label, the others are numbers."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[Sequence[str]] = ()
    """The name of the number that each cell speaks of."""
    cited: Sequence[Mapping[str, str]] = ()
    """For each column, the citations of the published numbers in it by who is cited; none where it holds our own."""

    def render(self, suffix: str) -> str:
        """The table as text in the format of a file suffix of :data:`FORMATS`."""
        return FORMATS[suffix](self)


BEYOND = tuple(f"ablations/{name}/{metric}" for name in ("counterfactual.simulated", "predictive.S") for metric in ("per_question", "per_option"))
"""What stands below the paper's rows in Table 1: calibrated simulation behind a fork."""


def clevrer_table(scores: Mapping[str, Score], settings: Settings) -> Table:
    """Table 1 of the paper: subset, n, substrate, interval, NS-DR, ALOE, gap to the better of the two; and the rows that go past it."""
    cited = published()["citations"]
    data = settings.data.clevrer
    caption = (
        f"CLEVRER, {_source(data.source, 'validation split', f'{data.scenes:,} scenes', settings)}. "
        "n counts questions, or options where the row says so; intervals are Wilson, 95 %. "
        "The rows of a dotted name are not the paper's: forks simulated by the calibrated law of motion. "
        f"NS-DR ({cited['ns_dr']}) and ALOE ({cited['aloe']}) are as published, on the official validation split."
    )
    return Table(
        caption,
        ("subset", "n", "substrate", "95 % interval", "NS-DR", "ALOE", "gap (substrate vs. best)"),
        [_clevrer_row(s) for s in scores.values()],
        [[name] * 7 for name in scores],
        [{}, {}, {}, {}, {"ns_dr": cited["ns_dr"]}, {"aloe": cited["aloe"]}, {who: cited[who] for who in ("ns_dr", "aloe")}],
    )


def transfer_table(scores: Mapping[str, Score], settings: Settings) -> Table:
    """The other benchmarks: number, n, substrate, interval, what the paper printed, what others did."""
    cited = published()["citations"]
    babi, gqa, comphy = settings.data.babi, settings.data.gqa, settings.data.comphy
    of_comphy = (
        f"{_source('generated', '', f'{comphy.targets:,} targets', settings)}, once in the paper's setting and once with mass and charge inferred" if comphy else "not measured"
    )
    sources = (
        f"ComPhy, {of_comphy}; "
        f"bAbI, {_source(babi.source, 'test files', f'{babi.questions:,} questions a task', settings)}; "
        f"GQA, {_source(gqa.source, 'balanced validation split', f'{gqa.scenes:,} scenes', settings)}"
    )
    caption = f"Transfer: {sources}. Intervals are Wilson, 95 %. Paper: {cited['transfer']}, on official data; MemN2N: {cited['memn2n']}; PCR: {cited['pcr']}."
    return Table(
        caption,
        ("number", "n", "substrate", "95 % interval", "paper", "others"),
        [_transfer_row(s) for s in scores.values()],
        [[name] * 6 for name in scores],
        [{}, {}, {}, {}, {"substrate": cited["transfer"]}, {who: cited[who] for who in _NAMES}],
    )


_STUDIES = {
    "explanatory": "reference frame",
    "counterfactual": "world without an object",
    "predictive": "motion after the video",
}


def ablations_table(scores: Mapping[str, Score], runs: Sequence[Run], settings: Settings) -> Table:
    """Section 6 of the paper: each variant per question and per option, beside what was published; and hashes of answers computed in several ways."""
    data = settings.data.clevrer
    hashes = {run.sha256 for run in runs}
    same = f"{runs[0].rows:,} answers, computed in {len(runs)} ways ({'; '.join(run.how for run in runs)}), have {len(hashes)} distinct hash{'es' * (len(hashes) > 1)}"
    caption = (
        f"Ablations on CLEVRER, {_source(data.source, 'validation split', f'{data.scenes:,} scenes', settings)}. "
        f"Intervals are Wilson, 95 %. Paper: {published()['citations']['ablations']}, on the official validation split. Determinism: {same}."
    )
    heads = ("variant", "n", "per question", "95 % interval", "paper", "options", "per option", "95 % interval", "paper")
    numbers = [[f"ablations/{variant.name}/per_question"] * 5 + [f"ablations/{variant.name}/per_option"] * 4 for variant in VARIANTS]
    paper = {"substrate": published()["citations"]["ablations"]}
    return Table(caption, heads, [_ablation_row(scores, variant) for variant in VARIANTS], numbers, [paper if head == "paper" else {} for head in heads])


def _ablation_row(scores: Mapping[str, Score], variant: Variant) -> list[str]:
    cells = [f"{_STUDIES[variant.subset]}: {variant.label}"]
    for metric in ("per_question", "per_option"):
        score = scores[f"ablations/{variant.name}/{metric}"]
        cells += [*_measured(score), _published(score)]
    return cells


def _published(score: Score) -> str:
    paper = score.published.get("substrate")
    return "not reported" if paper is None else _percent(paper, 2)


def _source(source: str, split: str, size: str, settings: Settings) -> str:
    if source == "official":
        return f"official {split} (profile {settings.profile})"
    return f"generated world, not the official data: {size}, seed {settings.seed} (profile {settings.profile})"


def _measured(score: Score) -> list[str]:
    """n, accuracy and interval, as cells."""
    if score.accuracy is None or score.wilson is None:
        return ["0", "not measured", ""]
    return [f"{score.n:,}", _percent(score.accuracy, 2), f"[{100 * score.wilson[0]:.2f}, {100 * score.wilson[1]:.2f}]"]


def _clevrer_row(score: Score) -> list[str]:
    rivals = {"NS-DR": score.published.get("ns_dr"), "ALOE": score.published.get("aloe")}
    cells = [_percent(value, 1) if value is not None else "not reported" for value in rivals.values()]
    gap = ""
    if score.accuracy is not None:
        best = max((name for name, value in rivals.items() if value is not None), key=lambda name: rivals[name] or 0)
        gap = f"{100 * (score.accuracy - (rivals[best] or 0)):+.2f} pp vs. {best}"
    return [f"{score.subset} {score.metric.replace('_', '-')}", *_measured(score), *cells, gap]


_NAMES = {"memn2n": "MemN2N", "pcr": "PCR"}


def _transfer_row(score: Score) -> list[str]:
    others = ", ".join(f"{_percent(value, 1)} {_NAMES[who]}" for who, value in score.published.items() if who != "substrate")
    return [score.name, *_measured(score), _published(score), others]


def _percent(value: float, digits: int) -> str:
    return f"{100 * value:.{digits}f} %"


def _align(table: Table) -> list[str]:
    return ["left"] + ["right"] * (len(table.heads) - 1)


def _markdown(table: Table) -> str:
    body = tabulate(table.rows, table.heads, tablefmt="github", colalign=_align(table), disable_numparse=True)
    return f"{body}\n\n*{table.caption}*\n"


def _latex(table: Table) -> str:
    body = tabulate(table.rows, table.heads, tablefmt="latex_booktabs", colalign=_align(table), disable_numparse=True)
    caption = table.caption.replace("%", r"\%")
    return f"\\begin{{table*}}[t]\n\\centering\\small\n{body}\n\\caption{{{caption}}}\n\\end{{table*}}\n"


_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem }
.scroll { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100% }
caption { caption-side: bottom; text-align: left; padding-top: .75rem; opacity: .8 }
th, td { padding: .4rem .75rem; white-space: nowrap }
thead th { border-bottom: 1px solid }
th:first-child { text-align: left }
tbody tr:nth-child(even) { background: color-mix(in srgb, currentColor 6%, transparent) }
"""


def _html(table: Table) -> str:
    body = tabulate(table.rows, table.heads, tablefmt="html", colalign=_align(table), disable_numparse=True)
    titled = body.replace("<table>", f"<table>\n<caption>{html.escape(table.caption)}</caption>", 1)
    title = html.escape(table.caption.partition(",")[0])
    head = f'<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n<title>{title}</title>\n<style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en">\n{head}\n<div class="scroll">\n{titled}\n</div>\n</html>\n'


def _json(table: Table) -> str:
    return msgspec.json.format(msgspec.json.encode(asdict(table)), indent=2).decode() + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {"md": _markdown, "tex": _latex, "html": _html, "json": _json}
"""Renderings by file suffix."""
