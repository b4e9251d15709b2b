"""Asset checks: what must hold of an asset, and what its reader should know.

They read files and never start a process, so that a run of dozens of stages can afford them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import dagster as dg

from orchestration.pins.drift import explain_data
from orchestration.pins.dvc import md5, recorded
from orchestration.pipeline.logs import read_index
from orchestration.pipeline.resources import WorkspaceResource
from orchestration.pipeline.stage import Stage, ordered_stages
from orchestration.scoring.scores import METRICS, Score, published, read_scores
from orchestration.scoring.statistics import wilson
from orchestration.settings import Profile
from orchestration.workspace import Workspace
from substrate.domains.smallville.twin import ARMS
from substrate.log import EventLog
from substrate.rows import decode
from substrate.tbox import TBox

Judge = Callable[[WorkspaceResource], dg.AssetCheckResult]
ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN

SHAPES: Mapping[str, str] = {
    "babi": "babi",
    "clevrer": "clevrer",
    "clevrer_humans": "clevrer",
    "comphy": "comphy",
    "comphy_inferred": "comphy",
    "gqa": "gqa",
    "twin": "village",
}
"""The TBox whose shapes a benchmark's logs conform to."""
SAMPLE = 10
"""How many logs of a benchmark are held against its shapes, evenly spread over the index."""
DECLARED: Mapping[str, tuple[str, Callable[[Profile], int]]] = {
    "babi": ("answers", lambda profile: 20 * profile.babi.questions),
    "clevrer": ("logs", lambda profile: profile.clevrer.scenes),
    "comphy": ("logs", lambda profile: profile.comphy.targets if profile.comphy else 0),
    "comphy_inferred": ("logs", lambda profile: profile.comphy.targets if profile.comphy else 0),
    "gqa": ("logs", lambda profile: profile.gqa.scenes),
    "twin": ("answers", lambda profile: 2 * profile.twin.specs),
}
"""What a generated benchmark is counted by, and how many of them a profile declares."""


def _check(
    stage: Stage, name: str, description: str, judge: Judge, *, blocking: bool = False
) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=dg.AssetKey(stage.name.split("/")), name=name, description=description, blocking=blocking
    )
    def check(workspace: WorkspaceResource) -> dg.AssetCheckResult:
        return judge(workspace)

    return check


def _pinned(stage: Stage) -> dg.AssetChecksDefinition:
    """Input data are what data.dvc pins; data that are not pinned pass: another profile, or other parameters."""

    def judge(resource: WorkspaceResource) -> dg.AssetCheckResult:
        changed = _modified(stage, resource)
        advice = "restore the data, or pin them with `substrate accept REASON`"
        why = explain_data(resource.open(), stage.name) if changed else ""
        text = (
            f"{', '.join(changed)} is modified against data.dvc{f' ({why})' if why else ''}: {advice}"
            if changed
            else "the data are what data.dvc pins, or are not pinned"
        )
        return dg.AssetCheckResult(passed=not changed, description=text)

    return _check(stage, "pinned", "The input data are those that data.dvc pins.", judge, blocking=True)


def _golds_agree(stage: Stage) -> dg.AssetChecksDefinition:
    """Two independent counts of the same truth: where they differ, one of them is wrong, and no score means
    anything.
    """

    def judge(resource: WorkspaceResource) -> dg.AssetCheckResult:
        rows = [
            decode(line)
            for line in (resource.open().artifacts / "twin" / "answers.jsonl").read_bytes().splitlines()
        ]
        apart = [f"twin/{row.scene}/{ARMS[int(row.question)]}" for row in rows if not row.correct]
        named = ", ".join(apart[:10]) + (f" and {len(apart) - 10} more" if len(apart) > 10 else "")
        text = (
            f"replay and oracle differ on {named}: `substrate explain` shows an arm"
            if apart
            else f"replay and oracle agree on {len(rows)} arms"
        )
        return dg.AssetCheckResult(
            passed=not apart,
            metadata={"arms": len(rows), "agreeing": len(rows) - len(apart)},
            description=text,
        )

    return _check(
        stage,
        "golds_agree",
        "The substrate's replay and the oracle's SQL give the same answer on every arm.",
        judge,
        blocking=True,
    )


def _drift(stage: Stage) -> dg.AssetChecksDefinition:
    """Results are what dvc.lock pins: an error that stops the run in CI, elsewhere a warning."""

    def judge(resource: WorkspaceResource) -> dg.AssetCheckResult:
        severity = ERROR if os.environ.get("CI", "").lower() in ("1", "true") else WARN
        if os.environ.get("DVC_EXP_BASELINE_REV"):
            return dg.AssetCheckResult(
                passed=True, severity=severity, description="an experiment: `dvc metrics diff` compares it"
            )
        changed = _modified(stage, resource)
        advice = "`substrate verify` shows what changed, `substrate accept REASON` pins it"
        text = (
            f"{', '.join(changed)} is modified against dvc.lock: {advice}"
            if changed
            else "every out is what dvc.lock pins, or is not pinned"
        )
        return dg.AssetCheckResult(passed=not changed, severity=severity, description=text)

    return _check(stage, "drift", "The results are those that dvc.lock pins.", judge, blocking=True)


def _modified(stage: Stage, resource: WorkspaceResource) -> list[str]:
    """The stage's outs whose bytes are not what is pinned; parameters that were set for the run are not held
    against the pins.
    """
    if resource.overrides:
        return []
    workspace = resource.open()
    pins = recorded(workspace.root)
    paths = [out.format(profile=workspace.settings.profile) for out in stage.outs]
    return [path for path in paths if path in pins and md5(workspace.root / path) != pins[path]]


def _counts(stage: Stage, benchmark: str) -> dg.AssetChecksDefinition:
    """As many questions as the paper printed on official data, as many items as the profile declares on
    generated ones.
    """

    def judge(resource: WorkspaceResource) -> dg.AssetCheckResult:
        workspace = resource.open()
        if _official(workspace, benchmark):
            scores = read_scores(workspace.artifacts / "scores", benchmark)
            # The paper's n beside a per-option accuracy counts questions; ours counts options.
            expected = {
                name: numbers["n"]
                for name, numbers in published()["numbers"].items()
                if name in scores and "n" in numbers and not name.endswith("/per_option")
            }
            found = {name: scores[name].n for name in expected}
        else:
            what, declared = DECLARED[benchmark]
            expected, found = (
                {what: declared(workspace.settings.data)},
                {what: _COUNTED[what](workspace, benchmark)},
            )
        wrong = [
            f"{name}: {found[name]:,} instead of {n:,}" for name, n in expected.items() if found[name] != n
        ]
        text = "; ".join(wrong) if wrong else "; ".join(f"{name}: {n:,}" for name, n in found.items())
        return dg.AssetCheckResult(passed=not wrong, description=text, metadata=found)

    return _check(
        stage,
        "counts",
        "The paper's n on official data, the profile's declared size on generated data.",
        judge,
    )


def _count_logs(workspace: Workspace, benchmark: str) -> int:
    return len(read_index(workspace.artifacts / benchmark / "logs"))


def _count_answers(workspace: Workspace, benchmark: str) -> int:
    with (workspace.artifacts / benchmark / "answers.jsonl").open("rb") as rows:
        return sum(1 for _ in rows)


_COUNTED: Mapping[str, Callable[[Workspace, str], int]] = {"logs": _count_logs, "answers": _count_answers}


def _official(workspace: Workspace, benchmark: str) -> bool:
    return getattr(getattr(workspace.settings.data, benchmark, None), "source", "generated") == "official"


def _shapes(stage: Stage, benchmark: str) -> dg.AssetChecksDefinition:
    """A fixed sample of logs ends in states that break no shape."""

    def judge(resource: WorkspaceResource) -> dg.AssetCheckResult:
        workspace = resource.open()
        folder = workspace.artifacts / benchmark / "logs"
        entries = read_index(folder)
        sample = (
            [entries[i * len(entries) // SAMPLE].file for i in range(SAMPLE)]
            if len(entries) > SAMPLE
            else [entry.file for entry in entries]
        )
        tbox, found = TBox.load(SHAPES[benchmark]), dict[str, str]()
        for file in sample:
            log = EventLog.read(folder / file)
            if violations := tbox.validate(log.state(), log):
                found[file] = f"{violations[0]}" + (
                    f"; and {len(violations) - 1} more" if len(violations) > 1 else ""
                )
        text = (
            "; ".join(f"{file}: {what}" for file, what in found.items())
            or f"{len(sample)} of {len(entries)} logs conform to substrate/tboxes/{SHAPES[benchmark]}.ttl"
        )
        return dg.AssetCheckResult(passed=not found, description=text, metadata={"sample": sample})

    return _check(stage, "shapes", "A sample of event logs conforms to the SHACL shapes of the TBox.", judge)


def _agreement(stage: Stage, benchmark: str) -> dg.AssetChecksDefinition:
    """The paper's own numbers lie where ours do.

    Never an error: the numbers are reported as they come out.
    """

    def judge(resource: WorkspaceResource) -> dg.AssetCheckResult:
        workspace = resource.open()
        compared = list(_compare(read_scores(workspace.artifacts / "scores", benchmark)))
        official = _official(workspace, benchmark)
        lines = list(map(str, compared)) or ["nothing was measured"]
        if not official:
            lines.insert(0, "computed on other data than the paper's, so the two need not agree")
        agree = all(one.overlap for one in compared)
        differences = {f"{one.name} (pp)": round(one.difference, 2) for one in compared}
        return dg.AssetCheckResult(
            passed=agree or not official, severity=WARN, description="; ".join(lines), metadata=differences
        )

    return _check(
        stage,
        "agreement",
        "The paper's numbers, their difference from ours, and whether the 95 % intervals overlap.",
        judge,
    )


class _Compared(NamedTuple):
    """A number beside the paper's; accuracies are proportions."""

    name: str
    here: float
    paper: float
    overlap: bool
    """Whether the two 95 % intervals do."""

    @property
    def difference(self) -> float:
        """In percentage points."""
        return 100 * (self.here - self.paper)

    def __str__(self) -> str:
        return f"{self.name}: {self.here:.2%} here, {self.paper:.2%} in the paper, {self.difference:+.2f} pp, intervals {'overlap' if self.overlap else 'are apart'}"


def _compare(scores: Mapping[str, Score]) -> Iterator[_Compared]:
    """Each measured number of which the paper printed its own."""
    for name, score in scores.items():
        paper = score.published.get("substrate")
        if paper is None or score.accuracy is None or score.wilson is None:
            continue
        n = published()["numbers"][name]["n"]
        low, high = wilson(round(paper * n), n)
        yield _Compared(name, score.accuracy, paper, low <= score.wilson[1] and score.wilson[0] <= high)


_AGAINST_PINS: Mapping[str, Callable[[Stage], dg.AssetChecksDefinition]] = {
    "data.dvc": _pinned,
    "dvc.yaml": _drift,
}


def _checks() -> Iterator[dg.AssetChecksDefinition]:
    for stage in ordered_stages():
        benchmark, _, step = stage.name.partition("/")
        if stage.pinned_by in _AGAINST_PINS:
            yield _AGAINST_PINS[stage.pinned_by](stage)
        if stage.name == "twin/answers":
            yield _golds_agree(stage)
        if step == "logs" and benchmark in SHAPES:
            yield _shapes(stage, benchmark)
        if step == "scores" and benchmark in DECLARED:
            yield _counts(stage, benchmark)
        if step == "scores" and any(
            "substrate" in published()["numbers"].get(name, {}) for name in METRICS.get(benchmark, ())
        ):
            yield _agreement(stage, benchmark)


CHECKS: list[Any] = list(_checks())
