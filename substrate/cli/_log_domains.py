"""Behind `substrate log import DOMAIN` and `substrate log ask`: a domain's own file as a log, and a question
put to a log.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from substrate.ask.questions import TEMPLATES, Answer, ask
from substrate.ask.tellings import Learning, chains
from substrate.base.errors import ParameterError
from substrate.branch.fork import fork
from substrate.branch.interventions import Intervention
from substrate.log.event_log import EventLog
from substrate.rules.fixpoint import RuleEmitter
from substrate.rules.tbox import TBox


def import_domain(
    domain: str, source: Path, facts: Sequence[str], labels: Sequence[str], knowers: Sequence[str]
) -> EventLog:
    """The log of a domain's own file.

    Raises:
        ParameterError: no such domain, or an option that is not ``ID=…`` of a declared fact.
    """
    if domain not in IMPORTERS:
        raise ParameterError(
            f"no domain {domain!r} to import from", hint=f"Choose one of {', '.join(IMPORTERS)}"
        )
    return IMPORTERS[domain](
        source, _pairs("--fact", facts), _pairs("--label", labels), _pairs("--knower", knowers)
    )


_Pairs = list[tuple[str, str]]


def _smallville(source: Path, patterns: _Pairs, labels: _Pairs, knowers: _Pairs) -> EventLog:
    from substrate.domains.smallville.deltas import Fact, movement_log
    from substrate.domains.smallville.movements import read_movements

    if undeclared := sorted({id_ for id_, _ in (*labels, *knowers)} - {id_ for id_, _ in patterns}):
        raise ParameterError(
            f"fact {undeclared[0]!r} is not declared", hint=f"Give --fact {undeclared[0]}=REGEX"
        )
    facts = [
        Fact(id_, pattern, dict(labels).get(id_, ""), tuple(name for of, name in knowers if of == id_))
        for id_, pattern in patterns
    ]
    return movement_log(read_movements(source), facts)


IMPORTERS: Mapping[str, Callable[[Path, _Pairs, _Pairs, _Pairs], EventLog]] = {"smallville": _smallville}
"""Domains whose own files can be imported, by name."""


def _pairs(option: str, texts: Sequence[str]) -> _Pairs:
    found = [
        (id_, value)
        for id_, equals, value in (text.partition("=") for text in texts)
        if equals and id_ and value
    ]
    if len(found) < len(texts):
        raise ParameterError(f"{option} takes ID=VALUE", hint=f"Write {option} party='valentine.*party'")
    return found


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
