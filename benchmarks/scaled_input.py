"""Input of any size for `scale.py` that costs nothing to make, given to the platform as a user's own files.

`again` repeats the scenes of a generated release of CLEVRER under new numbers. `tiny` has event records with
one object and a question each; their log has one delta, and their answer is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
from pyoxigraph import NamedNode

from orchestration.benchmarks.benchmark import Case, Interpreted, NamedLog
from orchestration.benchmarks.clevrer import CLEVRER
from substrate import Delta, EventLog, Op
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.rows import Row
from substrate.generators.layout import QUESTIONS, encode_scene, write_release

FIRST_SCENE = 10000
"""The number of the first scene that is given."""


def write_again(folder: Path, release: Path, count: int) -> dict[str, Path]:
    """Write a number of scenes, which repeat those of a release; return the files by their setting."""
    write_release(folder, _scenes_again(release, count))
    return {"annotations": folder / "annotation.zip", "questions": folder / "questions.json"}


def _scenes_again(release: Path, count: int) -> Iterator[bytes]:
    questions = msgspec.json.decode((release / "questions.json").read_bytes(), type=list[msgspec.Raw])
    with ZipFile(release / "annotation.zip") as archive:
        members = archive.namelist()
        for place in range(count):
            member = members[place % len(members)]
            number, old_number = FIRST_SCENE + place, member.removesuffix(".json")[-5:].encode()
            # A record begins with its scene's number and the name of its video.
            record, scene_questions = (
                msgspec.Raw(before.replace(old_number, b"%05d" % number, 2))
                for before in (archive.read(member), bytes(questions[place % len(members)]))
            )
            yield encode_scene(
                {f"annotation/annotation_{number:05d}.json": record, QUESTIONS: scene_questions}
            )


def write_tiny(folder: Path, count: int) -> dict[str, Path]:
    """Write a number of tiny records, and a question about each; return the files by their setting."""
    events, questions = folder / "events.jsonl", folder / "questions.json"
    thing = {"color": "red", "material": "metal", "shape": "cube", "id": 0}
    still = {"n_frames": 1, "objects": [thing], "in_outs": [], "collisions": []}
    question = {"question_id": 0, "question": "How many?", "question_type": "descriptive"}
    question |= {"program": ["objects", "count"], "answer": "1"}
    with events.open("wb") as event_file, questions.open("wb") as question_file:
        for place in range(count):
            number = {"scene_index": FIRST_SCENE + place}
            event_file.write(msgspec.json.encode(number | still) + b"\n")
            question_file.write(b"," if place else b"[")
            question_file.write(msgspec.json.encode(number | {"questions": [question]}))
        question_file.write(b"]")
    return {"events": events, "questions": questions}


def _tiny_log(case: Case, _: Any = None) -> list[NamedLog]:
    """A log of one delta."""
    log, scene = EventLog(), NamedNode(f"urn:tiny:{case.scene}")
    log.append(Delta(tick=0, op=Op.INSERT, triple=(scene, scene, scene)))
    return [NamedLog(f"{case.scene:05d}", log)]


def _tiny_rows(case: Case, logs: Sequence[EventLog], _: Any, split: str) -> Iterator[Row]:
    """A row a question, each with the answer that the question has."""
    for question in msgspec.json.decode(case.questions, type=SceneQuestions).questions:
        about = {"benchmark": "clevrer", "split": split, "subset": "descriptive", "scene": case.scene}
        answer = {"predicted": "1", "expected": question.answer, "correct": True, "log": logs[0].digest}
        yield Row(**about, question=question.question_id, **answer)


TINY: Interpreted = replace(CLEVRER, logger=replace(CLEVRER.logger, logs=_tiny_log), rows=_tiny_rows)
"""CLEVRER's benchmark with a log and answers that take no time: the rest is the platform's own cost."""
