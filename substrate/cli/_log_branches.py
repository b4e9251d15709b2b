"""`substrate log fork`, `diff` and `merge`: branches of a log."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from substrate.base.errors import InterventionError, LogError, ParameterError
from substrate.base.files import require_other
from substrate.branch.interventions import INTERVENTIONS, new_intervention
from substrate.cli import _log_common as common
from substrate.cli.console import JsonOption, argument, give, option, shaped
from substrate.log.event_log import EventLog
from substrate.sparql.guard import QueryLimits, confined
from substrate.sparql.tokens import CLOSING, OPENING, tokens

if TYPE_CHECKING:
    from substrate.branch.merge import Conflict, Side

_BY_NAME = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _with_interventions(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the ``**changes`` of a command by one option per intervention."""
    signature = inspect.signature(command, eval_str=True)
    parameters = [param for param in signature.parameters.values() if param.kind is not param.VAR_KEYWORD]
    for name, kind in INTERVENTIONS.items():
        declaration = option(f"--{name.replace('_', '-')}", kind.about, metavar=kind.takes)
        terms = Annotated[tuple[(str,) * len(kind.takes.split())] | None, declaration]
        named = f"{name}_"  # `assert` is a Python keyword
        parameters.append(inspect.Parameter(named, _BY_NAME, default=None, annotation=terms))
    return shaped(command, parameters)


@_with_interventions
def fork(
    file: common.FileArgument,
    at: Annotated[int, option("--at", "The branch tick.", metavar="T")],
    out: Annotated[Path, option("--out", "Where to write the branch.", metavar="BRANCH")],
    do: Annotated[
        list[str],
        option(
            "--do",
            "An intervention and its terms, as the options below name them; a property of place or awareness "
            "may follow. Several are done in order, each on the result of those before it.",
            metavar="'NAME TERM …'",
        ),
    ] = common.NONE_GIVEN,
    predicate: Annotated[
        str | None,
        option("--predicate", "The property of place or awareness; by default the core's own.", metavar="P"),
    ] = None,
    rules: Annotated[
        str | None,
        option(
            "--rules",
            "Let this TBox's rules decide what follows; without it the observed deltas follow.",
            metavar="TBOX",
        ),
    ] = None,
    motion: Annotated[
        bool, option("--motion", "Let CLEVRER's simulator decide what follows, in the log of an annotation.")
    ] = False,
    until: Annotated[
        int | None, option("--until", "Last tick for the rules or the simulator.", metavar="T")
    ] = None,
    prefix: common.PrefixOption = common.NONE_GIVEN,
    tbox: common.TBoxOption = None,
    timeout: common.TimeoutOption = common.DEFAULTS.timeout,
    memory: common.MemoryOption = common.DEFAULTS.memory >> 20,
    json: JsonOption = False,
    **changes: tuple[str, ...] | None,
) -> None:
    """Write a branch of a log, with interventions at a tick.

    FILE stays unchanged. The rules of a TBox run within the limits of a query.
    """
    from substrate.branch.fork import fork as branch_off
    from substrate.cli._log_rules import fork_by_rules
    from substrate.rules.tbox import TBox

    if rules and motion:
        raise typer.BadParameter("give --rules or --motion")
    require_other(out, [file])
    names = common.prefixes_of(prefix, tbox or rules)
    given = [(name.removesuffix("_"), terms) for name, terms in changes.items() if terms]
    if len(given) + bool(do) > 1:
        hint = "Give --do for each of them, in their order"
        raise InterventionError("more than one intervention", hint=hint)
    property_ = common.term_of(predicate, names) if predicate else None
    interventions = [
        new_intervention(name, [common.term_of(text, names) for text in terms], property_)
        for name, terms in (given or map(_parse_do, do))
    ]
    log = common.read_log(file)
    if rules:
        box = TBox.load(rules)
        common.warn(box)
        limits, turtle = QueryLimits(timeout, memory=memory << 20), (box.name, box.turtle)
        patch = confined(fork_by_rules, log.to_patch(), at, interventions, turtle, until, limits=limits)
        branch = EventLog.from_patch(patch, str(out))
    elif motion:
        from substrate.domains.clevrer.emitter import MotionEmitter

        branch = branch_off(log, at, None, MotionEmitter(until), interventions=interventions)
    else:
        branch = branch_off(log, at, interventions=interventions)
    branch.save(out)
    withheld = [common.delta_as_json(delta) for delta in branch.withheld]
    about = {
        "out": str(out),
        "digest": branch.digest,
        "deltas": len(branch),
        "parent": branch.parent_digest,
        "branch_tick": branch.branch_tick,
    }
    lines = common.described(about)
    lines += [f"withheld: {' '.join(map(str, delta.values()))}" for delta in withheld]
    give(about | ({"withheld": withheld} if withheld else {}), lines, json=json)


def _parse_do(text: str) -> tuple[str, list[str]]:
    """Split a text into the name of an intervention and its terms."""
    terms: list[str] = []
    end = depth = 0
    for kind, piece, start in tokens(text):
        # Adjacent parts, and the parts inside a triple term, are a single term
        if terms and (depth or start == end):
            terms[-1] += text[end : start + len(piece)]
        else:
            terms.append(piece)
        depth += (piece in OPENING) - (piece in CLOSING) if kind == "mark" else 0
        end = start + len(piece)
    if not terms:
        raise ParameterError("--do is empty", hint=f"Begin with one of {', '.join(INTERVENTIONS)}")
    return terms[0].replace("-", "_"), terms[1:]


def diff(
    file: common.FileArgument,
    a: Annotated[int | None, argument("A tick.", metavar="[A]")] = None,
    b: Annotated[int | None, argument("Another tick.", metavar="[B]")] = None,
    with_: Annotated[
        Path | None, option("--with", "Another log: both arms side by side, tick by tick.", metavar="OTHER")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare two ticks of a log, or two logs.

    Exit 1 if they differ.
    """
    if (a is None) != (b is None) or (a is None) == (with_ is None):
        raise typer.BadParameter("give two ticks, or --with OTHER")
    log = common.read_log(file)
    if with_:
        other = common.read_log(with_)
        different = log.digest != other.digest
        _diff_logs(log, other, json)
    else:
        difference = common.difference_as_json(log.diff(a or 0, b or 0))
        different = any(difference.values())
        lines = [f"- {triple}" for triple in difference["retracted"]]
        lines += [f"+ {triple}" for triple in difference["inserted"]]
        give({"a": a, "b": b, **difference}, lines, json=json)
    raise typer.Exit(1 if different else 0)


def _diff_logs(a: EventLog, b: EventLog, json: bool) -> None:
    from substrate.branch.fork import twin

    ticks: list[dict[str, Any]] = []
    lines: list[str] = []
    for tick, of_a, of_b, change in twin(a, b):
        arms = {"a": [common.delta_as_json(d) for d in of_a], "b": [common.delta_as_json(d) for d in of_b]}
        difference = common.difference_as_json(change)
        ticks.append({"tick": tick, **arms, **difference})
        lines.append(
            f"tick {tick}: {len(of_a)} and {len(of_b)} deltas; "
            f"after it {len(difference['retracted'])} triples stand in A only, "
            f"{len(difference['inserted'])} in B only"
        )
        for name, here, there in (("A", of_a, of_b), ("B", of_b, of_a)):
            lines += [f"  {name} {d.op.value} {common.triple_text(d.triple)}" for d in here if d not in there]
    give(ticks, lines, json=json)


def merge(
    a: Annotated[Path, argument("A branch: an event log.", metavar="A")],
    b: Annotated[Path, argument("Another branch of the same log.", metavar="B")],
    out: Annotated[
        Path | None, option("--out", "Where to write the log of both; without it, nowhere.", metavar="MERGED")
    ] = None,
    functional: Annotated[
        list[str], option("--functional", "A property of one value at a time; may be repeated.", metavar="P")
    ] = common.NONE_GIVEN,
    prefer: Annotated[
        Literal["a", "b"] | None, option("--prefer", "Whose word counts in every other conflict.")
    ] = None,
    choose: Annotated[
        list[str],
        option("--choose", "Whose word counts in the conflict of this number; repeatable.", metavar="N=a|b"),
    ] = common.NONE_GIVEN,
    prefix: common.PrefixOption = common.NONE_GIVEN,
    tbox: Annotated[
        str | None,
        option(
            "--tbox",
            "A shipped TBox or a Turtle file: its prefixes hold, and its properties of one value.",
            metavar="TBOX",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Merge two branches of a log.

    A and B stay unchanged. Conflicts are listed by number. If a conflict has no choice, nothing is written;
    exit 1.
    """
    from substrate.branch.merge import conflicts, merge_base
    from substrate.branch.merge import merge as merged
    from substrate.memory.records import FROM, UNTIL
    from substrate.rules.tbox import TBox

    if out:
        require_other(out, [a, b])
    names, log_a, log_b = common.prefixes_of(prefix, tbox), common.read_log(a), common.read_log(b)
    # A memory's record begins and ends only once
    single = {FROM, UNTIL, *(common.term_of(text, names) for text in functional)}
    if tbox:
        single |= TBox.load(tbox).functional
    all_conflicts = conflicts(log_a, log_b, functional=single)
    chosen = _choices(choose, len(all_conflicts))
    sides: dict[Conflict, Side | None] = {
        conflict: chosen.get(number) or prefer for number, conflict in enumerate(all_conflicts, start=1)
    }
    unresolved = [number for number, side in enumerate(sides.values(), start=1) if side is None]
    about: dict[str, Any] = {"base": merge_base(log_a, log_b)}
    if not unresolved:
        log = merged(log_a, log_b, functional=single, choose=sides.get)
        about |= {"digest": log.digest, "deltas": len(log), "parent": log.parent_digest}
        if out:
            log.save(out)
            about = {"out": str(out)} | about
    lines = [
        f"conflict {number}: {conflict}{f': {side} counts' if side else ''}"
        for number, (conflict, side) in enumerate(sides.items(), start=1)
    ]
    listed = [_conflict_as_json(*pair) for pair in sides.items()]
    give(about | {"conflicts": listed}, lines + common.described(about), json=json)
    if unresolved:
        hint = f"Give --choose {unresolved[0]}=a or {unresolved[0]}=b, or --prefer for all"
        raise LogError(f"conflict {unresolved[0]} has no choice, so nothing was written", hint=hint)


_SIDES: Mapping[str, Side] = {"a": "a", "b": "b"}


def _choices(texts: Iterable[str], count: int) -> dict[int, Side]:
    """Parse the choices into the chosen side by a conflict's number."""
    sides: dict[int, Side] = {}
    for text in texts:
        number, _, letter = text.partition("=")
        side = _SIDES.get(letter)
        if side is None or not (number.isdecimal() and 1 <= int(number) <= count):
            raise ParameterError(
                f"--choose takes N=a or N=b, not {text!r}",
                hint=f"Give numbers from 1 to {count}" if count else "Leave it out: nothing is in conflict",
            )
        sides[int(number)] = side
    return sides


def _conflict_as_json(conflict: Conflict, side: Side | None) -> dict[str, Any]:
    return {
        "subject": str(conflict.subject),
        "predicate": str(conflict.predicate),
        "object": str(conflict.object) if conflict.object else None,
        "a": [common.placed_as_json(*change) for change in conflict.a],
        "b": [common.placed_as_json(*change) for change in conflict.b],
        "when": [tuple(interval) for interval in conflict.when],
        "counts": side,
    }
