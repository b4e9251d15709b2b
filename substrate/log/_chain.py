"""The hash chain over a log's ticks, whose last value reveals any earlier change (paper, section 2).

A rewrite of the whole chain changes its last value, so only a copy of that value kept elsewhere reveals the
rewrite.

The value after a tick is the SHA-256 of the value before it, the tick's number and its deltas as
RDF Patch lines. Equal logs have equal values, no matter how their deltas were batched.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter

from substrate.log._columns import DeltaSequence
from substrate.log._locking import MEMORY

_BLANK = hashlib.sha256()
# The fewest deltas between two kept values of the chain; a digest is computed from the nearest kept value
_MARK = 256


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
        # ``sha256:…`` over all lines so far
        self.value = f"sha256:{self._hasher.hexdigest()}"

    def after(self, tick: int, lines: Sequence[str]) -> Chain:
        """The chain after some more lines of a tick; the next tick closes this one."""
        body = "\n".join(lines).encode("utf-8", "surrogatepass")
        if tick == self.tick:
            base, hasher = self.base, self._hasher.copy()
            hasher.update(b"%b\n" % body)
        else:
            base, hasher = self._hasher.digest(), _BLANK.copy()
            hasher.update(b"%b tick %d\n%b\n" % (base, tick, body))
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


_EMPTY = Chain()


class Digests:
    """The chain's values along a log. Some are kept, so that every value is near a kept value.

    A branch shares its parent's values up to the branch tick. It asks for them only when its own digest is
    asked for, so a branch without a digest costs nothing.

    Args:
        log: the log.
        parent: the digests of the log's parent, if the log is a branch.
        shared: the number of deltas that log and parent share.
    """

    def __init__(self, log: DeltaSequence, parent: Digests | None = None, shared: int = 0) -> None:
        self._log = log
        self._parent = parent
        self._shared = shared
        self._begun = parent is None
        self._last = _EMPTY
        self._kept = [self._last]

    def last(self) -> Chain:
        """The chain after the log's last delta."""
        with MEMORY:
            if not self._begun and self._parent:
                self._parent.last()
                self._last, self._begun = self._parent._nearest(self._shared), True
                self._kept = [self._last]
            if self._last.fed == len(self._log):
                return self._last
            ticks, bodies, fed = list[bytes](), list[bytes](), 0
            for tick, lines in self._log.lines(self._last.fed):
                ticks.append(b"%d" % tick)
                bodies.append("\n".join(lines).encode("utf-8", "surrogatepass"))
                fed += len(lines)
                if fed >= _MARK or self._last.fed + fed == len(self._log):
                    self.keep(self._last.linked(ticks, bodies, fed)[1])
                    ticks, bodies, fed = [], [], 0
            return self._last

    def after(self, stop: int) -> str:
        """The chain's value after ``stop`` deltas."""
        with MEMORY:
            if self._last.fed < stop:
                self.last()
            chain = self._nearest(stop)
        for tick, lines in self._log.lines(chain.fed, stop):
            chain = chain.after(tick, lines)
        return chain.value

    def keep(self, chain: Chain) -> None:
        """Take the chain after more of the log's deltas."""
        self._last = chain
        if chain.fed - self._kept[-1].fed >= _MARK:
            self._kept.append(chain)

    def _nearest(self, deltas: int) -> Chain:
        """The last kept value within the first ``deltas`` deltas, here or in a parent."""
        digests = self
        while deltas < digests._kept[0].fed and digests._parent is not None:
            digests = digests._parent
        return digests._kept[bisect_right(digests._kept, deltas, key=attrgetter("fed")) - 1]
