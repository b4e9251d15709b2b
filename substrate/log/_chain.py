"""The hash chain over a log's ticks, whose last value reveals any earlier change (paper, section 2).

A rewrite of the whole chain changes its last value, so only a copy of that value kept elsewhere reveals the
rewrite.

The value after a tick is the SHA-256 of the value before it, the tick's number and its deltas as
RDF Patch lines. Equal logs have equal values, no matter how their deltas were batched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

_BLANK = hashlib.sha256()


class Chain:
    """A chain's value after some lines. It is immutable; :meth:`after` returns the next chain.

    Attributes:
        fed: the number of lines so far.
        tick: the last line's tick; -1 if there is no line.
        base: the hash of everything before that tick; empty if there is no line.

    >>> lines = ["A <urn:s> <urn:p> <urn:o> .", "D <urn:s> <urn:p> <urn:o> ."]
    >>> whole = Chain().after(3, lines)
    >>> split = Chain().after(3, lines[:1]).after(3, lines[1:])
    >>> whole.value == split.value, whole.fed
    (True, 2)
    """

    __slots__ = ("_hasher", "base", "fed", "tick", "value")

    def __init__(self) -> None:
        self.fed = 0
        self.tick = -1
        self.base = b""
        self._hasher = hashlib.sha256()
        self.value = f"sha256:{self._hasher.hexdigest()}"
        """``sha256:…`` over all lines so far."""

    def after(self, tick: int, lines: Sequence[str]) -> Chain:
        """The chain after some more lines of a tick; the next tick closes this one."""
        if tick == self.tick:
            base, hasher = self.base, self._hasher.copy()
        else:
            base = self._hasher.digest()
            hasher = hashlib.sha256(b"%s tick %d\n" % (base, tick))
        hasher.update(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
        return Chain.made(hasher, base, tick, self.fed + len(lines))

    def linked(
        self, ticks: Sequence[bytes], bodies: Sequence[bytes], lines: int
    ) -> tuple[list[bytes], Chain]:
        """The digest after each of many ticks, and the chain after the last.

        Args:
            ticks: each tick's digits.
            bodies: each tick's lines, without the final line feed.
            lines: the number of lines of all ticks together.

        >>> lines = ["A <urn:s> <urn:p> <urn:o> ."]
        >>> digests, chain = Chain().linked([b"3"], [b"A <urn:s> <urn:p> <urn:o> ."], 1)
        >>> chain.value == Chain().after(3, lines).value == f"sha256:{digests[0].hex()}"
        True
        """
        hasher, base, before = self._hasher, self.base, b"%d" % self.tick
        digest = hasher.digest()
        digests: list[bytes] = []
        for tick, body in zip(ticks, bodies, strict=True):
            if tick == before:
                hasher = hasher.copy()
                hasher.update(b"%b\n" % body)
            else:
                base, before = digest, tick
                # Copying a hasher is faster than making one
                hasher = _BLANK.copy()
                hasher.update(b"%b tick %b\n%b\n" % (base, tick, body))
            digest = hasher.digest()
            digests.append(digest)
        return digests, Chain.made(hasher, base, int(before), self.fed + lines)

    @classmethod
    def made(cls, hasher: hashlib._Hash, base: bytes, tick: int, fed: int) -> Chain:
        """A chain from its parts."""
        chain = cls.__new__(cls)
        chain._hasher, chain.base, chain.tick, chain.fed = hasher, base, tick, fed
        chain.value = f"sha256:{hasher.hexdigest()}"
        return chain
