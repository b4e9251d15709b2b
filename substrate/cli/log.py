"""`substrate log`: the auditor's tools over one event log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import pyoxigraph as ox
import typer

from substrate.cli._log_branches import diff, fork, merge
from substrate.cli._log_exchange import export, import_
from substrate.cli._log_text import (
    DEFAULTS,
    NO_PREFIXES,
    FileArgument,
    MemoryOption,
    PrefixOption,
    RowsOption,
    TBoxOption,
    TickOption,
    TimeoutOption,
    delta_as_json,
    line_of,
    placed_as_json,
    prefixes_of,
    read_log,
    term_of,
    text_of_file,
    triple_text,
    warn,
)
from substrate.cli.console import JsonOption, argument, failing, option
from substrate.cli.printing import print_json, print_lines, print_text
from substrate.log.event_log import EventLog
from substrate.sparql.guard import QueryLimits, Solutions
from substrate.sparql.guard import query as guarded


def show(
    file: FileArgument,
    start: Annotated[int, option("--from", "First tick to show.", metavar="T")] = 0,
    stop: Annotated[int | None, option("--to", "Last tick to show.", metavar="T")] = None,
    limit: Annotated[int | None, option("--limit", "Most deltas to show.", min=0)] = None,
    json: JsonOption = False,
) -> None:
    """Describe the log and list its deltas: position, tick, operation, triple."""
    with failing():
        log = read_log(file)
        end = log.position(log.last_tick if stop is None else stop)
        first = log.position(start - 1)
        positions = range(first, end if limit is None else min(end, first + limit))
        about = {
            "file": str(file),
            "digest": log.digest,
            "deltas": len(log),
            "ticks": len(log.ticks),
            "last_tick": log.last_tick,
            "parent": log.parent_digest,
            "branch_tick": log.branch_tick,
            "dropped_bytes": log.torn.dropped if log.torn else 0,
        }
    if json:
        print_json(about | {"shown": [placed_as_json(log, p) for p in positions]})
    else:
        print_lines(f"{name}: {value}" for name, value in about.items() if value is not None)
        print_lines(line_of(log, p) for p in positions)


def state(
    file: FileArgument,
    tick: TickOption = None,
    canonical: Annotated[bool, option("--canonical", "Relabel blank nodes by RDFC-1.0.")] = False,
    json: JsonOption = False,
) -> None:
    """The triples that hold at a tick, as sorted N-Quads."""
    with failing():
        state = read_log(file).state(tick)
        text = state.canonical() if canonical else state.nquads()
        if json:
            print_json(
                {
                    "tick": state.tick,
                    "triples": len(state),
                    "digest": state.digest,
                    "state": text.splitlines(),
                }
            )
        else:
            print_text(text)


def query(
    file: FileArgument,
    sparql: Annotated[
        str, argument("A SELECT, ASK, CONSTRUCT or DESCRIBE query; @FILE reads it from a file.")
    ],
    tick: TickOption = None,
    prefix: PrefixOption = NO_PREFIXES,
    tbox: TBoxOption = None,
    timeout: TimeoutOption = DEFAULTS.timeout,
    limit: RowsOption = DEFAULTS.rows,
    memory: MemoryOption = DEFAULTS.memory >> 20,
    json: JsonOption = False,
) -> None:
    """Run a SPARQL query on the state at a tick; rows in the order of their text unless the query orders
    them. It reads the state alone, and ends within its limits.
    """
    with failing():
        text = text_of_file(Path(sparql[1:])) if sparql.startswith("@") else sparql
        limits = QueryLimits(timeout, limit, memory << 20)
        result = guarded(read_log(file).state(tick), text, prefixes=prefixes_of(prefix, tbox), limits=limits)
        if isinstance(result, bool):
            print_json({"head": {}, "boolean": result}) if json else print_lines(
                ["true" if result else "false"]
            )
        elif isinstance(result, Solutions):
            _print_rows(result, "order by" in text.lower(), json)
        else:
            lines = sorted(f"{triple} ." for triple in result)
            print_json(lines) if json else print_lines(lines)


def history(
    file: FileArgument,
    subject: Annotated[str, argument("A term, or - for any.")] = "-",
    predicate: Annotated[str, argument("A term, or - for any.")] = "-",
    object_: Annotated[str, argument("A term, or - for any.", metavar="OBJECT")] = "-",
    prefix: PrefixOption = NO_PREFIXES,
    tbox: TBoxOption = None,
    json: JsonOption = False,
) -> None:
    """List when triples were true, and which deltas changed that."""
    from substrate.log.history import histories

    with failing():
        names = prefixes_of(prefix, tbox)
        stories = histories(
            read_log(file),
            *(None if text in ("-", "?") else term_of(text, names) for text in (subject, predicate, object_)),
        )
    if json:
        changes = [[delta_as_json(c.delta) | {"position": c.position} for c in h.changes] for h in stories]
        print_json(
            [
                {"triple": triple_text(h.triple), "intervals": [tuple(i) for i in h.intervals], "changes": c}
                for h, c in zip(stories, changes, strict=True)
            ]
        )
        return
    for h in stories:
        spans = ", ".join(
            f"tick {i.start} on" if i.end is None else f"ticks {i.start} to {i.end - 1}" for i in h.intervals
        )
        print_lines(
            [
                f"{triple_text(h.triple)}: {spans or 'at no tick'}",
                *(
                    f"    tick {c.delta.tick:>5}  {c.delta.op.name.lower():<7}  delta {c.position}"
                    for c in h.changes
                ),
            ]
        )


def verify(
    file: FileArgument,
    digest: Annotated[
        str | None, option("--digest", "The digest that the log should have.", metavar="SHA256")
    ] = None,
    parent: Annotated[
        Path | None,
        option("--parent", "The log that this one says it was forked from.", metavar="FILE"),
    ] = None,
    tbox: Annotated[
        str | None,
        option("--tbox", "Check the last state against this TBox's shapes.", metavar="TBOX"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Recompute the chain, and compare; exit 1 where a byte was edited, an append was cut off, or anything
    asked for does not hold.
    """
    from substrate.rules.tbox import TBox

    with failing():
        log = read_log(file)
        faults = (
            [f"the last append was cut off: {log.torn.dropped} bytes after tick {log.last_tick}"]
            if log.torn
            else []
        )
        if digest and digest.removeprefix("sha256:") != log.digest.removeprefix("sha256:"):
            faults.append(f"the digest is {log.digest}")
        if parent:
            faults += _not_forked(log, read_log(parent), parent)
        if tbox:
            box = TBox.load(tbox)
            warn(box)
            faults += map(str, box.validate(log.state(), log))
    if json:
        print_json(
            {
                "file": str(file),
                "digest": log.digest,
                "deltas": len(log),
                "last_tick": log.last_tick,
                "faults": faults,
            }
        )
    else:
        print_lines(
            faults or [f"{file}: {len(log)} deltas to tick {log.last_tick}, the chain holds: {log.digest}"]
        )
    raise typer.Exit(1 if faults else 0)


def repair(
    file: FileArgument,
    dry_run: Annotated[bool, option("--dry-run", "Say what would be done, and do nothing.")] = False,
    json: JsonOption = False,
) -> None:
    """Go on from what the chain of a damaged log proves; the damaged file is kept beside it."""
    from substrate.log.repair import repair as run

    with failing():
        made = run(file, dry_run=dry_run)
    if json:
        print_json({"file": str(file), **made._asdict(), "kept": made.kept and str(made.kept)})
        return
    if not made.why:
        print_lines(
            [f"{file}: {made.deltas} deltas to tick {made.last_tick}, the chain holds: {made.digest}"]
        )
        return
    lines = [f"damage: {made.why}", f"proven: {made.deltas} deltas to tick {made.last_tick}: {made.digest}"]
    if made.gone:
        span = f"{made.gone[0]} to {made.gone[-1]}" if len(made.gone) > 1 else f"{made.gone[0]}"
        lines.append(f"gone: {len(made.gone)} ticks that are named behind it, {span}")
    lines.append(f"kept: the damaged file, as {made.kept}" if made.kept else "nothing was changed")
    print_lines(lines)


def _not_forked(log: EventLog, parent: EventLog, path: Path) -> list[str]:
    if log.descent is None:
        return ["it is no fork"]
    if log.descent.parent != parent.digest:
        return [f"its parent is {log.descent.parent}, not {path}"]
    before = log.descent.branch - 1
    return (
        []
        if log.digest_at(before) == parent.digest_at(before)
        else [f"it differs from its parent before tick {log.descent.branch}"]
    )


def _print_rows(solutions: Solutions, ordered: bool, json: bool) -> None:
    names, rows = solutions.variables, [*solutions.rows]
    if not ordered:
        rows.sort(key=lambda row: [str(term or "") for term in row])
    if json:
        print_json(
            {
                "head": {"vars": names},
                "results": {
                    "bindings": [
                        {n: _binding(t) for n, t in zip(names, row, strict=True) if t is not None}
                        for row in rows
                    ]
                },
            }
        )
    else:
        print_lines(
            [
                "\t".join(f"?{name}" for name in names),
                *("\t".join(str(term) if term is not None else "" for term in row) for row in rows),
            ]
        )


def _binding(term: Any) -> dict[str, object]:
    """A term in SPARQL 1.2 Query Results JSON."""
    if isinstance(term, ox.Triple):
        return {
            "type": "triple",
            "value": {part: _binding(getattr(term, part)) for part in ("subject", "predicate", "object")},
        }
    if not isinstance(term, ox.Literal):
        return {"type": "uri" if isinstance(term, ox.NamedNode) else "bnode", "value": term.value}
    literal: dict[str, object] = {"type": "literal", "value": term.value}
    if term.language:
        literal |= {"xml:lang": term.language} | ({"its:dir": term.direction.value} if term.direction else {})
    elif not term.datatype.value.endswith("#string"):
        literal["datatype"] = term.datatype.value
    return literal


COMMANDS: Mapping[str, Callable[..., None]] = {
    "show": show,
    "state": state,
    "query": query,
    "history": history,
    "fork": fork,
    "diff": diff,
    "merge": merge,
    "verify": verify,
    "repair": repair,
    "export": export,
    "import": import_,
}
"""The commands in the order in which help names them."""

log_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The auditor's tools over one event log."
)
for _name, _command in COMMANDS.items():
    log_app.command(_name)(_command)
