"""Duality, partner rule and simulation on official annotations, beside Bullet: where they agree.

    python -m research.measurements.clevrer_counterfactuals ANNOTATIONS
    python -m research.measurements.clevrer_counterfactuals --worked TRUE_EVENTS TRACKS

Bullet moves the bodies from frame 0 without the object: a reference that shares no code with the planar
engine, and is no truth. On tracked scenes the benchmark `agreement` compares the three methods; `--worked`
shows the first video of each kind on which two of them differ.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

from research.benchmarks import agreement as agreed
from research.domains.foretelling.annotated import bodies, masses
from research.domains.foretelling.from_annotations import read_annotations
from research.measurements.markdown import counted, head, print_lines, row
from substrate.domains.clevrer.counterfactual import Fate, judge
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.emitter import without
from substrate.domains.clevrer.format import Annotation
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.generators.clevrer import physics

Pair = tuple[int, int]


class Compared(NamedTuple):
    """A pair without an object: whether its collision was filmed, and its fate by each method."""

    filmed: bool
    fates: Mapping[str, Fate]


def annotated(films: Iterable[Annotation]) -> Iterator[Compared]:
    """Every pair without every object that collides.

    The methods are duality, partner rule, the pipeline's simulation, and Bullet from frame 0.
    """
    for film in films:
        scene = Scene(annotation_log(film))
        names = sorted(thing.object_id for thing in film.object_property)
        seen = {(min(c.object_ids), max(c.object_ids)) for c in film.collision}
        for removed in sorted({name for pair in seen for name in pair}):
            bullet = by_bullet(film, removed)
            for pair in combinations([name for name in names if name != removed], 2):
                event = SceneEvent("Collision", None, frozenset(pair))
                fates = {name: judge(scene, event, removed, way) for name, way in agreed.METHODS.items()}
                yield Compared(pair in seen, fates | {"bullet": Fate(pair in bullet, "simulated")})


def by_bullet(film: Annotation, removed: int | None = None) -> set[Pair]:
    """Pairs that collide when Bullet moves the video's bodies from frame 0."""
    start = [
        physics.Body(b.id, b.shape, (b.x, b.y), b.yaw, (b.vx, b.vy), b.mass)
        for b in bodies(film, 0, masses(film))
        if b.id != removed
    ]
    run = physics.simulate(start, frames=len(film.motion_trajectory))
    return {(min(c.object_ids), max(c.object_ids)) for c in run.contacts}


def nothing_removed(films: Iterable[Annotation]) -> str:
    """The recorded collisions beside Bullet's, when every object stays."""
    count: Counter[str] = Counter()
    for film in films:
        seen = {(min(c.object_ids), max(c.object_ids)) for c in film.collision}
        simulated = by_bullet(film)
        count["right"] += len(simulated & seen)
        count["missed"] += len(seen - simulated)
        count["extra"] += len(simulated - seen)
    figures = ", ".join(f"{count[name]} {name}" for name in ("right", "missed", "extra"))
    return f"Bullet from frame 0, nothing removed: {figures}"


def agreement(cases: Iterable[Compared]) -> Iterator[str]:
    """Two tables: how often two methods agree, and by the simulation's ground how often the duality does."""
    count: Counter[tuple[str, bool, bool]] = Counter()
    grounds: Counter[tuple[bool, str, bool]] = Counter()
    for observed, fates in cases:
        for first, second in combinations(fates, 2):
            count[f"{first}, {second}", observed, fates[first].occurs == fates[second].occurs] += 1
        occurs, ground = fates["simulated"]
        grounds[observed, ground, fates["duality"].occurs == occurs] += 1
    yield head("two methods", "pairs observed: agree", "not observed: agree")
    for methods in dict.fromkeys(methods for methods, *_ in count):
        same = {seen: count[methods, seen, True] for seen in (True, False)}
        pairs = {seen: same[seen] + count[methods, seen, False] for seen in same}
        yield row(methods, *(counted(same[seen], pairs[seen], digits=2) for seen in same))
    yield "\n" + head("the pair was", "the simulation's ground", "verdicts", "the duality says the same")
    for observed, ground in sorted({(seen, ground) for seen, ground, _ in grounds}, reverse=True):
        same, differing = grounds[observed, ground, True], grounds[observed, ground, False]
        yield row("observed" if observed else "not observed", ground, same + differing, same)


PARTED = {
    "the duality loses what the simulation keeps (C4 fails)": ("duality", "simulated", agreed.DEPENDENT),
    "the duality keeps what the simulation loses (C2 fails)": ("duality", "simulated", agreed.INDEPENDENT),
    "the simulation brings together what the video does not": ("partner", "simulated", agreed.NOT_FILMED),
}
"""By title: two methods that differ, and the kind of pairs on which they do."""


def examples(events: Path, tracks: Path) -> Iterator[str]:
    """The first video for each of :data:`PARTED`, worked out."""
    wanted = dict(PARTED)
    for case in agreed.cases({"test": events, "tracks": tracks}).each:
        scene = Scene(agreed.logs(case)[0].log)
        for imagined in agreed.imagined(scene):
            for title, (first, second, kind) in list(wanted.items()):
                if imagined.kind == kind and imagined.verdicts[first] != imagined.verdicts[second]:
                    del wanted[title]
                    yield f"\n{title}: video {case.scene}\n"
                    yield from worked_lines(scene, imagined, first, second)


def worked_lines(scene: Scene, imagined: agreed.Imagined, first: str, second: str) -> Iterator[str]:
    """A pair without an object: the filmed collisions, two methods' verdicts, and the fork's collisions."""
    thing = {n: f"the {o.color} {o.material} {o.shape}" for n, o in scene.objects.items()}
    pair = " and ".join(thing[number] for number in sorted(imagined.pair))

    def collisions(world: Scene) -> str:
        hits = (e for e in world.events if e.kind == "Collision")
        return "; ".join(f"frame {e.frame}: {', '.join(thing[n] for n in sorted(e.objects))}" for e in hits)

    yield f"- without {thing[imagined.removed]}: do {pair} collide?"
    yield f"- filmed: {collisions(scene)}"
    yield f"- {first}: {says(imagined, first)}; {second}: {says(imagined, second)}"
    yield f"- the fork without it: {collisions(without(scene, imagined.removed)) or 'nothing collides'}"


def says(imagined: agreed.Imagined, method: str) -> str:
    """A method's verdict in a word."""
    return "yes" if imagined.verdicts[method] == agreed.CORRECT else "no"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Compare three ways to imagine a video without an object.")
    parser.add_argument("annotations", type=Path, nargs="?", help="folder or zip of official annotations")
    files = ("TRUE_EVENTS", "TRACKS")
    parser.add_argument("--worked", type=Path, nargs=2, metavar=files, help="show three tracked videos")
    given = parser.parse_args()
    if given.worked:
        return print_lines(examples(*given.worked))
    if not given.annotations:
        parser.error("name the annotations, or --worked and two files")
    films = read_annotations(given.annotations)
    return print_lines(chain([nothing_removed(films)], agreement(annotated(films))))


if __name__ == "__main__":
    raise SystemExit(main())
