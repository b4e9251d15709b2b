"""The output of commands: text, lines, or a line of JSON, without control characters for the terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import typer

from substrate.cli.notices import Voice, ours

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Control characters except tab and line feed, and characters that change the direction of text."""


def shown(text: str) -> str:
    """Escape the characters of a text that control a terminal, as JSON, Turtle and N-Quads do.

    >>> print(shown("red: \\x1b[31m, and turned: \\u202e"))
    red: \\u001b[31m, and turned: \\u202e
    """
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_text(text: str) -> None:
    """Write a text to the command's standard output at once."""
    print_exactly(shown(text))


def print_exactly(text: str) -> None:
    """Write a text unchanged to standard output; escape it with :func:`shown` only for a terminal."""
    out = ours("stdout")
    out.write(shown(text) if out.isatty() else text)
    out.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output at once."""
    print_text("".join(f"{line}\n" for line in lines))


def print_json(value: object) -> None:
    """Write a value to standard output as a line of JSON."""
    import json

    import msgspec

    try:
        line = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # a file's name need not be UTF-8
        line = json.dumps(msgspec.to_builtins(value), separators=(",", ":"))
    print_text(f"{line}\n")


_COLOURS = {"error": typer.colors.RED, "interrupted": typer.colors.RED}


def say(text: str, label: str = "", *, error: bool = False) -> None:
    """Print a line in a single write, without control characters, after a coloured label."""
    if error and (stream := Voice.stream):
        stream.say(text, label.rstrip(":") or "note")
    out = ours("stderr" if error else "stdout")
    if label:
        plain = False if os.environ.get("NO_COLOR") else None
        colour = _COLOURS.get(label.rstrip(":"), typer.colors.YELLOW)
        typer.echo(typer.style(label, fg=colour, bold=True) + " ", out, nl=False, color=plain)
    typer.echo(shown(text), out)
