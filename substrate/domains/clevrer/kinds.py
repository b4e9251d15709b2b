"""The kinds of the values on a program's stack, and a language compiled by them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from substrate.base.errors import ProgramError


class Kind(enum.Flag):
    """A value on the stack."""

    OBJECTS = enum.auto()
    OBJECT = enum.auto()
    EVENTS = enum.auto()
    EVENT = enum.auto()
    FRAME = enum.auto()
    NULL = enum.auto()
    COLOR = enum.auto()
    MATERIAL = enum.auto()
    SHAPE = enum.auto()
    ORDER = enum.auto()
    YES_NO = enum.auto()
    NUMBER = enum.auto()
    # For languages that extend this one:
    DIRECTION = enum.auto()
    PAIR = enum.auto()
    CHANGE = enum.auto()


ANSWERS = Kind.COLOR | Kind.MATERIAL | Kind.SHAPE | Kind.YES_NO | Kind.NUMBER | Kind.DIRECTION | Kind.PAIR


class Opcode(NamedTuple):
    """Kinds popped, bottom first; kind pushed (``None``: an element of the popped set); the function."""

    takes: tuple[Kind, ...]
    gives: Kind | None
    run: Callable[..., Any]
    query: str = ""
    """The opcode's query in :data:`substrate.domains.clevrer.scene.QUERIES`, if it reads the state."""


class Tokens(dict[str, "tuple[Callable[..., Any] | None, int, Tokens | None]"]):
    """A compiled language, at a point of a program where the stack holds values of some kinds.

    For each token it gives the function (``None`` for a word, which stands for itself), the number of
    operands, and the table after the token, or ``None`` if operands are lacking. An entry is made when its
    token is first met, so the kinds of the same operands are checked once.

    Args:
        opcodes: the language's opcodes.
        words: the kinds of its words.
        below: the table without the topmost value; ``None`` for an empty stack.
        kind: the topmost value's kind as a flag value, since a flag's own operators are slow.
    """

    def __init__(
        self,
        opcodes: Mapping[str, Opcode],
        words: Mapping[str, Kind],
        below: Tokens | None = None,
        kind: int = 0,
    ) -> None:
        super().__init__()
        self.opcodes, self.words, self.kind = opcodes, words, kind
        self.below, self.depth = (self, 0) if below is None else (below, below.depth + 1)
        self._above: dict[int, Tokens] = {}

    @property
    def kinds(self) -> list[int]:
        """The kinds on the stack, bottom first."""
        kinds, table = list[int](), self
        while table.depth:
            kinds.append(table.kind)
            table = table.below
        return kinds[::-1]

    def pushed(self, kind: int) -> Tokens:
        """The table after a value of a kind was pushed."""
        table = self._above.get(kind)
        if table is None:
            table = Tokens(self.opcodes, self.words, self, kind)
            if self.depth < _KEPT:
                self._above[kind] = table
        return table

    def __missing__(self, token: str) -> tuple[Callable[..., Any] | None, int, Tokens | None]:
        function, size = None, 0
        if token in self.opcodes:
            takes, gives, function, _ = self.opcodes[token]
            size = len(takes)
            if size > self.depth:
                return function, size, None
            base = self
            for wanted in reversed(takes):
                if Kind(base.kind) not in wanted:
                    raise unfit(token, takes, self.kinds)
                base = base.below
            kind = gives or (Kind.OBJECT if self.kind == Kind.OBJECTS.value else Kind.EVENT)
            after = base.pushed(kind.value)
        elif token in self.words:
            after = self.pushed(self.words[token].value)
        else:
            raise ProgramError(f"unknown opcode {token!r}", hint="Use the opcodes of the official programs")
        if self.depth < _KEPT:
            self[token] = function, size, after
        return function, size, after


_KEPT = 16
"""The depth of a stack up to which tables are kept; programs of a benchmark need far less."""


def unfit(token: str, takes: Sequence[Kind], kinds: Sequence[int]) -> ProgramError:
    """The error of an opcode whose operands are missing or of a wrong kind."""
    if len(kinds) < len(takes):
        what = f"stack underflow: {token} takes {len(takes)}, the stack holds {len(kinds)}"
        return ProgramError(what, hint="The program lacks an operand")
    pairs = zip(takes, map(Kind, kinds[len(kinds) - len(takes) :]), strict=True)
    wanted, kind = next((wanted, kind) for wanted, kind in pairs if kind not in wanted)
    what = f"{token} takes {named(wanted.value)}, the stack holds {named(kind.value)}"
    return ProgramError(what, hint="The program mixes up its operands")


def named(kind: int) -> str:
    """A kind in an error, from its flag value."""
    return Kind(kind).name or ""
