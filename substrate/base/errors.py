"""The package's errors: each says what went wrong, where, and what to do about it."""

from __future__ import annotations


class SubstrateError(Exception):
    """Base of every error this package raises on purpose.

    The message reads ``WHERE: WHAT. HINT.``; the three parts are also attributes, so that a program can
    report them separately.

    Args:
        what: the fault, without a closing full stop.
        where: file, record and path inside the record, outermost first; empty parts are skipped.
        hint: what the reader can do about it.

    >>> str(SubstrateError("collision names object 9", where=("a.json", "$.collision[0]"), hint="Declare it"))
    'a.json: $.collision[0]: collision names object 9. Declare it.'
    """

    def __init__(self, what: str, *, where: tuple[object, ...] = (), hint: str = "") -> None:
        self.what = what
        self.where = tuple(str(part) for part in where if str(part))
        self.hint = hint
        super().__init__(what, where, hint)

    def __str__(self) -> str:
        sentences = [": ".join((*self.where, self.what)).rstrip("."), self.hint.rstrip(".")]
        return ". ".join(s for s in sentences if s) + ("." if self.hint else "")

    def within(self, *outer: object) -> SubstrateError:
        """The same error with ``outer`` put before its place."""
        return type(self)(self.what, where=(*outer, *self.where), hint=self.hint)


class FormatError(SubstrateError):
    """A file or record does not have the shape that its format prescribes."""


class LogError(SubstrateError):
    """A log's file cannot be read, is damaged or is held, or a call would break the log."""


class LogHeldError(LogError):
    """Another writer has the log open."""


class InterventionError(SubstrateError):
    """An intervention's precondition does not hold in the state that it changes."""


class TBoxError(SubstrateError):
    """A TBox cannot be loaded, or a state violates its shapes."""


class ProgramError(SubstrateError):
    """A question's program cannot run on its scene."""


class ParameterError(SubstrateError):
    """A parameter is unknown or has a value outside its range."""
