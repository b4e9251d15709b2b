"""Write a state as Turtle, and read a log from Turtle or N-Quads.

:meth:`EventLog.to_patch` and :meth:`EventLog.from_patch` use RDF Patch, the log's own format;
:meth:`State.nquads` writes N-Quads.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyoxigraph as ox

from substrate.base.errors import LogError
from substrate.base.turtle import read_turtle
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.sparql.tokens import require_shallow

_FORMATS = ("nquads", "turtle")


def to_turtle(state: State, prefixes: Mapping[str, str] | None = None) -> str:
    """A state as Turtle, its statements sorted by their text.

    Args:
        state: the ABox.
        prefixes: prefix names to IRIs, in addition to the log's own.

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
    """A log with one tick that inserts a file's triples, sorted by their text: the reverse of an export.

    :func:`read_turtle` tells how nodes without a label are named.

    Args:
        text: the file's content.
        format: ``turtle`` or ``nquads``.
        tick: the tick of the insertions.
        name: the file's name in an error.

    Raises:
        LogError: the text is not of that format, or has named graphs.

    >>> from_state("<urn:v:ann> <urn:v:at> <urn:v:cafe> .", tick=3).state(3).nquads()
    '<urn:v:ann> <urn:v:at> <urn:v:cafe> .\\n'
    """
    if format not in _FORMATS:
        hint = f"Choose one of {', '.join(_FORMATS)}"
        raise LogError(f"unknown format {format!r}", where=(name,), hint=hint)
    require_shallow(text, LogError, name)
    try:
        if format == "turtle":
            quads = set(read_turtle(text)[0])
        else:
            quads = set(ox.parse(text, ox.RdfFormat.N_QUADS, without_named_graphs=True))
    except SyntaxError as error:
        what = f"not {format} of one graph ({error})"
        raise LogError(what, where=(name,), hint="Give triples of the default graph") from error
    log = EventLog()
    log.extend_lines((tick, f"A {line} .") for line in sorted(map(str, quads)))
    return log
