"""GQA's semantic programs, parsed and type-checked before they run.

Every operation has a verb, an argument of its own form and typed inputs. ``select`` and ``relate`` find a set
of objects and ``filter`` reduces it. ``verify``, ``exist``, ``same`` and ``different`` turn objects into a
truth; ``and`` and ``or`` join truths; ``query``, ``choose`` and ``common`` give a word.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from substrate.base.errors import ProgramError
from substrate.domains.gqa.format import Operation, check_program

SCENE = "scene"
ANYTHING = "_"


class Kind(enum.Enum):
    """The kind of a step's result."""

    OBJECTS = "objects"
    TRUTH = "truth"
    WORD = "word"


class Named(NamedTuple):
    """An object by class name, and by any ids in the program.

    ``ids`` is ``None`` without ids, and empty if the program says that no such object exists (``-``).
    """

    name: str
    ids: tuple[str, ...] | None


class Related(NamedTuple):
    """An object in one of some relations; ``subject`` says whether it is the relation's subject.

    A program's direction ``s`` or ``_`` makes it the subject; ``o`` makes it the relation's object.
    """

    target: Named
    relations: tuple[str, ...]
    subject: bool


class Value(NamedTuple):
    """An attribute value, or its absence."""

    value: str
    negated: bool


class Instruction(NamedTuple):
    """A typed step: its position in the file, its entry of :data:`SIGNATURES`, attribute family, argument
    (``None`` if it has none) and inputs.
    """

    position: int
    operation: str
    family: str
    argument: Any
    dependencies: tuple[int, ...]
    result: Kind
    step: Operation


class Signature(NamedTuple):
    """The kinds of the inputs, the kind of the result, and the parser of the argument."""

    inputs: tuple[Kind, ...]
    result: Kind
    parse: Callable[[str], object]


_IDS = re.compile(r"\s*\(([^()]*)\)\s*$")
_NEGATED = re.compile(r"not\s*\((.*)\)")


def _named(text: str) -> Named:
    match = _IDS.search(text)
    name = text[: match.start()].strip() if match else text.strip()
    if not name:
        raise ValueError("names no object")
    ids = (part.strip() for part in match[1].split(",")) if match else None
    return Named(name, ids if ids is None else tuple(part for part in ids if part not in ("", "-")))


def _related(text: str) -> Related:
    match = _IDS.search(text)
    parts = [part.strip() for part in (text[: match.start()] if match else text).split(",")]
    if len(parts) < 3 or not all(parts):
        raise ValueError("is not `name,relation,s|o`")
    name, *relations, direction = parts
    if direction not in ("s", "o", ANYTHING):
        raise ValueError(f"ends in {direction!r}, not in s, o or _")
    words = _words(",".join(relations))
    if not all(words):
        raise ValueError("has a blank relation")
    return Related(_named(name + (match[0] if match else "")), words, direction != "o")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split("|"))


def _value(text: str) -> Value:
    match = _NEGATED.fullmatch(text.strip())
    value = (match[1] if match else text).strip()
    if not value:
        raise ValueError("has no value")
    return Value(value, match is not None)


def _options(text: str) -> tuple[str, ...]:
    """The words of a choice."""
    words = _words(text)
    if len(words) < 2 or not all(words):
        raise ValueError("is not a choice of words separated by |")
    return words


def _word(text: str) -> str:
    """The object of a question: ``name``, an attribute family, or a class."""
    if not text.strip():
        raise ValueError("asks for nothing")
    return text.strip()


def _family(text: str) -> str | None:
    """The attribute family of a comparison whose operation does not name it."""
    return text.strip() or None


def _nothing(_: str) -> None:
    """Parse the argument of an operation that has none."""


_O, _T, _W = Kind.OBJECTS, Kind.TRUTH, Kind.WORD

SIGNATURES: dict[str, Signature] = {
    "select": Signature((), _O, _named),
    "relate": Signature((_O,), _O, _related),
    "filter": Signature((_O,), _O, _value),
    "exist": Signature((_O,), _T, _nothing),
    "verify": Signature((_O,), _T, _value),
    "verify rel": Signature((_O,), _T, _related),
    "query": Signature((_O,), _W, _word),
    "choose": Signature((_O,), _W, _options),
    "choose name": Signature((_O,), _W, _options),
    "choose rel": Signature((_O,), _W, _related),
    "compare": Signature((_O, _O), _W, _family),
    "common": Signature((_O, _O), _W, _nothing),
    "same": Signature((_O, _O), _T, _family),
    "different": Signature((_O, _O), _T, _family),
    "all same": Signature((_O,), _T, _word),
    "all different": Signature((_O,), _T, _word),
    "and": Signature((_T, _T), _T, _nothing),
    "or": Signature((_T, _T), _T, _nothing),
}
"""The signature of every operation in the interpreter's dispatch table."""


@lru_cache(maxsize=1 << 10)
def _operation(operation: str, inputs: int) -> tuple[str, str]:
    """An operation's entry of :data:`SIGNATURES`, by its number of inputs, and its attribute family."""
    verb, _, family = operation.strip().partition(" ")
    family = family.strip()
    if verb in ("verify", "choose") and family in ("rel", "relation", "relate"):
        return f"{verb} rel", ""
    if verb == "choose" and inputs == 2:
        return "compare", family
    if verb == "choose" and family == "name":
        return "choose name", ""
    if verb in ("same", "different") and inputs == 1:
        return f"all {verb}", family
    return verb, family


def compile_program(steps: Sequence[Operation]) -> list[Instruction]:
    """Type a program: each step comes after its dependencies, the file's last step last.

    >>> man, old = Operation("select", "man (3)", []), Operation("filter age", "not(young) ", [0])
    >>> for i in compile_program([man, old, Operation("query", "hposition", [1])]):
    ...     print(i.operation, i.argument, i.result.value)
    select Named(name='man', ids=('3',)) objects
    filter Value(value='young', negated=True) objects
    query hposition word

    Raises:
        ProgramError: an argument has the wrong form, an input has the wrong kind, or the program does not end
            in an answer; the error names the step.
        FormatError: as :func:`substrate.domains.gqa.format.check_program`.
    """
    done: dict[int, Instruction] = {}
    for index in check_program(list(steps)):
        try:
            done[index] = _typed(index, steps[index], done)
            if index == len(steps) - 1 and done[index].result is Kind.OBJECTS:
                hint = "End in query, choose, verify, exist or a comparison"
                raise ProgramError("the program ends in objects, not in an answer", hint=hint)
        except ProgramError as error:
            raise error.within(f"step {index} ({steps[index].operation})") from None
    return list(done.values())


def _typed(index: int, step: Operation, done: Mapping[int, Instruction]) -> Instruction:
    operation, family = _operation(step.operation, len(step.dependencies))
    signature, text = SIGNATURES[operation], step.argument.strip()
    try:
        argument: Any = signature.parse(step.argument if text or signature.parse is not _word else family)
    except ValueError as error:
        raise ProgramError(f"the argument {step.argument!r} {error}", hint="Correct the program") from error
    kinds = tuple([done[d].result for d in step.dependencies])
    if kinds != signature.inputs:
        got, wanted = (", ".join(k.value for k in ks) or "nothing" for ks in (kinds, signature.inputs))
        raise ProgramError(f"takes {wanted}, but depends on {got}", hint="Correct its dependencies")
    if operation == "choose rel" and len(argument.relations) < 2:
        what = f"the argument {step.argument!r} leaves no choice"
        raise ProgramError(what, hint="Separate relations by |")
    if signature.parse is _family:
        family = family or argument
        if not family:
            hint = "Name an attribute family, as in `same color`"
            raise ProgramError("does not say what is compared", hint=hint)
    dependencies = tuple(step.dependencies)
    return Instruction(index, operation, family, argument, dependencies, signature.result, step)
