"""A user's own files ► rows, with the pipeline's interpreters and without the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from orchestration.benchmarks import babi, gqa
from orchestration.benchmarks.clevrer import require_scenes
from orchestration.files import replacing
from substrate.domains.babi.format import read_tasks
from substrate.domains.babi.interpreter import answer_story
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.format import (
    annotation_names,
    annotation_sources,
    decode_annotation,
    read_questions,
    read_scene_events,
)
from substrate.domains.clevrer.humans import answer_humans, read_human_questions
from substrate.domains.clevrer.interpreter import answer_scene
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.comphy import format as comphy_format
from substrate.domains.comphy.deltas import target_log
from substrate.domains.comphy.format import target_names
from substrate.domains.comphy.interpreter import answer_target
from substrate.domains.comphy.parameters import Parameters as ComphyParameters
from substrate.domains.gqa import format as gqa_format
from substrate.domains.gqa.format import read_scene_graphs
from substrate.domains.gqa.scene import Scene as GqaScene
from substrate.domains.smallville.format import read_gold, read_specs
from substrate.domains.smallville.twin import answer_spec
from substrate.errors import ParameterError
from substrate.log import EventLog
from substrate.rows import Row, encode

Advance = Callable[[int, int], None]
"""Called with the scenes done and their number."""


def _quiet(done: int, total: int) -> None:
    """Nobody watches."""


class Tally(msgspec.Struct):
    """What came out: rows and choices, how many have gold and agree with it, how many could not run."""

    questions: int = 0
    graded: int = 0
    correct: int = 0
    choices: int = 0
    choices_graded: int = 0
    choices_correct: int = 0
    errors: int = 0
    first_error: str = ""

    def count(self, row: Row) -> None:
        """Take a row in."""
        self.questions += 1
        if row.correct is not None:
            self.graded += 1
            self.correct += row.correct
        for choice in row.choices or ():
            self.choices += 1
            if choice.expected is not None:
                self.choices_graded += 1
                self.choices_correct += choice.predicted == choice.expected
        if row.error:
            self.errors += 1
            self.first_error = self.first_error or f"scene {row.scene}: question {row.question}: {row.error}"

    def line(self) -> str:
        """The one line a command closes with."""
        parts = [f"{self.questions} questions"]
        if self.graded:
            parts.append(f"{self.correct} of {self.graded} correct ({self.correct / self.graded:.2%})")
        if self.choices_graded:
            parts.append(
                f"{self.choices_correct} of {self.choices_graded} choices correct ({self.choices_correct / self.choices_graded:.2%})"
            )
        if self.graded < self.questions:
            parts.append(f"{self.questions - self.graded} without gold")
        if self.errors:
            parts.append(f"{self.errors} could not run")
        return ", ".join(parts)


def clevrer_logs(
    annotations: Path | None, events: Path | None
) -> tuple[Path, list[int], Callable[[Iterable[int]], Iterator[tuple[int, EventLog]]]]:
    """Where the scenes come from, which there are, and their logs on demand.

    Raises:
        ParameterError: not exactly one of the two inputs is given.
        FormatError: the input breaks its format.
    """
    if (annotations is None) == (events is None):
        raise ParameterError(
            "give either --annotations or --events",
            hint="--annotations takes a folder or zip, --events a JSON-lines file",
        )
    if events is not None:
        scenes = read_scene_events(events)
        return events, list(scenes), lambda wanted: ((scene, events_log(scenes[scene])) for scene in wanted)
    assert annotations is not None
    names = annotation_names(annotations)

    def logs(wanted: Iterable[int]) -> Iterator[tuple[int, EventLog]]:
        wanted = list(wanted)
        for scene, source in zip(
            wanted, annotation_sources(annotations, [names[s] for s in wanted]), strict=True
        ):
            yield scene, annotation_log(decode_annotation(source))

    return annotations, list(names), logs


def write_rows(rows: Iterable[Row], out: Path) -> Tally:
    """Write rows to a file, which appears only when all of them are there."""
    tally = Tally()
    with replacing(out) as fresh, fresh.open("wb") as file:
        for row in rows:
            tally.count(row)
            file.write(encode(row) + b"\n")
    return tally


def answer_clevrer(
    annotations: Path | None,
    events: Path | None,
    questions: Path,
    out: Path,
    parameters: Parameters,
    advance: Advance = _quiet,
) -> Tally:
    """Answer a question file and write its rows; nothing is written where an input is refused."""
    input_, there, logs = clevrer_logs(annotations, events)
    asked = read_questions(questions)
    wanted = require_scenes(
        (scene for scene, record in asked.items() if record.questions), there, questions, input_
    )
    split = questions.name.partition(".")[0]

    def rows() -> Iterator[Row]:
        for done, (scene, log) in enumerate(logs(wanted), start=1):
            yield from answer_scene(log, scene, asked[scene].questions, parameters, split)
            advance(done, len(wanted))

    return write_rows(rows(), out)


def answer_babi(tasks: Path, out: Path, advance: Advance = _quiet) -> Tally:
    """Answer every task of a folder; the split of a row is its file's."""
    stories = babi.stories_by_scene(read_tasks(tasks))

    def rows() -> Iterator[Row]:
        for done, told in enumerate(stories.values(), start=1):
            yield from babi.sorted_rows(row for story in told for row in answer_story(story))
            advance(done, len(stories))

    return write_rows(rows(), out)


def answer_gqa(scene_graphs: Path, questions: Path, out: Path, advance: Advance = _quiet) -> Tally:
    """Answer a question file on its scene graphs: two rows a question, objects resolved by name and by id."""
    graphs, asked = read_scene_graphs(scene_graphs), gqa_format.read_questions(questions)
    gqa_format.require_scenes(asked, graphs)
    split = questions.name.partition(".")[0]

    def rows() -> Iterator[Row]:
        for done, (image, of_image) in enumerate(asked.items(), start=1):
            yield from gqa.rows(image, GqaScene.of(image, graphs[image]), of_image, split)
            advance(done, len(asked))

    return write_rows(rows(), out)


def answer_comphy(
    annotations: Path, questions: Path, out: Path, parameters: ComphyParameters, advance: Advance = _quiet
) -> Tally:
    """Answer a question file on targets and their reference videos."""
    names, asked = target_names(annotations), comphy_format.read_questions(questions)
    wanted = require_scenes(
        (target for target, record in asked.items() if record.questions), names, questions, annotations
    )
    split = questions.name.partition(".")[0]

    def rows() -> Iterator[Row]:
        for done, number in enumerate(wanted, start=1):
            log = target_log(
                comphy_format.read_target(annotations, number, names[number]),
                infer_properties=parameters.infer_properties,
            )
            yield from answer_target(log, number, asked[number].questions, parameters, split)
            advance(done, len(wanted))

    return write_rows(rows(), out)


def answer_clevrer_humans(
    annotations: Path | None,
    events: Path | None,
    questions: Path,
    out: Path,
    parameters: Parameters,
    advance: Advance = _quiet,
) -> Tally:
    """Answer people's causal questions on annotations or event files."""
    input_, there, logs = clevrer_logs(annotations, events)
    asked = read_human_questions(questions)
    wanted = require_scenes(asked, there, questions, input_)

    def rows() -> Iterator[Row]:
        for done, (scene, log) in enumerate(logs(wanted), start=1):
            yield from answer_humans(log, scene, asked[scene], parameters, questions.name.partition(".")[0])
            advance(done, len(wanted))

    return write_rows(rows(), out)


def answer_twin(specs: Path, out: Path, advance: Advance = _quiet) -> Tally:
    """Answer a file of twin specifications: a row for each arm, by number; the gold is set beside the answers
    where the file has it.
    """
    asked, gold = sorted(read_specs(specs), key=lambda spec: spec.spec), read_gold(specs)

    def rows() -> Iterator[Row]:
        for done, spec in enumerate(asked, start=1):
            yield from answer_spec(spec, gold[spec.spec])
            advance(done, len(asked))

    return write_rows(rows(), out)
