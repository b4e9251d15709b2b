"""CLEVRER's file formats: annotations, compact event files, questions.

The interpreter and the world generator share only these types. Record shapes and quirks follow the official
release (Yi et al., CLEVRER, ICLR 2020). Lengths are in scene units, velocities in scene units per second; a
frame is :data:`SECONDS_PER_FRAME` of motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import msgspec
from msgspec.structs import force_setattr, replace

from substrate.base.errors import FormatError
from substrate.base.inputs import Measure, Source, Whole, decode
from substrate.base.numbered import numbered
from substrate.base.records import Index, Records, Text, listed
from substrate.domains.clevrer import checks
from substrate.domains.clevrer.checks import Sampled as Sampled
from substrate.domains.clevrer.checks import check_events as check_events
from substrate.domains.clevrer.checks import tracks as tracks
from substrate.domains.clevrer.grammar import Grammar
from substrate.domains.clevrer.questions import COLORS as COLORS
from substrate.domains.clevrer.questions import GRAMMAR
from substrate.domains.clevrer.questions import MATERIALS as MATERIALS
from substrate.domains.clevrer.questions import SHAPES as SHAPES

FRAMES = 128
SECONDS_PER_FRAME = 0.028
RADIUS = 0.2  # of spheres and cylinders; half the edge of cubes
# The speed on the ground (units a second) above which an object moves; otherwise it is stationary.
#
# The way from this number to an answer:
#
# 1. `deltas.py`: `_filmed` compares an object's speed with it at each frame. `_flips` writes the changes
#    between the triples `motion moving` and `motion stationary`, and `moved true` at the first frame that
#    shows the object moving. For an events file with tracked positions, `Moving.motion` decides: the package
#    `research` compares speeds that it fits to the positions. Without positions there is no motion.
# 2. `scene.py`: `Scene.motion` reads `motion` at a frame, for the objects in view.
# 3. `program.py`: `_motion` makes the opcodes `filter_moving` and `filter_stationary`. With a frame
#    they ask `Scene.motion`; with `null`, they ask whether the object `moved` anywhere in the video.
#
# ComPhy compares with it too, before it tells the direction of an object.
MOVING_SPEED = 0.02
BEFORE, AFTER = 1, 2
"""A collision recorded at frame f exchanges its whole impulse from frame f - BEFORE to frame f + AFTER."""
RECORDED_AFTER = 51
"""Frames that CLEVRER's generator simulated after the video: two seconds at 128 frames in five seconds."""
SUBSETS = ("descriptive", "explanatory", "predictive", "counterfactual")

Color = Literal["gray", "red", "blue", "green", "brown", "yellow", "cyan", "purple"]
Material = Literal["metal", "rubber"]
Shape = Literal["cube", "sphere", "cylinder"]
Subset = Literal["descriptive", "explanatory", "predictive", "counterfactual"]
Vector = tuple[Measure, Measure, Measure]
Posed = tuple[int, float, float, float, float, float, float]
"""An object on the ground: frame; x, y (units); yaw (radians); vx, vy (units/s); spin (radians/s)."""


class ObjectProperty(msgspec.Struct, frozen=True):
    """An object of an annotation: its number in the scene and its three attributes."""

    object_id: Whole
    color: Color
    material: Material
    shape: Shape


class MotionState(msgspec.Struct, frozen=True):
    """The place and motion of an object at a frame (units, radians, units/s, radians/s)."""

    object_id: Whole
    location: Vector
    orientation: Vector
    velocity: Vector
    angular_velocity: Vector
    inside_camera_view: bool


class Frame(msgspec.Struct, frozen=True):
    """All objects at one frame of the video."""

    frame_id: Whole
    objects: list[MotionState]


class Collision(msgspec.Struct, frozen=True):
    """First contact of two objects."""

    object_ids: tuple[Whole, Whole]
    frame_id: Whole
    location: Vector


class Annotation(msgspec.Struct, frozen=True):
    """An official ``annotation_NNNNN.json``: one video of :data:`FRAMES` frames."""

    scene_index: Whole
    video_filename: str
    object_property: list[ObjectProperty]
    motion_trajectory: list[Frame]
    collision: list[Collision]


class CompactObject(msgspec.Struct, frozen=True):
    """An object of a compact event record."""

    color: Color
    material: Material
    shape: Shape
    id: Whole


class InOut(msgspec.Struct, frozen=True):
    """An object enters (``in``) or leaves (``out``) the camera's view; ``object`` may be a list of one."""

    frame: Whole
    object: Whole | list[Whole]
    type: Literal["in", "out"]


class CompactCollision(msgspec.Struct, frozen=True):
    """A collision of a compact event record."""

    object: tuple[Whole, Whole]
    frame: Whole


class SceneEvents(msgspec.Struct, frozen=True):
    """A compact event record, which is a line of an events file (``--events``): objects, entries and exits,
    collisions, and perhaps the objects' positions by frame.
    """

    scene_index: Whole
    n_frames: Whole
    objects: list[CompactObject]
    in_outs: list[InOut]
    collisions: list[CompactCollision]
    trajectory: dict[int, list[Sampled]] | None = None


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """An option of a multiple-choice question; ``answer`` is absent where there is no gold."""

    choice_id: Whole
    choice: str
    program: list[str] = []
    answer: Literal["correct", "wrong"] | None = None


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question with its postfix program; descriptive ones have ``answer``, the others ``choices``.

    :class:`SceneQuestions` reads a program that a record lacks from the words.
    """

    question_id: Whole
    question: str
    question_type: Subset
    program: list[str] = []
    question_subtype: str | None = None
    answer: str | None = None
    choices: list[Choice] | None = None


class SceneQuestions(msgspec.Struct, frozen=True):
    """All questions about one scene.

    A question or choice without a program gets one from its words, by CLEVRER's templates.

    Raises:
        ValueError: the words of a question or choice cannot be read.

    >>> asked = Question(0, "How many red objects are moving?", "descriptive")
    >>> SceneQuestions(7, [asked]).questions[0].program
    ['objects', 'red', 'filter_color', 'null', 'filter_moving', 'count']
    """

    scene_index: Whole
    questions: list[Question]
    video_filename: str = ""

    def __post_init__(self) -> None:
        """Give each question its program."""
        questions = [with_programs(GRAMMAR, self.scene_index, q, q.question_type) for q in self.questions]
        force_setattr(self, "questions", questions)


W = TypeVar("W", bound=msgspec.Struct)


def with_programs(grammar: Grammar, scene: int, question: W, kind: str) -> W:
    """The question with a program for itself and for each choice; a missing one is read from the words.

    Args:
        grammar: the language of the words.
        scene: the question's scene, for an error.
        kind: the rule of the grammar that reads the question; ``KIND_choice`` reads a choice.

    Raises:
        ValueError: words cannot be read; names them, the question and the scene.
    """
    worded: Any = question  # a Question, or one of a language that extends this one
    choices: list[Choice] = worded.choices or []
    if worded.program and all(choice.program for choice in choices):
        return question
    parts = [(kind, worded.question, worded.program, "")]
    parts += [(f"{kind}_choice", c.choice, c.program, f", choice {c.choice_id}") for c in choices]
    programs: list[list[str]] = []
    for rule, text, program, part in parts:
        try:
            programs.append(program or grammar.read(rule, text))
        except ValueError as error:
            raise ValueError(f"scene {scene}, question {worded.question_id}{part}: {error}") from None
    read = [replace(choice, program=program) for choice, program in zip(choices, programs[1:], strict=True)]
    return replace(question, program=programs[0], choices=read if choices else worded.choices)


_annotations = msgspec.json.Decoder(Annotation)
_scene_events = msgspec.json.Decoder(SceneEvents)


def annotation_names(where: Path) -> dict[int, str]:
    """Map each scene index to its annotation's file or zip member, in a folder or zip; raises the errors of
    :func:`~substrate.base.numbered.numbered`.
    """
    return numbered(where, "annotation", "scene", "official annotations")


def decode_annotation(source: Source) -> Annotation:
    """Decode and check an annotation: frames numbered from 0 without a gap, every object declared once.

    Raises:
        FormatError: the record breaks the format; the message names file, path and fault.
    """
    annotation = decode(_annotations, source[1], source[0], keys=count_keys)
    checks.check_annotation(source[0], annotation)
    return annotation


def count_keys(annotation: Any) -> int:
    """The number of keys in the JSON of an annotation, in which no key is optional.

    If the text has as many keys, it repeats none, and :func:`decode` needs no second pass to find repeats.
    """
    states = sum([len(frame.objects) for frame in annotation.motion_trajectory])
    return (
        len(Annotation.__struct_fields__)
        + len(ObjectProperty.__struct_fields__) * len(annotation.object_property)
        + len(Frame.__struct_fields__) * len(annotation.motion_trajectory)
        + len(MotionState.__struct_fields__) * states
        + len(Collision.__struct_fields__) * len(annotation.collision)
    )


def decode_scene_events(source: Source) -> SceneEvents:
    """Decode and check a line of a compact event file; raises the errors of :func:`decode_annotation`.

    Events may lie past ``n_frames``: two real records declare fewer frames than their events need.
    """
    scene = decode(_scene_events, source[1], source[0])
    declared = checks.declared_numbers(source[0], "$.objects", [o.id for o in scene.objects])
    if scene.n_frames < 1:
        where, hint = (source[0], "$.n_frames"), "A scene has at least one frame"
        raise FormatError(f"n_frames is {scene.n_frames}", where=where, hint=hint)
    in_outs = [(event.type, in_out_objects(event), event.frame) for event in scene.in_outs]
    check_events(source[0], "$.in_outs", in_outs, declared, math.inf)
    collisions = [("", event.object, event.frame) for event in scene.collisions]
    check_events(source[0], "$.collisions", collisions, declared, math.inf)
    checks.check_trajectory(source[0], sorted(declared), scene.trajectory or {})
    return scene


def in_out_objects(event: InOut) -> tuple[int, ...]:
    """The object of an in/out event as a tuple, from either notation."""
    return tuple(event.object) if isinstance(event.object, list) else (event.object,)


def read_scene_events(path: Path) -> dict[int, SceneEvents]:
    """Read a whole compact event file, by scene index."""
    index = index_scene_events(path)
    return dict(zip(index, map(decode_scene_events, event_sources(path, index, index)), strict=True))


def index_scene_events(
    path: Path, decoded: Callable[[Source], _Numbered] = decode_scene_events
) -> Index[int]:
    """Index the lines of a file, each about one scene, by scene; ``decoded`` decodes and checks a line."""
    text = Text(path)
    index = Index[int]()
    for number, span, line in text.lines():
        name = f"{path}:{number}"
        scene = decoded((name, line)).scene_index
        if scene in index:
            what, hint = f"scene {scene} occurs twice", "Give every scene one record"
            raise FormatError(what, where=(name,), hint=hint)
        index.add(scene, span, number)
    return index


def event_sources(path: Path, index: Index[int], scenes: Iterable[int]) -> Iterator[Source]:
    """Read the lines of some scenes in an indexed file, each with its name."""
    for scene in scenes:
        for number, raw in index.parts(scene).items():
            yield f"{path}:{number}", bytes(raw)


def read_questions(path: Path) -> Records[int, SceneQuestions]:
    """Index a question file (the official list, or JSON lines of its records) by scene; checks each record.

    Raises:
        FormatError: as :func:`decode`; also if a scene or a question number occurs twice, a
            multiple-choice question has no choices, or there is no question at all.
    """
    hint = "Only multiple-choice questions have choices"
    return read_by_scene(path, SceneQuestions, partial(checks.check_questions, own=_misfit, hint=hint))


class _Numbered(Protocol):
    @property
    def scene_index(self) -> int: ...


class _OfScene(_Numbered, Protocol):
    @property
    def questions(self) -> Sequence[object]: ...


Q = TypeVar("Q", bound=_OfScene)


def read_by_scene(path: Path, kind: type[Q], check: Callable[[str, Q], None]) -> Records[int, Q]:
    """Index the records of a question file by scene, without scenes that have no question.

    Args:
        kind: the type of a record.
        check: raises an error if a record is wrong; its first argument names the record's file or line.

    Raises:
        FormatError: as ``check``; a scene occurs twice, or there is no question at all.
    """
    decoder, text = msgspec.json.Decoder(kind), Text(path)
    index, empty = Index[int](), set[int]()
    for where, span, raw in listed(text):
        record = decode(decoder, raw, *where)
        scene = record.scene_index
        asks = bool(record.questions)
        # `add` gives false if the index has the scene already
        if scene in empty or (asks and not index.add(scene, span)) or (not asks and scene in index):
            hint = "Give every scene one record"
            raise FormatError(f"scene {scene} occurs twice", where=where[:1], hint=hint)
        if not asks:
            empty.add(scene)
        check(str(where[0]), record)
    if not index:
        raise FormatError("holds no question", where=(path,), hint="Give a file with at least one question")
    return Records(str(path), index, lambda _, __, raw: decoder.decode(raw))


def _misfit(question: Question) -> str:
    """The fault of a question whose kind and choices do not go together."""
    kind, choices = question.question_type, bool(question.choices)
    has = "has" if choices else "lacks"
    return f"a {kind} question {has} choices" if (kind == "descriptive") == choices else ""
