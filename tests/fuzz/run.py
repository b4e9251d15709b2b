"""The long run: `make fuzz MINUTES=…`. Each batch of inputs is read in a process of its own, which may break.

An input that ends in a traceback, a crash or no end is kept under tests/fuzz/corpus, and named.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import random
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
BATCH = 1000
PATIENCE = 180
"""Seconds for a batch."""


def batch(name: str, seed: int) -> None:
    """Read one batch; the input under way stands in the file named by the last argument."""
    from fuzz_doors import DOORS, mutated

    from substrate.base.errors import SubstrateError

    faulthandler.enable()
    warnings.simplefilter("ignore")
    door, source = DOORS[name], random.Random(f"{name} {seed}")
    seeds, now = door.seeds(), Path(sys.argv[-1])
    path = now.with_name(door.name)
    for _ in range(BATCH):
        data = mutated(seeds, source)
        now.write_bytes(data)
        path.write_bytes(data)
        try:
            door.read(path)
        except SubstrateError:
            continue


def main() -> int:
    """Run batches, door after door, until the time is up or enough inputs were read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--inputs", type=int, default=10**9, help="stop after so many")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--door", action="append", default=[])
    given = parser.parse_args()
    from fuzz_doors import DOORS

    names = given.door or list(DOORS)
    end, read, broken, round_ = time.monotonic() + 60 * given.minutes, 0, 0, 0
    while time.monotonic() < end and read < given.inputs:
        name, seed = names[round_ % len(names)], given.seed + round_ // len(names)
        round_ += 1
        with tempfile.TemporaryDirectory() as folder:
            now = Path(folder) / "now"
            code = f"import run; run.batch({name!r}, {seed})"
            try:
                done = subprocess.run(
                    [sys.executable, "-c", code, str(now)], cwd=HERE, capture_output=True, timeout=PATIENCE
                )
                fault = done.stderr.decode("utf-8", "replace") if done.returncode else ""
            except subprocess.TimeoutExpired:
                fault = f"no end within {PATIENCE} seconds"
            read += BATCH
            if not fault:
                continue
            broken += 1
            data = now.read_bytes() if now.is_file() else b""
        kept = HERE / "corpus" / name.replace(" ", "_") / hashlib.sha256(data).hexdigest()[:12]
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(data)
        sys.stdout.write(f"{name}, seed {seed}: {kept}\n{fault[-1500:]}\n")
    sys.stdout.write(f"{read} inputs over {len(names)} doors, {broken} batches broke\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
