"""The conclusion of a run, in a few lines that a person reads in seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

from orchestration.registry import BENCHMARKS
from orchestration.scoring.formatting import share
from orchestration.scoring.likeness import NOT_MEASURED, NOT_REPORTED, why_not
from orchestration.scoring.published import PAPER, published
from orchestration.scoring.scores import Score

_NAMED = 4
"""The most numbers of a kind that are named; of more, the count alone is given."""


def conclusion(scores: Mapping[str, Score]) -> list[str]:
    """The numbers of a run beside the paper's, those on official data first.

    A number that may be compared is reproduced if the paper's interval holds it, or, where the paper prints
    none, if the measured interval holds the paper's figure.

    >>> conclusion({})
    ['Nothing was measured.']
    """
    measured = {name: score for name, score in scores.items() if score.accuracy is not None}
    if not measured:
        return ["Nothing was measured."]
    official = [name for name, score in measured.items() if score.data in ("official", "local")]
    lines = [
        f"On official data: {', '.join(sorted({name.partition('/')[0] for name in official}))}."
        if official
        else f"{len(measured)} numbers are measured, all of them on generated data."
    ]
    lines += filter(None, (_of_benchmark(name, measured) for name in BENCHMARKS))
    return [*lines, *_compared(measured.values())]


def _of_benchmark(name: str, measured: Mapping[str, Score]) -> str:
    """The numbers of a benchmark of which the paper prints one; empty of any other."""
    benchmark = BENCHMARKS[name]
    printed = [one for one in benchmark.numbers if PAPER in published().accuracies(one)]
    if benchmark.source.name != name or not printed:
        return ""
    whole = [one for one in benchmark.numbers if one in measured and not one.endswith("/per_option")]
    if len(whole) > _NAMED:
        whole = [one for one in whole if one in printed and measured[one].subset == "mean"]
    shown = [
        f"{measured[one].subset or measured[one].metric} {share(measured[one].correct, measured[one].n)}"
        for one in whole
    ]
    return f"{benchmark.title}: {', '.join(shown)}." if shown else ""


def _compared(measured: Iterable[Score]) -> list[str]:
    beside: dict[str, list[str]] = {"reproduced": [], "above": [], "below": []}
    reasons = Counter[str]()
    for score in measured:
        reason = why_not(score, PAPER)
        if not reason:
            beside[_place(score)].append(score.name)
        elif reason not in (NOT_REPORTED, NOT_MEASURED):
            reasons[reason] += 1
    lines: list[str] = []
    if any(chain(*beside.values())):
        told = [f"{len(names)} {how}{_names(names)}" for how, names in beside.items() if names]
        lines.append(f"Beside the paper's figures: {', '.join(told)}.")
    if reasons:
        told = [f"{count} ({reason})" for reason, count in reasons.most_common(3)]
        lines.append(f"Not compared with the paper's figures: {', '.join(told)}.")
    return lines


def _place(score: Score) -> str:
    """The place of a number beside the paper's figure."""
    known, number = published().accuracies(score.name)[PAPER], published().number(score.name)
    value, edges = 100 * score.correct / score.n, [f"{PAPER}/low", f"{PAPER}/high"]
    if number and all(edge in number.figures for edge in edges):
        low, high = (number.figures[edge].value for edge in edges)
        inside = low <= value <= high
    else:
        low, high = score.wilson or (0.0, 0.0)
        inside = 100 * low <= known.value <= 100 * high
    return "reproduced" if inside else "above" if value > known.value else "below"


def _names(names: list[str]) -> str:
    return f" ({', '.join(names)})" if len(names) <= _NAMED else ""
