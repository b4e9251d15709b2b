"""A changed byte in a reproduced project, and what `substrate verify --no-recompute` says of it."""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from commands import invoke

from orchestration.rendering.drift import render_text
from orchestration.verification.verify import Report

# The places of flips: the three kinds take turns, and within a kind each file is as likely as another.
PLACES = {
    "data": ("data",),
    "artifacts": ("artifacts", "storage"),
    "pins": ("pins", "dvc.lock", "data.dvc", "dvc.yaml", "params.yaml"),
}


class Flip(NamedTuple):
    """A changed byte: its file, its offset, the bits that were flipped, and the outcome of a verification."""

    file: str
    at: int
    by: int
    outcome: str
    """``named``: exit 1 and the file named; ``unnamed``: exit 1 alone; ``silent``; ``traceback``."""
    in_rows: bool
    row_named: bool
    output: str


def files(root: Path) -> dict[str, list[Path]]:
    """The files that hold at least a byte, by kind of place."""
    by_kind: dict[str, list[Path]] = {}
    for kind, places in PLACES.items():
        paths = [path for place in places for path in (root / place, *(root / place).rglob("*"))]
        by_kind[kind] = sorted(path for path in paths if path.is_file() and path.stat().st_size)
    return by_kind


def flips(root: Path, count: int, seed: int) -> Iterator[Flip]:
    """Change a byte, verify, and change it back, some times; the working directory must be the project.

    Args:
        root: the project.
        count: the number of flips.
        seed: of the random choices.
    """
    source, kinds = random.Random(seed), files(root)
    for number in range(count):
        path = source.choice(kinds[list(kinds)[number % len(kinds)]])
        data = path.read_bytes()
        at = source.randrange(len(data))
        by = source.choice((1 << source.randrange(8), source.randrange(1, 256)))
        path.write_bytes(data[:at] + bytes([data[at] ^ by]) + data[at + 1 :])
        try:
            yield verified(path.relative_to(root).as_posix(), at, by)
        finally:
            path.write_bytes(data)


def verified(file: str, at: int, by: int) -> Flip:
    """The outcome of a verification while a byte of a file is changed."""
    in_rows = file.endswith((".jsonl", ".csv"))
    result = invoke("verify", "--no-recompute", "--json", code=None)
    if result.exception and not isinstance(result.exception, SystemExit):
        stack = "".join(traceback.format_exception(result.exception))
        return Flip(file, at, by, "traceback", in_rows, False, stack)
    if result.exit_code == 0:
        return Flip(file, at, by, "silent", in_rows, False, result.stdout)
    try:
        report = msgspec.json.decode(result.stdout, type=Report)
    except msgspec.DecodeError:
        return Flip(file, at, by, "unnamed", in_rows, False, result.output)
    text = render_text(report)
    names = {difference.what.partition(", line ")[0] for difference in report.differences}
    row = any(d.kind == "row" or d.what.startswith(f"{file}, line ") for d in report.differences)
    outcome = "named" if file in names and file in text else "unnamed"
    return Flip(file, at, by, outcome, in_rows, row, text)


def summary(flips: list[Flip]) -> str:
    """The counts of outcomes, as a line of text."""
    counts = Counter(flip.outcome for flip in flips)
    rows = [flip for flip in flips if flip.in_rows and flip.outcome == "named"]
    return (
        f"{len(flips)} flips: {counts['named']} named, {counts['unnamed']} not named, "
        f"{counts['silent']} silent, {counts['traceback']} tracebacks; "
        f"{sum(flip.row_named for flip in rows)} of {len(rows)} in files of rows named by row"
    )
