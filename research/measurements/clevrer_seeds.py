"""Accuracies on generated CLEVRER scenes over five seeds, beside Wilson's interval of one.

    python -m research.measurements.clevrer_seeds [--scenes 200] [--seeds 20 21 22 23 24]

The first seed's scenes are those of the sample profile. Wilson's interval takes questions for independent;
the spread of the seeds shows what other scenes would have given. Variants that simulate by PyBullet are left
out, for they take as long as all others. Prints a table of docs/findings-paper.md, in one process.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from msgspec.structs import replace

from orchestration.studies.ablations import VARIANTS
from research.baselines.shortcuts import trivial_rows
from research.measurements.markdown import head, print_lines, row
from substrate.base.intervals import wilson
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import Row
from substrate.generators.clevrer import generate_scene

FIRST = 10_000
SUBSETS = ("explanatory", "predictive", "counterfactual")


def answered(number: int, seed: int) -> Iterator[Row]:
    """The rows of a generated scene by each method, which their subsets name."""
    made = generate_scene(number, seed)
    log = annotation_log(made.annotation)
    questions = [question for question in made.questions.questions if question.question_type in SUBSETS]
    for variant in VARIANTS:
        if variant.label != "bullet":
            of_subset = [question for question in questions if question.question_type == variant.subset]
            for answer in answer_scene(log, number, of_subset, variant.parameters(Parameters()), ""):
                yield replace(answer, subset=f"{variant.subset}: {variant.label}")
    yield from trivial_rows(Scene.of(log), number, questions, "")


def counted(seed: int, scenes: int) -> Mapping[str, tuple[int, int]]:
    """By method, the numbers of right answers and of all answers to a seed's questions."""
    count = defaultdict[str, list[bool]](list)
    for number in range(FIRST, FIRST + scenes):
        for answer in answered(number, seed):
            count[answer.subset].append(bool(answer.correct))
    return {method: (sum(right), len(right)) for method, right in count.items()}


def table(of_seeds: Sequence[Mapping[str, tuple[int, int]]]) -> Iterator[str]:
    """A line for each method: the first seed with its interval, and the spread of all."""
    yield head("method", "first seed", "Wilson's interval", "mean", "standard deviation", "least", "greatest")
    for method, (right, n) in of_seeds[0].items():
        low, high = (100 * bound for bound in wilson(right, n))
        shares = [100 * seed[method][0] / seed[method][1] for seed in of_seeds]
        first, interval = f"{100 * right / n:.2f} ({right} of {n})", f"[{low:.2f}, {high:.2f}]"
        spread = (fmean(shares), stdev(shares), min(shares), max(shares))
        yield row(method, first, interval, *(f"{figure:.2f}" for figure in spread))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Compare accuracies over the seeds of generated scenes.")
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--seeds", type=int, nargs="+", default=[20, 21, 22, 23, 24])
    given = parser.parse_args()
    return print_lines(table([counted(seed, given.scenes) for seed in given.seeds]))


if __name__ == "__main__":
    raise SystemExit(main())
