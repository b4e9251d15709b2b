"""Behind `substrate log ask` and `substrate log fork --rules`: what runs in a process of its own."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from substrate.ask.questions import TEMPLATES, Answer, ask
from substrate.ask.tellings import Learning, chains
from substrate.branch.fork import fork
from substrate.branch.interventions import Intervention
from substrate.log.event_log import EventLog
from substrate.rules.fixpoint import RuleEmitter
from substrate.rules.tbox import TBox

KNOWING = ("who_knew", "learned_from")
"""Questions whose answer names knowers, each with the chain by which it came to know."""


def put_question(
    tbox: tuple[str, str], patch: str, template: str, about: Mapping[str, Any], tick: int | None
) -> tuple[Answer, Sequence[tuple[Learning, ...]]]:
    """An answer, and for :data:`KNOWING` the chains behind it; the log's last tick holds where a question
    needs one and none is given.

    Args:
        tbox: a TBox's name and Turtle.
        patch: the log as RDF Patch.
        template: a name of :data:`substrate.ask.questions.TEMPLATES`.
        about: what it takes.
        tick: when.
    """
    box, log = TBox(*tbox), EventLog.from_patch(patch)
    if "tick" in inspect.signature(TEMPLATES.get(template, lambda: None)).parameters:
        about = {**about, "tick": log.last_tick if tick is None else tick}
    answer = ask(box, log, template, **about)
    return answer, chains(box, log, about["fact"], about["tick"]) if template in KNOWING else ()


def fork_by_rules(
    patch: str,
    at: int,
    interventions: Sequence[Intervention],
    tbox: tuple[str, str],
    until: int | None,
    check: bool,
) -> str:
    """The branch of a log as RDF Patch, where the rules of a TBox (its name and Turtle) say what follows."""
    log, rules = EventLog.from_patch(patch), RuleEmitter(TBox(*tbox), until)
    return fork(log, at, None, rules, interventions=interventions, check=None if check else False).to_patch()
