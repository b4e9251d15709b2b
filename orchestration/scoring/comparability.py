"""The comparison of like with like: the published figures that a number may be compared with, as cells.

Every rendering uses it: tables in each format, the UI's previews, the report, `substrate trace --list`.
"""

from __future__ import annotations

from orchestration.scoring.formatting import bounds, share
from orchestration.scoring.names import name_of
from orchestration.scoring.published import PAPER, published
from orchestration.scoring.scores import Score

NOT_REPORTED = "not reported"
NOT_MEASURED = "not measured"


def percent(score: Score) -> str:
    """A cell: the measured accuracy."""
    return share(score.correct, score.n) if score.n else NOT_MEASURED


def bounded(score: Score) -> str:
    """A cell: the interval of the accuracy; empty if nothing was measured."""
    return bounds(score.correct, score.n) if score.n else ""


def why_not(score: Score, system: str) -> str:
    """Why a measured number is not compared with a system's published one; empty if it is.

    Only numbers on official data, or on a user's copy of them, are compared, and only if split and number of
    questions agree.

    >>> from orchestration.scoring.scores import score
    >>> official = score("clevrer/descriptive/per_question", 54000, 54990, "official", "validation")
    >>> why_not(official, "substrate")
    ''
    >>> why_not(official, "aloe")
    'split validation (Rovai) or test (CausalVis) there, validation here'
    >>> why_not(score("clevrer/descriptive/per_question", 2199, 2199, "generated", "generated"), "aloe")
    'generated data'
    """
    known = published()
    if score.accuracy is None:
        return NOT_MEASURED
    if system not in known.accuracies(score.name):
        return NOT_REPORTED
    if score.data not in ("official", "local"):
        return "generated data" if score.data == "generated" else "data of unknown origin"
    there, n = known.split(score.name, system), known.n(score.name)
    if there != score.split:
        return f"split {there} there, {score.split} here"
    # The paper's n next to a per-option accuracy counts questions too.
    if n is not None and n != score.questions:
        return f"{n:,} questions there, {score.questions:,} here"
    return ""


def difference(score: Score, system: str) -> float:
    """The measured number minus a system's, in percentage points, where :func:`why_not` gives no reason."""
    return 100 * score.correct / score.n - published().accuracies(score.name)[system].value


def compared_cell(score: Score, system: str, named: bool = False) -> str:
    """A cell: the difference to a system's figure, or the reason for none.

    Args:
        named: whether to add the system's name.
    """
    reason = why_not(score, system)
    if reason:
        return reason if reason == NOT_REPORTED else f"not compared: {reason}"
    rival = f" vs. {published().systems[system].title}" if named else ""
    return f"{difference(score, system):+.2f} pp{rival}"


def rivals(name: str) -> list[str]:
    """The systems that have a figure for a number, other than the measured system."""
    return [who for who in published().accuracies(name) if who != own(name)]


def own(name: str) -> str:
    """The system that a number measures: the substrate, or a model."""
    number = published().numbers.get(name)
    return number.measured if number and number.measured else PAPER


def best_rival(name: str) -> str | None:
    """The rival with the highest published figure; ``None`` if there is no rival."""
    known = published().accuracies(name)
    return max(rivals(name), key=lambda who: known[who].value, default=None)


def printed(name: str, system: str) -> str:
    """A cell: a system's figure as printed."""
    figure = published().accuracies(name).get(system)
    return NOT_REPORTED if figure is None else f"{figure.printed} %"


def interval(name: str, system: str) -> str:
    """A cell: the printed 95 % interval of a figure; empty if there is none."""
    known = published()
    number = known.number(name)
    if number is None or system not in known.accuracies(name) or f"{system}/low" not in number.figures:
        return ""
    low, high = (number.figures[f"{system}/{edge}"].printed for edge in ("low", "high"))
    return f"[{low}, {high}]"


def printed_n(name: str) -> str:
    """A cell: the number of questions according to the paper."""
    n = published().n(name)
    return "" if n is None else f"{n:,}"


def reads(system: str, name: str = "") -> str:
    """The input that a system reads to answer the questions of a number.

    >>> reads("ns_dr"), reads("substrate", "babi/mean/accuracy")
    ('pixels', 'text')
    """
    usual = published().systems[system].sees
    return published().reads.get(name_of(name).benchmark, usual) if system == PAPER else usual


def marked(system: str, name: str = "") -> str:
    """A system's name with its input.

    >>> marked("ns_dr"), marked("substrate", "clevrer/descriptive/per_question")
    ('NS-DR (pixels)', 'paper (annotations)')
    """
    return f"{published().systems[system].title} ({reads(system, name)})"


def stated(score: Score, system: str) -> str:
    """A phrase about a published figure: the system, its input, the figure, the measured difference."""
    how = compared_cell(score, system)
    apart = "" if how == NOT_REPORTED else f", {how}"
    return f"{marked(system, score.name)} {printed(score.name, system)}{apart}"
