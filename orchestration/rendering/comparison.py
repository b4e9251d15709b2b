"""A comparison of two sets of results, as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from orchestration.experiments.comparison import Compared
from orchestration.experiments.record import Experiment
from orchestration.ledger.moved import ComparedNumber
from orchestration.rendering.drift import both_said, difference_cells
from orchestration.rendering.tables import drawn
from orchestration.scoring.formatting import bounds, paired, share
from orchestration.scoring.scores import Count

_SHOWN = 20
_HEADS = ("number", "before", "after", "difference", "won", "lost", "McNemar's p")
_WON = "won: wrong before and right after; lost: right before and wrong after"


def compared_text(compared: Compared) -> str:
    """Describe a comparison: its causes, a table of the numbers that differ, and the changed rows."""
    lines = [f"{compared.name} beside {compared.base} (profile {compared.profile})"]
    lines += [f"  {cause}" for cause in compared.causes[:_SHOWN]] or ["  nothing that they depend on differs"]
    if len(compared.causes) > _SHOWN:
        lines.append(f"  and {len(compared.causes) - _SHOWN} more")
    if changed := [number for number in compared.numbers if not number.same]:
        lines += ["", drawn(_HEADS, map(cells, changed), "simple", words=True)]
        lines += ["", _WON, *(f"{name}: no p: {why}" for why, name in _unpaired(changed))]
    ways = ", ".join(f"{count} {change}" for change, count in compared.changes.items())
    lines += ["", f"{len(changed)} of {len(compared.numbers)} numbers differ."]
    lines += [f"{len(compared.rows):,} answers changed: {ways}." if ways else "No answer changed."]
    for row in compared.rows[:_SHOWN]:
        lines.append(f"{row.answer} ({row.subset}): {both_said(row)}, {row.change}")
    if len(compared.rows) > _SHOWN:
        lines.append(f"and {len(compared.rows) - _SHOWN} more; --json has all")
    return "\n".join(lines) + "\n"


def experiment_text(experiment: Experiment, numbers: Mapping[str, Count]) -> str:
    """Describe an experiment: its parameters and its numbers."""
    parent = experiment.parent
    lines = [f"{experiment.name}, beside profile {parent.profile} at {parent.revision or 'no commit'}"]
    lines += [f"  {change}" for change in experiment.changes]
    computed = [name for name, how in experiment.stages.items() if how == "computed"]
    taken = len(experiment.stages) - len(computed)
    lines += [f"  computed: {', '.join(computed)}; {taken} stages are the parent's, byte for byte", ""]
    rows = [[name, _counted(count)] for name, count in numbers.items()]
    return "\n".join([*lines, drawn(("number", "here"), rows, "simple", words=True)]) + "\n"


def cells(number: ComparedNumber) -> list[str]:
    """A number's row under :data:`_HEADS`; its difference has an interval if questions are paired.

    >>> counts = Count(153, 300, 0.51, (0.453664, 0.566083)), Count(0, 0, None, None)
    >>> cells(ComparedNumber("meadow/joint", *counts, False, None))
    ['meadow/joint', '153 of 300, 51.00 % [45.37, 56.61]', 'none', '', '', '', '']
    """
    apart, *ways = difference_cells(number)
    if apart and number.won is not None and number.lost is not None:
        both = number.after.correct - number.won
        apart = paired(both, number.won, number.lost, number.after.n - both - number.won - number.lost)
    return [number.name, _counted(number.before), _counted(number.after), apart, *ways]


def _counted(count: Count) -> str:
    """The counts of a number, its accuracy and its interval."""
    right, n = count.correct, count.n
    return f"{right:,} of {n:,}, {share(right, n)} {bounds(right, n)}" if n else "none"


def _unpaired(numbers: Sequence[ComparedNumber]) -> list[tuple[str, str]]:
    """The numbers without a p, each after the reason."""
    without = sorted((number.unpaired, number.name) for number in numbers if number.unpaired)
    by_reason = groupby(without, key=lambda pair: pair[0])
    return [(why, ", ".join(name for _, name in of)) for why, of in by_reason]
