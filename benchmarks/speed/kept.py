"""Compare a few small benches with recorded figures, so that a commit that slows one is seen at once.

    .venv/bin/python -m benchmarks.speed.kept             compare; `make check` does
    .venv/bin/python -m benchmarks.speed.kept --record    keep what is measured now, in kept.jsonl

Only ratios and exponents are compared, never seconds: work and peer run in turn, so a loaded or a slower
machine slows both. A figure that seems worse is measured again, and counts only if it is worse each time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.speed.benches import BENCHES
from benchmarks.speed.measure import Figure, measure
from substrate.base.inputs import read_text

FILE = Path(__file__).with_name("kept.jsonl")
SIZES: Mapping[str, tuple[int, ...]] = {
    "read": (300, 3_000),
    "read-thin": (3_000,),
    "worlds": (1_000,),
    "ancestry": (1_000,),
    "ancestry-sets": (300, 1_200),
    "state": (1_000, 10_000),
    "history": (1_000,),
    "head": (1_000,),
    "gqa": (10,),
    "clevrer": (4,),
    "simulated": (4,),
    "perceived": (1,),
}
"""The benches that are kept, each with sizes that take less than two seconds."""
WORSE = 2.0
"""The factor of a ratio that noise does not reach: between four recordings under load the most was 1.21."""
STEEPER = 0.4
"""The growth of an exponent that noise does not reach: there the most was 0.06. Constant to linear is 1."""
TRIES = 3


class Kept(msgspec.Struct, frozen=True):
    """A recorded figure; git has its date and author."""

    bench: str
    size: int
    ratio: float
    exponent: float | None


def taken(name: str) -> list[Kept]:
    """Measure a bench at the sizes that are kept."""
    return [_kept(figure) for figure in measure(name, BENCHES[name], SIZES[name])]


def _kept(figure: Figure) -> Kept:
    exponent = None if figure.exponent is None else round(figure.exponent, 2)
    return Kept(figure.bench, figure.size, float(f"{figure.ratio:.3g}"), exponent)


def fallen(before: Sequence[Kept], now: Sequence[Kept]) -> list[str]:
    """Name the figures that are worse than the recorded ones, beyond noise.

    >>> fallen([Kept("read", 300, 4.0, 0.9)], [Kept("read", 300, 9.0, 0.9)])
    ['read at 300: 9 times its peer, 4 when it was kept']
    >>> fallen([Kept("read", 300, 4.0, 0.9)], [Kept("read", 300, 6.0, 1.9)])
    ['read: its exponent is 1.9, 0.9 when it was kept']
    """
    known, faults = {(figure.bench, figure.size): figure for figure in before}, dict[str, None]()
    for figure in now:
        if (recorded := known.get((figure.bench, figure.size))) is None:
            faults[f"{figure.bench} at {figure.size}: nothing was kept"] = None
        elif figure.ratio > WORSE * recorded.ratio:
            was = f"{recorded.ratio:g} when it was kept"
            faults[f"{figure.bench} at {figure.size}: {figure.ratio:g} times its peer, {was}"] = None
        elif figure.exponent is not None and figure.exponent > (recorded.exponent or 0) + STEEPER:
            was = f"{recorded.exponent or 0:g} when it was kept"
            faults[f"{figure.bench}: its exponent is {figure.exponent:g}, {was}"] = None
    return list(faults)


def compare() -> list[str]:
    """Measure each recorded bench, and report the worse ones."""
    before = msgspec.json.decode(f"[{','.join(read_text(FILE).splitlines())}]", type=list[Kept])
    faults: list[str] = []
    for name in SIZES:
        worse = fallen(before, taken(name))
        for _ in range(TRIES - 1):
            worse = worse and fallen(before, taken(name))
        faults += worse
    return faults


def main(arguments: Sequence[str]) -> int:
    """Compare the figures, or record them with ``--record``."""
    if list(arguments) == ["--record"]:
        lines = [msgspec.json.encode(figure) + b"\n" for name in SIZES for figure in taken(name)]
        FILE.write_bytes(b"".join(lines))
        return 0
    for line in (faults := compare()):
        sys.stderr.write(f"{line}\n")
    if faults:
        hint = f"python -m benchmarks.speed.kept --record, and commit {FILE.name}"
        sys.stderr.write(f"Where that is meant: {hint}\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
