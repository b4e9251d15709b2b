"""The official counterfactual questions at hand, weighted to the removed objects of all official ones.

    python -m research.measurements.clevrer_removed TRUE_EVENTS QUESTIONS

The questions at hand are few, and remove objects of other kinds than all 9,333 of the validation split do.
Each question gets a weight, so that the weighted shares of removed objects that touch nothing, that have two
partners or more, and that are in the ancestry of a collision of others are those of all (raking: W. E. Deming
and F. F. Stephan, Annals of Mathematical Statistics 11, 1940). Only an object's shares are used, no gold.
Also prints how many of the partner rule's wrong answers are about an object that touched nothing: then the
video and the world without the object are the same up to the video's end. Last it prints what the key (the
questions' gold) says of the duality's conditions: how many filmed collisions that a choice names happen
without the object, by whether they depend on it.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.benchmarks.clevrer import cases, scene_logs
from orchestration.studies.ablations import VARIANTS, variant_rows
from research.domains.duality_trial import verdicts
from research.domains.positions import tracked_log
from research.measurements.markdown import head, print_lines, row
from research.measurements.question_statistics import ANCESTORS, PARTNERS, Removed, removed_kind
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import REMOVALS, World
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import Row

METHODS = {variant.name: variant for variant in VARIANTS if variant.subset == "counterfactual"}


class Asked(NamedTuple):
    """A question: its removed object's kind, its row by each method, and its key's verdicts on collisions.

    ``key`` counts the filmed collisions of others by whether they depend on the object, and by whether they
    happen without it.
    """

    kind: Removed
    rows: dict[str, Row]
    key: Counter[tuple[bool, bool]]


def asked(events: Path, questions: Path) -> Iterator[Asked]:
    """The counterfactual questions of a file."""
    for case in cases({"events": events, "questions": questions}).each:
        scene, rows = Scene.of(scene_logs(tracked_log, case)[0].log), dict[str, dict[str, Row]]()
        common = {"benchmark": "", "split": "", "scene": case.scene, "log": ""}
        for answer in variant_rows(METHODS, case, scene, Parameters(), common):
            rows.setdefault(str(answer.question), {})[answer.subset] = answer
        for question in msgspec.json.decode(case.questions, type=SceneQuestions).questions:
            if question.question_type == "counterfactual":
                judged = list(verdicts(question, World(scene, Parameters()), *REMOVALS))
                first, _ = judged[0]
                removed = first.object  # all choices of a question are about one removed object
                key = Counter(
                    (depends(scene, removed, asked_of.pair), occurs)
                    for asked_of, occurs in judged
                    if ("Collision", frozenset(asked_of.pair)) in scene.alike
                )
                yield Asked(removed_kind(scene, removed), rows[str(question.question_id)], key)


def depends(scene: Scene, removed: int, pair: tuple[int, int]) -> bool:
    """Tell whether each filmed collision of two objects depends on the removed one."""
    ancestry = scene.ancestry("event")
    return all(removed in ancestry[e.iri].objects for e in scene.alike["Collision", frozenset(pair)])


def weights(kinds: Counter[Removed]) -> dict[Removed, float]:
    """The weight of a question by its kind; all weights together are 1."""
    weight = dict.fromkeys(kinds, 1 / kinds.total())
    for _ in range(200):
        for side, shares in enumerate((PARTNERS, ANCESTORS)):
            for value, share in shares.items():
                alike = [kind for kind in weight if kind[side] == value]
                total = sum(weight[kind] * kinds[kind] for kind in alike)
                weight |= {kind: weight[kind] * share / total for kind in alike}
    return weight


def report(questions: Sequence[Asked]) -> Iterator[str]:
    """The table of methods, then what the partner rule's errors and the key say."""
    weight = weights(Counter(question.kind for question in questions))
    yield head("method", "questions", "weighted", "options, weighted")
    for method in questions[0].rows:
        answers = [(weight[question.kind], question.rows[method]) for question in questions]
        right = sum(w * bool(answer.correct) for w, answer in answers)
        half_width = 1.96 * math.sqrt(sum((w * (bool(answer.correct) - right)) ** 2 for w, answer in answers))
        options = [
            (w, choice.predicted == choice.expected)
            for w, answer in answers
            for choice in answer.choices or ()
        ]
        share = sum(w * good for w, good in options) / sum(w for w, _ in options)
        plain = sum(bool(answer.correct) for _, answer in answers)
        weighted = f"{100 * right:.1f} ± {100 * half_width:.1f} %"
        yield row(method, f"{plain} of {len(questions)}", weighted, f"{100 * share:.1f} %")
    wrong = [question.kind for question in questions if not question.rows["counterfactual.partner"].correct]
    untouched = sum(kind.partners == 0 for kind in wrong)
    yield f"\npartner: of {len(wrong)} wrong answers, {untouched} remove an object that touches none"
    key = sum((question.key for question in questions), Counter[tuple[bool, bool]]())
    for depending, words in ((False, "does not depend"), (True, "depends")):
        n = key[depending, True] + key[depending, False]
        yield f"key: of {n} filmed collisions, of which each {words}, {key[depending, True]} happen"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Weight counterfactual questions to all official ones.")
    parser.add_argument("events", type=Path, help="true events of the videos")
    parser.add_argument("questions", type=Path, help="the questions")
    given = parser.parse_args()
    return print_lines(report(list(asked(given.events, given.questions))))


if __name__ == "__main__":
    raise SystemExit(main())
