"""GQA's semantic programs, type-checked before they run by the table of :mod:`.operations`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from substrate.base.errors import ProgramError
from substrate.domains.gqa import arguments
from substrate.domains.gqa.format import Operation, check_program
from substrate.domains.gqa.operations import OPCODES, Instruction, Kind


@lru_cache(maxsize=1 << 10)
def _operation(operation: str, inputs: int) -> tuple[str, str]:
    """An operation's entry of :data:`OPCODES`, by its number of inputs, and its attribute family."""
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
    opcode, text = OPCODES[operation], step.argument.strip()
    # Without an argument, an operation that takes a word takes its family: `query color` asks for the colour
    try:
        argument: Any = opcode.parse(step.argument if text or opcode.parse is not arguments.word else family)
    except ValueError as error:
        raise ProgramError(f"the argument {step.argument!r} {error}", hint="Correct the program") from error
    kinds = tuple([done[d].result for d in step.dependencies])
    if kinds != opcode.inputs:
        got, wanted = (", ".join(k.value for k in ks) or "nothing" for ks in (kinds, opcode.inputs))
        raise ProgramError(f"takes {wanted}, but depends on {got}", hint="Correct its dependencies")
    if operation == "choose rel" and len(argument.relations) < 2:
        what = f"the argument {step.argument!r} leaves no choice"
        raise ProgramError(what, hint="Separate relations by |")
    if opcode.parse is arguments.family:
        family = family or argument
        if not family:
            hint = "Name an attribute family, as in `same color`"
            raise ProgramError("does not say what is compared", hint=hint)
    dependencies = tuple(step.dependencies)
    return Instruction(index, operation, family, argument, dependencies, opcode.result, step)
