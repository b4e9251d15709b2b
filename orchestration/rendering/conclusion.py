"""The last lines of a run: the verdicts on the paper's claims, or the numbers of a part."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from textwrap import shorten, wrap

from orchestration.drift.claim_verdicts import changed_verdicts, pinned_verdicts, verdicts_here
from orchestration.lineage.number import NUMBERS
from orchestration.models.answering import read_model
from orchestration.pins.pin_files import pinned_scores
from orchestration.registry import BENCHMARKS, SOURCES
from orchestration.rendering.wording import counts_in_words, label
from orchestration.scoring.formatting import bounds, counted
from orchestration.scoring.scores import Score, metrics_file, read_scores, score
from orchestration.scoring.verdict import ClaimVerdict
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import absent, folder_of, is_real

# The metrics of whole questions, by the last part of a number's name.
_WHOLE = ("accuracy", "per_question", "f1", "joint", "per_arm", "divergence")
# The length of a line; the most lines of a conclusion, after which the command prints the report's place and
# its own last line; the most lines about changed verdicts; the most numbers of a part (of more, the mean or
# the first ones stand for the rest).
_WIDTH, _LINES, _CHANGES, _NUMBERS = 110, 8, 3, 6


def concluded(workspace: Workspace, only: str | None = None) -> list[str]:
    """Return the last lines of a run of everything, or of one benchmark; at most :data:`_LINES`.

    If official files are missing, pinned numbers stand in, and the lines say so.
    """
    lacking = absent(workspace, SOURCES.values()) if is_real(workspace) else {}
    if only and only not in BENCHMARKS:
        return []  # the conclusion of a study is in its table
    if only:
        numbers = _of_part(workspace, only, BENCHMARKS[only].source.name in lacking)
        return [*numbers, *_missing_files(workspace, lacking)]
    rest = [*_as_pinned(workspace, lacking), *_missing_files(workspace, lacking)]
    return [*verdict_lines(workspace.root, verdicts_here(workspace), _LINES - len(rest)), *rest]


def verdict_lines(root: Path, now: Sequence[ClaimVerdict], most: int = _LINES) -> list[str]:
    """Count the verdicts; name the decided claims, and the verdicts that changed since they were pinned."""
    changes = [f"verdict changed: {of.what}: {of.old} -> {of.new}" for of in changed_verdicts(root, now)]
    if len(changes) > _CHANGES:
        more = f"and {len(changes) - _CHANGES + 1} more verdicts changed; `substrate verify` names them"
        changes = [*changes[: _CHANGES - 1], more]
    known = "Every verdict is as pinned; " if pinned_verdicts(root) else ""
    changes = changes or [f"{known}`substrate claims` lists them with their reasons."]
    counts = wrap(f"The paper's {len(now)} claims: {counts_in_words(now)}.", _WIDTH)
    return [*counts, *islice(_named(now), max(0, most - len(counts) - len(changes))), *changes]


def _as_pinned(workspace: Workspace, lacking: Collection[str]) -> Iterator[str]:
    """Yield a line with the pinned numbers of benchmarks whose official files are missing."""
    first: dict[str, str] = {}
    pinned = pinned_scores(workspace.root, workspace.settings.profile) if lacking else {}
    for number, benchmark in NUMBERS.items():
        correct, n = pinned.get(number, (0, 0))
        if n and number.endswith(_WHOLE) and benchmark.source.name in lacking:
            first.setdefault(benchmark.name, f"{label(number)} {counted(correct, n)}")
    if first:
        yield shorten(f"As pinned: {'; '.join(first.values())}", _WIDTH, placeholder=" …")


def _named(now: Sequence[ClaimVerdict]) -> Iterator[str]:
    """Yield a line for each kind of decision, with the names of its claims."""
    for words in (("agrees",), ("differs",), ("repaired", "refuted")):
        if names := [of.name for of in now if of.verdict in words]:
            yield shorten(f"{' or '.join(words)}: {', '.join(names)}", _WIDTH, placeholder=" …")


def _of_part(workspace: Workspace, name: str, as_pinned: bool) -> Iterator[str]:
    """Yield a benchmark's numbers of whole questions, and the model that answered."""
    benchmark = BENCHMARKS[name]
    scores: dict[str, Score] = {}
    if as_pinned:
        pinned = pinned_scores(workspace.root, workspace.settings.profile).items()
        scores = {number: score(number, *counts, "official") for number, counts in pinned}
    elif (workspace.artifacts / metrics_file(name)).is_file():
        scores = read_scores(workspace.artifacts, benchmark.numbers)
    measured = [scores[number] for number in benchmark.numbers if number in scores and scores[number].n]
    whole = [of for of in measured if of.metric in _WHOLE] or measured
    whole = [of for of in whole if of.subset == "mean"] or whole
    for of in whole[:_NUMBERS]:
        pinned = " as pinned" if as_pinned else "" if of.data == "official" else f", {of.data} data"
        yield f"{label(of.name)}: {counted(of.correct, of.n)} {bounds(of.correct, of.n)}{pinned}"
    if len(whole) > _NUMBERS:
        yield f"and {len(whole) - _NUMBERS} more numbers: `substrate trace --list {name}`"
    if not whole:
        yield f"{benchmark.title}: nothing was measured."
    if benchmark.by_model and (model := read_model(workspace.data / name)):
        yield f"Answered by {model.name}, {model.requests:,} requests."


def _missing_files(workspace: Workspace, lacking: Mapping[str, Collection[str]]) -> list[str]:
    """Return the line about missing official files and how to get them; none if all are there."""
    if not lacking:
        return []
    names = sorted({name for names in lacking.values() for name in names})
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    where = f"{names[0]}{more} not in {folder_of(workspace)}"
    return [f"Not computed again: {where}. How to get them: docs/how-to-get-real-data.md"]
