"""`substrate log`: the auditor's tools over one event log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pyoxigraph as ox
import typer

from substrate.cli import _log_common as common
from substrate.cli._log_branches import diff, fork, merge
from substrate.cli._log_exchange import export, import_
from substrate.cli.console import PLAIN, JsonOption, argument, give, guarded, option
from substrate.log.event_log import EventLog
from substrate.sparql import guard


def show(
    file: common.FileArgument,
    start: Annotated[int, option("--from", "First tick to show.", metavar="T")] = 0,
    stop: Annotated[int | None, option("--to", "Last tick to show.", metavar="T")] = None,
    json: JsonOption = False,
) -> None:
    """Describe a log and list its deltas.

    Each delta has a position, tick, operation and triple.
    """
    log = common.read_log(file)
    positions = range(log.position(start - 1), log.position(log.last_tick if stop is None else stop))
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
    deltas = [common.placed_as_json(position, log[position]) for position in positions]
    give(about | {"shown": deltas}, [*common.described(about), *map(common.line_of, deltas)], json=json)


def state(file: common.FileArgument, tick: common.TickOption = None, json: JsonOption = False) -> None:
    """Print the triples that hold at a tick, as sorted N-Quads."""
    state = common.read_log(file).state(tick)
    lines = state.nquads().split("\n")[:-1]
    # The digest costs more than the rest: it canonicalizes blank nodes.
    about = {"tick": state.tick, "triples": len(state), "digest": state.digest} if json else {}
    give(about | {"state": lines}, lines, json=json)


def query(
    file: common.FileArgument,
    sparql: Annotated[
        str, argument("A SELECT, ASK, CONSTRUCT or DESCRIBE query; @FILE reads it from a file.")
    ],
    tick: common.TickOption = None,
    prefix: common.PrefixOption = common.NONE_GIVEN,
    tbox: common.TBoxOption = None,
    timeout: common.TimeoutOption = common.DEFAULTS.timeout,
    limit: common.RowsOption = common.DEFAULTS.rows,
    memory: common.MemoryOption = common.DEFAULTS.memory >> 20,
    json: JsonOption = False,
) -> None:
    """Run a SPARQL query on the state at a tick, within limits.

    The query reads only the state. By default its rows are sorted by their text.
    """
    text = common.text_of_file(Path(sparql[1:])) if sparql.startswith("@") else sparql
    limits = guard.QueryLimits(timeout, limit, memory << 20)
    state, prefixes = common.read_log(file).state(tick), common.prefixes_of(prefix, tbox)
    result = guard.query(state, text, prefixes=prefixes, limits=limits)
    if isinstance(result, bool):
        give({"head": {}, "boolean": result}, [str(result).lower()], json=json)
    elif isinstance(result, guard.Solutions):
        names, rows = result.variables, result.rows
        if "order by" not in text.lower():
            rows.sort(key=lambda row: [str(term or "") for term in row])
        bindings = [
            {n: _binding(t) for n, t in zip(names, row, strict=True) if t is not None} for row in rows
        ]
        lines = ["\t".join("" if term is None else str(term) for term in row) for row in rows]
        heading = "\t".join(f"?{name}" for name in names)
        give({"head": {"vars": names}, "results": {"bindings": bindings}}, [heading, *lines], json=json)
    else:
        lines = sorted(f"{triple} ." for triple in result)
        give(lines, lines, json=json)


def history(
    file: common.FileArgument,
    subject: Annotated[str, argument("A term, or - for any.")] = "-",
    predicate: Annotated[str, argument("A term, or - for any.")] = "-",
    object_: Annotated[str, argument("A term, or - for any.", metavar="OBJECT")] = "-",
    prefix: common.PrefixOption = common.NONE_GIVEN,
    tbox: common.TBoxOption = None,
    json: JsonOption = False,
) -> None:
    """List when triples were true, and which deltas changed that."""
    from substrate.log.history import histories

    names = common.prefixes_of(prefix, tbox)
    texts = (subject, predicate, object_)
    terms = (None if text in ("-", "?") else common.term_of(text, names) for text in texts)
    stories: list[dict[str, Any]] = []
    lines: list[str] = []
    for story in histories(common.read_log(file), *terms):
        triple, spans = common.triple_text(story.triple), [tuple(interval) for interval in story.intervals]
        changes = [common.placed_as_json(position, delta) for position, delta in story.changes]
        stories.append({"triple": triple, "intervals": spans, "changes": changes})
        when = (f"tick {a} on" if b is None else f"ticks {a} to {b - 1}" for a, b in spans)
        lines.append(f"{triple}: {', '.join(when) or 'at no tick'}")
        lines += [f"    tick {c['tick']:>5}  {c['op']:<7}  delta {c['position']}" for c in changes]
    give(stories, lines, json=json)


def verify(
    file: common.FileArgument,
    digest: Annotated[
        str | None, option("--digest", "The digest that the log should have.", metavar="SHA256")
    ] = None,
    parent: Annotated[
        Path | None, option("--parent", "The log that this log names as its parent.", metavar="FILE")
    ] = None,
    tbox: Annotated[
        str | None, option("--tbox", "Check the last state against this TBox's shapes.", metavar="TBOX")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Recompute the chain of a log, and compare.

    Exit 1 if a byte was edited, an append was cut off, or a requested check fails.
    """
    from substrate.rules.tbox import TBox

    log = common.read_log(file)  # recomputes the chain; an edited byte is its error
    faults: list[str] = []
    if log.torn:
        faults.append(f"the last append was cut off: {log.torn.dropped} bytes after tick {log.last_tick}")
    if digest and digest.removeprefix("sha256:") != log.digest.removeprefix("sha256:"):
        faults.append(f"the digest is {log.digest}")
    if parent:
        faults += _not_forked(log, common.read_log(parent), parent)
    if tbox:
        box = TBox.load(tbox)
        common.warn(box)
        faults += map(str, box.validate(log.state(), log))
    about = {"file": str(file), "digest": log.digest, "deltas": len(log), "last_tick": log.last_tick}
    holds = f"{file}: {len(log)} deltas to tick {log.last_tick}, the chain holds: {log.digest}"
    give(about | {"faults": faults}, faults or [holds], json=json)
    raise typer.Exit(1 if faults else 0)


def repair(
    file: common.FileArgument,
    dry_run: Annotated[bool, option("--dry-run", "Print the repair without making it.")] = False,
    json: JsonOption = False,
) -> None:
    """Restore a damaged log from the part that its chain proves.

    The damaged file is kept next to it.
    """
    from substrate.log.repair import repair as run

    report = run(file, dry_run=dry_run)
    proven = f"{report.deltas} deltas to tick {report.last_tick}"
    if report.why:
        lines = [f"damage: {report.why}", f"proven: {proven}: {report.digest}"]
    else:
        lines = [f"{file}: {proven}, the chain holds: {report.digest}"]
    if report.gone:
        span = f"{report.gone[0]} to {report.gone[-1]}" if len(report.gone) > 1 else f"{report.gone[0]}"
        lines.append(f"gone: {len(report.gone)} ticks that are named behind it, {span}")
    if report.why:
        lines.append(f"kept: the damaged file, as {report.kept}" if report.kept else "nothing was changed")
    give({"file": str(file), **report._asdict(), "kept": report.kept and str(report.kept)}, lines, json=json)


def _not_forked(log: EventLog, parent: EventLog, path: Path) -> list[str]:
    if log.descent is None:
        return ["it is no fork"]
    if log.descent.parent != parent.digest:
        return [f"its parent is {log.descent.parent}, not {path}"]
    before = log.descent.branch - 1
    same = log.digest_at(before) == parent.digest_at(before)
    return [] if same else [f"it differs from its parent before tick {log.descent.branch}"]


def _binding(term: Any) -> dict[str, object]:
    """Write a term in SPARQL 1.2 Query Results JSON.

    >>> _binding(ox.Literal("7", datatype=ox.NamedNode("urn:types#string")))
    {'type': 'literal', 'value': '7', 'datatype': 'urn:types#string'}
    """
    if isinstance(term, ox.Triple):
        parts = ("subject", "predicate", "object")
        return {"type": "triple", "value": {part: _binding(getattr(term, part)) for part in parts}}
    if not isinstance(term, ox.Literal):
        return {"type": "uri" if isinstance(term, ox.NamedNode) else "bnode", "value": term.value}
    literal: dict[str, object] = {"type": "literal", "value": term.value}
    if term.language:
        literal |= {"xml:lang": term.language} | ({"its:dir": term.direction.value} if term.direction else {})
    elif term != ox.Literal(term.value):
        literal["datatype"] = term.datatype.value
    return literal


log_app = typer.Typer(**PLAIN, help="The auditor's tools over one event log.")
# In the order of the help
for _command in (show, state, query, history, fork, diff, merge, verify, repair, export, import_):
    log_app.command(_command.__name__.rstrip("_"))(guarded(_command))
