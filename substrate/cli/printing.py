"""The output of commands: lines, or a value as one line of JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def print_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output at once."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def print_json(value: object) -> None:
    """Write a value to standard output as a line of JSON."""
    import msgspec

    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
