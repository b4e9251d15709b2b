"""CLEVRER: scenes, programs, simulated forks and perceived videos, each beside a simpler program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec
import pybullet as bullet

from benchmarks.speed.executor import Executor
from benchmarks.speed.measure import Bench, Pair, scratch_folder
from research.domains.perception.format import decode_proposals
from research.domains.perception.masks import sightings
from research.domains.perception.perceive import examined, recorded
from research.generators.proposals import proposals
from substrate.base.errors import ProgramError
from substrate.base.numbered import sources_in
from substrate.domains.clevrer import emitter
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.deltas import film_log
from substrate.domains.clevrer.film import decode_film
from substrate.domains.clevrer.format import Question, annotation_names, read_questions
from substrate.domains.clevrer.motion.engine import Body, simulate
from substrate.domains.clevrer.parameters import Counterfactual, Parameters, Predictive
from substrate.domains.clevrer.program import World, run, run_choices
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import encode
from substrate.generators.clevrer import generate_annotation, physics, scene_files
from substrate.generators.clevrer.scene import generate_scene
from substrate.generators.layout import encode_scene, write_release

_MADE = 20
"""The number of scenes that are generated; a larger size repeats them."""
_SIMULATED = Parameters(
    counterfactual=Counterfactual(method="simulated"), predictive=Predictive(configuration="S")
)


class Case(NamedTuple):
    """A scene's number, its annotation as a source, and its questions."""

    scene: int
    source: tuple[str, bytes]
    questions: list[Question]


@cache
def made(count: int) -> tuple[Case, ...]:
    """A number of generated scenes."""
    with scratch_folder() as folder:
        write_release(folder, (encode_scene(scene_files(10000 + n, 1)) for n in range(count)))
        annotations = folder / "annotation.zip"
        names = annotation_names(annotations)
        sources = list(sources_in(annotations, list(names.values())))
        questions = read_questions(folder / "questions.json")
    return tuple(
        Case(scene, source, questions[scene].questions) for scene, source in zip(names, sources, strict=True)
    )


def _cases(size: int) -> list[Case]:
    distinct = made(min(size, _MADE))
    return [distinct[place % len(distinct)] for place in range(size)]


def _answered(cases: Sequence[Case], parameters: Parameters) -> None:
    for scene, source, questions in cases:
        log = film_log(decode_film(source))
        for row in answer_scene(log, scene, questions, parameters, "bench"):
            encode(row)


@contextmanager
def scenes(size: int, only: str = "") -> Iterator[Pair]:
    """Evaluating scenes beside a typed executor on the same annotations, all questions or one type's."""
    cases = [
        case._replace(questions=[q for q in case.questions if q.question_type == (only or q.question_type)])
        for case in _cases(size)
    ]

    def execute() -> None:
        for case in cases:
            _executed(Executor(case.source[1]), case.questions)

    yield Pair(lambda: _answered(cases, Parameters()), execute)


def _executed(executor: Executor, questions: Sequence[Question]) -> int:
    programs = 0
    for question in questions:
        for program in programs_of(question):
            executor.run(program)
            programs += 1
    return programs


def programs_of(question: Question) -> list[list[str]]:
    """The program of an open question, or of each choice with its question's."""
    if question.choices is None:
        return [question.program]
    return [[*choice.program, *question.program] for choice in question.choices]


@contextmanager
def programs(size: int) -> Iterator[Pair]:
    """A number of programs on scenes that are already read, beside the executor's run of the same programs.

    Each open question has a program, and each choice has one together with its question.
    """
    worlds: list[tuple[World, list[Question]]] = []
    executors: list[tuple[Executor, list[Question]]] = []
    left = size
    for case in made(min(size, _MADE)):
        taken: list[Question] = []
        for question in case.questions:
            if left > 0:
                taken.append(question)
                left -= len(programs_of(question))
        worlds.append((World(Scene(film_log(decode_film(case.source))), Parameters()), taken))
        executors.append((Executor(case.source[1]), taken))
    repeats = max(1, round(size / max(1, size - left)))

    def ours() -> None:
        for _ in range(repeats):
            for world, questions in worlds:
                for question in questions:
                    _run(world, question)

    def theirs() -> None:
        for _ in range(repeats):
            for executor, questions in executors:
                _executed(executor, questions)

    ours()  # a scene's tables are made at its first program
    yield Pair(ours, theirs)


def _run(world: World, question: Question) -> None:
    if question.choices is not None:
        list(run_choices(question.program, [choice.program for choice in question.choices], world))
        return
    try:
        run(question.program, world)
    except ProgramError:
        return


@contextmanager
def simulated_questions(size: int) -> Iterator[Pair]:
    """A number of questions by configuration S, from their scenes' logs, beside the bodies' motion alone."""
    kinds = ("predictive", "counterfactual")
    cases = [
        (case, [q for q in case.questions if q.question_type in kinds])
        for case in made(min(max(size, 4), _MADE))
    ]
    logs = [(film_log(decode_film(case.source)), case.scene, questions) for case, questions in cases]
    work: list[tuple[Any, int, list[Question]]] = []
    while size > 0:
        for log, scene, questions in logs:
            work.append((log, scene, questions[:size]))
            size -= len(questions[:size])
    moved: list[tuple[list[Body], int]] = []

    def noted(bodies: Sequence[Body], frames: int) -> Any:
        moved.append((list(bodies), frames))
        return simulate(bodies, frames)

    def answer() -> None:
        for log, scene, questions in work:
            for row in answer_scene(log, scene, questions, _SIMULATED, "bench"):
                encode(row)

    with patch.object(emitter, "simulate", noted):
        answer()

    def move() -> None:
        for bodies, frames in moved:
            simulate(bodies, frames)

    yield Pair(answer, move)


@contextmanager
def world(size: int) -> Iterator[Pair]:
    """Making scenes beside inserting the same bodies and Bullet's ``stepSimulation`` alone."""
    runs: list[list[Any]] = []  # of each simulation, its bodies and whether each step is a whole frame
    insert, step, lengthen = physics._insert, bullet.stepSimulation, physics._set_step
    whole = False

    def lengthened(client: int, a_frame: bool) -> None:
        nonlocal whole
        whole = a_frame
        lengthen(client, a_frame)

    def inserted(client: int, body: physics.Body) -> int:
        if not runs or runs[-1][1]:  # after a step, a body begins another simulation
            runs.append([[], []])
        runs[-1][0].append(body)
        return insert(client, body)

    def stepped(**options: Any) -> None:
        runs[-1][1].append(whole)
        step(**options)

    def make() -> None:
        for number in range(size):
            generate_scene(10000 + number, 1)

    recording = patch.multiple(physics, _insert=inserted, _set_step=lengthened)
    with recording, patch.object(bullet, "stepSimulation", stepped):
        make()

    def only_step() -> None:
        for bodies, steps in runs:
            with physics._world() as client:
                for body in bodies:
                    insert(client, body)
                before = False
                for a_frame in steps:
                    if a_frame != before:
                        lengthen(client, a_frame)
                    before = a_frame
                    step(physicsClientId=client)

    yield Pair(make, only_step)


@contextmanager
def perceived(size: int) -> Iterator[Pair]:
    """Events of a number of generated videos, from their proposals, beside measuring the masks alone."""
    annotations = [generate_annotation(10000 + number, 1) for number in range(size)]
    sources = [("bench", msgspec.json.encode(proposals(annotation, 1))) for annotation in annotations]
    videos = list(map(decode_proposals, sources))
    recorded(examined(videos[0], "bench"))  # tables of the law are made once

    def perceive() -> None:
        for video in videos:
            recorded(examined(video, "bench"))

    def measure() -> None:
        for video in videos:
            sightings(video, "bench")

    yield Pair(perceive, measure)


CLEVRER = {
    "clevrer": Bench("annotations to rows", "a typed executor", (200,), scenes, goal=2),
    "clevrer-descriptive": Bench(
        "annotations to rows of descriptive questions",
        "a typed executor",
        (200,),
        partial(scenes, only="descriptive"),
        goal=2,
    ),
    "program": Bench("programs", "a typed executor", (1_000,), programs),
    "simulated": Bench("questions by configuration S", "motion alone", (100,), simulated_questions),
    "perceived": Bench("events of videos", "measuring the masks", (4,), perceived),
    "world": Bench("scenes made", "stepSimulation", (2, 4), world, goal=1.3),
}
"""Benches of CLEVRER by name."""
