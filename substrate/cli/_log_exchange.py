"""`substrate log export` and `substrate log import`: a log, or a state, in the formats of others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from substrate.base.files import require_other
from substrate.cli._log_text import (
    NO_PREFIXES,
    FileArgument,
    PrefixOption,
    TBoxOption,
    TickOption,
    prefixes_of,
    read_log,
    text_of_file,
)
from substrate.cli.console import JsonOption, argument, failing, option
from substrate.cli.printing import print_exactly, print_json, print_lines
from substrate.log.event_log import EventLog


class Format(StrEnum):
    """The formats that a log can be exported to."""

    patch = "patch"
    nquads = "nquads"
    turtle = "turtle"


def export(
    file: FileArgument,
    format_: Annotated[
        Format,
        option("--format", "patch: the whole log; nquads and turtle: the state at a tick."),
    ] = Format.patch,
    tick: TickOption = None,
    out: Annotated[Path | None, option("--out", "A file instead of standard output.", metavar="OUT")] = None,
    prefix: PrefixOption = NO_PREFIXES,
    tbox: TBoxOption = None,
) -> None:
    """The log as RDF Patch, or a state as N-Quads or Turtle."""
    from substrate.log.export import to_turtle
    from substrate.log.journal import write_atomically

    with failing():
        if out:
            require_other(out, [file])
        log = read_log(file)
        texts = {
            Format.patch: lambda: log.to_patch(),
            Format.nquads: lambda: log.state(tick).nquads(),
            Format.turtle: lambda: to_turtle(log.state(tick), prefixes_of(prefix, tbox)),
        }
        text = texts[format_]()
        if out:
            write_atomically(out, text)
        else:
            print_exactly(text)


def import_(
    source: Annotated[
        Path,
        argument("RDF Patch of any program, or a state as N-Quads or Turtle.", metavar="SOURCE"),
    ],
    out: Annotated[Path, option("--out", "The event log to write.", metavar="FILE")],
    format_: Annotated[Format, option("--format", "What SOURCE is.")] = Format.patch,
    tick: Annotated[
        int,
        option("--tick", "For nquads and turtle: where the triples are inserted.", metavar="T", min=0),
    ] = 0,
    graph: Annotated[
        str | None,
        option("--graph", "For patch: the graph to take, where rows name graphs.", metavar="IRI"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """An event log from RDF Patch of any program, or from a state."""
    from substrate.log.export import from_state

    with failing():
        require_other(out, [source])
        name = str(source)
        readers = {
            Format.patch: lambda text: EventLog.from_patch(text, name, graph),
            Format.nquads: lambda text: from_state(text, "nquads", tick, name),
            Format.turtle: lambda text: from_state(text, "turtle", tick, name),
        }
        log = readers[format_](text_of_file(source))
        log.save(out)
    about = {"out": str(out), "digest": log.digest, "deltas": len(log), "last_tick": log.last_tick}
    print_json(about) if json else print_lines(f"{name}: {value}" for name, value in about.items())
