"""The fit report: how far simulated motion strays from official motion, and how well collisions are foretold.

    python -m research.measurements.clevrer_foretelling ANNOTATIONS [TRAJECTORIES EVENTS]

Motion is judged scene by scene with a law fitted to the other scenes; predictions, on the odd half of
the trajectories, which nothing is fitted to (the even half stands beside it).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import hypot
from pathlib import Path
from statistics import fmean, quantiles
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from research.domains.calibration import TENTHS, binned, brier
from research.domains.foretelling import predict
from research.domains.foretelling.annotated import bodies, masses
from research.domains.foretelling.estimate import estimate
from research.domains.foretelling.from_annotations import fit_law, read_annotations
from research.domains.foretelling.scoring import PairCounts, Tracked, halves, outlooks_at, paired, score
from research.domains.foretelling.sight import SIGHT
from research.domains.foretelling.weights import VOTE_WEIGHTS, Outlook, Pair, Votes, VoteWeights, believe
from research.domains.straight_lines import TOUCHING, approach
from research.measurements.markdown import head, print_lines, row
from substrate.domains.clevrer.format import FRAMES, Annotation, read_scene_events
from substrate.domains.clevrer.motion.engine import Body, simulate
from substrate.domains.clevrer.motion.law import LAW, Law
from substrate.domains.clevrer.trajectories import read_trajectories

FAR = 100
CLOSE = 3
"""Frames by which a recovered collision may be off."""


def judged(
    tracked: Sequence[Tracked],
    at: int,
    outlooks: Sequence[Outlook],
    weights: VoteWeights,
    past: Sequence[set[Pair]] | None = None,
) -> list[tuple[float, bool]]:
    """Probability and truth of every pair that was seen by ``at`` and has not met; 0 where no draw collides.

    ``past`` as in :func:`score`.
    """
    judgements: list[tuple[float, bool]] = []
    for k, (scene, evidence) in enumerate(zip(tracked, outlooks, strict=True)):
        met = scene.met(at)
        chances = believe(evidence, met if past is None else past[k], weights=weights)
        truth = scene.truth(at)
        unmet = (pair for pair in combinations(sorted(scene.seen(at)), 2) if pair not in met)
        judgements.extend((chances.get(pair, 0.0), pair in truth) for pair in unmet)
    return judgements


class Recovered(Struct, frozen=True):
    """Counts of collisions in annotated scenes that are simulated from frame 0.

    Attributes:
        true: recorded ones.
        simulated: recorded ones that the simulation has too.
        close: those of them that it has at about the same frame.
        extra: ones that only the simulation has.
    """

    true: int
    simulated: int
    close: int
    extra: int


def others(films: Sequence[Annotation]) -> list[tuple[Annotation, Law]]:
    """Each scene with the law fitted to all others."""
    return [(film, fit_law([f for f in films if f is not film])) for film in films]


def one_step_errors(film: Annotation, law: Law) -> list[float]:
    """Distance to the recorded place, one frame after a recorded state, of every body that moves (units)."""
    errors: list[float] = []
    for frame in range(len(film.motion_trajectory) - 1):
        start, truth = bodies(film, frame), bodies(film, frame + 1)
        moved = simulate(start, 1, law=law).final
        errors.extend(
            _away(m, t) for s, m, t in zip(start, moved, truth, strict=True) if hypot(s.vx, s.vy) > 0.02
        )
    return errors


def far_errors(film: Annotation, law: Law, *, weighed: bool, frames: int = FAR) -> list[float]:
    """Distance to the recorded place, ``frames`` frames after frame 0, of every body that has moved (units).

    ``weighed``: with the masses that the video shows.
    """
    start, truth = bodies(film, 0, masses(film, law=law) if weighed else None), bodies(film, frames)
    moved = simulate(start, frames, law=law).final
    return [
        _away(m, t)
        for s, m, t in zip(start, moved, truth, strict=True)
        if hypot(s.vx, s.vy) > 0.02 or _away(s, t) > 0.02
    ]


def _away(a: Body, b: Body) -> float:
    return hypot(a.x - b.x, a.y - b.y)


def recovered(pairs: Sequence[tuple[Annotation, Law]], *, weighed: bool) -> Recovered:
    """Compare recorded collisions with those simulated from frame 0."""
    true = matched = close = extra = 0
    for film, law in pairs:
        recorded = {(min(c.object_ids), max(c.object_ids)): c.frame_id for c in film.collision}
        start = bodies(film, 0, masses(film, law=law) if weighed else None)
        simulated = {
            (a, b): frame
            for frame, a, b in simulate(start, len(film.motion_trajectory) - 1, law=law).contacts
        }
        both = recorded.keys() & simulated.keys()
        true, matched, extra = true + len(recorded), matched + len(both), extra + len(simulated) - len(both)
        close += sum(abs(recorded[pair] - simulated[pair]) <= CLOSE for pair in both)
    return Recovered(true, matched, close, extra)


def straight(tracked: Sequence[Tracked], at: int, law: Law = LAW) -> list[Outlook]:
    """The baseline: straight lines from the last interval's velocity, as a vote of one."""
    outlooks: list[Outlook] = []
    seconds = (FRAMES - 1 - at) * law.frame
    for scene in tracked:
        known = {thing.id: thing for thing in scene.motion.objects}
        here = [
            _gliding(scene, state.body, at, law)
            for state in predict.states(known, scene.seen(at), at)
            if state.trust != "new"
        ]
        close: Votes = {}
        for a, b in combinations(here, 2):
            time, distance = approach(a, b, seconds)
            if 0 < time < seconds and distance < TOUCHING:
                close[a.id, b.id] = (1.0, 0.5)
        outlooks.append(Outlook(close))
    return outlooks


def _gliding(scene: Tracked, body: Body, at: int, law: Law) -> Body:
    """The body with its mean velocity between its last two places; at rest if it has only one."""
    points = scene.seen(at)[body.id]
    if len(points) < 2:
        return replace(body, vx=0.0, vy=0.0)
    (f0, x0, y0), (f1, x1, y1) = points[-2:]
    return replace(body, vx=(x1 - x0) / (f1 - f0) / law.frame, vy=(y1 - y0) / (f1 - f0) / law.frame)


def hindsight(tracked: Sequence[Tracked], at: int) -> list[Outlook]:
    """A simulation from the states of the fit after the next seam, for bodies that nothing hits until then.

    Not a prediction: it reads later frames, to show what the positions up to ``at`` cost.
    """
    outlooks: list[Outlook] = []
    for scene in tracked:
        known = {thing.id: thing for thing in scene.motion.objects}
        later = next((seam for seam in SIGHT.seams if seam > at), at) + SIGHT.interval
        start: list[Body] = []
        for state in predict.states(known, scene.seen(at), at):
            name, points = state.body.id, scene.motion.trajectory[state.body.id]
            points = [point for point in points if point[0] >= later - SIGHT.interval]
            hindsight_state = estimate(name, state.body.shape, points, later)
            start.append(state.body)
            if hindsight_state and hindsight_state.trust != "new" and not scene.struck(name, at, later):
                start[-1] = _rewound(hindsight_state.body, later - at)
        contacts = simulate(predict.separated(start, 2 * LAW.radius), FRAMES - 1 - at).contacts
        outlooks.append(Outlook({(a, b): (1.0, 0.5) for _, a, b in contacts}))
    return outlooks


def _rewound(body: Body, frames: int, law: Law = LAW) -> Body:
    """A free body, some frames earlier."""
    x, y, vx, vy = body.x, body.y, body.vx, body.vy
    speed = hypot(vx, vy)
    for _ in range(frames * law.substeps if speed else 0):
        x, y = x - law.step * vx, y - law.step * vy
        gain = 1 + law.step * law.deceleration(body.shape, speed) / speed
        vx, vy, speed = vx * gain, vy * gain, speed * gain
    return Body(body.id, body.shape, x, y, vx, vy)


def set_off_unseen(scene: Tracked, pair: Pair, at: int) -> bool:
    """Tell whether a pair's collision depends on an object that was not in view at ``at``, through any chain
    of collisions between.
    """
    seen = scene.seen(at)
    when = next(c.frame for c in scene.events.collisions if set(c.object) == set(pair))
    chain = set(pair)
    for c in sorted((c for c in scene.events.collisions if at < c.frame <= when), key=lambda c: -c.frame):
        if chain & set(c.object):
            chain |= set(c.object)
    return not chain <= set(seen)


AS_VOTED = VoteWeights(share=1.0)
"""Takes the vote as it is: a pair is predicted to collide if it collides in half of the draws."""


class Prediction(NamedTuple):
    """A way to predict: the counts of its pairs, and its Brier score."""

    way: str
    counts: PairCounts
    brier: float


def predictions(tracked: Sequence[Tracked], at: int) -> Iterator[Prediction]:
    """The results of each way to predict; all but the last know who met by ``at``."""
    frames = FRAMES - 1 - at
    known = [{thing.id: thing for thing in scene.motion.objects} for scene in tracked]
    states = [predict.states(k, scene.seen(at), at) for k, scene in zip(known, tracked, strict=True)]
    once = [predict.outlook(estimates, frames, draws=1) for estimates in states]
    many = outlooks_at(tracked, at, LAW, SIGHT)
    ways = (
        ("straight lines, τ = 0.4", straight(tracked, at), AS_VOTED),
        ("one simulation", once, AS_VOTED),
        ("vote of simulations, half of them", many, AS_VOTED),
        ("vote, weighed", many, VOTE_WEIGHTS),
        ("(one simulation, states in hindsight)", hindsight(tracked, at), AS_VOTED),
    )
    for name, outlooks, weights in ways:
        squares = brier(judged(tracked, at, outlooks, weights))
        yield Prediction(name, score(tracked, at, outlooks, weights), squares)
    inferred = [predict.met_pairs(k, scene.seen(at)) for k, scene in zip(known, tracked, strict=True)]
    scored = score(tracked, at, many, VOTE_WEIGHTS, inferred)
    squares = brier(judged(tracked, at, many, VOTE_WEIGHTS, inferred))
    yield Prediction("vote, weighed, met pairs inferred", scored, squares)


def report(annotations: Path, trajectories: Path | None = None, events: Path | None = None) -> Iterator[str]:
    """The report, line by line, in Markdown."""
    films = read_annotations(annotations)
    yield from _motion_report(films)
    if trajectories is None or events is None:
        return
    tracked = paired(read_trajectories(trajectories), read_scene_events(events))
    for at in predict.AT:
        names = ("half", "precision", "recall", "F1", "Brier", "scenes exact", "of those with any")
        yield "\n" + head(f"F = {at}", *names)
        for name, half in zip(("fitted", "kept out"), halves(tracked), strict=True):
            for way, scored, squares in predictions(half, at):
                shares = (f"{share:.3f}" for share in (scored.precision, scored.recall, scored.f1))
                exact = f"{scored.whole} of {scored.scenes}", f"{scored.busy_whole} of {scored.busy}"
                yield row(way, name, *shares, f"{squares:.4f}", *exact)
        kept_out = halves(tracked)[1]
        pairs = [(scene, pair) for scene in kept_out for pair in sorted(scene.truth(at))]
        hidden = sum(set_off_unseen(scene, pair, at) for scene, pair in pairs)
        yield (
            f"\nKept out: {len(pairs)} pairs collide after frame {at}; "
            f"{hidden} of them hang on an object not yet in view."
        )
        yield "\n" + head("probability said", "pairs", "mean", "share that collides")
        chances = judged(kept_out, at, outlooks_at(kept_out, at, LAW, SIGHT), VOTE_WEIGHTS)
        for place, bin_ in enumerate(binned(chances, TENTHS).values(), start=1):
            yield row(f"bin {place}", bin_.n, f"{bin_.said:.3f}", f"{bin_.share:.3f}")


def _motion_report(films: Sequence[Annotation]) -> Iterator[str]:
    left_out = others(films)
    steps = [error for film, law in left_out for error in one_step_errors(film, law)]
    yield (
        f"One frame ahead, {len(steps)} states of moving bodies: mean {fmean(steps):.5f}, "
        f"95 % below {quantiles(steps, n=20)[-1]:.5f} units."
    )
    errors, pairs = (
        (f"{FAR} frames on: median", "mean", "90 % below"),
        ("pairs found", f"within {CLOSE} frames"),
    )
    yield "\n" + head("from frame 0", *errors, *pairs, "extra pairs")
    for weighed, name in ((False, "equal masses"), (True, "masses from the video")):
        far = [error for film, law in left_out for error in far_errors(film, law, weighed=weighed)]
        counts = recovered(left_out, weighed=weighed)
        tenths, both = quantiles(far, n=10), f"{counts.simulated} of {counts.true}"
        spread = (f"{error:.3f}" for error in (tenths[4], fmean(far), tenths[8]))
        yield row(name, *spread, both, counts.close, counts.extra)
    fitted = recovered([(film, LAW) for film in films], weighed=True)
    yield (
        f"\nWith the constants in force (fitted to these scenes): {fitted.simulated} of {fitted.true} pairs, "
        f"{fitted.close} within {CLOSE} frames, {fitted.extra} extra."
    )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Report how well CLEVRER's law of motion fits.")
    parser.add_argument("annotations", type=Path)
    parser.add_argument("trajectories", type=Path, nargs="?")
    parser.add_argument("events", type=Path, nargs="?")
    given = parser.parse_args()
    return print_lines(report(given.annotations, given.trajectories, given.events))


if __name__ == "__main__":
    raise SystemExit(main())
