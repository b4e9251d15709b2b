"""The difficulty of CLEVRER's generated questions, and how much an accuracy on them proves.

    python -m research.measurements.clevrer_questions predictive [--scenes 300] [--seed 9001]
    python -m research.measurements.clevrer_questions duality [--scenes 300] [--seed 9001]
    python -m research.measurements.clevrer_questions trivial [--scenes 300] [--seed 9001] [--data DATA]
    python -m research.measurements.clevrer_questions match [DATASET …] [--data DATA]

Each word is a function of this file that yields its tables. ``predictive`` asks about the same futures with
three kinds of wrong choices, and over Algorithm 3's parameters. ``duality`` counts how often two objects
collide without an object that is among their collision's causes, by a new simulation and by the questions'
key. ``trivial`` gives the accuracies of trivial methods and the kinds of options, on generated questions and
on the official ones in DATA (`ground_truth_train.jsonl.gz`, `explanatory_train.jsonl.gz`). ``match`` compares
the questions of datasets, each a folder with `annotation.zip` and `questions.json`, with the official ones in
DATA (also those of `questions_train_causalsight.jsonl.gz`) and with known shares of all official questions.
It prints statistics of the questions, and the accuracy of each method.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from research.baselines.shortcuts import trivial_rows
from research.domains.duality_trial import trials
from research.measurements.markdown import counted, head, print_lines, row
from research.measurements.question_statistics import ALL, choice_steps, sought, statistics
from substrate.base.numbered import sources_in
from substrate.domains.clevrer import format
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.parameters import Counterfactual, Explanatory, Parameters, Predictive
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
    f"{name}, {sign} = {value}": Parameters(predictive=Predictive(name, **{field: value}))  # pyright: ignore[reportArgumentType]
    for sign, field, values in (("τ", "tau", TAUS), ("T", "horizon", HORIZONS))
    for name in "AB"
    for value in values
}
"""Configurations A and B with other thresholds τ, then with other horizons T."""


class Asked(NamedTuple):
    """A scene with its number, and questions about it."""

    scene: Scene
    number: int
    questions: Sequence[format.Question]


def accuracies(scenes: Iterable[Asked], variants: Mapping[str, Parameters]) -> Iterator[str]:
    """A line of Markdown for each variant: questions and choices that are right."""
    right: Counter[tuple[str, str]] = Counter()
    for scene, number, questions in scenes:
        for name, parameters in variants.items():
            for answer in answer_scene(scene.log, number, questions, parameters, ""):
                right[name, "questions"] += bool(answer.correct)
                right[name, "all questions"] += 1
                right[name, "choices"] += sum(c.predicted == c.expected for c in answer.choices or ())
                right[name, "all choices"] += len(answer.choices or ())
    for name in variants:
        kinds = ("questions", "choices")
        yield row(name, *(counted(right[name, kind], right[name, f"all {kind}"]) for kind in kinds))


def predictive(numbers: Sequence[int], seed: int) -> Iterator[str]:
    """Accuracies by kind of wrong choice, and over the parameters with the first kind."""
    kinds: tuple[Wrong, ...] = ("any", "near", "met")
    per_scene = [
        (Scene(annotation_log(generate_annotation(number, seed))), predictive_questions(number, seed, *kinds))
        for number in numbers
    ]
    for kind in kinds:
        scenes = [Asked(scene, n, asks[kind]) for n, (scene, asks) in zip(numbers, per_scene, strict=True)]
        yield "\n" + head(f"wrong choice: {kind}", "questions right", "choices right")
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
        yield row(title, *(counted(*pair) for pair in sums))


def trivial(scenes: Iterable[Asked], of: str) -> Iterator[str]:
    """The results of trivial methods, the kinds of explanatory options, and the targets without a chain."""
    right, options, chained = Counter[tuple[str, bool]](), Counter[str](), Counter[bool]()
    for scene, number, questions in scenes:
        right.update((row.subset, bool(row.correct)) for row in trivial_rows(scene, number, questions, ""))
        for question in questions:
            if question.question_type != "explanatory":
                continue
            for place, choice in enumerate(question.choices or ()):
                steps = choice_steps(question, choice, scene)
                named = sought(steps)
                options[named.kind if isinstance(named, SceneEvent) else "Object"] += 1
                causes = next(step.result for step in steps if step.token == "filter_ancestor")
                if not place:
                    chained[any(cause.kind == "Collision" for cause in causes)] += 1
    for subset in dict.fromkeys(subset for subset, _ in right):
        n = right[subset, True] + right[subset, False]
        yield row(of, subset, counted(right[subset, True], n, digits=2))
    for kind, n in sorted(options.items()):
        yield row(of, f"explanatory options, {kind}", counted(n, options.total()))
    if n := chained.total():
        yield row(of, "explanatory targets without an ancestor collision", counted(chained[False], n))


def official(data: Path, file: str = "explanatory_train") -> Iterator[Asked]:
    """Official questions of the training split with their scenes' true events."""
    events = format.read_scene_events(data / "ground_truth_train.jsonl.gz")
    for number, record in format.read_questions(data / f"{file}.jsonl.gz").items():
        yield Asked(Scene(events_log(events[number])), number, record.questions)


RANKED: Mapping[str, Mapping[str, Parameters]] = {
    "counterfactual": {
        name: Parameters(counterfactual=Counterfactual(name)) for name in ("duality", "partner", "printed")
    },
    "explanatory": {
        name: Parameters(explanatory=Explanatory(name)) for name in ("event", "printed", "global")
    },
}
"""The methods that need no motion, by kind of question; the trivial ones are ranked beside them."""


def match(columns: Mapping[str, Sequence[Asked]]) -> Iterator[str]:
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
    yield head("share, %", *columns, "all official")
    for statistic in sorted({statistic for count in wholes.values() for statistic in count}):
        cells = [
            f"{100 * counts[name][statistic] / n:.1f} ({n})" if (n := wholes[name][statistic]) else ""
            for name in columns
        ]
        total = f"{100 * ALL[statistic]:.1f}" if statistic in ALL else ""
        yield row(statistic, *cells, total)
    for kind, variants in RANKED.items():
        for name, asked_of in columns.items():
            yield f"\n{kind}, {name}: " + ", ".join(
                f"{method} {100 * questions:.1f}/{100 * options:.1f}"
                for questions, options, method in ranked(asked_of, kind, variants)
            )


class Ranked(NamedTuple):
    """The shares of questions and of options that a method has right."""

    questions: float
    options: float
    method: str


def ranked(asked_of: Sequence[Asked], kind: str, variants: Mapping[str, Parameters]) -> list[Ranked]:
    """The shares of questions and of options that each method has right, the trivial ones too, best first."""
    by_method: dict[str, list[Row]] = {}
    for scene, number, questions in asked_of:
        of_kind = [question for question in questions if question.question_type == kind]
        for name, parameters in variants.items():
            by_method.setdefault(name, []).extend(answer_scene(scene.log, number, of_kind, parameters, ""))
        for answer in trivial_rows(scene, number, of_kind, ""):
            by_method.setdefault(answer.subset.partition(": ")[2], []).append(answer)
    scored: list[Ranked] = []
    for name, answers in by_method.items():
        options = [
            choice.predicted == choice.expected for answer in answers for choice in answer.choices or ()
        ]
        if answers:
            right = sum(bool(answer.correct) for answer in answers) / len(answers)
            scored.append(Ranked(right, sum(options) / len(options), name))
    return sorted(scored, reverse=True)


def dataset(folder: Path) -> list[Asked]:
    """A dataset's scenes with their questions."""
    names = format.annotation_names(folder / "annotation.zip")
    questions = format.read_questions(folder / "questions.json")
    return [
        Asked(Scene(annotation_log(format.decode_annotation(source))), number, questions[number].questions)
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
        columns = {str(folder): dataset(folder) for folder in given.datasets}
        if given.data:
            files = ("explanatory_train", "questions_train_causalsight")
            columns["official"] = [asked for file in files for asked in official(given.data, file)]
        return print_lines(match(columns))
    if given.what == "predictive":
        return print_lines(predictive(numbers, given.seed))
    worlds = [generate_scene(number, given.seed) for number in numbers]
    if given.what == "duality":
        return print_lines(duality(worlds))
    generated = (
        Asked(Scene(annotation_log(w.annotation)), w.annotation.scene_index, w.questions.questions)
        for w in worlds
    )
    on_official = trivial(official(given.data), "official") if given.data else ()
    return print_lines(chain(trivial(generated, "generated"), on_official))


if __name__ == "__main__":
    raise SystemExit(main())
