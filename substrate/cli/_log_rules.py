"""The part of `substrate log fork --rules` that runs in a separate process."""

from __future__ import annotations

from collections.abc import Sequence

from substrate.branch.fork import fork
from substrate.branch.interventions import Intervention
from substrate.log.event_log import EventLog
from substrate.rules.fixpoint import RuleEmitter
from substrate.rules.tbox import TBox


def fork_by_rules(
    patch: str, at: int, interventions: Sequence[Intervention], tbox: tuple[str, str], until: int | None
) -> str:
    """Return the branch of a log as RDF Patch, continued by the rules of ``tbox`` (name and Turtle)."""
    log, rules = EventLog.from_patch(patch), RuleEmitter(TBox(*tbox), until)
    return fork(log, at, None, rules, interventions=interventions).to_patch()
