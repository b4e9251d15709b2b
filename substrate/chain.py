"""The hash chain over a log's ticks: what lies behind cannot be changed unseen (paper, section 2).

The value after a tick is the SHA-256 of the value before it, the tick's number and its deltas as
RDF Patch lines; equal logs have equal values, however their deltas were batched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


class Chain:
    """A chain's value, and how many lines it has been fed.

    >>> one, two = Chain(), Chain()
    >>> one.feed(3, ["A <urn:s> <urn:p> <urn:o> .", "D <urn:s> <urn:p> <urn:o> ."])
    >>> two.feed(3, ["A <urn:s> <urn:p> <urn:o> ."])
    >>> two.feed(3, ["D <urn:s> <urn:p> <urn:o> ."])
    >>> one.value() == two.value(), one.fed
    (True, 2)
    """

    def __init__(self) -> None:
        self.fed = 0
        self._tick = -1
        self._hasher = hashlib.sha256()

    def feed(self, tick: int, lines: Sequence[str]) -> None:
        """Go on by some lines of a tick; a tick is closed by the next one."""
        if tick != self._tick:
            self._hasher = hashlib.sha256(b"%s tick %d\n" % (self._hasher.digest(), tick))
            self._tick = tick
        self._hasher.update(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
        self.fed += len(lines)

    def value(self) -> str:
        """``sha256:…`` over everything fed so far."""
        return f"sha256:{self._hasher.hexdigest()}"

    def copy(self) -> Chain:
        """A chain that goes on by itself from here."""
        twin = Chain()
        twin.fed, twin._tick, twin._hasher = self.fed, self._tick, self._hasher.copy()
        return twin
