"""The shared parts of the commands of `substrate log`: options, reading, and deltas as JSON.

Terms are written as in N-Triples (`<urn:v:ann>`, `"text"@en`, `_:b`, `<<( … )>>`); an IRI may omit its
brackets, and a prefixed name is expanded with `--prefix` or the prefixes of `--tbox`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pyoxigraph as ox

from substrate.base.errors import LogError, ParameterError
from substrate.cli import platform
from substrate.cli.console import argument, option, say
from substrate.log.event_log import Delta, EventLog, TornTailWarning
from substrate.log.journal import require_regular
from substrate.sparql.guard import QueryLimits
from substrate.sparql.tokens import require_shallow

if TYPE_CHECKING:
    from substrate.rules.tbox import TBox

FileArgument = Annotated[
    Path, argument("An event log: RDF Patch text, gzip where the name ends in .gz.", metavar="FILE")
]
TickOption = Annotated[int | None, option("--tick", "The tick; by default the log's last tick.", metavar="T")]
PrefixOption = Annotated[
    list[str], option("--prefix", "A prefix for terms and queries; may be repeated.", metavar="NAME=IRI")
]
TBoxOption = Annotated[
    str | None, option("--tbox", "A shipped TBox or a Turtle file: its prefixes hold.", metavar="TBOX")
]
TimeoutOption = Annotated[
    float, option("--timeout", "The command ends after this many seconds.", metavar="SECONDS", min=0.01)
]
RowsOption = Annotated[int, option("--limit", "Maximum rows of an answer.", metavar="ROWS", min=0)]
MemoryOption = Annotated[
    int, option("--memory", "The command's maximum memory, in MiB.", metavar="MIB", min=1)
]
NONE_GIVEN: list[str] = []
DEFAULTS = QueryLimits()


def read_log(path: Path) -> EventLog:
    """Read the log of a file, or of a name such as ``clevrer/10000`` in the project's profile."""
    named = not path.exists() and "/" in str(path) and not path.is_absolute()
    if named and platform.is_here():
        return _named(str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornTailWarning)
        log = EventLog.read(path)
    if log.torn:
        cut = f"{log.torn.dropped} bytes after tick {log.last_tick} are left out"
        say(f"warning: {path}: the last append was cut off; {cut}", error=True)
    return log


def _named(name: str) -> EventLog:
    project = platform.module("project")
    assert project, "a name is looked up only with the platform"
    benchmark, _, log = name.partition("/")
    return project.open_workspace().logs(benchmark).read(log)


def warn(box: TBox) -> None:
    """Print the likely mistakes of a TBox on standard error."""
    from substrate.rules.lint import lint

    for finding in lint(box):
        say(f"warning: {box.name}: {finding}", error=True)


def text_of_file(path: Path) -> str:
    """Read a user's text file.

    Raises:
        LogError: the file cannot be read, or is larger than the limits allow.
    """
    require_regular(path)
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LogError(
            f"cannot be read ({error})", where=(path,), hint="Check the path and the encoding"
        ) from error


def prefixes_of(given: Iterable[str], tbox: str | None) -> dict[str, str]:
    """Return the prefixes of a TBox, and the prefixes given as `NAME=IRI`.

    Raises:
        ParameterError: a given prefix does not have this form.
        TBoxError: there is no such TBox.
    """
    from substrate.rules.tbox import TBox

    names = dict(TBox.load(tbox).prefixes) if tbox else {}
    for text in given:
        name, equals, iri = text.partition("=")
        if not equals:
            raise ParameterError(f"not a prefix: {text!r}", hint="Write NAME=IRI")
        names[name] = iri
    return names


def term_of(text: str, prefixes: dict[str, str]) -> Any:
    """Parse a term as a user writes it.

    Raises:
        ParameterError: the text is not a term.
    """
    name, _, rest = text.partition(":")
    if not text.startswith(("<", '"', "_:")):
        text = f"<{prefixes[name]}{rest}>" if name in prefixes else f"<{text}>"
    require_shallow(text, ParameterError, text[:40])
    try:
        (quad,) = ox.parse(f"<urn:s> <urn:p> {text} .", ox.RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError) as error:  # a lone surrogate is a ValueError
        raise ParameterError(
            f"not a term: {text!a} ({error})",
            hint="Write an IRI, a literal, a blank node or a triple term as in N-Triples",
        ) from error
    return quad.object


def described(about: Mapping[str, object]) -> list[str]:
    """Describe a log, one line per property."""
    return [f"{name}: {value}" for name, value in about.items() if value is not None]


def difference_as_json(difference: Any) -> dict[str, list[str]]:
    """Return the changes that occur on only one side."""
    return {
        "retracted": [triple_text(t) for t in difference.retracted],
        "inserted": [triple_text(t) for t in difference.inserted],
    }


def delta_as_json(delta: Delta) -> dict[str, Any]:
    """Return a delta's tick, operation and triple."""
    return {"tick": delta.tick, "op": delta.op.name.lower(), "triple": triple_text(delta.triple)}


def placed_as_json(position: int, delta: Delta) -> dict[str, Any]:
    """Return a delta with its position."""
    return delta_as_json(delta) | {"position": position}


def line_of(placed: Mapping[str, Any]) -> str:
    """Format a delta with its position as a line.

    >>> line_of({"position": 7, "tick": 3, "op": "insert", "triple": "<urn:a> <urn:b> <urn:c>"})
    '      7  tick     3  insert   <urn:a> <urn:b> <urn:c>'
    """
    return "{position:>7}  tick {tick:>5}  {op:<7}  {triple}".format(**placed)


def triple_text(triple: Any) -> str:
    """Write a triple in N-Triples."""
    return str(ox.Triple(*triple))
