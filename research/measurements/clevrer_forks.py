"""The accuracy of simulated forks on a generated world: answers by configuration and ground, and pairs
against the world's own truth.

    python -m research.measurements.clevrer_forks DATA    # of `substrate generate clevrer --out DATA`

Nothing of the package is fitted to such a world. "The engine from true states" is no answer of the
interpreter: it starts from everyone's state, seen or not, and shows how far the planar engine itself agrees
with Bullet.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path

from msgspec import Struct
from msgspec.json import Decoder

from research.domains.foretelling.annotated import bodies
from substrate.base.inputs import decode
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.counterfactual import judge
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.emitter import future
from substrate.domains.clevrer.explain import explain
from substrate.domains.clevrer.format import (
    RECORDED_AFTER,
    Annotation,
    Collision,
    SceneQuestions,
    annotation_names,
    decode_annotation,
    read_questions,
)
from substrate.domains.clevrer.interpreter import answer_scene, in_order
from substrate.domains.clevrer.motion import simulate
from substrate.domains.clevrer.parameters import Counterfactual, Parameters, Predictive
from substrate.domains.clevrer.scene import Event, Scene
from substrate.log.event_log import EventLog

Pairs = set[frozenset[int]]


class Truth(Struct):
    """The part of a truth file that is read."""

    future_collisions: list[Collision]
    counterfactual_collisions: dict[int, list[Collision]]


class World(Struct):
    """A generated scene: what a reader sees, and what only the world knows."""

    film: Annotation
    log: EventLog
    questions: SceneQuestions
    truth: Truth

    def met(self, before: int | None = None) -> Pairs:
        """Pairs that collide in the video, or before a frame of it."""
        return pairs(c for c in self.film.collision if before is None or c.frame_id < before)

    def last(self) -> int:
        """The video's last frame."""
        return len(self.film.motion_trajectory) - 1


def pairs(collisions: Iterable[Collision]) -> Pairs:
    """The pair that collides."""
    return {frozenset(c.object_ids) for c in collisions}


def read_worlds(data: Path) -> list[World]:
    """Every scene of a folder."""
    names, questions, decoder = (
        annotation_names(data / "annotation"),
        read_questions(data / "questions.json"),
        Decoder(Truth),
    )
    worlds: list[World] = []
    for scene, source in zip(names, sources_in(data / "annotation", names.values()), strict=True):
        film, path = decode_annotation(source), data / "truth" / f"truth_{scene:05d}.json"
        worlds.append(
            World(film, annotation_log(film), questions[scene], decode(decoder, path.read_bytes(), path))
        )
    return worlds


SETTINGS: Mapping[str, tuple[str, Parameters]] = {
    **{
        f"configuration {name}": ("predictive", Parameters(predictive=Predictive(name)))
        for name in ("A", "B", "C", "S")
    },
    **{
        name: ("counterfactual", Parameters(counterfactual=Counterfactual(name)))
        for name in ("duality", "partner", "simulated")
    },
}


def answers(worlds: list[World]) -> Iterator[str]:
    """Accuracy and time of every setting, on the questions that it matters to."""
    yield "| questions | setting | per question | per option | ms a scene |\n|---|---|---|---|---|"
    for name, (subset, parameters) in SETTINGS.items():
        count: Counter[str] = Counter()
        start = time.perf_counter()
        for world in worlds:
            for row in answer_scene(
                world.log,
                world.film.scene_index,
                [q for q in world.questions.questions if q.question_type == subset],
                parameters,
                "",
            ):
                count.update(
                    questions=1,
                    right=bool(row.correct),
                    options=len(row.choices or ()),
                    good=sum(c.predicted == c.expected for c in row.choices or ()),
                )
        spent = (time.perf_counter() - start) / len(worlds) * 1000
        questions, options = (
            _share(count["right"], count["questions"]),
            _share(count["good"], count["options"]),
        )
        yield f"| {subset} | {name} | {questions} | {options} | {spent:.1f} |"


def grounds(worlds: list[World]) -> Iterator[str]:
    """Of the options of imagined questions: how many answers rest on what, and how many are right."""
    yield "\n| method | ground | options right |\n|---|---|---|"
    for name in ("duality", "partner", "simulated"):
        count: Counter[tuple[str, bool]] = Counter()
        for world in worlds:
            for question in world.questions.questions:
                if question.question_type == "counterfactual":
                    labels = {"yes": "correct", "no": "wrong"}
                    why = explain(world.log, world.film.scene_index, question, SETTINGS[name][1])
                    for choice, part in zip(in_order(question.choices or ()), why.parts, strict=True):
                        count[part.ground, labels[part.answer] == choice.answer] += 1
        for ground in sorted({ground for ground, _ in count}):
            right, wrong = count[ground, True], count[ground, False]
            yield f"| {name} | {ground} | {_share(right, right + wrong)} |"


Forks = Callable[[World, int | None], Pairs]
"""The pairs that collide without an object in the video's time, or, without ``None``, after it."""


def forked(world: World, removed: int | None) -> Pairs:
    """The interpreter's forks."""
    scene = Scene(world.log)
    if removed is None:
        return {
            event.objects
            for event in future(scene, RECORDED_AFTER).events
            if event.kind == "Collision" and (event.frame or 0) > scene.end
        }
    possible = (frozenset(pair) for pair in combinations(scene.objects, 2))
    return {
        pair
        for pair in possible
        if judge(scene, Event("Collision", None, pair), removed, Counterfactual("simulated")).occurs
    }


def engine(world: World, removed: int | None) -> Pairs:
    """The engine from everyone's true state, right before the removed object's first collision, or at the
    video's end; all simulated from there.
    """
    if removed is None:
        return {
            frozenset(pair)
            for _, *pair in simulate(bodies(world.film, world.last()), RECORDED_AFTER).contacts
        } - world.met()
    first = min((c.frame_id for c in world.film.collision if removed in c.object_ids), default=world.last())
    start = max(0, first - 1)
    return world.met(first) | {
        frozenset(pair)
        for _, *pair in simulate(bodies(world.film, start), world.last() - start, remove=removed).contacts
    }


def engine_from_0(world: World, removed: int | None) -> Pairs:
    """The engine from everyone's true state at the first frame."""
    if removed is None:
        return {
            frozenset(pair)
            for frame, *pair in simulate(bodies(world.film, 0), world.last() + RECORDED_AFTER).contacts
            if frame > world.last()
        }
    return {
        frozenset(pair) for _, *pair in simulate(bodies(world.film, 0), world.last(), remove=removed).contacts
    }


def agreement(worlds: list[World]) -> Iterator[str]:
    """Pairs right, missed and too many against the world's truth, and how many imagined worlds come out
    whole.
    """
    yield "\n| | pairs right | missed | too many | imagined worlds whole |\n|---|---|---|---|---|"
    ways: dict[str, Forks] = {
        "forks": forked,
        "the engine from true states": engine,
        "the engine from true states at frame 0": engine_from_0,
    }
    for title, imagined in (("after the video", False), ("without an object", True)):
        for name, fork in ways.items():
            count: Counter[str] = Counter()
            for world in worlds:
                for removed in world.truth.counterfactual_collisions if imagined else (None,):
                    if removed is None:
                        true = pairs(world.truth.future_collisions) - world.met()
                    else:
                        true = pairs(
                            c
                            for c in world.truth.counterfactual_collisions[removed]
                            if c.frame_id <= world.last() and removed not in c.object_ids
                        )
                    predicted = fork(world, removed)
                    count.update(
                        right=len(true & predicted),
                        missed=len(true - predicted),
                        more=len(predicted - true),
                        worlds=1,
                        whole=true == predicted,
                    )
            whole = _share(count["whole"], count["worlds"])
            yield f"| {title}: {name} | {count['right']} | {count['missed']} | {count['more']} | {whole} |"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / max(1, whole):.2%})"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="How well simulated forks foretell a generated world.")
    parser.add_argument("data", type=Path)
    worlds = read_worlds(parser.parse_args().data)
    for table in (answers, grounds, agreement):
        for line in table(worlds):
            sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
