"""Answer from every log that a scene may have, weighted by its probability.

The most probable log is one guess, but the doubtful events are known. A world fixes each of them, and its
weight is the product of their chances. Each question is put to every world. If its program cannot run in a
world, the question presupposes an event that did not happen there, and that world is left out. So an answer's
probability is conditional on the question's presuppositions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import inf, prod
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from research.domains.positions import tracked_log
from substrate.base.errors import FormatError, ProgramError
from substrate.base.inputs import Source, Whole, decode
from substrate.domains.clevrer import format
from substrate.domains.clevrer.answers import choice_program, in_order, judged_choices
from substrate.domains.clevrer.emitter import ensemble
from substrate.domains.clevrer.motion.draws import VOTERS
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import IMAGINING, World, run
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import ChoiceRow, Row, graded

THRESHOLD = 0.5
"""Probability from which an event is in the most probable log."""
SURE = 0.98
"""Probability from which an event is in every world; up to one minus this, it is in none."""
MOST = 64
"""The most worlds of a scene, by default: the six most doubtful events each happen or not."""
_DIGITS = 4


class PossibleEvent(NamedTuple):
    """An entry (``in``) or exit (``out``) of one object, or a collision of two, and how probable it is."""

    frame: int
    kind: Literal["", "in", "out"]
    who: tuple[int, ...]
    probability: float


class PossibleScene(NamedTuple):
    """A scene, with every event that may have happened in it."""

    scene_index: int
    n_frames: int
    objects: list[format.CompactObject]
    events: list[PossibleEvent]
    trajectory: dict[int, list[format.Sampled]] | None = None


class PossibleWorld(NamedTuple):
    """A log that a scene may have, with its probability."""

    weight: float
    events: format.SceneEvents


class _RecordedEvent(msgspec.Struct):
    """An event of a record; only entries and exits have a ``type``."""

    frame: Whole
    object: Whole | list[Whole]
    type: Literal["in", "out"] | None = None
    probability: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


class _Record(msgspec.Struct):
    in_outs: list[_RecordedEvent]
    collisions: list[_RecordedEvent]
    doubtful: list[_RecordedEvent] = []


_records = msgspec.json.Decoder(_Record)


def decode_possible(source: Source) -> PossibleScene:
    """Decode and check a line of a compact event file whose events have probabilities.

    ``doubtful`` may list events that probably did not happen.

    Raises:
        FormatError: the line breaks the format, an event has no probability, or an event occurs twice.

    >>> empty = b'{"scene_index": 7, "n_frames": 9, "objects": [], "in_outs": [], "collisions": []}'
    >>> decode_possible(("events.jsonl:1", empty))
    PossibleScene(scene_index=7, n_frames=9, objects=[], events=[], trajectory=None)
    """
    scene, record = format.decode_scene_events(source), decode(_records, source[1], source[0])
    events: list[PossibleEvent] = []
    for name in ("in_outs", "collisions", "doubtful"):
        for place, entry in enumerate(getattr(record, name)):
            if entry.probability is None:
                raise FormatError(
                    "carries no probability",
                    where=(source[0], f"$.{name}[{place}]"),
                    hint="Give events as `substrate perceive clevrer` writes them, or leave --worlds out",
                )
            who = tuple(entry.object) if isinstance(entry.object, list) else (entry.object,)
            events.append(PossibleEvent(entry.frame, entry.type or "", who, entry.probability))
    stated, declared = events[: -len(record.doubtful) or None], {thing.id for thing in scene.objects}
    doubtful = [(event.kind, event.who, event.frame) for event in events[len(stated) :]]
    format.check_events(source[0], "$.doubtful", doubtful, declared, inf)
    known = {(event.kind, frozenset(event.who), event.frame) for event in stated}
    for place, (kind, who, frame) in enumerate(doubtful):
        if (kind, frozenset(who), frame) in known:
            where = (source[0], f"$.doubtful[{place}]")
            raise FormatError(
                "is listed among the other events too", where=where, hint="List each event once"
            )
    return PossibleScene(scene.scene_index, scene.n_frames, scene.objects, events, scene.trajectory)


def worlds(scene: PossibleScene, most: int = MOST) -> list[PossibleWorld]:
    """The possible worlds of a scene, the most probable first; their weights add up to 1.

    Args:
        most: the most worlds to make. The most doubtful events each happen or not, as many as this allows;
            every other event happens if its probability is at least one half.

    >>> hit = PossibleEvent(9, "", (0, 1), 0.75)
    >>> [round(world.weight, 2) for world in worlds(PossibleScene(7, 20, [], [hit]))]
    [0.75, 0.25]
    """
    events = sorted(scene.events, key=lambda event: (event.frame, not event.kind, event.who, event.kind))
    # n doubtful events make 2ⁿ worlds.
    doubtful = sorted(
        (event for event in events if 1 - SURE < event.probability < SURE),
        key=lambda event: (abs(event.probability - THRESHOLD), event.frame),
    )[: most.bit_length() - 1]
    made: list[PossibleWorld] = []
    for choice in product((True, False), repeat=len(doubtful)):
        chosen = dict(zip(doubtful, choice, strict=True))
        weight = prod(event.probability if here else 1 - event.probability for event, here in chosen.items())
        actual = [event for event in events if chosen.get(event, event.probability >= THRESHOLD)]
        made.append(PossibleWorld(weight, _with(scene, actual)))
    return sorted(made, key=lambda world: -world.weight)


def _with(scene: PossibleScene, events: Iterable[PossibleEvent]) -> format.SceneEvents:
    """The record of a scene with the given events."""
    record = format.SceneEvents(scene.scene_index, scene.n_frames, scene.objects, [], [], scene.trajectory)
    for event in events:
        if event.kind:
            record.in_outs.append(format.InOut(event.frame, event.who[0], event.kind))
        else:
            first, second = event.who
            record.collisions.append(format.CompactCollision((first, second), event.frame))
    return record


class Answers:
    """Each world's weight, and its answer to a program or the error that left it without one."""

    def __init__(self, answers: Sequence[tuple[float, str | ProgramError]]) -> None:
        self.answers = answers
        self.answered = sum(weight for weight, answer in answers if isinstance(answer, str))

    @classmethod
    def to(cls, program: Sequence[str], weighted: Iterable[tuple[float, World]]) -> Answers:
        """The answers of weighted worlds to a program."""
        answers: list[tuple[float, str | ProgramError]] = []
        for weight, world in weighted:
            try:
                answers.append((weight, run(program, world)))
            except ProgramError as error:
                answers.append((weight, error))
        return cls(answers)

    def weight(self, answer: str) -> float:
        """The weight of the worlds that give an answer."""
        return sum(weight for weight, other in self.answers if other == answer)

    @property
    def best(self) -> str | ProgramError:
        """The answer with most weight; if no world has an answer, the first error."""
        answers = sorted({answer for _, answer in self.answers if isinstance(answer, str)})
        return max(answers, key=self.weight) if answers else self.answers[0][1]

    def probability(self, answer: str) -> float | msgspec.UnsetType:
        """The share of worlds that give an answer, among those in which the program runs."""
        return round(self.weight(answer) / self.answered, _DIGITS) if self.answered else msgspec.UNSET


def answer_possible(
    scene: PossibleScene,
    questions: Iterable[format.Question],
    parameters: Parameters,
    split: str,
    most: int = MOST,
) -> Iterator[Row]:
    """Answer each question about a scene with one row, from its possible worlds, with probabilities.

    A multiple-choice row's probability is that of all its answers at once, among worlds in which the program
    of each choice runs.
    """
    scenes = [(world.weight, Scene(tracked_log(world.events))) for world in worlds(scene, most)]
    possible = _PossibleWorlds([(weight, World.of(scene, parameters)) for weight, scene in scenes])
    digest = scenes[0][1].log.digest
    common = {"benchmark": "clevrer", "split": split, "scene": scene.scene_index, "log": digest}
    for question in sorted(questions, key=lambda question: question.question_id):
        place = {**common, "subset": question.question_type, "question": question.question_id}
        if not question.choices:
            answers = possible.answers(question.program)
            error = str(answers.best) if isinstance(answers.best, ProgramError) else None
            row = graded(str(answers.best), question.answer, error, **place)
            yield replace(row, probability=answers.probability(row.predicted)) if answers.answered else row
            continue
        choices = in_order(question.choices)
        of_each = [possible.answers(choice_program(question.program, choice)) for choice in choices]
        row = Row(**place, **judged_choices(choices, [answers.best for answers in of_each]))
        rows: list[ChoiceRow] = []
        for choice, answers in zip(row.choices or (), of_each, strict=True):
            rows.append(replace(choice, probability=answers.probability(str(answers.best))))
        yield replace(row, choices=rows, probability=_of_all(of_each))


class _PossibleWorlds:
    """The possible worlds of a scene, ready for questions.

    A program that simulates from tracked positions is put to several draws of the tracker's errors in each
    world, at least :data:`VOTERS` in all.
    """

    def __init__(self, plain: Sequence[tuple[float, World]]) -> None:
        self._plain = plain

    def answers(self, program: Sequence[str]) -> Answers:
        """The worlds' answers to a program."""
        tracked = self._plain[0][1].scene.tracked
        imagines = tracked and not set(IMAGINING).isdisjoint(program)
        return Answers.to(program, self._drawn if imagines else self._plain)

    @cached_property
    def _drawn(self) -> Sequence[tuple[float, World]]:
        draws = -(-VOTERS // len(self._plain))  # rounded up
        return [
            (weight / draws, World(drawn, parameters))
            for weight, (scene, parameters) in self._plain
            for drawn in ensemble(scene)[:draws]
        ]


def _of_all(of_each: Sequence[Answers]) -> float | msgspec.UnsetType:
    """The probability that the best answers to some programs hold together, among worlds in which all run."""
    together: list[tuple[float, str | ProgramError]] = []
    for each in zip(*(answers.answers for answers in of_each), strict=True):
        failed = [answer for _, answer in each if isinstance(answer, ProgramError)]
        together.append((each[0][0], failed[0] if failed else ",".join(str(answer) for _, answer in each)))
    return Answers(together).probability(",".join(str(answers.best) for answers in of_each))
