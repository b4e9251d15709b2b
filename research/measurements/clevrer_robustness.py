"""The fall of CLEVRER's results when the input is not exact.

    python -m research.measurements.clevrer_robustness DATA [--scenes 30]  # DATA: official and tracked files

Three tables: causal questions from event lists with collisions missed and frames off; collisions foretold
from tracked positions with noise, gaps and missed collisions; questions about generated worlds with new
seeds, other friction and restitution, and noisy poses. What is changed comes from a seed; nothing is fitted.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from research.domains.foretelling import read_trajectories
from research.domains.foretelling.from_trajectories import Score, Watched, halves, watch
from research.domains.foretelling.predict import Pair, predict_collisions
from research.generators.altered import altered
from research.generators.inexact_films import noisy
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.format import (
    Annotation,
    CompactCollision,
    SceneEvents,
    SceneQuestions,
    read_questions,
    read_scene_events,
)
from substrate.domains.clevrer.interpreter import answer_scene
from substrate.domains.clevrer.parameters import Counterfactual, Parameters, Predictive
from substrate.generators.clevrer import WorldScene, generate_scene

_EVERY = 10  # of the scenes that are kept out of the fits, one in so many is foretold
_FIRST = 90_000  # number of the first generated scene


def missed(events: SceneEvents, share: float, rng: Random) -> SceneEvents:
    """Without some of its collisions."""
    return replace(events, collisions=[c for c in events.collisions if rng.random() >= share])


def blurred(events: SceneEvents, frames: int, rng: Random) -> SceneEvents:
    """With every frame off by up to so many."""

    def off(frame: int) -> int:
        return min(max(frame + rng.randint(-frames, frames), 1), events.n_frames - 1)

    return replace(
        events,
        in_outs=[replace(flip, frame=off(flip.frame)) for flip in events.in_outs],
        collisions=[CompactCollision(c.object, off(c.frame)) for c in events.collisions],
    )


def causes(data: Path) -> Iterator[str]:
    """Real explanatory questions, answered from event lists that are not right."""
    events = read_scene_events(data / "ground_truth_train.jsonl.gz")
    questions = read_questions(data / "explanatory_train.jsonl.gz")
    yield "| event lists | questions right |\n|---|---|"
    ways: list[tuple[str, Callable[[SceneEvents, Random], SceneEvents]]] = [
        ("as they are", lambda known, _: known)
    ]
    ways += [
        (f"{share:.0%} of collisions missed", lambda known, rng, s=share: missed(known, s, rng))
        for share in (0.02, 0.05, 0.1, 0.2)
    ]
    ways += [
        (f"frames off by up to {frames}", lambda known, rng, f=frames: blurred(known, f, rng))
        for frames in (1, 3, 5)
    ]
    for name, change in ways:
        right = total = 0
        for number, record in questions.items():
            log = events_log(change(events[number], Random(f"{name} {number}")))
            for row in answer_scene(log, number, record.questions, Parameters(), ""):
                right, total = right + bool(row.correct), total + 1
        yield f"| {name} | {_share(right, total)} |"


def foretold(watched: Sequence[Watched], at: int) -> Iterator[str]:
    """Collisions foretold from positions that are off, missing, or misunderstood."""
    yield f"\n| from frame {at} | precision | recall | F1 |\n|---|---|---|---|"
    ways: list[tuple[str, float, float, float]] = [("as they are", 0.0, 0.0, 0.0)]
    ways += [(f"places off by a standard error of {sigma}", sigma, 0.0, 0.0) for sigma in (0.01, 0.03, 0.06)]
    ways += [(f"{share:.0%} of positions missing", 0.0, share, 0.0) for share in (0.1, 0.3)]
    ways += [(f"{share:.0%} of the pairs that met missed", 0.0, 0.0, share) for share in (0.1, 0.3)]
    for name, sigma, gaps, lost in ways:
        right = wrong = absent = 0
        for w in watched:
            rng = Random(f"{name} {w.scene.scene_index}")
            known = {
                number: [
                    (frame, x + rng.gauss(0, sigma), y + rng.gauss(0, sigma))
                    for frame, x, y in points
                    if rng.random() >= gaps
                ]
                for number, points in sorted(w.seen(at).items())
            }
            met: list[Pair] = [pair for pair in sorted(w.met(at)) if rng.random() >= lost]
            predicted = set(predict_collisions(w.scene.objects, known, at, met=met))
            truth = w.truth(at)
            right, wrong, absent = (
                right + len(predicted & truth),
                wrong + len(predicted - truth),
                absent + len(truth - predicted),
            )
        scored = Score(right, wrong, absent)
        yield f"| {name} | {scored.precision:.3f} | {scored.recall:.3f} | {scored.f1:.3f} |"


def _as_it_is(film: Annotation, _: Random) -> Annotation:
    return film


_SETTINGS = (
    ("predictive", "C", Parameters(predictive=Predictive("C"))),
    ("predictive", "S", Parameters(predictive=Predictive("S"))),
    ("counterfactual", "partner", Parameters(counterfactual=Counterfactual("partner"))),
    ("counterfactual", "simulated", Parameters(counterfactual=Counterfactual("simulated"))),
)


def worlds(scenes: int) -> Iterator[str]:
    """Generated worlds that differ from those of the tables, and poses that are not right."""
    heads = " | ".join(f"{subset} {name}" for subset, name, _ in _SETTINGS)
    yield f"\n| generated worlds | {heads} |\n|---|{'---|' * len(_SETTINGS)}"
    plain = [generate_scene(_FIRST + place, 101) for place in range(scenes)]
    yield _world_row("seed 101", plain)
    for sigma in (0.001, 0.005, 0.01, 0.03):
        name = f"the same, places off by a standard error of {sigma}"
        yield _world_row(name, plain, lambda film, rng, s=sigma: noisy(film, s, rng))
    yield _world_row("seed 202", [generate_scene(_FIRST + place, 202) for place in range(scenes)])
    for name, friction, restitution in (("friction × 1.25", 1.25, 1.0), ("restitution × 1.2", 1.0, 1.2)):
        with altered(friction, restitution):
            changed = [generate_scene(_FIRST + place, 101) for place in range(scenes)]
        yield _world_row(f"seed 101, {name}", changed)


def _world_row(
    name: str, scenes: Sequence[WorldScene], change: Callable[[Annotation, Random], Annotation] = _as_it_is
) -> str:
    count: Counter[tuple[str, bool]] = Counter()
    for scene in scenes:
        film = change(scene.annotation, Random(f"{name} {scene.annotation.scene_index}"))
        log = annotation_log(film)
        for subset, label, parameters in _SETTINGS:
            for row in answer_scene(log, film.scene_index, _of(scene.questions, subset), parameters, ""):
                count[label, bool(row.correct)] += 1
    cells = [_share(count[k, True], count[k, True] + count[k, False]) for _, k, _ in _SETTINGS]
    return f"| {name} | {' | '.join(cells)} |"


def _of(record: SceneQuestions, subset: str) -> list[Any]:
    return [question for question in record.questions if question.question_type == subset]


def _share(right: int, total: int) -> str:
    return f"{right} of {total} ({100 * right / max(1, total):.1f} %)"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Results on input that is not exact.")
    parser.add_argument("data", type=Path, help="folder of event lists, questions and trajectories")
    parser.add_argument("--scenes", type=int, default=30, help="generated scenes in a row of the last table")
    given = parser.parse_args()
    tracked = watch(
        read_trajectories(given.data / "trajectories_test.jsonl.gz"),
        read_scene_events(given.data / "ground_truth_test.jsonl.gz"),
    )
    kept_out = halves(tracked)[1][::_EVERY]
    for table in (causes(given.data), foretold(kept_out, 100), worlds(given.scenes)):
        for line in table:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
