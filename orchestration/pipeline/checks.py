"""Asset checks: what must hold of an asset, and what its reader should know.

They read files and never start a process, so that a run of dozens of stages can afford them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import dagster as dg

from orchestration.benchmarks.benchmark import Benchmark, Data, Interpreted, Logger, Source
from orchestration.ledger.pinned import ROWS, pinned_outs
from orchestration.pipeline.drifted import find_drift, shown
from orchestration.pipeline.resources import WorkspaceResource
from orchestration.pipeline.study_stages import asked_of
from orchestration.registry import BENCHMARKS, INTERPRETED, LOGGERS, STUDIES
from orchestration.scoring.counting import line_count, rows_of
from orchestration.scoring.likeness import difference, why_not
from orchestration.scoring.published import PAPER, published
from orchestration.scoring.scores import read_scores
from orchestration.scoring.statistics import wilson
from orchestration.stage import Stage, Stages
from orchestration.studies.study import Part, Study, counted, parts_of, totals
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, kind_of
from orchestration.workspace.tables import read_index
from substrate.base.files import sha256
from substrate.rules.tbox import TBox

Judge = Callable[[WorkspaceResource], dg.AssetCheckResult]
ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN

SAMPLE = 10
"""The number of a benchmark's logs that are held against its shapes, evenly spread over the index."""


def _check(
    stage: Stage, name: str, description: str, judge: Judge, *, blocking: bool = False
) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=dg.AssetKey(stage.name.split("/")), name=name, description=description, blocking=blocking
    )
    def check(workspace: WorkspaceResource) -> dg.AssetCheckResult:
        return judge(workspace)

    return check


def _golds_agree(benchmark: Interpreted, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """Two independent counts of the same truth: where they differ, one of them is wrong, and no score means
    anything.
    """
    path = resource.open().artifacts / benchmark.name / ROWS
    rows = list(rows_of(path))
    apart = [benchmark.answer_name(row) for row in rows if not row.correct]
    more = f" and {len(apart) - 10} more" if len(apart) > 10 else ""
    text = f"replay and oracle agree on {len(rows)} arms"
    if apart:
        named = f"{', '.join(apart[:10])}{more}"
        text = f"replay and oracle differ on {named}: `substrate explain` shows an arm"
    counted = {"arms": len(rows), "agreeing": len(rows) - len(apart)}
    # Nothing that was asked and nothing that differs is no agreement.
    passed = bool(rows or not _asked(resource.open(), benchmark.source)) and not apart
    return dg.AssetCheckResult(passed=passed, metadata=counted, description=text)


def _held(stages: Stages, stage: Stage) -> dg.AssetChecksDefinition:
    """Input data and results are what was pinned; what is not pinned, such as of another profile, passes.
    A transcript that grew is a result of its run: stopping there would stop the run that measures.
    """
    data = stage.pinned_by == "data.dvc" and not stage.always
    # A result that drifted stops the run in CI alone.
    stops = data or os.environ.get("CI", "").lower() in ("1", "true")
    severity = ERROR if stops else WARN

    def judge(resource: WorkspaceResource) -> dg.AssetCheckResult:
        experiment = os.environ.get("DVC_EXP_BASELINE_REV") and not data
        if experiment or not (changed := _modified(stage, resource)):
            why = "every out is what was pinned, or is not pinned"
            why = "an experiment: `dvc metrics diff` compares it" if experiment else why
            return dg.AssetCheckResult(passed=True, severity=severity, description=why)
        workspace = resource.open()
        drift = find_drift(workspace, stages, stage)
        told = f"{', '.join(changed)} is modified against its pin"
        if data:
            files = ", ".join(Path(difference.what).name for difference in drift.differences)
            if why := "; ".join(filter(None, [files, *map(str, drift.causes)])):
                told = f"{told} ({why})"
            told = f"{told}: restore the data, or pin them with `substrate accept REASON`"
        else:
            told = ". ".join(filter(None, [told, str(drift)]))
            told = f"{told}. `substrate verify` shows what changed, `substrate accept REASON` pins it"
        metadata = shown(drift, changed, workspace, stage)
        return dg.AssetCheckResult(passed=False, severity=severity, description=told, metadata=metadata)

    about = (
        "The results are those that were pinned. A difference is an error that stops the run where CI is "
        f"set, elsewhere a warning that stops nothing; here {'an error' if stops else 'a warning'}."
    )
    name, about = ("pinned", "The input data are those that were pinned.") if data else ("drift", about)
    return _check(stage, name, about, judge, blocking=stops)


def _modified(stage: Stage, resource: WorkspaceResource) -> list[str]:
    """The stage's outs whose bytes are not what is pinned; parameters that were set for the run are not held
    against the pins.
    """
    if resource.overrides:
        return []
    workspace = resource.open()
    pins = pinned_outs(workspace.root, workspace.settings.profile)
    paths = workspace.paths(stage.outs).items()
    return [name for name, path in paths if name in pins and sha256(path) != pins[name]]


def _counts(benchmark: Interpreted, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """As many questions as the paper printed on official data, as many items as the profile declares on
    generated ones; whether all of a user's own files is answered is another check's.
    """
    workspace = resource.open()
    data: Data = workspace.settings.data(benchmark.source.name)
    kind = kind_of(workspace, benchmark.source)
    if kind == "official":
        scores = read_scores(workspace.artifacts, benchmark.numbers)
        # The paper's n beside a per-option accuracy counts questions; ours counts options.
        paper = {name: published().n(name) for name in scores if not name.endswith("/per_option")}
        expected = {name: n for name, n in paper.items() if n is not None}
        found = {name: scores[name].n for name in expected}
    else:
        declared = () if kind == "local" else benchmark.declared.items()
        expected = {what: number(data) if kind == "generated" else 0 for what, number in declared}
        files = {"logs": "logs/index.jsonl", "answers": ROWS}
        found = {what: line_count(workspace.artifacts / benchmark.name / files[what]) for what in expected}
    wrong = [f"{name}: {found[name]:,} instead of {n:,}" for name, n in expected.items() if found[name] != n]
    text = "; ".join(wrong or [f"{name}: {n:,}" for name, n in found.items()])
    return dg.AssetCheckResult(passed=not wrong, description=text, metadata=found)


def _complete(benchmark: Interpreted, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """Each case has its logs, and each scene that is asked about its rows."""
    workspace = resource.open()
    asked = _asked(workspace, benchmark.source)
    path = workspace.artifacts / benchmark.name / ROWS
    answered = {str(row.scene) for row in rows_of(path)}
    missing = sorted(asked - answered)
    text = f"each of {len(asked)} scenes that are asked about has rows"
    if missing:
        text = f"{len(missing)} of {len(asked)} scenes have no row, {missing[0]} first"
    return dg.AssetCheckResult(passed=not missing, description=text, metadata={"scenes": len(asked)})


def _asked(workspace: Workspace, source: Source) -> set[str]:
    """The scenes of a profile's data that something is asked about."""
    files = files_of(workspace, source)
    return {str(case.scene) for case in source.cases(files, None, False).each} if files else set()


def _asked_again(study: Study, part: Part, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """Each question of the cases that are asked again has a row under each condition, and there are some."""
    workspace, source = resource.open(), part.base.source
    files = files_of(workspace, source)
    each = source.cases(files, None, True).each if files else iter(())
    asked = [case for case in islice(each, asked_of(study, part, workspace)) if case.questions]
    wanted = part.wanted(asked)
    found = totals(counted(workspace.path(study.rows_file(part))))
    wrong = part.missing(wanted, found)
    there, some = sum(found.values()), bool(wanted.total())
    text = "; ".join(wrong) or f"{there:,} rows of {len(asked)} cases, under each condition"
    # No rows are right only where nothing is to be asked, or nothing was promised.
    passed = not wrong and (bool(there) == some or (part.free is None and not some))
    return dg.AssetCheckResult(passed=passed, description=text, metadata={"rows": there})


def _shapes(logger: Logger, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """A fixed sample of logs ends in states that break no shape."""
    logs = resource.open().logs(logger.name)
    count = sum(1 for _ in read_index(logs.index))
    step = max(1, count / SAMPLE)
    places = {int(place * step) for place in range(min(SAMPLE, count))}
    sample = [entry.name for place, entry in enumerate(read_index(logs.index)) if place in places]
    tbox, found = TBox.load(logger.shapes), dict[str, str]()
    for name in sample:
        log = logs.read(name)
        if violations := tbox.validate(log.state(), log):
            more = f"; and {len(violations) - 1} more" if len(violations) > 1 else ""
            found[name] = f"{violations[0]}{more}"
    text = f"{len(sample)} of {count} logs conform to tboxes/{logger.shapes}.ttl"
    if found:
        text = "; ".join(f"{name}: {what}" for name, what in found.items())
    return dg.AssetCheckResult(passed=not found, description=text, metadata={"sample": sample})


def _agreement(benchmark: Benchmark, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """The paper's own numbers lie where ours do.

    Never an error: the numbers are reported as they come out.
    """
    lines, apart, overlaps = list[str](), dict[str, float](), list[bool]()
    for name, score in read_scores(resource.open().artifacts, benchmark.numbers).items():
        found = difference(score, PAPER)
        if found is None or score.accuracy is None or score.wilson is None:
            if PAPER in score.published:
                lines.append(f"{name}: not compared: {why_not(score, PAPER)}")
            continue
        # Where the paper names no count, ours stands for it: that the splits are one was checked.
        paper, n = score.published[PAPER], published().n(name) or score.n
        low, high = wilson(round(paper * n), n)
        overlaps.append(low <= score.wilson[1] and score.wilson[0] <= high)
        apart[f"{name} (pp)"] = round(found, 2)
        said = f"{score.accuracy:.2%} here, {paper:.2%} in the paper, {found:+.2f} pp"
        lines.append(f"{name}: {said}, intervals {'overlap' if overlaps[-1] else 'are apart'}")
    text = "; ".join(lines)
    return dg.AssetCheckResult(passed=all(overlaps), severity=WARN, description=text, metadata=apart)


def checks_of(stages: Stages) -> Iterator[dg.AssetChecksDefinition]:
    """Every check of some stages."""
    parts = parts_of(STUDIES)
    for stage in stages.values():
        benchmark, step = BENCHMARKS.get(stage.benchmark), stage.name.partition("/")[2]
        if stage.pinned_by != "nothing":
            yield _held(stages, stage)
        if stage.name in parts:
            about = "Under each condition there are as many rows as questions."
            again = partial(_asked_again, *parts[stage.name])
            yield _check(stage, "asked_again", about, again, blocking=True)
        if benchmark is None:
            continue
        interpreted, logger = INTERPRETED.get(benchmark.name), LOGGERS.get(benchmark.name)
        if step == "logs" and logger and logger.shapes:
            about = "A sample of event logs conforms to the SHACL shapes of the TBox."
            yield _check(stage, "shapes", about, partial(_shapes, logger))
        if step == "answers" and interpreted:
            about = "Every scene that is asked about has rows."
            yield _check(stage, "complete", about, partial(_complete, interpreted), blocking=True)
            if benchmark.whole.together:
                about = "The substrate's replay and the oracle's SQL give the same answer on every arm."
                yield _check(stage, "golds_agree", about, partial(_golds_agree, interpreted), blocking=True)
        if step == "scores" and interpreted and interpreted.declared:
            about = "The paper's n on official data, the profile's declared size on generated data."
            yield _check(stage, "counts", about, partial(_counts, interpreted), blocking=True)
        if step == "scores" and any(PAPER in published().accuracies(name) for name in benchmark.numbers):
            about = "The paper's numbers, their difference from ours, and whether the 95 % intervals overlap."
            yield _check(stage, "agreement", about, partial(_agreement, benchmark))
