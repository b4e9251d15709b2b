"""States in the formats of others: Turtle and N-Quads.

RDF Patch, the log's own format, is :meth:`EventLog.to_patch` and :meth:`EventLog.from_patch`; N-Quads
of a state are :meth:`State.nquads`.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyoxigraph as ox

from substrate.base.errors import LogError
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.sparql.tokens import require_shallow

_FORMATS = {"turtle": ox.RdfFormat.TURTLE, "nquads": ox.RdfFormat.N_QUADS}


def to_turtle(state: State, prefixes: Mapping[str, str] | None = None) -> str:
    """A state as Turtle, statements in the order of their text.

    Args:
        state: the ABox.
        prefixes: prefix names to IRIs, beside those of the log.

    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:v:ann> <urn:v:at> <urn:v:cafe> .")])
    >>> print(to_turtle(log.state(0), {"v": "urn:v:"}), end="")
    @prefix v: <urn:v:> .
    v:ann v:at v:cafe .
    """
    triples = sorted((ox.Triple(*triple) for triple in state), key=str)
    known = dict(sorted({**state.prefixes, **(prefixes or {})}.items()))
    text = ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=known)
    return text.decode()  # pyright: ignore[reportOptionalMemberAccess]  # without an output it gives bytes


def from_state(text: str, format: str = "turtle", tick: int = 0, name: str = "state") -> EventLog:
    """A log whose one tick inserts what a file of triples says, in the order of their text.

    Args:
        text: the file's content.
        format: ``turtle`` or ``nquads``.
        tick: where the triples are inserted.
        name: what an error calls the file.

    Raises:
        LogError: the text is not of that format, or has named graphs.

    >>> from_state("<urn:v:ann> <urn:v:at> <urn:v:cafe> .", tick=3).state(3).nquads()
    '<urn:v:ann> <urn:v:at> <urn:v:cafe> .\\n'
    """
    if format not in _FORMATS:
        raise LogError(
            f"no format {format!r}", where=(name,), hint=f"Choose one of {', '.join(sorted(_FORMATS))}"
        )
    require_shallow(text, LogError, name)
    try:
        quads = set(ox.parse(text, _FORMATS[format], without_named_graphs=True))
    except SyntaxError as error:
        raise LogError(
            f"not {format} of one graph ({error})", where=(name,), hint="Give triples of the default graph"
        ) from error
    log = EventLog()
    log.extend_lines((tick, f"A {line} .") for line in sorted(map(str, quads)))
    return log
