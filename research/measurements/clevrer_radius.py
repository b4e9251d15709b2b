"""The size of CLEVRER's objects, by its official annotations.

    python -m research.measurements.clevrer_radius ANNOTATIONS

The centre of an object at rest lies its radius, or half its edge, above the floor. The centres of two that
collide are twice as far apart, or further if a cube's corner touches.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from research.domains.foretelling.from_annotations import read_annotations
from research.measurements.markdown import print_lines
from substrate.base.errors import FormatError


def report(folder: Path) -> Iterator[str]:
    """The heights of all poses, and the distances in the frames of recorded collisions."""
    heights: list[float] = []
    apart: list[float] = []
    for film in read_annotations(folder):
        places = {
            (frame.frame_id, thing.object_id): thing.location
            for frame in film.motion_trajectory
            for thing in frame.objects
        }
        heights += [place[2] for place in places.values()]
        for hit in film.collision:
            first, second = (places.get((hit.frame_id, number)) for number in hit.object_ids)
            if first and second:
                apart.append(math.dist(first[:2], second[:2]))
    if not heights or not apart:
        raise FormatError("no annotation has a collision", where=(folder,))
    lower = sorted(heights)[int(0.99 * len(heights))]
    high = f"median height {median(heights):.3f}, 99 % below {lower:.3f}"
    far = f"{min(apart):.2f} to {max(apart):.2f} apart, median {median(apart):.2f}"
    yield f"{len(heights):,} poses: {high}\n{len(apart):,} collisions: {far}"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure the size of CLEVRER's objects.")
    parser.add_argument("annotations", type=Path, help="folder or zip of official annotations")
    return print_lines(report(parser.parse_args().annotations))


if __name__ == "__main__":
    raise SystemExit(main())
