"""Asset checks: conditions that an asset must meet, and facts for its reader.

Begin at :func:`checks_of`, which lists them; each check is one function below it, and :mod:`.pin_checks`
compares with the pins. Checks read files, and start no process but git, so that a run of dozens of stages can
afford them. A finished experiment is an exception: its tables are gone, and are built again to read its logs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice

import dagster as dg

from orchestration.benchmarks.benchmark import Data, Interpreted, Logger
from orchestration.dagster.keys import asset_key
from orchestration.dagster.pin_checks import against_pins, is_input_data, stops_run
from orchestration.dagster.resources import WorkspaceResource
from orchestration.registry import INTERPRETED, LOGGERS, STUDIES
from orchestration.scoring.counting import line_count, rows_of
from orchestration.scoring.published import published
from orchestration.scoring.scores import read_scores
from orchestration.spark.logs import ensure_logs
from orchestration.stage import Stage, Stages
from orchestration.stages.study_stages import first_cases
from orchestration.studies.study import Part, Study, counted, parts_of, totals
from orchestration.workspace.dataset_files import files_of, kind_of
from orchestration.workspace.folders import ANSWERS
from orchestration.workspace.log_table import read_index
from substrate.rules.tbox import TBox

Judge = Callable[[WorkspaceResource], dg.AssetCheckResult]
# The number of a benchmark's logs that are validated against its shapes, evenly spread over the index.
SAMPLE = 10


def checks_of(stages: Stages, among: Iterable[str] | None = None) -> Iterator[dg.AssetChecksDefinition]:
    """Every check of some stages, or of the stages that a run takes."""
    parts = parts_of(STUDIES)
    for stage in map(stages.__getitem__, stages if among is None else among):
        benchmark, step = INTERPRETED.get(stage.benchmark), stage.name.partition("/")[2]
        if stage.pinned_by != "nothing":
            yield _pin_check(stages, stage)
        if stage.name in parts:
            about = "Under each condition there are as many rows as questions."
            again = partial(_asked_again, *parts[stage.name])
            yield _check(stage, "asked_again", about, again, blocking=True)
        logger = LOGGERS.get(stage.benchmark)
        if step == "logs" and logger and logger.shapes:
            about = "A sample of event logs conforms to the SHACL shapes of the TBox."
            yield _check(stage, "shapes", about, partial(_shapes, logger))
        if step == "answers" and benchmark and benchmark.whole.together:
            about = "The substrate's replay and the oracle's SQL give the same answer on every arm."
            yield _check(stage, "golds_agree", about, partial(_golds_agree, benchmark), blocking=True)
        if step == "scores" and benchmark and benchmark.declared:
            about = "The paper's n on official data, the profile's declared size on generated data."
            yield _check(stage, "counts", about, partial(_counts, benchmark), blocking=True)


def _check(
    stage: Stage, name: str, description: str, judge: Judge, *, blocking: bool = False
) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=asset_key(stage.name, stage.profile), name=name, description=description, blocking=blocking
    )
    def check(workspace: WorkspaceResource) -> dg.AssetCheckResult:
        return judge(workspace)

    return check


def _pin_check(stages: Stages, stage: Stage) -> dg.AssetChecksDefinition:
    """Compare a stage with its pins; the check of input data has a name of its own, since it always stops."""
    judge, stops = partial(against_pins, stages, stage), stops_run(stage)
    if is_input_data(stage):
        return _check(stage, "pinned", "The input data are as pinned.", judge, blocking=True)
    here = "an error, which stops the run, since CI is set" if stops else "a warning; with CI set, an error"
    about = f"The results are as pinned. A difference is {here}."
    return _check(stage, "drift", about, judge, blocking=stops)


def _golds_agree(benchmark: Interpreted, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """Compare two independent counts of the same truth: if they differ, one is wrong, and no score means
    anything.
    """
    workspace = resource.open()
    rows = list(rows_of(workspace.answers(benchmark.name)))
    apart = [benchmark.answer_name(row) for row in rows if not row.correct]
    text = f"replay and oracle agree on {len(rows)} arms"
    if apart:
        text = f"replay and oracle differ on {len(apart)} of {len(rows)} arms; `substrate explain {apart[0]}`"
    counted = {"arms": len(rows), "agreeing": len(rows) - len(apart)}
    # No answers and no differences is not agreement.
    asked = line_count(workspace.logs(benchmark.logger.name).index) > 0
    return dg.AssetCheckResult(passed=bool(rows) == asked and not apart, metadata=counted, description=text)


def _counts(benchmark: Interpreted, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """Check the number of questions: on official data against the paper's, on generated data against the
    profile's.
    """
    workspace = resource.open()
    data: Data = workspace.settings.data(benchmark.source.name)
    kind = kind_of(workspace, benchmark.source)
    if data.source == "official":  # the whole split
        scores = read_scores(workspace.artifacts, benchmark.numbers)
        # For a per-option accuracy the paper's n counts questions, and ours counts options.
        paper = {name: published().n(name) for name in scores if not name.endswith("/per_option")}
        expected = {name: n for name, n in paper.items() if n is not None}
        count = {name: scores[name].n for name in expected}
    else:
        declared = () if kind in ("local", "official") else benchmark.declared.items()
        expected = {what: number(data) if kind == "generated" else 0 for what, number in declared}
        files = {"logs": "logs/index.jsonl", "answers": ANSWERS}
        count = {what: line_count(workspace.artifacts / benchmark.name / files[what]) for what in expected}
    wrong = [f"{name}: {count[name]:,} instead of {n:,}" for name, n in expected.items() if count[name] != n]
    text = "; ".join(wrong or [f"{name}: {n:,}" for name, n in count.items()])
    return dg.AssetCheckResult(passed=not wrong, description=text, metadata=count)


def _asked_again(study: Study, part: Part, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """Check that each question asked again has a row under each condition."""
    workspace, source = resource.open(), part.base.source
    files = files_of(workspace, source)
    each = source.cases(files, None, True).each if files else iter(())
    cases = [case for case in islice(each, first_cases(study, part, workspace)) if case.questions]
    counts = totals(counted(workspace.path(study.rows_file(part))))
    wrong, there = part.faults(cases, counts), sum(counts.values())
    text = "; ".join(wrong) or f"{there:,} rows of {len(cases)} cases, under each condition"
    return dg.AssetCheckResult(passed=not wrong, description=text, metadata={"rows": there})


def _shapes(logger: Logger, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """Check that the last states of a fixed sample of logs violate no shape."""
    workspace = resource.open()
    # The tables of an experiment are gone once it has succeeded.
    if workspace.experiment and files_of(workspace, logger.source):
        ensure_logs(workspace, logger, f"{logger.name}/logs")
    logs = workspace.logs(logger.name)
    names = [entry.name for entry in read_index(logs.index)]
    sample = names[:: max(1, len(names) // SAMPLE)][:SAMPLE]
    tbox, faults = TBox.load(logger.shapes), dict[str, str]()
    for name in sample:
        log = logs.read(name)
        if violations := tbox.validate(log.state(), log):
            more = f"; and {len(violations) - 1} more" if len(violations) > 1 else ""
            faults[name] = f"{violations[0]}{more}"
    text = "; ".join(f"{name}: {what}" for name, what in faults.items())
    text = text or f"{len(sample)} of {len(names)} logs conform to tboxes/{logger.shapes}.ttl"
    return dg.AssetCheckResult(passed=not faults, description=text, metadata={"sample": sample})
