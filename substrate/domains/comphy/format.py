"""ComPhy's file formats: a target video, its four reference videos, and questions.

These facts come from the public description of the release (Chen et al., ComPhy, ICLR 2022) and its authors'
code. An example is one target video of about five seconds and four reference videos of about two. Colour,
material and shape identify an object; an object of a reference video is the target's with the same look.
Masses are 1 (light) and 5 (heavy), charges -1, 0 and 1. Files are named by ``NNNNN`` for the target and
``NNNNN_R`` for reference R = 0 to 3. A question record has ``scene_index``, ``video_filename`` and
``questions``, each with ``program`` and ``answer`` or ``choices``. An answer of two values joins them with
``and``, in either order. The words of a changed property are ``counterfact_lighter``,
``counterfact_heavier``, ``counterfact_uncharged`` and ``counterfact_opposite``.

These are assumptions, since the release itself could not be read: annotations are CLEVRER's, in folders
``target`` and ``reference``; choices are written as CLEVRER's; left, right, up and down are directions on the
ground, with up away from the camera. Other fields of a record, such as a mass or charge, are never read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import force_setattr

from substrate.base.errors import FormatError
from substrate.base.inputs import Source, Whole
from substrate.base.numbered import by_numbers, sources_in
from substrate.base.records import Records
from substrate.domains.clevrer.checks import check_questions
from substrate.domains.clevrer.format import (
    MOVING_SPEED,
    Annotation,
    Choice,
    ObjectProperty,
    decode_annotation,
    read_by_scene,
    with_programs,
)
from substrate.domains.comphy.questions import GRAMMAR

REFERENCES = 4
MASSES = (1, 5)
CHANGES = ("counterfact_lighter", "counterfact_heavier", "counterfact_uncharged", "counterfact_opposite")
DIRECTIONS = ("left", "right", "up", "down")
SUBSETS = ("factual", "predictive", "counterfactual")
HALF_RANGE = 20.0
"""Degrees to either side of a direction that count as it, as in the authors' executor; between two
directions a velocity has none.
"""

Subset = Literal["factual", "predictive", "counterfactual"]
Look = tuple[str, str, str]
"""Colour, material and shape, which identify an object within a video and across videos."""


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question with its postfix program; factual questions have ``answer``, others ``choices``.

    If a record lacks the program, :class:`TargetQuestions` reads it from the words.
    """

    question_id: Whole
    question: str
    program: list[str] = []
    question_type: str = ""
    question_family: str = ""
    answer: str | None = None
    choices: list[Choice] | None = None

    @property
    def subset(self) -> Subset:
        """The subset by the program, since the record's own label differs between releases."""
        if not self.choices:
            return "factual"
        return "counterfactual" if any("counterfact" in token for token in self.program) else "predictive"


class TargetQuestions(msgspec.Struct, frozen=True):
    """All questions about one target video, as :class:`~substrate.domains.clevrer.format.SceneQuestions`."""

    scene_index: Whole
    questions: list[Question]
    video_filename: str = ""

    def __post_init__(self) -> None:
        """Give each question its program."""
        questions = [
            with_programs(GRAMMAR, self.scene_index, q, "multiple" if q.choices else "factual")
            for q in self.questions
        ]
        force_setattr(self, "questions", questions)


class Target(NamedTuple):
    """The visible part of an example: the annotations of the target video and of its reference videos."""

    scene: int
    annotation: Annotation
    references: tuple[Annotation, ...]


class TargetNames(NamedTuple):
    """File or zip-member names of an example's annotations."""

    target: str
    references: tuple[str, ...]


def appearance(thing: ObjectProperty) -> Look:
    """An object's look: colour, material and shape.

    >>> appearance(ObjectProperty(3, "red", "metal", "cube"))
    ('red', 'metal', 'cube')
    """
    return thing.color, thing.material, thing.shape


def direction(vx: float, vy: float) -> str | None:
    """The direction of a ground velocity (units/s) as the camera shows it.

    ``None`` at rest and between two directions.

    >>> direction(0.0, 1.0), direction(-2.0, 0.3), direction(1.0, 1.0), direction(0.0, 0.001)
    ('right', 'up', None, None)
    """
    if math.hypot(vx, vy) <= MOVING_SPEED:
        return None
    half = math.cos(math.radians(HALF_RANGE)) * math.hypot(vx, vy)
    ways = {"left": -vy, "right": vy, "up": -vx, "down": vx}
    return next((way for way in DIRECTIONS if ways[way] > half), None)


def same_answer(predicted: str, expected: str) -> bool:
    """Tell whether two answers are the same; a pair's order does not matter.

    >>> same_answer("red and blue", "blue and red"), same_answer("red", "blue")
    (True, False)
    """
    return sorted(predicted.split(" and ")) == sorted(expected.split(" and "))


def target_names(where: Path) -> dict[int, TargetNames]:
    """The annotations under a folder or in a zip, by target.

    Raises:
        FormatError: it cannot be read, has no annotation or one twice, or an example lacks one of its videos.
    """
    by_scene: dict[int, dict[int, str]] = {}
    files = "target and reference annotations"
    for (scene, *video), name in by_numbers(where, "annotation", "video", files, parts=2).items():
        by_scene.setdefault(scene, {})[video[0] if video else -1] = name
    for scene, videos in by_scene.items():
        for video in range(-1, REFERENCES):
            if video not in videos:
                lacking = f"annotation_{scene:05d}" + (f"_{video}" if video >= 0 else "") + ".json"
                hint = "An example is one target and four reference videos"
                raise FormatError(f"scene {scene} lacks {lacking}", where=(where,), hint=hint)
    return {
        scene: TargetNames(videos[-1], tuple(videos[video] for video in range(REFERENCES)))
        for scene, videos in by_scene.items()
    }


def read_target(where: Path, scene: int, names: TargetNames) -> Target:
    """Read and check an example: CLEVRER's rules for every annotation, and no two objects that look alike.

    Raises:
        FormatError: as CLEVRER's; the message names file and path.
    """
    return decode_target(scene, list(sources_in(where, [names.target, *names.references])))


def decode_target(scene: int, sources: Iterable[Source]) -> Target:
    """Decode an example from its annotations' names and bytes, the target's first.

    Errors are as for :func:`read_target`.
    """
    target, *references = (_checked(source, scene) for source in sources)
    return Target(scene, target, tuple(references))


def _checked(source: tuple[str, bytes], scene: int) -> Annotation:
    annotation = decode_annotation(source)
    if annotation.scene_index != scene:
        raise FormatError(
            f"scene_index is {annotation.scene_index}",
            where=(source[0], "$.scene_index"),
            hint=f"The file's name says {scene}",
        )
    looks = [appearance(thing) for thing in annotation.object_property]
    for index, features in enumerate(looks):
        if features in looks[:index]:
            raise FormatError(
                f"a second {' '.join(features)}",
                where=(source[0], f"$.object_property[{index}]"),
                hint="Give each object a look of its own",
            )
    return annotation


def read_questions(path: Path) -> Records[int, TargetQuestions]:
    """Read and check a question file, a list or JSON lines of the same records, by target.

    Raises:
        FormatError: the file breaks the format, a target or question number occurs twice, a question
            has both answer and choices, or the file has no question.
    """
    hint = "A question has one or the other"
    return read_by_scene(path, TargetQuestions, partial(check_questions, own=_misfit, hint=hint))


def _misfit(question: Question) -> str:
    return "has an answer and choices" if question.choices and question.answer is not None else ""
