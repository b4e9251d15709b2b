"""The page of states: the logs behind the worked examples, to read at any tick."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from orchestration.rendering.report.examples import WorkedExample
from orchestration.rendering.report.page import write_page, write_script
from substrate.base.delta import Term
from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import Explanation, short
from substrate.log.event_log import EventLog
from substrate.log.history import Interval, histories


def write_states(profile: str, worked: Iterable[tuple[str, WorkedExample]], out: Path) -> None:
    """Write the page of states and its data: the logs of answers, with forks and other arms by name.

    A log that two examples share is written once. ``parent`` is the digest of the log that it was forked
    from; empty for an observed log.
    """
    by_digest: dict[str, dict[str, Any]] = {}
    for kind, example in worked:
        why = example.explanation
        for name, log in why.logs.items():
            described = {"answer": example.name, "log": name, "title": f"{example.name}: {name or kind}"}
            described |= {"digest": log.digest, "parent": log.parent_digest or "", "last": log.last_tick}
            by_digest.setdefault(log.digest, {**described, "triples": spans_of(why, log)})
    logs = list(by_digest.values())
    write_script(out / "states.js", "states", logs)
    write_page(out, "states.html", "states.html.j2", profile=profile, logs=logs)


def spans_of(why: Explanation, log: EventLog) -> list[tuple[str, list[Interval]]]:
    """Every triple that a log ever holds, in short names and words, with its spans of ticks."""

    def named(term: Term, words: bool) -> str:
        called = why.called.get(term.value, "") if words and isinstance(term, ox.NamedNode) else ""
        name = short(term, why.names)
        return f"{name} ({called})" if called and called != name else name

    spans: dict[str, list[Interval]] = {}
    for story in histories(log):
        subject, predicate, value = story.triple
        verb = "a" if predicate == RDF_TYPE else named(predicate, False)
        spans.setdefault(f"{named(subject, True)} {verb} {named(value, False)}", []).extend(story.spans)
    return sorted(spans.items())
