"""Compare a perceived video with the truth: which hypotheses are true, and which stage lost an answer.

In this package only this module and :mod:`.calibrate` read the truth; no module that perceives imports them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec.structs import replace

from research.domains.objects import Look, look_of
from research.domains.perception.log import perceived_log
from research.domains.perception.parameters import Perception
from research.domains.perception.perceive import (
    ExaminedVideo,
    Perceived,
    PerceivedCollision,
    PerceivedCrossing,
)
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.format import Question, read_scene_events
from substrate.domains.clevrer.scene import Scene
from substrate.log.event_log import EventLog

_CROSSINGS = {"Entry": "in", "Exit": "out"}
_KINDS = {kind: name for name, kind in _CROSSINGS.items()}
_KNOWN = 8
"""An object counts as detected if at least this many proposals have its label."""
_SEEN = 5
"""Frames before and after a contact in which a body must be seen."""


class TrueEvents(NamedTuple):
    """The true events of a video, by the attributes of its objects."""

    looks: frozenset[Look]
    collisions: dict[frozenset[Look], int]
    crossings: dict[tuple[Look, str], int]
    """The frame of the first entry and of the first exit of each object that has one."""


def gold_of(log: EventLog) -> TrueEvents:
    """Read the truth of a video from the log of its annotation or of its true events."""
    scene = Scene(log)
    looks = {number: look_of(thing) for number, thing in scene.objects.items()}
    collisions: dict[frozenset[Look], int] = {}
    crossings: dict[tuple[Look, str], int] = {}
    for event in scene.events:
        who = [looks[number] for number in sorted(event.objects)]
        if event.kind == "Collision":
            collisions.setdefault(frozenset(who), event.frame or 0)
        elif event.kind in _CROSSINGS:
            for look in who:
                crossings.setdefault((look, _CROSSINGS[event.kind]), event.frame or 0)
    return TrueEvents(frozenset(looks.values()), collisions, crossings)


def read_gold(files: Iterable[Path]) -> dict[int, TrueEvents]:
    """Read the truth of the videos in several files of events."""
    truths = (item for file in files for item in read_scene_events(file).items())
    return {scene: gold_of(events_log(events)) for scene, events in truths}


Kind = Literal["collisions", "entries and exits"]


class Hypothesis(NamedTuple):
    """A hypothesis of an event: its kind, its probability, and whether it is true."""

    kind: Kind
    probability: float
    true: bool


def hypotheses(record: Perceived, gold: TrueEvents) -> Iterator[Hypothesis]:
    """All hypotheses of a video, believed or not, at any predicted time.

    >>> red, blue = ("red", "metal", "cube"), ("blue", "metal", "cube")
    >>> from research.domains.perception.perceive import PerceivedObject
    >>> things = [PerceivedObject(*look, number, 9) for number, look in enumerate((red, blue))]
    >>> hit = PerceivedCollision((0, 1), 9, 0.75, (8, 10))
    >>> truth = TrueEvents(frozenset((red, blue)), {frozenset((red, blue)): 12}, {})
    >>> list(hypotheses(Perceived(7, 20, things, [], [hit], [], {}), truth))
    [Hypothesis(kind='collisions', probability=0.75, true=True)]
    """
    looks = _looks(record)
    for event in (*record.collisions, *record.in_outs, *record.doubtful):
        if isinstance(event, PerceivedCollision):
            pair = frozenset(looks[number] for number in event.object)
            yield Hypothesis("collisions", event.probability, pair in gold.collisions)
        else:
            crossing = (looks[event.object], event.type)
            yield Hypothesis("entries and exits", event.probability, crossing in gold.crossings)


class JudgedEvent(NamedTuple):
    """An event as perceived, and its truth.

    ``truly`` says in words when the event happened; it is empty if the truth is unknown. The last four fields
    are those of the hypothesis; a true event without a hypothesis has their defaults.
    """

    kind: str
    words: str
    who: tuple[int, ...]
    truly: str
    wrong: bool
    frame: int | None = None
    frames: tuple[int, int] | None = None
    probability: float | None = None
    believed: bool = False


def happenings(record: Perceived, gold: TrueEvents | None) -> list[JudgedEvent]:
    """The events of a video by frame, suspected ones too, then the true events that it lacks.

    >>> from research.domains.perception.perceive import PerceivedObject
    >>> moves = [PerceivedCrossing(3, 0, "in", 0.9, (3, 3))]
    >>> red = PerceivedObject("red", "metal", "cube", 0, 9)
    >>> entry, = happenings(Perceived(7, 20, [red], moves, [], [], {}), None)
    >>> entry.words, entry.probability
    ('entry of red metal cube', 0.9)
    """
    looks, listed = _looks(record), list[JudgedEvent]()
    missing: dict[tuple[str, tuple[Look, ...]], int] = {}
    if gold:
        hits = ((("Collision", tuple(sorted(pair))), frame) for pair, frame in gold.collisions.items())
        moves = (((_KINDS[kind], (look,)), frame) for (look, kind), frame in gold.crossings.items())
        missing = dict([*hits, *moves])
    events = (*record.in_outs, *record.collisions, *record.doubtful)
    for event in sorted(events, key=lambda event: event.frame):
        hit = isinstance(event, PerceivedCollision)
        who = tuple(sorted(event.object)) if hit else (event.object,)
        kind = "Collision" if hit else _KINDS[event.type]
        things = tuple(sorted(looks[number] for number in who))
        when, believed = missing.pop((kind, things), None), event not in record.doubtful
        truly = "" if gold is None else "never" if when is None else f"frame {when}"
        wrong = gold is not None and believed == (when is None)
        judged = JudgedEvent(kind, _happened(kind, things), who, truly, wrong)
        listed.append(
            judged._replace(
                frame=event.frame, frames=event.frames, probability=event.probability, believed=believed
            )
        )
    for (kind, things), when in sorted(missing.items(), key=lambda item: item[1]):
        listed.append(JudgedEvent(kind, _happened(kind, things), (), f"frame {when}", wrong=True))
    return listed


def _happened(kind: str, things: Iterable[Look]) -> str:
    return f"{kind.lower()} of {_pair(things)}"


class Loss(NamedTuple):
    """The stage that lost an answer, and its fault."""

    stage: Literal["detection", "track", "event", "reasoning"]
    words: str


def lost(
    video: ExaminedVideo, record: Perceived, truth: EventLog, question: Question, parameters: Perception
) -> Loss:
    """Find the first stage whose replacement by the truth makes a wrong answer right.

    Args:
        video: the examined video.
        record: its record.
        truth: the log of its annotation, or of its true events.
        question: the question that was answered wrong from the perceived log.
        parameters: the parameters of ``record`` and of the answer.
    """

    def right(log: EventLog) -> bool | None:
        """Tell whether a log gives the right answer; ``None`` if the question's program cannot run on it."""
        rows = list(answer_scene(log, record.scene_index, [question], parameters, ""))
        return None if any(isinstance(row.error, str) for row in rows) else all(row.correct for row in rows)

    def right_with(**events: Sequence[PerceivedCollision | PerceivedCrossing]) -> bool | None:
        in_time = {kind: sorted(group, key=lambda event: event.frame) for kind, group in events.items()}
        return right(perceived_log(video, replace(record, **in_time), parameters.belief))

    gold, looks = gold_of(truth), _looks(record)
    if right(truth) is False:
        return Loss("reasoning", "from the true events the answer is wrong too")
    if gold.looks != set(looks):
        return _other_objects(video, gold.looks, set(looks))
    hits = {frozenset(looks[number] for number in event.object): event for event in record.collisions}
    timed = [replace(e, frame=gold.collisions.get(pair, e.frame)) for pair, e in hits.items()]
    if right_with(collisions=timed):
        late = {pair: e.frame - gold.collisions.get(pair, e.frame) for pair, e in hits.items()}
        words = ", ".join(f"{_pair(pair)} by {frames:+d}" for pair, frames in late.items() if frames)
        return Loss("event", f"time of a collision: {words}")
    moves = [
        PerceivedCrossing(frame, looks.index(look), kind, 1.0, (frame, frame))  # pyright: ignore[reportArgumentType]
        for (look, kind), frame in gold.crossings.items()
    ]
    if right_with(in_outs=moves):
        return Loss("event", f"entry or exit: {_differing(record, looks, gold)}")
    true_hits = [
        PerceivedCollision((first, second), frame, 1.0, (frame, frame))
        for pair, frame in gold.collisions.items()
        for first, second in [sorted(looks.index(look) for look in pair)]
    ]
    wrong = [pair for pair in {**gold.collisions, **hits} if (pair in hits) != (pair in gold.collisions)]
    words = ", ".join(f"{'missed' if pair in gold.collisions else 'false'} {_pair(pair)}" for pair in wrong)
    if right_with(collisions=true_hits):
        seen = {frozenset(looks[number] for number in c.pair): min(c.seen) for c in video.contacts}
        if any(seen.get(pair, 0) < _SEEN for pair in wrong):
            return Loss("track", f"a body hardly seen around the contact: {words}")
        return Loss("event", f"collision: {words}")
    if right_with(collisions=true_hits, in_outs=moves):
        return Loss("event", f"several: {words}, {_differing(record, looks, gold)}")
    return Loss("track", "places or speeds: with all true events the answer is wrong still")


def _looks(record: Perceived) -> list[Look]:
    return [look_of(thing) for thing in record.objects]


def _pair(pair: Iterable[Look]) -> str:
    return " and ".join(" ".join(look) for look in sorted(pair))


def _other_objects(video: ExaminedVideo, true: frozenset[Look], mine: set[Look]) -> Loss:
    """The stage that lost objects: tracks if every missed object was detected, else detection."""
    missed, false = sorted(true - mine), sorted(mine - true)
    words = [f"missed {' '.join(look)}" for look in missed] + [f"false {' '.join(look)}" for look in false]
    detected = all(video.seen.looks.count(look) >= _KNOWN for look in missed)
    return Loss("track" if detected else "detection", f"objects: {', '.join(words)}")


def _differing(record: Perceived, looks: list[Look], gold: TrueEvents) -> str:
    """The crossings whose presence or frame differs from the truth."""
    mine: Mapping[tuple[Look, str], int] = {(looks[e.object], e.type): e.frame for e in record.in_outs}
    return ", ".join(
        f"{_happened(_KINDS[kind], [look])} at {mine.get((look, kind), 'none')}, truly "
        f"{gold.crossings.get((look, kind), 'none')}"
        for look, kind in sorted({*mine, *gold.crossings})
        if mine.get((look, kind)) != gold.crossings.get((look, kind))
    )
