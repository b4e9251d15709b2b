"""`substrate log export` and `substrate log import`: exchange a log or a state in standard formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from substrate.base.files import require_other
from substrate.cli import _log_common as common
from substrate.cli.console import JsonOption, argument, give, option
from substrate.cli.printing import print_exactly
from substrate.log.event_log import EventLog

Format = Literal["patch", "nquads", "turtle"]
"""The formats that a log can be exported to."""


def export(
    file: common.FileArgument,
    format_: Annotated[
        Format, option("--format", "patch: the whole log; nquads and turtle: the state at a tick.")
    ] = "patch",
    tick: common.TickOption = None,
    out: Annotated[Path | None, option("--out", "A file instead of standard output.", metavar="OUT")] = None,
    prefix: common.PrefixOption = common.NONE_GIVEN,
    tbox: common.TBoxOption = None,
) -> None:
    """Write the log as RDF Patch, or a state as N-Quads or Turtle."""
    from substrate.log.export import to_turtle
    from substrate.log.journal import write_atomically

    if out:
        require_other(out, [file])
    log = common.read_log(file)
    if format_ == "patch":
        text = log.to_patch()
    elif format_ == "nquads":
        text = log.state(tick).nquads()
    else:
        text = to_turtle(log.state(tick), common.prefixes_of(prefix, tbox))
    if out:
        write_atomically(out, text)
    else:
        print_exactly(text)


def import_(
    source: Annotated[
        Path, argument("RDF Patch of any program, or a state as N-Quads or Turtle.", metavar="SOURCE")
    ],
    out: Annotated[Path, option("--out", "The event log to write.", metavar="FILE")],
    format_: Annotated[Format, option("--format", "What SOURCE is.")] = "patch",
    tick: Annotated[
        int, option("--tick", "For nquads and turtle: where the triples are inserted.", metavar="T", min=0)
    ] = 0,
    graph: Annotated[
        str | None, option("--graph", "For patch: the graph to take, where rows name graphs.", metavar="IRI")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make an event log from RDF Patch of any program, or from a state."""
    from substrate.log.export import from_state

    require_other(out, [source])
    text, name = common.text_of_file(source), str(source)
    if format_ == "patch":
        log = EventLog.from_patch(text, name, graph)
    else:
        log = from_state(text, format_, tick, name)
    log.save(out)
    about = {"out": str(out), "digest": log.digest, "deltas": len(log), "last_tick": log.last_tick}
    give(about, common.described(about), json=json)
