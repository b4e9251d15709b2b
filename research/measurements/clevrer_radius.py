"""The size of CLEVRER's objects, by its official annotations.

    python -m research.measurements.clevrer_radius ANNOTATIONS

The centre of an object at rest lies its radius, or half its edge, above the floor. The centres of two that
collide are twice as far apart, or further if a cube's corner touches.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from statistics import median


def main(folder: Path) -> None:
    """Print the heights of all poses, and the distances in the frames of recorded collisions."""
    heights: list[float] = []
    apart: list[float] = []
    for path in sorted(folder.rglob("annotation_*.json")):
        record = json.loads(path.read_bytes())
        places: dict[tuple[int, int], list[float]] = {}
        for frame in record["motion_trajectory"]:
            for thing in frame["objects"]:
                places[frame["frame_id"], thing["object_id"]] = thing["location"]
        heights += [place[2] for place in places.values()]
        for collision in record["collision"]:
            first, second = (places.get((collision["frame_id"], thing)) for thing in collision["object_ids"])
            if first and second:
                apart.append(math.dist(first[:2], second[:2]))
    if not heights or not apart:
        sys.exit(f"{folder} holds no annotation_NNNNN.json with a collision")
    high = f"median height {median(heights):.3f}, 99 % below {_quantile(heights, 0.99):.3f}"
    far = f"{min(apart):.2f} to {max(apart):.2f} apart, median {median(apart):.2f}"
    sys.stdout.write(f"{len(heights):,} poses: {high}\n{len(apart):,} collisions: {far}\n")


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * len(values))]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
