"""Behind `substrate log fork --rules`: what runs in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence

from substrate.branch.fork import fork
from substrate.branch.interventions import Intervention
from substrate.log.event_log import EventLog
from substrate.rules.fixpoint import RuleEmitter
from substrate.rules.tbox import TBox


def fork_by_rules(
    patch: str,
    at: int,
    interventions: Sequence[Intervention],
    tbox: tuple[str, str],
    until: int | None,
) -> str:
    """The branch of a log as RDF Patch, where the rules of a TBox (its name and Turtle) say what follows."""
    log, rules = EventLog.from_patch(patch), RuleEmitter(TBox(*tbox), until)
    return fork(log, at, None, rules, interventions=interventions).to_patch()
