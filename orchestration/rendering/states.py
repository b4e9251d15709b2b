"""The logs behind the worked examples, with the ticks between which each triple holds."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import jinja2
import msgspec
import pyoxigraph as ox

from orchestration.rendering.worked import Worked
from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import Explanation, short
from substrate.log.event_log import EventLog, Op, Term

PAGE = "states.html"
_DATA = "states.js"
Span = tuple[int, int | None]
"""The tick from which on a triple holds, and the one at which it no longer does, if there is one."""


class ShownLog(NamedTuple):
    """A log of an answer: its own, or a fork or another arm by name."""

    answer: str
    log: str
    title: str
    digest: str
    parent: str
    """The digest of the log that it was forked from; empty where it was observed."""
    last: int
    triples: list[tuple[str, list[Span]]]


def write_states(
    jinja: jinja2.Environment, profile: str, worked: Iterable[tuple[str, Worked]], out: Path
) -> list[ShownLog]:
    """Write the page and its data; a log that two examples share stands once."""
    shown: dict[str, ShownLog] = {}
    for kind, example in worked:
        why = example.explanation
        for name, log in why.logs.items():
            title = f"{example.name}: {name or kind}"
            parent = log.parent_digest or ""
            found = ShownLog(example.name, name, title, log.digest, parent, log.last_tick, spans_of(why, log))
            shown.setdefault(log.digest, found)
    logs = list(shown.values())
    data = msgspec.json.encode([one._asdict() for one in logs]).decode()
    (out / _DATA).write_text(f"states({data})\n", "utf-8")
    page = jinja.get_template("states.html.j2").render(profile=profile, logs=logs)
    (out / PAGE).write_text(page, "utf-8")
    return logs


def spans_of(why: Explanation, log: EventLog) -> list[tuple[str, list[Span]]]:
    """Every triple that a log ever holds, in short names and words, with when it holds."""

    def named(term: Term, words: bool) -> str:
        called = why.called.get(term.value, "") if words and isinstance(term, ox.NamedNode) else ""
        name = short(term, why.names)
        return f"{name} ({called})" if called and called != name else name

    found: dict[str, list[Span]] = {}
    since: dict[str, int] = {}
    for tick, op, (subject, predicate, value) in log:
        verb = "a" if predicate == RDF_TYPE else named(predicate, False)
        said = f"{named(subject, True)} {verb} {named(value, False)}"
        if op is Op.INSERT:
            since.setdefault(said, tick)
        elif said in since:
            found.setdefault(said, []).append((since.pop(said), tick))
    for said, tick in since.items():
        found.setdefault(said, []).append((tick, None))
    return sorted(found.items())
