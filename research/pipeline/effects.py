"""The average causal effect of an intervention on an outcome, over all logs of a benchmark, on Spark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Interpreted
from orchestration.pipeline.all_logs import naming_option, of_each, parsed
from orchestration.pipeline.workers import NUMBER, PLACE
from orchestration.scoring.statistics import student
from orchestration.workspace.folders import Workspace
from research.domains.effects import Constructed, effect
from substrate.base.errors import InterventionError, ParameterError, SubstrateError
from substrate.log.event_log import EventLog
from substrate.sparql.guard import checked


class LogEffect(msgspec.Struct, frozen=True):
    """The outcome of one log, as it is observed and as it would be."""

    scene: int | str
    log: str
    observed: float
    changed: float


class AverageEffect(msgspec.Struct, frozen=True):
    """The effect over all logs in which the intervention changes something.

    Attributes:
        logs: all of them.
        asked: those with an effect, which may be nothing.
        other: those in which the outcome is another one.
        observed: its mean as observed.
        changed: its mean as it would be.
        effect: the mean of the differences, changed minus observed.
        low: of the 95 % interval of ``effect``, by Student's t on the differences; ``None`` below two.
        high: its upper bound.
        each: the logs' own.
    """

    logs: int
    asked: int
    other: int
    observed: float | None
    changed: float | None
    effect: float | None
    low: float | None
    high: float | None
    each: list[LogEffect]


def ask_effects(
    workspace: Workspace,
    benchmark: Interpreted,
    at: int | str,
    intervention: Constructed,
    outcome: str,
    timeout: float,
) -> AverageEffect:
    """The effect of an intervention on an outcome over all logs of a benchmark.

    Args:
        at: the branch tick, or a SELECT of a log's last state that gives it; a log that ends before it is
            not asked.
        intervention: what is done there; a log in which it changes nothing is not asked.
        outcome: an ASK, or a SELECT of one number, of the last state.
        timeout: seconds that all of it may take.

    Raises:
        QueryError: a query is refused, or is not SPARQL.
        ParameterError: there is no intervention, or a query gives something else than it should.
        SubstrateError: it takes longer.
    """
    if not (intervention.retract or intervention.insert):
        hint = "Give a CONSTRUCT query to --retract, to --insert, or to both"
        raise ParameterError("there is no intervention", hint=hint)
    parsed(outcome, "--outcome")
    for option, query in (("--retract", intervention.retract), ("--insert", intervention.insert)):
        with naming_option(option), suppress(InterventionError):
            Constructed(checked(query)).deltas(EventLog().state(), 0)
    if isinstance(at, str):
        parsed(at, "--at")
    parameters, emitter = benchmark.logger.parameters.of(workspace.settings), benchmark.logger.emitter

    def work(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        log = EventLog.from_patch(row["patch"], row["name"])
        lines: list[str] = []  # none where nothing would change
        try:
            if isinstance(at, str) or at <= log.last_tick + 1:
                measured = effect(log, at, intervention, outcome, emitter(parameters))
                lines.append(msgspec.json.encode(measured).decode())
        except InterventionError:
            pass
        except SubstrateError as error:
            raise error.within(row["name"]) from error
        yield {NUMBER: row[NUMBER], PLACE: row[PLACE], "lines": lines}

    logs, each = 0, list[LogEffect]()
    for scene, name, lines in of_each(workspace, benchmark, work, timeout):
        logs += 1
        each += (LogEffect(scene, name, *msgspec.json.decode(line)) for line in lines)
    return average(logs, each)


def average(logs: int, each: Sequence[LogEffect]) -> AverageEffect:
    """The means of some effects, and the interval of their difference.

    >>> found = average(4, [LogEffect(n, str(n), 2, changed) for n, changed in enumerate((0, 1, 2))])
    >>> found.asked, found.other, found.observed, found.changed, found.effect
    (3, 2, 2.0, 1.0, -1.0)
    >>> round(found.low, 3), round(found.high, 3)
    (-3.484, 1.484)
    """
    differences = [log_effect.changed - log_effect.observed for log_effect in each]
    n = len(differences)
    mean = math.fsum(differences) / n if n else None
    low, high = student(differences) if n > 1 else (None, None)
    return AverageEffect(
        logs=logs,
        asked=n,
        other=sum(map(bool, differences)),
        observed=math.fsum(log_effect.observed for log_effect in each) / n if n else None,
        changed=math.fsum(log_effect.changed for log_effect in each) / n if n else None,
        effect=mean,
        low=low,
        high=high,
        each=list(each),
    )
