"""The conclusion of a run, in a few lines that are read in seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from orchestration.ledger.pinned import pinned_scores
from orchestration.registry import BENCHMARKS, SOURCES
from orchestration.rendering.official import pinned_rows
from orchestration.scoring.formatting import share
from orchestration.scoring.likeness import NOT_MEASURED, NOT_REPORTED, why_not
from orchestration.scoring.published import PAPER, published
from orchestration.scoring.scores import Score, metrics_file, read_scores, score
from orchestration.workspace.folders import Workspace
from orchestration.workspace.real import absent, folder_of, is_real

WHOLE = ("accuracy", "per_question", "f1")
"""The metrics of whole questions, by the last part of a number's name."""
_FIRST = 3
"""The most numbers per benchmark on official data to name: the first that it declares."""
_NAMED = 4
"""The most numbers of a kind to name; a longer list is replaced by its count."""


def concluded(workspace: Workspace, benchmarks: Iterable[str] = BENCHMARKS) -> list[str]:
    """Conclude a profile's run from the numbers of some benchmarks.

    If official files are missing, the pinned numbers stand in, and the lines say so.
    """
    wanted = {*benchmarks}
    names = [name for name in BENCHMARKS if name in wanted]
    there = [name for name in names if (workspace.artifacts / metrics_file(name)).is_file()]
    numbers = [number for name in there for number in BENCHMARKS[name].numbers]
    scores = read_scores(workspace.artifacts, numbers)
    if not is_real(workspace):
        return [*_as_pinned(workspace, names), *conclusion(scores)]
    lacking = absent(workspace, SOURCES.values())
    of_lacking = {name for name in names if BENCHMARKS[name].source.name in lacking}
    pinned = {
        number: score(number, *counts, "official")
        for number, counts in pinned_scores(workspace.root, workspace.settings.profile).items()
        if number.partition("/")[0] in of_lacking
    }
    return [*of_official(scores | pinned, of_lacking), *_way_to(workspace, lacking)]


def _as_pinned(workspace: Workspace, names: Collection[str]) -> list[str]:
    """A line with the pinned numbers of questions on official data, if the conclusion covers everything."""
    if len(names) < len(BENCHMARKS):
        return []
    first: dict[str, str] = {}
    for number, row in pinned_rows(workspace.root):
        if number.endswith(WHOLE):
            told = f"{row['measured'].removesuffix(' per question')} {row['right']} of {row['n']}"
            first.setdefault(number.partition("/")[0], told)
    told = "; ".join(first.values())
    return [f"On official data, as pinned (`--profile real`): {told}."] if told else []


def of_official(scores: Mapping[str, Score], as_pinned: Collection[str] = ()) -> list[str]:
    """The numbers on official files: a line for each family of benchmarks, such as CLEVRER.

    Args:
        as_pinned: the benchmarks whose numbers were not recomputed.
    """
    lines: dict[str, list[str]] = {}
    for name, benchmark in BENCHMARKS.items():
        of_it = [scores[number] for number in benchmark.numbers if number in scores and scores[number].n]
        whole = [measured for measured in of_it if measured.metric in WHOLE]
        for measured in [s for s in whole if s.subset == "mean"] or whole[:_FIRST]:
            family, _, rest = benchmark.title.partition(", ")
            of = ", ".join(filter(None, [rest, measured.subset if measured.subset != "mean" else ""]))
            right, n = measured.correct, measured.n
            told = f"{of} {right:,} of {n:,} ({share(right, n)})".strip()
            lines.setdefault(family, []).append(told + " as pinned" * (name in as_pinned))
    return [f"{family}: {'; '.join(told)}." for family, told in lines.items()]


def _way_to(workspace: Workspace, lacking: Mapping[str, Collection[str]]) -> list[str]:
    if not lacking:
        return []
    names = sorted({name for names in lacking.values() for name in names})
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    where = f"{names[0]}{more} not in {folder_of(workspace)}"
    return [f"Not computed again: {where}. How to get them: docs/how-to-get-real-data.md"]


def conclusion(scores: Mapping[str, Score]) -> list[str]:
    """Compare a run's numbers with the paper's, those on official data first.

    A comparable number is reproduced if the paper's interval contains it or, without a printed interval, if
    the measured interval contains the paper's figure.

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
    """The measured numbers of a benchmark if the paper prints any of its numbers; else empty."""
    benchmark = BENCHMARKS[name]
    printed = [number for number in benchmark.numbers if PAPER in published().accuracies(number)]
    if benchmark.source.name != name or not printed:
        return ""
    whole = [
        number for number in benchmark.numbers if number in measured and not number.endswith("/per_option")
    ]
    if len(whole) > _NAMED:
        whole = [number for number in whole if number in printed and measured[number].subset == "mean"]
    scores = [measured[number] for number in whole]
    shares = [f"{score.subset or score.metric} {share(score.correct, score.n)}" for score in scores]
    return f"{benchmark.title}: {', '.join(shares)}." if shares else ""


def _compared(measured: Iterable[Score]) -> list[str]:
    beside: dict[str, list[str]] = {"reproduced": [], "above": [], "below": []}
    reasons = Counter[str]()
    for number in measured:
        reason = why_not(number, PAPER)
        if not reason:
            beside[_place(number)].append(number.name)
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
    """The position of a number relative to the paper's figure."""
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
