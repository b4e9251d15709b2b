"""CLEVRER: annotation files to rows beside only parsing the same files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from orchestration.cli.benches.measure import Bench, Pair
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import (
    Annotation,
    annotation_names,
    annotation_sources,
    decode_annotation,
    read_questions,
)
from substrate.domains.clevrer.interpreter import answer_scene
from substrate.domains.clevrer.parameters import Parameters
from substrate.rows import encode
from substrate.worlds.clevrer import scene_files
from substrate.worlds.layout import encode_scene, write_release

_MADE = 50
"""How many scenes are generated; more are the same again."""


@contextmanager
def scenes(size: int) -> Iterator[Pair]:
    """Evaluating scenes beside parsing them with msgspec, on one core."""
    with tempfile.TemporaryDirectory(prefix="substrate-bench-") as name:
        folder = Path(name)
        write_release(folder, (encode_scene(scene_files(10000 + n, 1)) for n in range(min(size, _MADE))))
        annotations = folder / "annotation.zip"
        names = annotation_names(annotations)
        sources = list(annotation_sources(annotations, list(names.values())))
        asked = read_questions(folder / "questions.json")
    work = [(scene, source, asked[scene]) for scene, source in zip(names, sources, strict=True)]
    work = [work[place % len(work)] for place in range(size)]
    parameters, decoder = Parameters(), msgspec.json.Decoder(Annotation)

    def evaluate() -> None:
        for scene, source, questions in work:
            log = annotation_log(decode_annotation(source))
            for row in answer_scene(log, scene, questions.questions, parameters, "bench"):
                encode(row)

    def parse() -> None:
        for _, (_, data), _ in work:
            decoder.decode(data)

    yield Pair(evaluate, parse)


CLEVRER = {"clevrer": Bench("annotations to rows", "only parsing", 3, (200,), scenes)}
"""Benches of CLEVRER by name."""
