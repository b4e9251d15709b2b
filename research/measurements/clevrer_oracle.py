"""The losses in foretelling collisions from detections: by the states, by who met, or by the motion.

    python -m research.measurements.clevrer_oracle TRUE_EVENTS… --proposals ZIP

It reads the videos and frames of the benchmark `foretold`. It compares that prediction with two that nobody
could make at the frame: one from the states that all 128 frames show, and one that also knows the true
collisions before the frame.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path

import msgspec

from research.benchmarks import foretold as benchmark
from research.domains import foretold
from research.domains.foretelling.estimate import Estimate
from research.domains.foretelling.predict import met_pairs
from research.domains.foretelling.weights import Pair
from research.domains.objects import Look, looks_of
from research.domains.perception import future
from research.domains.perception.format import decode_proposals
from research.domains.perception.perceive import ExaminedVideo, examined, recorded
from research.measurements.markdown import head, print_lines, row
from substrate.domains.clevrer.format import SceneEvents, decode_scene_events
from substrate.domains.clevrer.motion.engine import Body

WAYS = ("seen by the frame", "states of all frames", "and the true past")


def known_later(video: ExaminedVideo, at: int) -> list[Estimate]:
    """The state of each body at a frame, from the whole piece of its path between two blows."""
    states: list[Estimate] = []
    for number, path in enumerate(video.paths):
        if not path.first <= at <= path.last:
            continue
        blows = video.blows(number)
        start = max([path.first, *(blow + 1 for blow in blows if blow < at)])
        piece = path.piece(start, max(start, min([path.last, *(blow for blow in blows if blow >= at)])))
        (x, y), (vx, vy) = piece.at(at), piece.velocity_at(at)
        states.append(Estimate(Body(number, path.shape, x, y, vx, vy), "steady", 0))
    return states


def predictions(
    whole: ExaminedVideo, seen: ExaminedVideo, truth: SceneEvents, at: int
) -> Iterator[set[frozenset[Look]]]:
    """The pairs that each way foretells, by their looks."""
    yield foretold.foretold(foretold.from_detections(seen))[foretold.VOTE]
    early, full, true_looks = recorded(seen), recorded(whole), looks_of(truth.objects)
    early_looks, looks = looks_of(early.objects), looks_of(full.objects)
    numbers = {look: number for number, look in looks.items()}
    objects = [thing for thing in full.objects if looks[thing.id] in early_looks.values()]
    known = {thing.id for thing in objects}
    states = [state for state in known_later(whole, at) if state.body.id in known]
    past = future.met(seen) | met_pairs({thing.id: thing for thing in early.objects}, early.trajectory)

    def renumbered(pairs: Iterable[Iterable[Look]]) -> set[Pair]:
        """The pairs by their numbers in the full record; pairs with an object that it lacks are left out."""
        both = ([numbers[look] for look in pair if look in numbers] for pair in pairs)
        return {(min(pair), max(pair)) for pair in both if len(pair) == 2}

    hits = (hit for hit in truth.collisions if hit.frame <= at)
    for met in (
        renumbered([early_looks[n] for n in pair] for pair in past),
        renumbered([true_looks[n] for n in hit.object] for hit in hits),
    ):
        log = foretold.prediction(early.scene_index, at, objects, states, met, future.PERCEIVED)
        yield foretold.foretold(log)[foretold.VOTE]


def report(files: Mapping[str, Path]) -> Iterator[str]:
    """The number of videos, and a row for each frame and way to predict."""
    counts = defaultdict[tuple[int, str], list[int]](lambda: [0, 0, 0])
    videos = 0
    for case in benchmark.cases(files).each:
        truth = decode_scene_events((case.source, case.questions))
        record = msgspec.json.decode(case.record, type=dict[str, msgspec.Raw])[benchmark.DETECTIONS]
        proposals = decode_proposals((case.source, bytes(record)))
        whole, videos = examined(proposals, case.source), videos + 1
        for at in foretold.AT:
            seen = examined(proposals, case.source, until=at)
            for way, pairs in zip(WAYS, predictions(whole, seen, truth, at), strict=True):
                tally = foretold.tallied(foretold.compared(truth, at, pairs))
                counts[at, way] = [sum(pair) for pair in zip(counts[at, way], tally, strict=True)]
    yield f"{videos} videos\n\n{head('frame', 'from', 'F1', 'right', 'foretold', 'came')}"
    for at, way in product(foretold.AT, WAYS):
        right, predicted, actual = counts[at, way]
        f1 = 2 * right / max(1, predicted + actual)
        yield row(at, way, f"{f1:.3f}", right, predicted, actual)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure what predictions of later collisions lose.")
    parser.add_argument("events", type=Path, nargs="+", help="true events, of training and test videos")
    parser.add_argument("--proposals", type=Path, required=True)
    given = parser.parse_args()
    events = dict(zip(("train", "test"), given.events, strict=False))
    return print_lines(report(events | {"proposals": given.proposals}))


if __name__ == "__main__":
    raise SystemExit(main())
