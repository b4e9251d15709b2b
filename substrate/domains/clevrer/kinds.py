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


class Table(dict[str, "tuple[Callable[..., Any] | None, int, Table | None]"]):
    """A compiled language, at a point of a program where the stack holds values of some kinds.

    For each token it gives the function (``None`` for a word, which stands for itself), the number of
    operands, and the table after the token, or ``None`` if operands are lacking. An entry is made when its
    token is first met, so the kinds of the same operands are checked once.

    Args:
        opcodes: the language's opcodes.
        words: the kinds of its words.
        kinds: the kinds on the stack, as flag values, since a flag's own operators are slow.
        known: the language's tables by kinds.
    """

    def __init__(
        self,
        opcodes: Mapping[str, Opcode],
        words: Mapping[str, Kind],
        kinds: tuple[int, ...] = (),
        known: dict[tuple[int, ...], Table] | None = None,
    ) -> None:
        super().__init__()
        self.opcodes, self.words, self.kinds = opcodes, words, kinds
        self._known: dict[tuple[int, ...], Table] = {} if known is None else known

    def holding(self, kinds: tuple[int, ...]) -> Table:
        """The same language with other kinds on the stack."""
        table = self._known.get(kinds)
        if table is None:
            table = Table(self.opcodes, self.words, kinds, self._known)
            if len(self._known) < _TABLES:
                self._known[kinds] = table
        return table

    def __missing__(self, token: str) -> tuple[Callable[..., Any] | None, int, Table | None]:
        function, size = None, 0
        if token in self.opcodes:
            takes, gives, function, _ = self.opcodes[token]
            size = len(takes)
            base = len(self.kinds) - size
            if base < 0:
                self[token] = function, size, None
                return self[token]
            if not all(Kind(kind) in wanted for kind, wanted in zip(self.kinds[base:], takes, strict=True)):
                raise unfit(token, takes, self.kinds)
            kind = gives or (Kind.OBJECT if self.kinds[-1] == Kind.OBJECTS.value else Kind.EVENT)
            kinds = (*self.kinds[:base], kind.value)
        elif token in self.words:
            kinds = (*self.kinds, self.words[token].value)
        else:
            raise ProgramError(f"unknown opcode {token!r}", hint="Use the opcodes of the official programs")
        after = self.holding(kinds)
        if kinds in self._known:
            self[token] = function, size, after
        return function, size, after


_TABLES = 1 << 12
"""The number of tables of a language that are kept; programs of a benchmark need far fewer."""


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
