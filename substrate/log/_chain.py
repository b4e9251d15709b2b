"""The hash chain over a log's ticks: whoever kept a head sees any change behind it (paper, section 2).

Who can rewrite the whole chain gives it another head: only a head that was kept elsewhere, or signed
(:mod:`substrate.base.heads`), tells them apart.

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
        if tick == self.tick:
            base, hasher = self.base, self._hasher.copy()
        else:
            base = self._hasher.digest()
            hasher = hashlib.sha256(b"%s tick %d\n" % (base, tick))
        hasher.update(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
        return Chain.made(hasher, base, tick, self.fed + len(lines))

    def links(self) -> Links:
        """The step from link to link, for files of many."""
        return Links(self)

    @classmethod
    def made(cls, hasher: hashlib._Hash, base: bytes, tick: int, fed: int) -> Chain:
        """A chain from its parts."""
        chain = cls.__new__(cls)
        chain._hasher, chain.base, chain.tick, chain.fed = hasher, base, tick, fed
        chain.value = f"sha256:{hasher.hexdigest()}"
        return chain

    @classmethod
    def resumed(cls, base: bytes, tick: int, fed: int, lines: Sequence[str]) -> Chain:
        """A chain from the hash before its last tick and the lines of that tick; ``fed`` counts them too."""
        chain = cls()
        chain.base, chain.tick, chain.fed = base, tick, fed - len(lines)
        chain._hasher = hashlib.sha256(b"%s tick %d\n" % (base, tick))
        return chain.after(tick, lines)


class Links:
    """A chain that is moved from link to link, and one link back.

    >>> links, line = Chain().links(), "A <urn:s> <urn:p> <urn:o> ."
    >>> links.follow(3, line) == Chain().after(3, [line]).value
    True
    """

    __slots__ = ("_base", "_before", "_fed", "_hasher", "_tick", "value")

    def __init__(self, chain: Chain) -> None:
        self._hasher, self._base, self._tick, self._fed = chain._hasher, chain.base, chain.tick, chain.fed
        self.value = chain.value
        self._before = (self._hasher, self._base, self._tick, self._fed, self.value)

    def follow(self, tick: int, body: str) -> str:
        """Go on by the lines of one tick, without the last line's end; the value then."""
        before = self._hasher
        self._before = (before, self._base, self._tick, self._fed, self.value)
        data = b"%s\n" % body.encode("utf-8", "surrogatepass")
        if tick == self._tick:
            hasher = before.copy()
            hasher.update(data)
        else:
            self._base = before.digest()
            hasher = hashlib.sha256(b"%s tick %d\n%s" % (self._base, tick, data))
            self._tick = tick
        self._hasher = hasher
        self._fed += body.count("\n") + 1
        self.value = value = f"sha256:{hasher.hexdigest()}"
        return value

    def back(self) -> None:
        """Undo the last link."""
        self._hasher, self._base, self._tick, self._fed, self.value = self._before

    def chain(self) -> Chain:
        """The chain as it is here."""
        return Chain.made(self._hasher, self._base, self._tick, self._fed)
