"""The duality's conditions on real video: how often each fails, as far as a simulation says, and how surely.

    python -m research.measurements.clevrer_duality TRUE_EVENTS TRACKS [--every N]

The program removes each colliding object from each tracked scene. C2 fails where a filmed collision does not
depend on the object and is gone without it; C3 where a pair collides that does not collide in the video. C4
fails where a filmed collision depends on the object, which is not in it, and still occurs.

The simulation is no truth: beside each count stands how many of the failures happen in most of an ensemble of
32 forks, and how many in nearly all. Each fork draws other errors of its poses and constants.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from research.benchmarks import agreement as agreed
from research.measurements.markdown import head, print_lines, row
from substrate.domains.clevrer.counterfactual import Counterfactual, judge
from substrate.domains.clevrer.emitter import ensemble
from substrate.domains.clevrer.motion.draws import DRAWS
from substrate.domains.clevrer.scene import Scene, SceneEvent


class Condition(NamedTuple):
    """The kind of pairs that a condition is about, these pairs in words, and what a failure does to one."""

    kind: str
    about: str
    failure: str


CONDITIONS = {
    "C2": Condition(agreed.INDEPENDENT, "filmed collisions that do not depend on the object", "lost"),
    "C3": Condition(agreed.NOT_FILMED, "pairs that do not collide in the video", "collide"),
    "C4": Condition(agreed.DEPENDENT, "filmed collisions that depend on the object", "kept"),
}
SIMULATED = Counterfactual("simulated", horizon=0)


def sureness(scene: Scene, imagined: agreed.Imagined) -> float:
    """The share of an ensemble's forks in which a pair collides without an object."""
    event = SceneEvent("Collision", None, imagined.pair)
    return sum(judge(drawn, event, imagined.removed, SIMULATED).occurs for drawn in ensemble(scene)) / DRAWS


def report(files: Mapping[str, Path], every: int) -> Iterator[str]:
    """The numbers of scenes and worlds, and the table of conditions."""
    count, scenes, worlds = Counter[tuple[str, str]](), 0, set[tuple[int, int]]()
    for case in agreed.cases(files, every=every).each:
        scene = Scene(agreed.logs(case)[0].log)
        scenes += 1
        for imagined in agreed.imagined(scene):
            worlds.add((int(case.scene), imagined.removed))
            (name,) = (name for name, condition in CONDITIONS.items() if condition.kind == imagined.kind)
            count[name, "n"] += 1
            occurs = imagined.verdicts["simulated"] == agreed.CORRECT
            if occurs == (name == "C2"):
                continue
            count[name, "fails"] += 1
            share = sureness(scene, imagined)
            share = 1 - share if name == "C2" else share
            count[name, "most"] += share > 0.5
            count[name, "sure"] += share >= 0.9
    yield f"{scenes} scenes, {len(worlds)} worlds without an object\n"
    yield head("condition", "of", "fails", "in most of 32 forks", "in nine of ten")
    for name, condition in CONDITIONS.items():
        n, fails, most, sure = (count[name, key] for key in ("n", "fails", "most", "sure"))
        failures = f"{fails:,} {condition.failure} ({100 * fails / n:.1f} %)" if n else ""
        yield row(name, f"{n:,} {condition.about}", failures, f"{most:,}", f"{sure:,}")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Count how often the duality's conditions fail.")
    parser.add_argument("events", type=Path, help="true events of the tracked videos")
    parser.add_argument("tracks", type=Path, help="their trajectories")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="read only every Nth tracked scene")
    given = parser.parse_args()
    return print_lines(report({"test": given.events, "tracks": given.tracks}, given.every))


if __name__ == "__main__":
    raise SystemExit(main())
