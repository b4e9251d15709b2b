"""Are the probabilities of answers about imagined worlds right?

    python -m research.measurements.clevrer_chances worlds [--scenes 100] [--seed 4001]  # generated
    python -m research.measurements.clevrer_chances tracked TRAJECTORIES EVENTS  # real, kept-out half

Of generated worlds, each choice of the predictive questions (configuration S) and of the counterfactual ones
(simulated) has a probability of being correct, and gold that is the world's own. Nobody knows what would have
happened in a real video; but where nothing is removed and one body is let go at its first collision, so that
it and whom it reaches are simulated as in a fork, what happens was filmed. There states are the tracked ones,
with the errors fitted on the other half. Each table has the Brier score beside that of always saying how
common "correct" is, and of saying 0 or 1 as the answer does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from math import exp
from pathlib import Path
from random import Random
from statistics import fmean

from msgspec.structs import replace

from research.domains.foretelling import read_trajectories
from research.domains.foretelling.from_trajectories import Watched, halves, watch
from research.measurements.clevrer_foretelling import brier, reliability
from research.studies.reliability import said_of
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import FRAMES, SceneEvents, Shape, read_scene_events
from substrate.domains.clevrer.motion import simulate
from substrate.domains.clevrer.motion.course import Recorded, course
from substrate.domains.clevrer.motion.draws import DRAWS, Draw
from substrate.domains.clevrer.motion.engine import Body, Contact
from substrate.domains.clevrer.motion.law import LAW, SIGHT
from substrate.domains.clevrer.parameters import Counterfactual, Parameters, Predictive
from substrate.domains.clevrer.program import World
from substrate.domains.clevrer.scene import Scene
from substrate.generators.clevrer import generate_scene

SIMULATED = Parameters(predictive=Predictive("S"), counterfactual=Counterfactual("simulated"))
FIRST = 80_000
CLOSE = 3
"""Frames before its first collision at which a body is let go."""
STEP, BESIDE = 5, 2
"""Frames between two tracked positions, and by which the frame of a contact may be off."""
Chance = tuple[float, bool]


def contacts(events: SceneEvents) -> list[Contact]:
    """Observed collisions, in time order."""
    return sorted((c.frame, min(c.object), max(c.object)) for c in events.collisions)


def recorded(w: Watched) -> dict[int, dict[int, Body]]:
    """States at the tracked frames: the velocity of a free interval next to them, braked to the frame."""
    shapes: dict[int, Shape] = {thing.id: thing.shape for thing in w.scene.objects}
    hits = {name: [c.frame for c in w.events.collisions if name in c.object] for name in shapes}
    states: dict[int, dict[int, Body]] = {}
    for name, points in sorted(w.scene.trajectory.items()):
        known = [point for point in points if point[0] < FRAMES]
        for place, (frame, x, y) in enumerate(known):
            for other in (place + 1, place - 1):
                if not 0 <= other < len(known):
                    continue
                there, x1, y1 = known[other]
                first, last = min(frame, there) - BESIDE, max(frame, there) + BESIDE
                if abs(there - frame) != STEP or any(first <= hit <= last for hit in hits[name]):
                    continue
                time = (there - frame) * LAW.frame
                vx, vy = (x1 - x) / time, (y1 - y) / time
                speed = (vx * vx + vy * vy) ** 0.5
                if speed < 0.02:
                    vx = vy = 0.0
                else:
                    gain = 1 + LAW.deceleration(shapes[name], speed) * time / 2 / speed
                    vx, vy = vx * gain, vy * gain
                states.setdefault(frame, {})[name] = Body(name, shapes[name], x, y, vx, vy)
                break
    return states


def of_worlds(scenes: int, seed: int) -> dict[str, list[Chance]]:
    """Probability and gold of every choice, by the kind of its question."""
    by_kind: dict[str, list[Chance]] = {"predictive": [], "counterfactual": []}
    for number in range(FIRST, FIRST + scenes):
        generated = generate_scene(number, seed)
        world = World(Scene(annotation_log(generated.annotation)), SIMULATED)
        for subset, chances in by_kind.items():
            questions = [q for q in generated.questions.questions if q.question_type == subset]
            gold = {(q.question_id, c.choice_id): c.answer for q in questions for c in q.choices or ()}
            for chance in said_of(world, questions):
                chances.append((chance.probability, gold[chance.question, chance.choice] == "correct"))
    return by_kind


def of_tracks(watched: Sequence[Watched], every: int) -> Iterator[Chance]:
    """Of every body that collides, let go at its first collision: the pairs that meet after it."""
    for w in watched[::every]:
        states, seen = recorded(w), contacts(w.events)
        names = sorted(w.scene.trajectory)
        for name in names:
            first = min((frame for frame, *pair in seen if name in pair), default=None)
            if first is None:
                continue
            start = max(0, first - CLOSE)
            shares = dict.fromkeys(combinations(names, 2), 0)
            concerned: set[int] = set()
            for number in range(DRAWS):
                drawn = off(states, number)
                advance = partial(simulate, law=Draw(number).law())
                outcome = course(drawn, seen, start, FRAMES - 1, [name], advance=advance)
                concerned.update(outcome.departed)
                for _, a, b in [*outcome.contacts, *outcome.standing]:
                    shares[a, b] += 1
            met = {(a, b) for frame, a, b in seen if frame <= start}
            came = {(a, b) for frame, a, b in seen if frame > start}
            for pair, count in shares.items():
                if pair not in met and not concerned.isdisjoint(pair):
                    yield round((count + 0.5) / (DRAWS + 1), 3), pair in came


def off(states: Recorded, number: int) -> dict[int, dict[int, Body]]:
    """Tracked states with masses, places and velocities off by errors like the trackers'."""
    masses = {
        name: exp(Random(f"mass {number} {name}").gauss(0, SIGHT.mass))
        for name in {name for here in states.values() for name in here}
    }
    shifted: dict[int, dict[int, Body]] = {}
    for frame, here in states.items():
        fit = sum(frame >= seam for seam in SIGHT.seams)
        place, velocity = (errors[min(fit, 1)] for errors in (SIGHT.place, SIGHT.velocity))
        rng = Random(f"track {number} {frame}")
        shifted[frame] = {}
        for name, body in sorted(here.items()):
            dx, dy = (rng.gauss(0, place) for _ in "xy")
            dvx, dvy = (rng.gauss(0, velocity) for _ in "xy")
            scale = min(1.0, (body.vx**2 + body.vy**2) ** 0.5 / 0.3)  # what hardly moves is well known
            shifted[frame][name] = replace(
                body,
                x=body.x + scale * dx,
                y=body.y + scale * dy,
                vx=body.vx + scale * dvx,
                vy=body.vy + scale * dvy,
                yaw=rng.uniform(0, 1.5708) if body.shape == "cube" else 0.0,
                mass=masses[name],
            )
    return shifted


def table(title: str, chances: Sequence[Chance]) -> str:
    """Brier scores and bins in Markdown."""
    common = fmean(came for _, came in chances)
    plain = brier([(float(chance >= 0.5), came) for chance, came in chances])
    lines = [
        f"\n{title}: {len(chances)}; Brier score {brier(chances):.4f}, {plain:.4f} as 0 or 1, "
        f"{common * (1 - common):.4f} where {common:.3f} is said of each.\n",
        "| of them | probability said | share that comes |\n|---|---|---|",
    ]
    lines += [f"| {bin_.pairs} | {bin_.said:.3f} | {bin_.came:.3f} |" for bin_ in reliability(chances)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Are the probabilities of imagined worlds right?")
    parser.add_argument("what", choices=("worlds", "tracked"))
    parser.add_argument("files", type=Path, nargs="*", help="trajectories and events, for `tracked`")
    parser.add_argument("--scenes", type=int, default=100, help="generated scenes")
    parser.add_argument("--seed", type=int, default=4001, help="their seed")
    parser.add_argument("--every", type=int, default=5, help="of the kept-out scenes, one in so many")
    given = parser.parse_args()
    if given.what == "worlds":
        for subset, chances in of_worlds(given.scenes, given.seed).items():
            sys.stdout.write(table(f"Choices of {subset} questions", chances))
        return 0
    trajectories, events = given.files
    _, kept_out = halves(watch(read_trajectories(trajectories), read_scene_events(events)))
    chances = list(of_tracks(kept_out, given.every))
    sys.stdout.write(table("Pairs of which one was let go, or reached", chances))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
