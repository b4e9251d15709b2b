"""ComPhy's results, hidden properties inferred, in worlds with new seeds and other physics.

    python -m research.measurements.comphy_robustness [--targets 100] [--seed 3001] [--first 70000]

Each row generates its targets anew; nothing is fitted to them. Gold comes from the world's own simulation,
with the physics of the row. Noise goes into places and velocities of the target and of its references.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

from orchestration.scoring.statistics import wilson
from research.domains.property_facts import hidden
from research.generators.altered import altered
from research.generators.inexact_films import noisy
from substrate.domains.clevrer.format import Annotation
from substrate.domains.comphy.deltas import target_log
from substrate.domains.comphy.format import Target
from substrate.domains.comphy.interpreter import answer_target
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.rows import Row
from substrate.generators.comphy import WorldTarget, generate_target

INFERRED = Parameters(infer_properties=True, emitter="motion")
SUBSETS = ("factual", "predictive", "counterfactual")
PHYSICS = ((1.0, 1.0), (1.25, 1.0), (1.0, 1.2), (1.25, 1.2))
"""Factors of friction and of restitution."""
NOISE = (0.001, 0.003, 0.01)
"""Standard errors of places (units), in the world as it is."""
Change = Callable[[Annotation, Random], Annotation]


def answered(
    targets: Sequence[WorldTarget], name: str, change: Change | None = None
) -> Iterator[tuple[WorldTarget, Row]]:
    """Every question of the targets, answered from what is seen of them."""
    for world in targets:
        scene = world.annotation.scene_index
        rng = Random(f"{name} {scene}")
        videos = [world.annotation, *world.references]
        seen = [change(video, rng) for video in videos] if change else videos
        target = Target(scene, seen[0], tuple(seen[1:]))
        log = target_log(target, hidden(target))
        for row in answer_target(log, scene, world.questions.questions, INFERRED, "", "comphy_inferred"):
            yield world, row


def line(name: str, rows: Iterator[tuple[WorldTarget, Row]]) -> str:
    """Right and asked of each subset, per question; of counterfactual questions per option too."""
    count: Counter[tuple[str, bool]] = Counter()
    for _, row in rows:
        count[row.subset, bool(row.correct)] += 1
        for choice in row.choices or ():
            count[f"{row.subset} options", choice.predicted == choice.expected] += 1
    kinds = (*SUBSETS, "counterfactual options")
    return f"| {name} | {' | '.join(share(count[k, True], count[k, False]) for k in kinds)} |"


def share(right: int, wrong: int) -> str:
    """Counts with Wilson's interval."""
    low, high = wilson(right, right + wrong)
    part = 100 * right / (right + wrong)
    return f"{right} of {right + wrong} ({part:.1f} % [{100 * low:.1f}, {100 * high:.1f}])"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="ComPhy in worlds with other physics.")
    parser.add_argument("--targets", type=int, default=100, help="targets of each row")
    parser.add_argument("--seed", type=int, default=3001, help="the worlds' seed")
    parser.add_argument("--first", type=int, default=70_000, help="number of the first target")
    given = parser.parse_args()
    heads = ("the world", *SUBSETS, "counterfactual options")
    sys.stdout.write(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n")
    numbers = range(given.first, given.first + given.targets)
    plain: list[WorldTarget] = []
    for friction, restitution in PHYSICS:
        with altered(friction, restitution):
            targets = [generate_target(number, given.seed) for number in numbers]
        plain = plain or targets
        name = f"friction × {friction:g}, restitution × {restitution:g}"
        sys.stdout.write(line(name, answered(targets, name)) + "\n")
        sys.stdout.flush()
    for sigma in NOISE:
        name = f"places off by a standard error of {sigma:g}"
        changed = answered(plain, name, lambda film, rng, s=sigma: noisy(film, s, rng))
        sys.stdout.write(line(name, changed) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
