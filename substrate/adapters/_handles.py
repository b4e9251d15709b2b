"""Long terms in replies: a reply shows the beginning of a term and a handle, which stands for the term.

A handle is an IRI with the SHA-256 of the term's N-Triples. The terms of the log are hashed when a handle is
first read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator

import pyoxigraph as ox

from substrate.base.delta import Term
from substrate.base.vocabulary import NAMESPACE
from substrate.log.event_log import EventLog

LONG = 800
"""Characters of a stored value that are shown."""
LONG_NAME = 200
"""Characters of a thing's name, or of an author, that are shown."""
SHORT = 100
"""Characters below which no term is cut."""
_PREFIX = f"{NAMESPACE}sha256:"
_HANDLE = rf"<{_PREFIX}([0-9a-f]{{64}})>"
_CUT = re.compile(rf"(.*) … {_HANDLE} … and (\d+) more characters", re.DOTALL)


def cut(text: str, stored: Term, room: int) -> str:
    """Shorten the text of a stored term to ``room`` characters, and add the term's handle.

    >>> cut("gold", ox.Literal("gold"), 200)
    'gold'
    """
    if len(text) <= room:
        return text
    return f"{text[:room]} … <{_PREFIX}{_hash(stored)}> … and {len(text) - room} more characters"


def handle_in(text: str) -> str | None:
    """The digest of a handle; ``None`` if the text is no handle."""
    match = re.fullmatch(_HANDLE, text)
    return match and match[1]


class LongTerms:
    """The long terms of a log by their digest."""

    def __init__(self) -> None:
        self._log, self._hashed = EventLog(), 0
        self._terms = dict[str, Term]()

    def follow(self, log: EventLog) -> None:
        """Read this log from now on; it begins as the log before."""
        self._log = log

    def term(self, digest: str) -> Term | None:
        """The term with a digest, if the log has it."""
        if digest not in self._terms and self._hashed < len(self._log):
            for _, quad in self._log.changes(self._hashed):
                self._terms.update((_hash(part), part) for part in _long_parts(quad.triple))
            self._hashed = len(self._log)
        return self._terms.get(digest)

    def uncut(self, text: str, forms: Callable[[Term], Iterable[str]]) -> Term | None:
        """The term that :func:`cut` shortened to this text; ``None`` if the text only looks like it.

        Args:
            text: the text.
            forms: gives the texts that a reply may show for a term.
        """
        match = _CUT.fullmatch(text)
        stored = match and self.term(match[2])
        if not match or not stored:
            return None
        start, length = match[1], len(match[1]) + int(match[3])
        fits = any(len(form) == length and form.startswith(start) for form in forms(stored))
        return stored if fits else None


def _hash(stored: Term) -> str:
    return hashlib.sha256(str(stored).encode()).hexdigest()


def _long_parts(triple: ox.Triple) -> Iterator[Term]:
    """The terms of a triple, and of its triple terms, that a reply may have to cut."""
    for part in triple:
        if isinstance(part, ox.Triple):
            yield part
            yield from _long_parts(part)
        elif len(str(part)) > SHORT:
            yield part
