"""The command that asks all logs of a benchmark at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestration.cli.console import NOTHING_SET, ProfileOption, SetOption
from substrate.cli.console import JsonOption, argument, give, option, voiced

if TYPE_CHECKING:
    from orchestration.benchmarks.benchmark import Interpreted


@voiced
def logs(
    name: Annotated[str, argument("A benchmark with logs.", metavar="NAME")],
    sparql: Annotated[str | None, option("--sparql", "SELECT or ASK, of the state of each log.")] = None,
    sql: Annotated[
        str | None,
        option("--sql", "SELECT, of deltas(scene, log, position, tick, op, subject, predicate, object)."),
    ] = None,
    tick: Annotated[int | None, option("--tick", "For --sparql; the last unless given.")] = None,
    timeout: Annotated[float | None, option("--timeout", "Seconds; 30 unless given.", min=0.1)] = None,
    limit: Annotated[int | None, option("--limit", "Rows; 10,000 unless given.", min=1)] = None,
    profile: ProfileOption = None,
    set_: SetOption = NOTHING_SET,
    json: JsonOption = False,
) -> None:
    """Ask all logs of a benchmark at once."""
    if (sparql is None) == (sql is None):
        raise typer.BadParameter("give either --sparql or --sql")
    from orchestration.project import open_workspace
    from orchestration.spark.all_logs import ask_each
    from orchestration.spark.deltas import ask_deltas
    from substrate.base.limits import LIMITS

    workspace, benchmark = open_workspace(profile, tuple(set_)), with_logs(name)
    timeout, limit = timeout or LIMITS.seconds, limit or LIMITS.rows
    if sparql is not None:
        answer = ask_each(workspace, benchmark, sparql, tick, timeout, limit)
    else:
        answer = ask_deltas(workspace, benchmark, sql or "", timeout, limit)
    table = [answer.columns, *answer.rows]
    lines = ("\t".join("" if value is None else str(value) for value in row) for row in table)
    give([dict(zip(answer.columns, row, strict=True)) for row in answer.rows], lines, json=json)


def with_logs(name: str) -> Interpreted:
    """Find a benchmark with logs by its name."""
    from orchestration.registry import INTERPRETED
    from substrate.base.errors import ParameterError

    if (benchmark := INTERPRETED.get(name)) is None:
        known = ", ".join(INTERPRETED)
        raise ParameterError(f"no logs of {name!r}", where=("NAME",), hint=f"Choose one of {known}")
    return benchmark
