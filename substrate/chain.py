"""The hash chain over a log's ticks: what lies behind cannot be changed unseen (paper, section 2).

The value after a tick is the SHA-256 of the value before it, the tick's number and its deltas as
RDF Patch lines; equal logs have equal values, however their deltas were batched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


class Chain:
    """A chain's value after some lines; it does not change, :meth:`after` gives the next.

    Attributes:
        fed: how many lines it has taken.
        tick: the tick of the last one; -1 where there is none.
        base: the hash of everything before that tick; empty where there is none.

    >>> lines = ["A <urn:s> <urn:p> <urn:o> .", "D <urn:s> <urn:p> <urn:o> ."]
    >>> one = Chain().after(3, lines)
    >>> two = Chain().after(3, lines[:1]).after(3, lines[1:])
    >>> one.value == two.value, one.fed
    (True, 2)
    """

    __slots__ = ("_hasher", "base", "fed", "tick", "value")

    def __init__(self) -> None:
        self.fed = 0
        self.tick = -1
        self.base = b""
        self._hasher = hashlib.sha256()
        self.value = f"sha256:{self._hasher.hexdigest()}"
        """``sha256:…`` over everything fed so far."""

    def after(self, tick: int, lines: Sequence[str]) -> Chain:
        """The chain some lines of a tick further; a tick is closed by the next one."""
        return self.after_text(tick, "\n".join(lines) + "\n", len(lines))

    def after_text(self, tick: int, text: str, count: int) -> Chain:
        """The same for lines that are one text, each with its line's end."""
        later = Chain.__new__(Chain)
        if tick == self.tick:
            later.base, hasher = self.base, self._hasher.copy()
        else:
            later.base = self._hasher.digest()
            hasher = hashlib.sha256(b"%s tick %d\n" % (later.base, tick))
        hasher.update(text.encode("utf-8", "surrogatepass"))
        later._hasher, later.tick, later.fed = hasher, tick, self.fed + count
        later.value = f"sha256:{hasher.hexdigest()}"
        return later

    @classmethod
    def resumed(cls, base: bytes, tick: int, fed: int, lines: Sequence[str]) -> Chain:
        """A chain from the hash before its last tick and the lines of that tick; ``fed`` counts them too."""
        chain = cls()
        chain.base, chain.tick, chain.fed = base, tick, fed - len(lines)
        chain._hasher = hashlib.sha256(b"%s tick %d\n" % (base, tick))
        return chain.after(tick, lines)
