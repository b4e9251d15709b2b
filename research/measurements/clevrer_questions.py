"""The difficulty of CLEVRER's generated questions, and how much an accuracy on them proves.

    python -m research.measurements.clevrer_questions predictive [--scenes 300] [--seed 9001]
    python -m research.measurements.clevrer_questions duality [--scenes 300] [--seed 9001]
    python -m research.measurements.clevrer_questions trivial [--scenes 300] [--seed 9001] [--data DATA]
    python -m research.measurements.clevrer_questions match [DATASET …] [--data DATA]

``predictive`` asks about the same futures with three kinds of wrong choices, and over Algorithm 3's
parameters. ``duality`` counts how often two objects collide without an object that is among their collision's
causes, by a new simulation and by the questions' key. ``trivial`` gives the accuracies of trivial methods and
the kinds of options, on generated questions and on the official ones in DATA (`ground_truth_train.jsonl.gz`,
`explanatory_train.jsonl.gz`). ``match`` compares the questions of datasets, each a folder with
`annotation.zip` and `questions.json`, with the official ones in DATA (also those of
`questions_train_causalsight.jsonl.gz`) and with known shares of all official questions. It prints statistics
of the questions, and the accuracy of each method.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from research.baselines.shortcuts import trivial_rows
from research.domains.duality_trial import trials
from substrate.base.numbered import sources_in
from substrate.domains.clevrer import format
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.interpreter import answer_scene, choice_program
from substrate.domains.clevrer.parameters import Counterfactual, Explanatory, Parameters, Predictive
from substrate.domains.clevrer.program import ProgramStep, World, run
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.domains.rows import Row
from substrate.generators.clevrer import WorldScene, generate_annotation, generate_scene, predictive_questions
from substrate.generators.clevrer.choices import Wrong

FIRST = 90_000
CONFIGURATIONS: Mapping[str, Parameters] = {
    name: Parameters(predictive=Predictive(name))  # pyright: ignore[reportArgumentType]
    for name in "ABCS"
}
TAUS = (0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0, 1.7)
HORIZONS = (20, 30, 40, 50, 75, 300)
GRID: Mapping[str, Parameters] = {
    **{
        f"{name}, τ = {tau}": Parameters(predictive=Predictive(name, tau=tau))  # pyright: ignore[reportArgumentType]
        for name in "AB"
        for tau in TAUS
    },
    **{
        f"{name}, T = {horizon}": Parameters(
            predictive=Predictive(name, horizon=horizon)  # pyright: ignore[reportArgumentType]
        )
        for name in "AB"
        for horizon in HORIZONS
    },
}


def accuracies(
    scenes: Iterable[tuple[Scene, int, Sequence[format.Question]]], variants: Mapping[str, Parameters]
) -> Iterator[str]:
    """A line of Markdown for each variant: questions and choices that are right."""
    right: Counter[tuple[str, str]] = Counter()
    for scene, number, questions in scenes:
        for name, parameters in variants.items():
            for row in answer_scene(scene.log, number, questions, parameters, ""):
                right[name, "questions"] += bool(row.correct)
                right[name, "all questions"] += 1
                right[name, "choices"] += sum(c.predicted == c.expected for c in row.choices or ())
                right[name, "all choices"] += len(row.choices or ())
    for name in variants:
        cells = [
            f"{right[name, what]} of {right[name, f'all {what}']} "
            f"({100 * right[name, what] / right[name, f'all {what}']:.1f} %)"
            for what in ("questions", "choices")
        ]
        yield f"| {name} | {cells[0]} | {cells[1]} |"


def removed_and_pairs(question: format.Question, scene: Scene) -> tuple[int, list[frozenset[int]]]:
    """The object that a counterfactual question removes, and the pair of each of its choices."""
    removed, pairs = -1, list[frozenset[int]]()
    for choice in question.choices or ():
        steps: list[ProgramStep] = []
        run(choice_program(question.program, choice), World(scene, Parameters()), steps.append)
        (removed,) = (step.arguments[-1] for step in steps if step.token == "get_counterfact")
        (sought,) = (step.arguments[0] for step in steps if step.token == "belong_to")
        assert isinstance(sought, SceneEvent)
        pairs.append(sought.objects)
    return removed, pairs


def predictive(numbers: Sequence[int], seed: int) -> Iterator[str]:
    """Accuracies by kind of wrong choice, and over the parameters with the first kind."""
    kinds: tuple[Wrong, ...] = ("any", "near", "met")
    per_scene = [
        (Scene(annotation_log(generate_annotation(number, seed))), predictive_questions(number, seed, *kinds))
        for number in numbers
    ]
    for kind in kinds:
        scenes = [
            (scene, number, made[kind]) for number, (scene, made) in zip(numbers, per_scene, strict=True)
        ]
        yield f"\n| wrong choice: {kind} | questions right | choices right |\n|---|---|---|"
        yield from accuracies(scenes, CONFIGURATIONS if kind != "any" else {**CONFIGURATIONS, **GRID})


def duality(worlds: Sequence[WorldScene]) -> Iterator[str]:
    """A table of how often pairs collide without an object, by whether it causes their collision."""
    truth: Counter[tuple[bool, bool]] = Counter()
    key: Counter[tuple[bool, bool]] = Counter()
    for world in worlds:
        for event, places in zip(world.truth.events, world.truth.causes, strict=True):
            causes = {name for place in places for name in world.truth.events[place].objects}
            for removed, contacts in world.truth.counterfactual_collisions.items():
                if event.type == "collision" and removed not in event.objects:
                    pairs = {frozenset(c.object_ids) for c in contacts}
                    truth[removed in causes, frozenset(event.objects) in pairs] += 1
        scene = Scene(annotation_log(world.annotation))
        key.update((trial.responsible, trial.collides) for trial in trials(scene, world.questions.questions))
    yield "| | responsible, and they collide without it | not responsible, and they do not |\n|---|---|---|"
    for title, count in (
        ("every object and collision, by Bullet", truth),
        ("asked both about, by the key", key),
    ):
        # The counts are by (the object is responsible, the pair collides without it).
        sums = [
            (count[responsible, responsible], count[responsible, True] + count[responsible, False])
            for responsible in (True, False)
        ]
        cells = [f"{same} of {n} ({100 * same / max(1, n):.1f} %)" for same, n in sums]
        yield f"| {title} | {cells[0]} | {cells[1]} |"


def trivial(scenes: Iterable[tuple[Scene, int, Sequence[format.Question]]], of: str) -> Iterator[str]:
    """The results of trivial methods, the kinds of explanatory options, and the targets without a chain."""
    right, options, chained = Counter[tuple[str, bool]](), Counter[str](), Counter[bool]()
    for scene, number, questions in scenes:
        right.update((row.subset, bool(row.correct)) for row in trivial_rows(scene, number, questions, ""))
        for question in questions:
            if question.question_type != "explanatory":
                continue
            for place, choice in enumerate(question.choices or ()):
                steps: list[ProgramStep] = []
                run(choice_program(question.program, choice), World(scene, Parameters()), steps.append)
                sought = next(step.arguments[0] for step in steps if step.token == "belong_to")
                options[sought.kind if isinstance(sought, SceneEvent) else "Object"] += 1
                causes = next(step.result for step in steps if step.token == "filter_ancestor")
                if not place:
                    chained[any(cause.kind == "Collision" for cause in causes)] += 1
    for subset in dict.fromkeys(subset for subset, _ in right):
        n = right[subset, True] + right[subset, False]
        yield f"| {of} | {subset} | {right[subset, True]} of {n} ({100 * right[subset, True] / n:.2f} %) |"
    for kind, n in sorted(options.items()):
        share = f"{n} of {options.total()} ({100 * n / options.total():.1f} %)"
        yield f"| {of} | explanatory options, {kind} | {share} |"
    if n := chained.total():
        share = f"{chained[False]} of {n} ({100 * chained[False] / n:.1f} %)"
        yield f"| {of} | explanatory targets without an ancestor collision | {share} |"


def official(
    data: Path, file: str = "explanatory_train"
) -> Iterator[tuple[Scene, int, Sequence[format.Question]]]:
    """Official questions of the training split with their scenes' true events."""
    events = format.read_scene_events(data / "ground_truth_train.jsonl.gz")
    for number, record in format.read_questions(data / f"{file}.jsonl.gz").items():
        yield Scene(events_log(events[number])), number, record.questions


ALL: Mapping[str, float] = {
    "descriptive: count": 40_000 / 109_952,
    "descriptive: exist": 20_000 / 109_952,
    "descriptive: query_color": 18_454 / 109_952,
    "descriptive: query_material": 14_614 / 109_952,
    "descriptive: query_shape": 16_884 / 109_952,
    "descriptive: null": 10_251 / 109_952,
    "descriptive: start": 11_432 / 109_952,
    "descriptive: end": 12_606 / 109_952,
    "descriptive: filter_moving": 25_245 / 109_952,
    "descriptive: filter_stationary": 24_707 / 109_952,
    "descriptive: get_col_partner": 22_301 / 109_952,
    "descriptive: filter_order": 19_502 / 109_952,
    **{f"count: {n}": k / 40_000 for n, k in enumerate((9_862, 11_079, 9_292, 6_525, 3_173, 69))},
    "exist: yes": 10_026 / 20_000,
    **{f"explanatory: {n} right": k / 16_799 for n, k in enumerate((2_743, 3_428, 5_541, 4_320, 767))},
    **{f"counterfactual: {n} right": k / 18_642 for n, k in enumerate((169, 7_947, 6_406, 4_120, 0))},
    "counterfactual: negated": 0.496,
    "counterfactual: removes what touches nothing": 0.467,
    "counterfactual: removes an ancestor of others' collision": 0.150,
    "counterfactual: removes what has two partners or more": 0.194,
    "predictive: 1 right": 1.0,
}
"""Shares of all official training questions, and of the objects that all validation questions remove."""
RANKED: Mapping[str, Mapping[str, Parameters]] = {
    "counterfactual": {
        name: Parameters(counterfactual=Counterfactual(name)) for name in ("duality", "partner", "printed")
    },
    "explanatory": {
        name: Parameters(explanatory=Explanatory(name)) for name in ("event", "printed", "global")
    },
}
"""The methods that need no motion, by kind of question; the trivial ones are ranked beside them."""


def statistics(scene: Scene, question: format.Question) -> Iterator[tuple[str, bool]]:
    """For each statistic of a question's kind, its name and whether the question counts in it."""
    kind, choices = question.question_type, question.choices or []
    if kind == "descriptive":
        for subtype in ("count", "exist", "query_color", "query_material", "query_shape"):
            yield f"{kind}: {subtype}", question.program[-1] == subtype
        for token in (
            *("null", "start", "end", "filter_moving", "filter_stationary"),
            "get_col_partner",
            "filter_order",
        ):
            yield f"{kind}: {token}", token in question.program
        for answer in map(str, range(6)) if question.program[-1] == "count" else ():
            yield f"count: {answer}", question.answer == answer
        if question.program[-1] == "exist":
            yield "exist: yes", question.answer == "yes"
        return
    right = sum(choice.answer == "correct" for choice in choices)
    for number in range(5):
        yield f"{kind}: {number} right", right == number
        yield f"{kind}: {number} choices", len(choices) == number
    hits = [event for event in scene.events if event.kind == "Collision"]
    filmed = {event.objects: event for event in hits}
    if kind == "predictive":
        for choice, pair in zip(choices, _pairs_of(question, scene), strict=True):
            if choice.answer == "wrong":
                yield "predictive: the wrong pair was filmed", pair in filmed
            else:
                met = all(any(number in event.objects for event in hits) for number in pair)
                yield "predictive: both of the right pair were hit before", met
    elif kind == "counterfactual":
        removed, pairs = removed_and_pairs(question, scene)
        partners = {number for event in hits if removed in event.objects for number in event.objects} - {
            removed
        }
        ancestry = scene.ancestry("event")
        others = [event for event in hits if removed not in event.objects]
        depends = {event.objects: removed in ancestry[event.iri].objects for event in others}
        yield "counterfactual: negated", "negate" in question.program
        yield "counterfactual: removes what touches nothing", not partners
        yield "counterfactual: removes an ancestor of others' collision", any(depends.values())
        yield "counterfactual: removes what has two partners or more", len(partners) > 1
        for choice, pair in zip(choices, pairs, strict=True):
            happens = (choice.answer == "correct") != ("negate" in question.program)
            if pair in depends:
                sort = "filmed, an ancestor" if depends[pair] else "filmed, no ancestor"
            else:
                sort = f"unfilmed, {('neither', 'one', 'both')[len(pair & partners)]} touched it"
            for name in SORTS:
                yield f"option: {name}", name == sort
            yield f"option: {sort} (happens)", happens


SORTS = (
    "filmed, no ancestor",
    "filmed, an ancestor",
    *(f"unfilmed, {who} touched it" for who in ("both", "one", "neither")),
)
# The sorts of counterfactual options. Is the pair's collision filmed? If so, does it depend on the removed
# object? If not, how many of the pair touched the removed object?


def _pairs_of(question: format.Question, scene: Scene) -> list[frozenset[int]]:
    """The pair of each choice of a predictive question."""
    pairs = list[frozenset[int]]()
    for choice in question.choices or ():
        steps: list[ProgramStep] = []
        run([*choice.program, "events", "belong_to"], World(scene, Parameters()), steps.append)
        pairs.append(next(step.arguments[0].objects for step in steps if step.token == "belong_to"))
    return pairs


Asked = Sequence[tuple[Scene, int, Sequence[format.Question]]]


def match(columns: Mapping[str, Asked]) -> Iterator[str]:
    """A row for each statistic, with a column for each set of questions and one for all official ones; then
    the methods of each kind by the questions that they have right, best first.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in columns}
    wholes: dict[str, Counter[str]] = {name: Counter() for name in columns}
    for name, asked_of in columns.items():
        for scene, _, questions in asked_of:
            for statistic, holds in (part for question in questions for part in statistics(scene, question)):
                counts[name][statistic] += holds
                wholes[name][statistic] += 1
    yield f"| share, % | {' | '.join(columns)} | all official |\n|---|{'---|' * (len(columns) + 1)}"
    for statistic in sorted({statistic for count in wholes.values() for statistic in count}):
        cells = [
            f"{100 * counts[name][statistic] / n:.1f} ({n})" if (n := wholes[name][statistic]) else ""
            for name in columns
        ]
        total = f"{100 * ALL[statistic]:.1f}" if statistic in ALL else ""
        yield f"| {statistic} | {' | '.join(cells)} | {total} |"
    for kind, variants in RANKED.items():
        for name, asked_of in columns.items():
            yield f"\n{kind}, {name}: " + ", ".join(
                f"{method} {100 * questions:.1f}/{100 * options:.1f}"
                for questions, options, method in ranked(asked_of, kind, variants)
            )


def ranked(asked_of: Asked, kind: str, variants: Mapping[str, Parameters]) -> list[tuple[float, float, str]]:
    """The shares of questions and of options that each method has right, the trivial ones too, best first."""
    by_method: dict[str, list[Row]] = {}
    for scene, number, questions in asked_of:
        of_kind = [question for question in questions if question.question_type == kind]
        for name, parameters in variants.items():
            by_method.setdefault(name, []).extend(answer_scene(scene.log, number, of_kind, parameters, ""))
        for row in trivial_rows(scene, number, of_kind, ""):
            by_method.setdefault(row.subset.partition(": ")[2], []).append(row)
    scored: list[tuple[float, float, str]] = []
    for name, rows in by_method.items():
        options = [choice.predicted == choice.expected for row in rows for choice in row.choices or ()]
        if rows:
            right = sum(bool(row.correct) for row in rows) / len(rows)
            scored.append((right, sum(options) / len(options), name))
    return sorted(scored, reverse=True)


def dataset(folder: Path) -> Asked:
    """A dataset's scenes with their questions."""
    names = format.annotation_names(folder / "annotation.zip")
    questions = format.read_questions(folder / "questions.json")
    return [
        (Scene(annotation_log(format.decode_annotation(source))), number, questions[number].questions)
        for number, source in zip(names, sources_in(folder / "annotation.zip", names.values()), strict=True)
        if number in questions
    ]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="What are accuracies on generated questions evidence of?")
    parser.add_argument("what", choices=("predictive", "duality", "trivial", "match"))
    parser.add_argument("datasets", type=Path, nargs="*")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=9001)
    given = parser.parse_args()
    numbers = range(FIRST, FIRST + given.scenes)
    if given.what == "match":
        columns: dict[str, Asked] = {str(folder): dataset(folder) for folder in given.datasets}
        if given.data:
            files = ("explanatory_train", "questions_train_causalsight")
            columns["official"] = [part for file in files for part in official(given.data, file)]
        lines = match(columns)
    elif given.what == "predictive":
        lines = predictive(numbers, given.seed)
    else:
        worlds = [generate_scene(number, given.seed) for number in numbers]
        if given.what == "trivial":
            asked_of = (
                (Scene(annotation_log(w.annotation)), w.annotation.scene_index, w.questions.questions)
                for w in worlds
            )
            lines = chain(
                trivial(asked_of, "generated"),
                trivial(official(given.data), "official") if given.data else (),
            )
        else:
            lines = duality(worlds)
    for line in lines:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
