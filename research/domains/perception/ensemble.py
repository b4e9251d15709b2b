"""Answers from every log that a perceived video may have, each counted by its probability.

The most probable log is one guess. The record also says which events are in doubt: a world decides each of
them, and its weight is the product of their chances. A question is put to every world that matters. In a
world where its program cannot run, the question speaks of what did not happen there; such worlds are left
out, as a listener does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from math import prod
from typing import Any

import msgspec

from research.domains.perception.perceive import (
    THRESHOLD,
    Perceived,
    PerceivedCollision,
    PerceivedCrossing,
    PerceivedObject,
)
from substrate.base.errors import ProgramError
from substrate.domains.clevrer.deltas import NAMESPACE, events_log
from substrate.domains.clevrer.format import (
    CompactCollision,
    CompactObject,
    InOut,
    Question,
    SceneEvents,
)
from substrate.domains.clevrer.interpreter import choice_program, in_order, judged, judged_choices
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import World, run
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog

_SAID = """SELECT ?event ?class ?p ?at ?n WHERE {
    ?record rdf:reifies <<( ?event a ?class )>> ; :probability ?p .
    ?event :frame ?at ; :participant/:number ?n }"""
_PREFIXES = {"": NAMESPACE, "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#"}
SURE = 0.98
"""Probability from which an event is in every world; up to one minus this, it is in none."""
_MOST = 6
"""Events that may be in doubt at once, the most doubtful ones: 64 worlds."""


def read_back(log: EventLog, scene_index: int) -> Perceived:
    """A video's record out of its perceived log: the objects, and every event with its probability."""
    scene, events = Scene(log), defaultdict[tuple[str, str, int, float], list[int]](list)
    rows: Any = log.head.query(_SAID, prefixes=_PREFIXES)
    for row in rows:
        event, class_, frame, chance, number = (
            row[name].value for name in ("event", "class", "at", "p", "n")
        )
        events[event, class_.removeprefix(NAMESPACE), int(frame), float(chance)].append(int(number))
    record = Perceived(scene_index, scene.end + 1, [], [], [], [], {})
    for number, thing in sorted(scene.objects.items()):
        record.objects.append(PerceivedObject(*thing[:3], number, 0))  # pyright: ignore[reportArgumentType]
    for (_, class_, frame, chance), who in sorted(events.items(), key=lambda item: (item[0][2], item[0][0])):
        span = frame, frame
        if class_ == "Collision":
            first, second = sorted(who)
            record.collisions.append(PerceivedCollision((first, second), frame, chance, span))
        else:
            kind = "in" if class_ == "Entry" else "out"
            record.in_outs.append(PerceivedCrossing(frame, who[0], kind, chance, span))
    return record


class PossibleWorld(msgspec.Struct, frozen=True):
    """A log that a video may have, and how probable it is."""

    weight: float
    events: SceneEvents


def worlds(record: Perceived) -> list[PossibleWorld]:
    """The possible worlds of a video, the most probable first; their weights add up to 1.

    >>> hit = PerceivedCollision((0, 1), 9, 0.75, (8, 10))
    >>> [round(world.weight, 2) for world in worlds(Perceived(7, 20, [], [], [hit], [], {}))]
    [0.75, 0.25]
    """
    events = [*record.in_outs, *record.collisions, *record.doubtful]
    open_ = sorted(
        (event for event in events if 1 - SURE < event.probability < SURE),
        key=lambda event: (abs(event.probability - THRESHOLD), event.frame),
    )[:_MOST]
    sure = [event for event in events if event not in open_ and event.probability >= THRESHOLD]
    possible: list[PossibleWorld] = []
    for choice in product((True, False), repeat=len(open_)):
        chances = (
            event.probability if taken else 1 - event.probability
            for event, taken in zip(open_, choice, strict=True)
        )
        taken = [event for event, here in zip(open_, choice, strict=True) if here]
        possible.append(PossibleWorld(prod(chances), compact(record, [*sure, *taken])))
    return sorted(possible, key=lambda world: -world.weight)


def compact(record: Perceived, events: Iterable[PerceivedCollision | PerceivedCrossing]) -> SceneEvents:
    """The compact record of a video with so many of its events."""
    ordered = sorted(events, key=lambda event: event.frame)
    return SceneEvents(
        record.scene_index,
        record.n_frames,
        [CompactObject(o.color, o.material, o.shape, o.id) for o in record.objects],
        [InOut(e.frame, e.object, e.type) for e in ordered if isinstance(e, PerceivedCrossing)],
        [CompactCollision(e.object, e.frame) for e in ordered if isinstance(e, PerceivedCollision)],
    )


class Vote(msgspec.Struct, frozen=True):
    """The worlds' answer to a program: the one with most of their weight, and its share of it.

    ``spoken`` is the weight of the worlds in which the program runs at all.
    """

    answer: str | ProgramError
    share: float
    spoken: float


def vote(program: list[str], weighted: Iterable[tuple[float, World]]) -> Vote:
    """The answer of possible worlds to a program."""
    weights: dict[str, float] = {}
    failed: ProgramError | None = None
    for weight, world in weighted:
        try:
            answer = run(program, world)
        except ProgramError as error:
            failed = failed or error
        else:
            weights[answer] = weights.get(answer, 0.0) + weight
    spoken = sum(weights.values())
    if not weights:
        return Vote(failed or ProgramError("no world answers", hint="Give a world"), 1.0, 0.0)
    answer = max(sorted(weights), key=lambda text: weights[text])
    return Vote(answer, weights[answer] / spoken, spoken)


def answer_perceived(
    record: Perceived, questions: Iterable[Question], parameters: Parameters, split: str
) -> Iterator[Row]:
    """A row for each question about a perceived video, answered by all of its possible worlds."""
    weighted = [(world.weight, events_log(world.events)) for world in worlds(record)]
    open_ = [(weight, World(Scene(log), parameters)) for weight, log in weighted]
    common = {
        "benchmark": "perceived",
        "split": split,
        "scene": record.scene_index,
        "log": weighted[0][1].digest,
    }
    for question in questions:
        place = {**common, "subset": question.question_type, "question": question.question_id}
        if question.choices:
            choices = in_order(question.choices)
            outcomes = [vote(choice_program(question.program, choice), open_).answer for choice in choices]
            yield Row(**place, **judged_choices(choices, outcomes))
            continue
        yield Row(**place, **judged(partial(_said, question.program, open_), question.answer, str.__eq__))


def _said(program: list[str], weighted: Iterable[tuple[float, World]]) -> str:
    answer = vote(program, weighted).answer
    if isinstance(answer, ProgramError):
        raise answer
    return answer
