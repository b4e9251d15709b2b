"""CLEVRER-Humans: causal questions in people's own words, resolved to events of the scene (Mao et al.,
NeurIPS 2022).

The questions have no programs. Few rules over few words, written from the wordings only, read "the red ball
came from the left" as a moment of the scene's event log. The first rule that fits counts:

1. Adjectives and a noun describe an object (:func:`_mentions`). People mistake a color or a shape: if two or
   more attributes fit no object, they describe the only object that fits without the color, without the
   material or without the shape (:func:`_fitting`).
2. An object said to be in a path, to keep moving or not to stop means its presence (:func:`resolve`).
3. Two named objects mean their first collision (:func:`_meetings`).
4. One object means a moment of its own (:func:`_alone`):

   a. if it stops: the effect of its last collision;
   b. if it leaves: its exit;
   c. if it collides: its first collision;
   d. if it is pushed or changes its way: the effect of its first collision;
   e. if it comes, enters or moves *from* somewhere: its entry, or its presence if the log has no entry;
   f. if it moves: its entry, and without an entry the effect of its first collision.

5. The log records every collision, entry and exit. A moment that it lacks did not happen (:func:`_first`).

Then a cause's moment is or is not responsible for an effect's moment:

6. A moment that did not happen is no cause and no effect, and a presence is no effect (:func:`responsible`).
7. If the log records motion, as an annotation's or trajectories' log does, a but-for test decides about a
   collision: the cause is responsible if it is not later and a simulated fork lacks the collision. The fork
   removes an object of the cause that is not in the collision (:func:`responsible`).
8. Without motion, and for entries, exits and moments among the same objects, a moment is responsible for a
   moment of which it is an ancestor, by the closure that answers CLEVRER's own explanatory questions. A
   collision is also responsible for its own effect on its objects (:func:`by_chain`).
9. If words fit several moments, one responsible moment is enough. Words that fit no object, or that no rule
   reads, give an error; scores count it as wrong, and counts of answers keep it apart (:func:`_outcome`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from substrate.base.errors import FormatError, ProgramError
from substrate.base.inputs import Whole, decode, read_bytes
from substrate.domains.clevrer.answers import judged_choices
from substrate.domains.clevrer.counterfactual import Counterfactual, judge
from substrate.domains.clevrer.format import COLORS, SHAPES
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.domains.rows import Row
from substrate.log.event_log import EventLog

BENCHMARK = "clevrer_humans"
_STEM = "Which of the following is responsible for "

_NOUNS = {
    **{shape: shape for shape in SHAPES},
    "ball": "sphere",
    "box": "cube",
    "block": "cube",
    "cyclinder": "cylinder",
    "one": "",
}
_COLORS = {**{color: color for color in COLORS}, "grey": "gray", "silver": "gray", "teal": "cyan"}
_MATERIALS = {"metal": "metal", "metallic": "metal", "shiny": "metal", "rubber": "rubber", "matte": "rubber"}
_ADJECTIVES = "|".join([*_COLORS, *_MATERIALS])
_MENTION = re.compile(
    rf"\b((?:(?:{_ADJECTIVES}) )+)?({'|'.join(_NOUNS)})\b|\b((?:{_ADJECTIVES})(?: (?:{_ADJECTIVES}))*)\b"
)

_ENTRY = frozenset(
    {"came", "comes", "come", "coming", "enters", "entered", "entering", "thrown", "go", "appears", "arrives"}
)
_EXIT = frozenset({"leaves", "exits", "exited", "exiting", "disappears", "vanishes"})
_STOP = frozenset({"stop", "stops", "stopped"})
_STATE = frozenset({"path", "pathway", "steady", "already", "still", "velocity", "not"})
_MOVE = frozenset(
    {"moves", "moved", "move", "moving", "travels", "travelled", "goes", "went", "going", "heads", "headed"}
    | {"rolls", "rolling", "slides", "slid", "sliding", "drifts", "flies", "flew"}
)
_STRUCK = frozenset(
    {"pushed", "hit", "changes", "changed", "slows", "slowed", "dashed", "begins", "gets", "spins", "rolled"}
)
_TOUCH = frozenset({"collided", "collides"})


class HumanChoice(msgspec.Struct, frozen=True):
    """A possible cause, in words; ``answer`` is absent without gold."""

    choice_id: Whole
    choice: str
    answer: str | None = None


class HumanQuestion(msgspec.Struct, frozen=True):
    """An effect, in words, and its possible causes."""

    question_id: Whole
    question: str
    question_type: str
    choices: list[HumanChoice]


class HumanScene(msgspec.Struct, frozen=True):
    """All questions about one scene."""

    questions: list[HumanQuestion]


class Moment(NamedTuple):
    """The meaning of a wording: an event, an event's effect on an object, or an object's presence.

    ``happens`` is false for an event that the log would record but does not.
    """

    object: int
    event: SceneEvent | None = None
    outcome: bool = False
    happens: bool = True


def read_human_questions(path: Path) -> dict[int, HumanScene]:
    """Read a question file, ``{scene: {"questions": [...]}}``, gzipped or not, by scene.

    Raises:
        FormatError: the file breaks the format, a question has no choice, or a scene's name is no number.
    """
    records = decode(msgspec.json.Decoder(dict[str, HumanScene]), read_bytes(path), path)
    for name, record in records.items():
        if not (name.isascii() and name.isdecimal() and len(name) < 10 and str(int(name)) == name):
            raise FormatError(
                f"{name[:40]!r} is not a scene number", where=(path,), hint="Scenes are named by number"
            )
        for index, question in enumerate(record.questions):
            if not question.choices:
                raise FormatError(
                    "no choices",
                    where=(path, f"scene {name}", f"$.questions[{index}]"),
                    hint="A question has at least one possible cause",
                )
    if not any(record.questions for record in records.values()):
        raise FormatError("holds no question", where=(path,), hint="Give a file with at least one question")
    return {int(name): records[name] for name in sorted(records, key=int)}


def answer_humans(
    log: EventLog, scene_index: int, record: HumanScene, parameters: Parameters, split: str
) -> Iterator[Row]:
    """Answer each question about a scene with one row, in question order.

    Args:
        log: the scene's event log, from annotations or from events only.
        scene_index: the scene's number.
        split: the name of the split, for the rows.
    """
    scene, digest = Scene.of(log), log.digest
    for question in sorted(record.questions, key=lambda q: q.question_id):
        # `judged_choices` reads no program, so it can take people's choices, which have none.
        choices: Any = sorted(question.choices, key=lambda choice: choice.choice_id)
        answer = judged_choices(
            choices, [_outcome(choice.choice, question.question, scene, parameters) for choice in choices]
        )
        yield Row(
            benchmark=BENCHMARK,
            split=split,
            subset="explanatory",
            scene=scene_index,
            question=question.question_id,
            log=digest,
            **answer,
        )


def _outcome(cause: str, effect: str, scene: Scene, parameters: Parameters) -> str | ProgramError:
    wording = effect.removeprefix(_STEM).rstrip("?")
    try:
        causes, effects = resolve(cause, scene), resolve(wording, scene)
    except ProgramError as error:
        return error
    if any(responsible(before, after, scene, parameters) for before in causes for after in effects):
        return "yes"
    return "no"


def resolve(words: str, scene: Scene) -> list[Moment]:
    """The moments of a scene that a wording may mean, at least one.

    If several objects fit, only those with the event count; if none has it, the only moment does not happen.

    Raises:
        ProgramError: the words name no object of the scene or more than two, or no rule reads them.
    """
    text = " ".join(words.lower().split())
    named = [_fitting(wanted, words, scene) for wanted in _mentions(text)]
    tokens = frozenset(re.findall(r"\w+", _MENTION.sub("", text)))
    if not named or len(named) > 2:
        raise ProgramError(f"names {len(named)} objects: {words!r}", hint="Name one object, or two that meet")
    if tokens & _STATE:
        return [Moment(number) for number in named[0]]
    if len(named) == 2:
        return _meetings(named[0], named[1], scene)
    moments = [_alone(number, tokens, words, scene) for number in named[0]]
    if len(moments) > 1:
        moments = [moment for moment in moments if moment.event]
    return moments or [Moment(named[0][0], happens=False)]


def _mentions(text: str) -> list[Mapping[str, str]]:
    mentions = []
    for match in _MENTION.finditer(text):
        adjectives = (match[1] or match[3] or "").split()
        wanted = {
            name: table[word]
            for word in adjectives
            for name, table in (("color", _COLORS), ("material", _MATERIALS))
            if word in table
        }
        if shape := _NOUNS.get(match[2] or "", ""):
            wanted["shape"] = shape
        mentions.append(wanted)
    return mentions


def _fitting(wanted: Mapping[str, str], words: str, scene: Scene) -> list[int]:
    """The objects that fit a description; if none does, the only one that fits without an attribute of it."""
    less = [{n: v for n, v in wanted.items() if n != omitted} for omitted in ("color", "material", "shape")]
    for tried in (wanted, *(fewer for fewer in less if fewer and len(fewer) < len(wanted))):
        fitting = [
            number
            for number, thing in scene.objects.items()
            if all(getattr(thing, name) == value for name, value in tried.items())
        ]
        if len(fitting) == 1 or (fitting and tried is wanted):
            return fitting
    raise ProgramError(
        f"{' '.join(wanted.values())} fits no object: {words!r}", hint="Describe an object of the scene"
    )


def _meetings(first: Sequence[int], second: Sequence[int], scene: Scene) -> list[Moment]:
    """The first collision of each fitting pair that collides."""
    pairs = {frozenset((a, b)): a for a in first for b in second if a != b}
    meetings: dict[frozenset[int], Moment] = {}
    for event in scene.events:
        if event.kind == "Collision" and event.objects in pairs:
            meetings.setdefault(event.objects, Moment(pairs[event.objects], event))
    return list(meetings.values()) or [Moment(first[0], happens=False)]


def _alone(number: int, tokens: frozenset[str], words: str, scene: Scene) -> Moment:
    """The moment that a wording about one object means, by rules 4a to 4f of this module in their order."""
    own = [event for event in scene.events if number in event.objects]
    entry = next((event for event in own if event.kind == "Entry"), None)
    hits = [event for event in own if event.kind == "Collision"]
    if tokens & _STOP:
        return _first(number, hits[::-1], outcome=True)
    if tokens & _EXIT:
        return _first(number, [event for event in own if event.kind == "Exit"])
    if tokens & _TOUCH:
        return _first(number, hits)
    if tokens & _STRUCK and not tokens & {"came", "comes"}:
        return _first(number, hits, outcome=True)
    if tokens & _ENTRY or "from" in tokens or (tokens & _MOVE and entry):
        # Without an entry the object was there from the beginning: its presence counts, and happens.
        return Moment(number, entry)
    if tokens & _MOVE:
        return _first(number, hits, outcome=True)
    raise ProgramError(
        f"no rule reads {words!r}", hint="Say that it enters, leaves, moves, stops, or whom it hits"
    )


def _first(number: int, events: Sequence[SceneEvent], *, outcome: bool = False) -> Moment:
    """A moment of the first of the events; without events, it does not happen."""
    return Moment(number, events[0], outcome) if events else Moment(number, happens=False)


def responsible(cause: Moment, effect: Moment, scene: Scene, parameters: Parameters) -> bool:
    """Tell whether one moment is responsible for another, by rules 6 to 8 of this module.

    A moment without an event has no cause: presence from the start, or an event that did not happen.

    Args:
        parameters: the reference frame of the ancestor closure, the engine and the horizon of forks.
    """
    if effect.event is None or not cause.happens:
        return False
    parts = cause.event.objects if cause.event else frozenset({cause.object})
    # The objects that a fork can remove and leave the collision's own
    others = parts - effect.event.objects
    if not others or not scene.poses or effect.event.kind != "Collision":
        return by_chain(cause, effect, scene, parameters.explanatory.reference_frame)
    earlier = cause.event is None or (cause.event.frame or 0) <= (effect.event.frame or 0)
    configuration = Counterfactual("simulated", parameters.counterfactual.horizon)
    return earlier and any(
        not judge(scene, effect.event, number, configuration, parameters.engine).occurs for number in others
    )


def by_chain(cause: Moment, effect: Moment, scene: Scene, variant: str) -> bool:
    """Tell whether a moment that happens is an ancestor of another moment's event.

    Args:
        variant: the reference frame of the ancestor closure.
    """
    if effect.event is None:
        return False
    ancestry = scene.ancestry(variant)[effect.event.iri]
    if cause.event is None:
        return cause.object in ancestry.objects
    if cause.event.iri == effect.event.iri:
        return effect.outcome and not cause.outcome
    return cause.event.iri in ancestry.events
