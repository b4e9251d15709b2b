"""The long run: `make fuzz MINUTES=…`. A separate process reads each batch of inputs, and may break.

A door is a function that reads input from outside, such as a file. An input that ends in a traceback, a crash
or a hang is kept under tests/fuzz/corpus, and named; so is one whose reading takes more processor time than
it may, or grows faster than its length.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import math
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
# Inputs per process, since a process takes two seconds to start.
BATCH = 2500
# Seconds for a batch.
PATIENCE = 1200
# Seconds of processor time after which the system ends a process that reads one input.
HUNG = 60
# Further inputs of a batch, each of which is read at several lengths.
GROWN = 20
# A folder that is no disk, where the system has one.
MEMORY = Path("/dev/shm")
LENGTHS = (20_000, 80_000, 320_000, 1_280_000)
# Time may grow with the length to this power.
EXPONENT = 1.1
# Seconds of processor time below which a clock is too coarse to show growth.
SLOW = 0.01


def budget(size: int) -> float:
    """Seconds of processor time that an input of so many bytes may take."""
    return 2 + 1e-4 * size


def batch(name: str, seed: int) -> None:
    """Read one batch; the current input lies in the folder named by the command's last argument."""
    from fuzz_doors import DOORS
    from fuzz_mutators import grown, mutated

    from substrate.base.errors import SubstrateError

    faulthandler.enable()
    warnings.simplefilter("ignore")
    door, source = DOORS[name], random.Random(f"{name} {seed}")
    seeds, path = door.seeds(), Path(sys.argv[-1]) / door.file_name

    def timed(data: bytes) -> float:
        path.write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, HUNG)
        start = time.process_time()
        with suppress(SubstrateError):
            door.read(path)
        return time.process_time() - start

    for _ in range(BATCH):
        data = mutated(seeds, source, door.wrap)
        if (seconds := timed(data)) > budget(len(data)):
            seconds = min(seconds, timed(data))
        assert seconds <= budget(len(data)), f"{seconds:.1f} s for {len(data)} bytes"
    for _ in range(GROWN):
        growing = grown(seeds, source)
        made = [door.wrap(growing(length)) for length in LENGTHS]
        # One reading, where a batch's other inputs have two: hence a second more than the budget.
        if timed(made[0]) > 5:
            raise AssertionError(f"more than 5 s for {len(made[0])} bytes")
        # The least of three readings is the least disturbed one; an input that seems to grow is read again.
        times = [min(timed(data) for _ in range(3)) for data in made[:2]]
        for readings in (3, 8):
            if times[1] < SLOW or exponent(*times[:2]) <= EXPONENT:
                break
            times = [min(timed(data) for _ in range(readings)) for data in made]
        else:
            powers = [exponent(*pair) for pair in pairwise(times)]
            # An input too large for a cache takes longer at one length; real growth shows at each length.
            assert min(powers) <= EXPONENT, f"grows with the powers {[f'{power:.2f}' for power in powers]}"


def exponent(shorter: float, longer: float) -> float:
    """The power of the length with which the time grows; the longer input has four times the length."""
    return math.log(max(longer, 1e-6) / max(shorter, 1e-6), LENGTHS[1] / LENGTHS[0])


def fault_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """The text that a process wrote as it broke, and its exit code; empty if it did not break.

    A hang and a lack of memory end it by a signal, without a word: the exit code is then below 0.
    """
    return f"{done.stderr.decode('utf-8', 'replace')}exit code {done.returncode}" if done.returncode else ""


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
    end, read, broken, round_ = time.monotonic() + 60 * given.minutes, Counter[str](), 0, 0
    while time.monotonic() < end and read.total() < given.inputs:
        name, seed = names[round_ % len(names)], given.seed + round_ // len(names)
        round_ += 1
        with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
            now = Path(folder) / DOORS[name].file_name
            code = f"import run; run.batch({name!r}, {seed})"
            command = [sys.executable, "-c", code, folder]
            try:
                done = subprocess.run(command, cwd=HERE, capture_output=True, timeout=PATIENCE)
                fault = fault_of(done)
            except subprocess.TimeoutExpired:
                fault = f"no end within {PATIENCE} seconds"
            read[name] += BATCH + GROWN
            if not fault:
                continue
            broken += 1
            data = now.read_bytes() if now.is_file() else b""
        target = HERE / "corpus" / name.replace(" ", "_") / hashlib.sha256(data).hexdigest()[:12]
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        sys.stdout.write(f"{name}, seed {seed}: {target}\n{fault[-1500:]}\n")
        sys.stdout.flush()
    for name, count in read.items():
        sys.stdout.write(f"{count:>8} {name}\n")
    seeds = f"seeds {given.seed} to {given.seed + max(round_ - 1, 0) // len(names)}"
    sys.stdout.write(f"{read.total()} inputs over {len(read)} doors, {seeds}, {broken} batches broke\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
