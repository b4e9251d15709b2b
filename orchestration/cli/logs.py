"""The commands that ask all logs of a benchmark at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestration.cli import completion
from orchestration.cli.console import NOTHING_SET, ProfileOption, SetOption
from substrate.cli.console import JsonOption, argument, failing, option, voiced
from substrate.cli.notices import others_apart
from substrate.cli.printing import print_json, print_text

if TYPE_CHECKING:
    from orchestration.benchmarks.benchmark import Interpreted

NameOfLogs = Annotated[
    str, argument("A benchmark with logs.", metavar="NAME", autocompletion=completion.benchmarks)
]
TimeoutOption = Annotated[float | None, option("--timeout", "Seconds; 30 unless given.", min=0.1)]


@voiced
def logs(
    name: NameOfLogs,
    sparql: Annotated[str | None, option("--sparql", "SELECT or ASK, of the state of each log.")] = None,
    sql: Annotated[
        str | None,
        option("--sql", "SELECT, of deltas(scene, log, position, tick, op, subject, predicate, object)."),
    ] = None,
    tick: Annotated[int | None, option("--tick", "For --sparql; the last unless given.")] = None,
    timeout: TimeoutOption = None,
    limit: Annotated[int | None, option("--limit", "Rows; 10,000 unless given.", min=1)] = None,
    profile: ProfileOption = None,
    set_: SetOption = NOTHING_SET,
    json: JsonOption = False,
) -> None:
    """Ask all logs of a benchmark at once."""
    if (sparql is None) == (sql is None):
        raise typer.BadParameter("give either --sparql or --sql")
    with failing(), others_apart():
        from orchestration.pipeline.all_logs import ask_each
        from orchestration.pipeline.deltas import ask_deltas
        from orchestration.project import open_workspace
        from substrate.base.limits import LIMITS

        workspace = open_workspace(profile, tuple(set_))
        timeout, limit = timeout or LIMITS.seconds, limit or LIMITS.rows
        benchmark = _with_logs(name)
        found = (
            ask_each(workspace, benchmark, sparql, tick, timeout, limit)
            if sparql is not None
            else ask_deltas(workspace, benchmark, sql or "", timeout, limit)
        )
    if json:
        print_json([dict(zip(found.columns, row, strict=True)) for row in found.rows])
        return
    for row in [found.columns, *found.rows]:
        print_text("\t".join("" if value is None else str(value) for value in row) + "\n")


@voiced
def effect(
    name: NameOfLogs,
    outcome: Annotated[str, option("--outcome", "ASK, or a SELECT of one number, of a log's last state.")],
    at: Annotated[str, option("--at", "The branch tick, or a SELECT of the last state for it.")],
    retract: Annotated[
        str, option("--retract", "CONSTRUCT of what becomes false, of the state before the tick.")
    ] = "",
    insert: Annotated[str, option("--insert", "CONSTRUCT of what becomes true.")] = "",
    timeout: TimeoutOption = None,
    profile: ProfileOption = None,
    set_: SetOption = NOTHING_SET,
    json: JsonOption = False,
) -> None:
    """The effect of an intervention on an outcome, over all logs of a benchmark."""
    with failing(), others_apart():
        from orchestration.pipeline.effects import ask_effects
        from orchestration.project import open_workspace
        from substrate.base.limits import LIMITS
        from substrate.branch.effects import Constructed

        tick = int(at) if at.strip().isdecimal() else at
        found = ask_effects(
            open_workspace(profile, tuple(set_)),
            _with_logs(name),
            tick,
            Constructed(retract, insert),
            outcome,
            timeout or LIMITS.seconds,
        )
    if json:
        print_json(found)
        return
    said = f"{found.logs:,} logs, {found.asked:,} of them with something to change"
    if found.effect is None:
        print_text(f"{said}\n")
        return
    between = f" [{found.low:+.3f}, {found.high:+.3f}]" if found.low is not None else ""
    print_text(
        f"{said}; the outcome is another in {found.other:,}\n"
        f"observed  {found.observed:.3f}\n"
        f"changed   {found.changed:.3f}\n"
        f"effect    {found.effect:+.3f}{between}\n"
    )


def _with_logs(name: str) -> Interpreted:
    from orchestration.registry import INTERPRETED
    from substrate.base.errors import ParameterError

    if (benchmark := INTERPRETED.get(name)) is None:
        known = ", ".join(INTERPRETED)
        raise ParameterError(f"no logs of {name!r}", where=("NAME",), hint=f"Choose one of {known}")
    return benchmark
