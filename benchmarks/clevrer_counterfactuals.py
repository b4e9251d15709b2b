"""Duality, partner rule and simulation on real scenes: where they agree about the world without an object.

    python benchmarks/clevrer_counterfactuals.py ANNOTATIONS TRAJECTORIES EVENTS

On the tracked scenes nothing tells what would have happened: the table shows how often two of the three
agree, and what the simulation's answer rests on. On the official annotations Bullet moves the same bodies
from frame 0 without the object: a reference that shares no code with the planar engine, and is no truth.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from research.domains.foretelling import read_trajectories
from research.domains.foretelling.from_annotations import read_annotations
from research.domains.foretelling.from_trajectories import Watched, watch
from substrate.domains.clevrer.counterfactual import Counterfactual, judge
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.format import FRAMES, Annotation, SceneEvents, Shape, read_scene_events
from substrate.domains.clevrer.motion import LAW, Body, bodies, masses
from substrate.domains.clevrer.motion.course import Recorded, course
from substrate.domains.clevrer.motion.engine import Contact
from substrate.domains.clevrer.scene import Event, Scene
from substrate.generators.clevrer import physics

Pair = tuple[int, int]
Verdicts = Mapping[str, tuple[bool, str]]
"""By method: whether a pair collides without the object, and the ground of that."""

_SIGHT = 5  # frames between two tracked positions
_CLOSE = 2  # frames by which the frame of a contact may be off


def contacts(events: SceneEvents) -> list[Contact]:
    """Observed collisions, in time order."""
    return sorted((c.frame, min(c.object), max(c.object)) for c in events.collisions)


def recorded(w: Watched) -> dict[int, dict[int, Body]]:
    """States at the tracked frames: the velocity of a free interval next to them, braked to the frame."""
    shapes: dict[int, Shape] = {thing.id: thing.shape for thing in w.scene.objects}
    hits = {name: [c.frame for c in w.events.collisions if name in c.object] for name in shapes}
    found: dict[int, dict[int, Body]] = {}
    for name, points in sorted(w.scene.trajectory.items()):
        known = [point for point in points if point[0] < FRAMES]
        for place, (frame, x, y) in enumerate(known):
            for other in (place + 1, place - 1):
                if not 0 <= other < len(known):
                    continue
                there, x1, y1 = known[other]
                first, last = min(frame, there) - _CLOSE, max(frame, there) + _CLOSE
                if abs(there - frame) != _SIGHT or any(first <= hit <= last for hit in hits[name]):
                    continue
                time = (there - frame) * LAW.frame
                vx, vy = (x1 - x) / time, (y1 - y) / time
                speed = (vx * vx + vy * vy) ** 0.5
                if speed < 0.02:
                    vx = vy = 0.0
                else:
                    gain = 1 + LAW.deceleration(shapes[name], speed) * time / 2 / speed
                    vx, vy = vx * gain, vy * gain
                found.setdefault(frame, {})[name] = Body(name, shapes[name], x, y, vx, vy)
                break
    return found


def simulated(states: Recorded, seen: Sequence[Contact], removed: int, first: int) -> dict[Pair, str]:
    """Pairs that collide without an object from its first collision on, and on what ground."""
    found = course(states, seen, max(0, first - _CLOSE - 1), FRAMES - 1, [], without=[removed])
    happen = {(a, b): "dual" for frame, a, b in seen if frame < first and removed not in (a, b)}
    happen |= {(a, b): "dual" for _, a, b in found.standing}
    return happen | {(a, b): "simulated" for _, a, b in found.contacts}


def tracked(watched: Sequence[Watched]) -> Iterator[tuple[bool, Verdicts]]:
    """For each scene, object that collides, and pair of others: whether it was observed, and all verdicts."""
    for w in watched:
        scene, seen, states = Scene(events_log(w.events)), contacts(w.events), recorded(w)
        names = sorted(set(w.scene.trajectory))
        for removed in names:
            first = min((frame for frame, *pair in seen if removed in pair), default=None)
            if first is None:
                continue
            happen = simulated(states, seen, removed, first)
            for pair in combinations([name for name in names if name != removed], 2):
                verdicts = by_rules(scene, pair, removed)
                ground = happen.get(pair)
                verdicts["simulated"] = (ground is not None, ground or "absent")
                yield pair in {(a, b) for _, a, b in seen}, verdicts


def by_rules(scene: Scene, pair: Pair, removed: int) -> dict[str, tuple[bool, str]]:
    """The verdicts of duality and partner rule, which need no motion."""
    found: dict[str, tuple[bool, str]] = {}
    for method in ("duality", "partner"):
        asked = Counterfactual(method)
        event = Event("Collision", None, frozenset(pair))
        verdict = judge(scene, event, removed, asked)
        found[method] = (verdict.occurs, verdict.ground)
    return found


def annotated(films: Iterable[Annotation]) -> Iterator[tuple[bool, Verdicts]]:
    """The same on annotations, with the pipeline's own simulation, and Bullet from frame 0."""
    for film in films:
        scene = Scene(annotation_log(film))
        names = sorted(thing.object_id for thing in film.object_property)
        seen = {(min(c.object_ids), max(c.object_ids)) for c in film.collision}
        for removed in sorted({name for pair in seen for name in pair}):
            bullet = by_bullet(film, removed)
            for pair in combinations([name for name in names if name != removed], 2):
                verdicts = by_rules(scene, pair, removed)
                event = Event("Collision", None, frozenset(pair))
                said = judge(scene, event, removed, Counterfactual("simulated"))
                verdicts["simulated"] = (said.occurs, said.ground)
                verdicts["bullet"] = (pair in bullet, "bullet")
                yield pair in seen, verdicts


def by_bullet(film: Annotation, removed: int | None = None) -> set[Pair]:
    """Pairs that collide when Bullet moves the video's bodies from frame 0."""
    start = [
        physics.Body(b.id, b.shape, (b.x, b.y), b.yaw, (b.vx, b.vy), b.mass)
        for b in bodies(film, 0, masses(film))
        if b.id != removed
    ]
    run = physics.simulate(start, frames=len(film.motion_trajectory))
    return {(min(c.object_ids), max(c.object_ids)) for c in run.contacts}


def agreement(cases: Iterable[tuple[bool, Verdicts]]) -> Iterator[str]:
    """The agreement of two methods, for observed pairs and for pairs that were not."""
    count: Counter[tuple[str, str, bool, bool]] = Counter()
    grounds: Counter[tuple[bool, str, bool]] = Counter()
    for observed, verdicts in cases:
        for one, other in combinations(verdicts, 2):
            count[one, other, observed, verdicts[one][0] == verdicts[other][0]] += 1
        occurs, ground = verdicts["simulated"]
        grounds[observed, ground, verdicts["duality"][0] == occurs] += 1
    yield "| two methods | pairs observed: agree | not observed: agree |\n|---|---|---|"
    for one, other in dict.fromkeys((one, other) for one, other, *_ in count):
        cells = [(count[one, other, seen, True], count[one, other, seen, False]) for seen in (True, False)]
        shares = " | ".join(f"{yes} of {yes + no} ({100 * yes / (yes + no):.2f} %)" for yes, no in cells)
        yield f"| {one}, {other} | {shares} |"
    yield "\n| the pair was | the simulation's ground | verdicts | the duality says the same |"
    yield "|---|---|---|---|"
    for observed, ground in sorted({(seen, ground) for seen, ground, _ in grounds}, reverse=True):
        same, other = grounds[observed, ground, True], grounds[observed, ground, False]
        yield f"| {'observed' if observed else 'not observed'} | {ground} | {same + other} | {same} |"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Compare three ways to imagine a video without an object.")
    parser.add_argument("annotations", type=Path, help="folder or zip of official annotations")
    parser.add_argument("trajectories", type=Path, help="JSON lines of tracked positions")
    parser.add_argument("events", type=Path, help="JSON lines of true events of the same scenes")
    given = parser.parse_args()
    films = read_annotations(given.annotations)
    watched = watch(read_trajectories(given.trajectories), read_scene_events(given.events))
    right = missed = extra = 0
    for film in films:
        seen = {(min(c.object_ids), max(c.object_ids)) for c in film.collision}
        found = by_bullet(film)
        right, missed, extra = (
            right + len(found & seen),
            missed + len(seen - found),
            extra + len(found - seen),
        )
    sys.stdout.write(f"Bullet from frame 0, nothing removed: {right} right, {missed} missed, {extra} extra\n")
    for title, cases in (
        (f"{len(films)} official annotations", annotated(films)),
        (f"{len(watched)} tracked scenes", tracked(watched)),
    ):
        sys.stdout.write(f"\n{title}\n\n" + "".join(f"{line}\n" for line in agreement(cases)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
