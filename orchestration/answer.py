"""A user's own files ► rows, with the pipeline's interpreters and without the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from orchestration.clevrer import require_scenes
from orchestration.files import replacing
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.format import annotation_names, annotation_sources, decode_annotation, read_questions, read_scene_events
from substrate.domains.clevrer.interpreter import answer_scene
from substrate.domains.clevrer.parameters import Parameters
from substrate.errors import ParameterError
from substrate.log import EventLog
from substrate.rows import Row, encode


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
            parts.append(f"{self.choices_correct} of {self.choices_graded} choices correct ({self.choices_correct / self.choices_graded:.2%})")
        if self.graded < self.questions:
            parts.append(f"{self.questions - self.graded} without gold")
        if self.errors:
            parts.append(f"{self.errors} could not run")
        return ", ".join(parts)


def clevrer_logs(annotations: Path | None, events: Path | None) -> tuple[Path, list[int], Callable[[Iterable[int]], Iterator[tuple[int, EventLog]]]]:
    """Where the scenes come from, which there are, and their logs on demand.

    Raises:
        ParameterError: not exactly one of the two inputs is given.
        FormatError: the input breaks its format.
    """
    if (annotations is None) == (events is None):
        raise ParameterError("give either --annotations or --events", hint="--annotations takes a folder or zip, --events a JSON-lines file")
    if events is not None:
        scenes = read_scene_events(events)
        return events, list(scenes), lambda wanted: ((scene, events_log(scenes[scene])) for scene in wanted)
    assert annotations is not None
    names = annotation_names(annotations)

    def logs(wanted: Iterable[int]) -> Iterator[tuple[int, EventLog]]:
        wanted = list(wanted)
        for scene, source in zip(wanted, annotation_sources(annotations, [names[s] for s in wanted]), strict=True):
            yield scene, annotation_log(decode_annotation(source))

    return annotations, list(names), logs


def answer_clevrer(
    annotations: Path | None, events: Path | None, questions: Path, out: Path, parameters: Parameters, advance: Callable[[int, int], None] = lambda done, total: None
) -> Tally:
    """Answer a question file and write its rows; nothing is written where an input is refused.

    Args:
        advance: called with the scenes done and their number.
    """
    input_, there, logs = clevrer_logs(annotations, events)
    asked = read_questions(questions)
    wanted = require_scenes((scene for scene, record in asked.items() if record.questions), there, questions, input_)
    split = questions.name.partition(".")[0]
    tally = Tally()
    with replacing(out) as fresh, fresh.open("wb") as file:
        for done, (scene, log) in enumerate(logs(wanted), start=1):
            for row in answer_scene(log, scene, asked[scene].questions, parameters, split):
                tally.count(row)
                file.write(encode(row) + b"\n")
            advance(done, len(wanted))
    return tally
