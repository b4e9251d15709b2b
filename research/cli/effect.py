"""`substrate effect`: the effect of an intervention over all logs of a benchmark."""

from __future__ import annotations

from typing import Annotated

from orchestration.cli.console import NOTHING_SET, ProfileOption, SetOption
from orchestration.cli.logs import NameOfLogs, TimeoutOption, with_logs
from substrate.cli.console import JsonOption, give, option, voiced


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
    """Measure an intervention's effect over all logs."""
    from orchestration.project import open_workspace
    from research.domains.effects import Constructed
    from research.pipeline.effects import ask_effects
    from substrate.base.limits import LIMITS

    average = ask_effects(
        open_workspace(profile, tuple(set_)),
        with_logs(name),
        int(at) if at.strip().isdecimal() else at,
        Constructed(retract, insert),
        outcome,
        timeout or LIMITS.seconds,
    )
    lines = [f"{average.logs:,} logs, {average.asked:,} of them with something to change"]
    if average.effect is not None:
        between = f" [{average.low:+.3f}, {average.high:+.3f}]" if average.low is not None else ""
        lines[0] += f"; the outcome is another in {average.other:,}"
        lines += [f"observed  {average.observed:.3f}", f"changed   {average.changed:.3f}"]
        lines.append(f"effect    {average.effect:+.3f}{between}")
    give(average, lines, json=json)
