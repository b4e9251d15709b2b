"""Random bytes changed in a copy of a reproduced project: is each named by `substrate verify --no-recompute`?

python tests/faults/flips.py [PROJECT] --flips 1000 --seed 20

The project is the one around the current folder unless one is given; it is copied, and stays as it is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parents[1])]
COPIED = ("data", "artifacts", "storage", "pins", "dvc.lock", "data.dvc", "dvc.yaml", "params.yaml")


def main() -> int:
    """Flip, and print what was not named and the counts; 1 where anything was not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("project", nargs="?", type=Path, default=Path.cwd())
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=20)
    arguments = parser.parse_args()
    from byte_flips import flips, summary, verified

    with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
        root = Path(folder) / "project"
        root.mkdir()
        for name in (*COPIED, "workspace.yaml"):
            place = arguments.project / name
            if place.is_dir():
                shutil.copytree(place, root / name)
            elif place.is_file():
                shutil.copy(place, root / name)
        os.chdir(root)
        untouched = verified("nothing", 0, 0)
        if untouched.outcome != "silent":
            sys.stdout.write(f"without a flip it does not verify:\n{untouched.said}\n")
            return 1
        tried = []
        for number, flip in enumerate(flips(root, arguments.flips, arguments.seed), 1):
            tried.append(flip)
            if flip.outcome != "named" or flip.in_rows > flip.row_named:
                sys.stdout.write(f"{flip.outcome}: {flip.file} byte {flip.at} ^ {flip.by}\n{flip.said}\n")
            if not number % 50:
                sys.stderr.write(f"{number}\n")
        sys.stdout.write(f"{summary(tried)}\n")
        return int(any(flip.outcome != "named" for flip in tried))


if __name__ == "__main__":
    sys.exit(main())
