"""The verdicts on the paper's claims: from the results of one profile and the pins of all deciding profiles.

`pins/claims.json` holds the verdict on each claim. It follows from the pinned results, so `verify` names each
verdict that changed, and `accept` pins the new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.benchmarks.real import MEASURED_ON
from orchestration.code import ROOT, short_of_python
from orchestration.drift.as_pinned import Difference
from orchestration.ledger.manifest import changed, put, version_of
from orchestration.ledger.stage_results import Results, ShortRow, StageResult, short_digest
from orchestration.models.answering import read_model
from orchestration.pins.paths import DECIDING, VERDICTS, rows_name
from orchestration.pins.pin_files import Pin, decode_rows, read_pin_file
from orchestration.registry import BENCHMARKS
from orchestration.scoring.claims import claims
from orchestration.scoring.counting import counts_for, graded_rows, outcomes, scene_counts
from orchestration.scoring.names import name_of
from orchestration.scoring.published import Kind
from orchestration.scoring.relations import Measured
from orchestration.scoring.scores import metrics_file, read_metrics
from orchestration.scoring.verdict import ClaimVerdict, Find, verdict
from orchestration.workspace.folders import Workspace
from substrate.base.inputs import NOT_JSON

# By number: the right answers, the total and the kind of the data.
Counts = Mapping[str, tuple[int, int, Kind]]


class ProfileNumbers(NamedTuple):
    """The results of a profile.

    Files name a language model as its server does; pins, as it was asked for: a client accepts no other
    model.

    Attributes:
        profile: its name.
        counts: the counts behind its numbers.
        rows: reads the rows of a benchmark.
        by: names the language model that answered a benchmark, if one did.
    """

    profile: str
    counts: Counts
    rows: Callable[[str], Collection[Any]]
    by: Callable[[str], str]

    def find(self, official: bool, number: str) -> Measured | None:
        """Find a number on official data, or on generated data."""
        benchmark = BENCHMARKS.get(name_of(number).benchmark)
        correct, n, kind = self.counts.get(number, (0, 0, "none"))
        kinds = ("official", "local") if official else ("generated",)
        if benchmark is None or kind not in kinds or not 0 < n >= correct >= 0:
            return None
        about = benchmark.about.get(MEASURED_ON, "").partition(":")[0]
        words = about if official else f"profile {self.profile}"
        metric = benchmark.metrics[name_of(number).metric]

        def rows() -> Iterator[Any]:
            return (row for row in self.rows(benchmark.name) if counts_for(row, number))

        def answers() -> dict[tuple[str, str], Any]:
            logged = ((row, short_digest(row.log)) for row in rows())
            return {(str(row.scene), str(row.question)): (row.predicted, log) for row, log in logged}

        def clusters() -> list[tuple[int, int]]:
            # As in the tables: official intervals take scenes for independent, others each question.
            return scene_counts(rows(), metric) if official else [(1, 1)] * correct + [(0, 1)] * (n - correct)

        by = self.by(benchmark.name) if benchmark.by_model else ""
        return Measured(correct, n, words, by, lambda: outcomes(rows(), metric), answers, clusters)


def from_files(workspace: Workspace) -> ProfileNumbers:
    """The results of a profile, from the files of its last run."""
    paths = (workspace.artifacts / metrics_file(benchmark) for benchmark in BENCHMARKS)
    scores = [score for path in paths if path.is_file() for score in read_metrics(path)]
    counts: Counts = {score.name: (score.correct, score.n, score.data) for score in scores}

    @cache
    def rows(benchmark: str) -> list[Any]:
        path = workspace.answers(benchmark)
        return list(graded_rows(path)) if path.is_file() else []

    def by(benchmark: str) -> str:
        told = read_model(workspace.data / benchmark)
        return told.name.partition(" (")[0] if told else ""

    return ProfileNumbers(workspace.settings.profile, counts, rows, by)


def from_pins(root: Path, profile: str, measured: Results | None = None) -> ProfileNumbers:
    """The results of a profile, from a measurement of its outs or from its pins."""
    file, kind = read_pin_file(root, profile) if measured is None else None, DECIDING[profile]
    stages: Mapping[str, StageResult | Pin] = measured or (file.stages if file else {})
    counts: Counts = {name: (*pair, kind) for made in stages.values() for name, pair in made.scores.items()}

    @cache
    def rows(benchmark: str) -> Collection[ShortRow]:
        stage = f"{benchmark}/answers"
        if measured is not None:
            return measured.get(stage, StageResult()).rows.values()
        path = root / rows_name(profile, stage)
        return decode_rows(path.read_bytes()).values() if path.is_file() else ()

    def by(benchmark: str) -> str:
        parameters = stages.get(f"{benchmark}/dataset", Pin()).parameters.values()
        return next((str(of["model"]) for of in parameters if isinstance(of, dict) and "model" in of), "")

    return ProfileNumbers(profile, counts, rows, by)


def verdicts(root: Path, *first: ProfileNumbers) -> list[ClaimVerdict]:
    """Return the verdict on each claim, from some results or from the pins.

    The numbers of a claim come from one profile: the first that has the most of them.
    """
    every = [*first, *(from_pins(root, profile) for profile in DECIDING)]

    def finder(official: bool, numbers: Iterable[str | None]) -> Find:
        names = [*filter(None, numbers)]
        most = max(every, key=lambda of: sum(bool(of.find(official, number)) for number in names))
        return partial(most.find, official)

    known, found = claims(), list[ClaimVerdict]()
    for name, claim in known.claims.items():
        official = finder(True, map(known.on_official, claim.numbers))
        found.append(verdict(name, official, finder(False, claim.numbers), digest_of))
    return found


def verdicts_here(workspace: Workspace) -> list[ClaimVerdict]:
    """Return the verdicts from the files of a profile and the pins; the files decide if both have as much."""
    return verdicts(workspace.root, from_files(workspace))


def digest_of(evidence: tuple[str, ...]) -> str:
    """Return a short digest of what some Python files do, without their comments and docstrings.

    A missing file gives another digest.
    """
    paths = {name: ROOT / name for name in evidence}
    return version_of({n: short_of_python(p.read_bytes()) for n, p in paths.items() if p.is_file()})


def _short(of: ClaimVerdict) -> str:
    """The pinned part of a verdict."""
    unfit = "the paper's own figures do not fit" if of.printed == "inconsistent" else ""
    return ", ".join(filter(None, (of.verdict, of.direction, unfit)))


def pinned_verdicts(root: Path) -> dict[str, str]:
    """Read the pinned verdicts; none if there is no readable file."""
    try:
        return msgspec.json.decode((root / VERDICTS).read_bytes(), type=dict[str, str])
    except (OSError, *NOT_JSON):
        return {}


def pin_verdicts(root: Path, now: Iterable[ClaimVerdict]) -> None:
    """Write verdicts as the pinned ones."""
    lines = msgspec.json.format(msgspec.json.encode({of.name: _short(of) for of in now}), indent=1)
    put(root / VERDICTS, lines + b"\n")


def changed_verdicts(root: Path, now: Iterable[ClaimVerdict]) -> list[Difference]:
    """Return the verdicts that differ from the pinned ones; none if no verdict is pinned."""
    if not (root / VERDICTS).is_file():
        return []
    apart = changed(pinned_verdicts(root), {of.name: _short(of) for of in now})
    texts = ((name, old or "no verdict", new or "no claim") for name, (old, new) in apart.items())
    return [Difference("claims", "verdict", *text) for text in texts]
