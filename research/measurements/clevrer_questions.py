"""How hard are CLEVRER's generated questions, and what are accuracies on them evidence of?

    python -m research.measurements.clevrer_questions counterfactual [--scenes 300] [--seed 9001]
    python -m research.measurements.clevrer_questions predictive [--scenes 300] [--seed 9001]
    python -m research.measurements.clevrer_questions duality [--scenes 300] [--seed 9001]
    python -m research.measurements.clevrer_questions trivial [--scenes 300] [--seed 9001] [--data DATA]

``counterfactual`` says in how many questions somebody collides after the video's end alone, and how each
method answers, those choices apart. ``predictive`` asks the same futures with three kinds of wrong choices,
and over Algorithm 3's parameters. ``duality`` says how often two collide without an object that is among
their collision's causes, by simulating again and by the questions' key. ``trivial`` says what methods have
that need no interpreter, and what options name, on generated questions and on the official ones in DATA
(`ground_truth_train.jsonl.gz`, `explanatory_train.jsonl.gz`).
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
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.format import FRAMES, Question, read_questions, read_scene_events
from substrate.domains.clevrer.interpreter import answer_scene, choice_program
from substrate.domains.clevrer.parameters import Counterfactual, Parameters, Predictive
from substrate.domains.clevrer.program import Step, World, run
from substrate.domains.clevrer.scene import Event, Scene
from substrate.generators.clevrer import WorldScene, generate_annotation, generate_scene, predictive_questions
from substrate.generators.clevrer.choices import Wrong

FIRST = 90_000
METHODS: Mapping[str, Parameters] = {
    "duality": Parameters(counterfactual=Counterfactual("duality")),
    "partner": Parameters(counterfactual=Counterfactual("partner")),
    "simulated, video only": Parameters(counterfactual=Counterfactual("simulated", horizon=0)),
    "simulated, to the horizon": Parameters(counterfactual=Counterfactual("simulated")),
}
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


def asked(world: WorldScene, kind: str) -> list[Question]:
    """A scene's questions of a kind."""
    return [question for question in world.questions.questions if question.question_type == kind]


def accuracies(
    scenes: Iterable[tuple[Scene, int, Sequence[Question]]], variants: Mapping[str, Parameters]
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


def counterfactual(worlds: Sequence[WorldScene]) -> Iterator[str]:
    """The share of late collisions, and every method's accuracy."""
    count: Counter[str] = Counter()
    scenes: list[tuple[Scene, int, Sequence[Question]]] = []
    late_only: list[tuple[Scene, int, Sequence[Question]]] = []
    for world in worlds:
        scene, questions = Scene(annotation_log(world.annotation)), asked(world, "counterfactual")
        scenes.append((scene, world.truth.scene_index, questions))
        touched = {name for c in world.annotation.collision for name in c.object_ids}
        seen = {frozenset(c.object_ids) for c in world.annotation.collision}
        for question in questions:
            removed, pairs = named(question, scene)
            frames = {
                frozenset(c.object_ids): c.frame_id for c in world.truth.counterfactual_collisions[removed]
            }
            late = [place for place, pair in enumerate(pairs) if frames.get(pair, 0) >= FRAMES]
            unseen = [pair for pair in pairs if pair in frames and pair not in seen]
            count["questions"] += 1
            count["with a late collision"] += bool(late)
            count["choices"] += len(pairs)
            count["late"] += len(late)
            count["remove what touched nothing"] += removed not in touched
            count["of these, with a collision that no frame shows"] += removed not in touched and bool(unseen)
            choices = [choice for place, choice in enumerate(question.choices or ()) if place in late]
            if choices:
                alone = Question(
                    question.question_id,
                    question.question,
                    "counterfactual",
                    question.program,
                    choices=choices,
                )
                late_only.append((scene, world.truth.scene_index, [alone]))
    yield ", ".join(f"{name}: {number}" for name, number in count.items()) + "\n"
    yield "| all choices | questions right | choices right |\n|---|---|---|"
    yield from accuracies(scenes, METHODS)
    yield "\n| choices of late collisions alone | questions right | choices right |\n|---|---|---|"
    yield from accuracies(late_only, METHODS)


def named(question: Question, scene: Scene) -> tuple[int, list[frozenset[int]]]:
    """The object that a counterfactual question removes, and the pair of each of its choices."""
    removed, pairs = -1, list[frozenset[int]]()
    for choice in question.choices or ():
        steps: list[Step] = []
        run(choice_program(question.program, choice), World(scene, Parameters()), steps.append)
        (removed,) = (step.arguments[-1] for step in steps if step.token == "get_counterfact")
        (sought,) = (step.arguments[0] for step in steps if step.token == "belong_to")
        assert isinstance(sought, Event)
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
            (scene, number, asks[kind]) for number, (scene, asks) in zip(numbers, per_scene, strict=True)
        ]
        yield f"\n| wrong choice: {kind} | questions right | choices right |\n|---|---|---|"
        yield from accuracies(scenes, CONFIGURATIONS if kind != "any" else {**CONFIGURATIONS, **GRID})


def duality(worlds: Sequence[WorldScene]) -> Iterator[str]:
    """The share of pairs that collide without an object of their collision's causes."""
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
        sums = [
            (count[responsible, responsible], count[responsible, True] + count[responsible, False])
            for responsible in (True, False)
        ]
        cells = [f"{same} of {n} ({100 * same / max(1, n):.1f} %)" for same, n in sums]
        yield f"| {title} | {cells[0]} | {cells[1]} |"


def trivial(scenes: Iterable[tuple[Scene, int, Sequence[Question]]], of: str) -> Iterator[str]:
    """The results of trivial methods, the depth of the chains that are asked for, and what options name."""
    right, options, depths = Counter[tuple[str, bool]](), Counter[str](), Counter[bool]()
    for scene, number, questions in scenes:
        right.update((row.subset, bool(row.correct)) for row in trivial_rows(scene, number, questions, ""))
        for question in questions:
            if question.question_type != "explanatory":
                continue
            for place, choice in enumerate(question.choices or ()):
                steps: list[Step] = []
                run(choice_program(question.program, choice), World(scene, Parameters()), steps.append)
                named = next(step.arguments[0] for step in steps if step.token == "belong_to")
                options[named.kind if isinstance(named, Event) else "Object"] += 1
                causes = next(step.result for step in steps if step.token == "filter_ancestor")
                if not place:
                    depths[any(cause.kind == "Collision" for cause in causes)] += 1
    for subset in dict.fromkeys(subset for subset, _ in right):
        n = right[subset, True] + right[subset, False]
        yield f"| {of} | {subset} | {right[subset, True]} of {n} ({100 * right[subset, True] / n:.2f} %) |"
    for kind, n in sorted(options.items()):
        share = f"{n} of {options.total()} ({100 * n / options.total():.1f} %)"
        yield f"| {of} | explanatory options, {kind} | {share} |"
    if n := depths.total():
        share = f"{depths[False]} of {n} ({100 * depths[False] / n:.1f} %)"
        yield f"| {of} | explanatory targets without an ancestor collision | {share} |"


def official(data: Path) -> Iterator[tuple[Scene, int, Sequence[Question]]]:
    """The official explanatory questions of the training split with their scenes' true events."""
    events = read_scene_events(data / "ground_truth_train.jsonl.gz")
    for number, record in read_questions(data / "explanatory_train.jsonl.gz").items():
        yield Scene(events_log(events[number])), number, record.questions


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="What are accuracies on generated questions evidence of?")
    parser.add_argument("what", choices=("counterfactual", "predictive", "duality", "trivial"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=9001)
    given = parser.parse_args()
    numbers = range(FIRST, FIRST + given.scenes)
    if given.what == "predictive":
        lines = predictive(numbers, given.seed)
    else:
        worlds = [generate_scene(number, given.seed) for number in numbers]
        if given.what == "trivial":
            asked_of = (
                (Scene(annotation_log(m.annotation)), m.annotation.scene_index, m.questions.questions)
                for m in worlds
            )
            lines = chain(
                trivial(asked_of, "generated"),
                trivial(official(given.data), "official") if given.data else (),
            )
        else:
            lines = counterfactual(worlds) if given.what == "counterfactual" else duality(worlds)
    for line in lines:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
