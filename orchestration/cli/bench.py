"""Speed, measured as a ratio in one run: evaluating scenes beside only parsing the same files."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import msgspec

from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import (
    Annotation,
    SceneQuestions,
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

_ROUNDS = 5


class Figure(msgspec.Struct, frozen=True):
    """Evaluating against parsing on a number of cores: medians in ms a scene, and their ratio."""

    cores: int
    scenes: int
    questions: int
    parse_ms: float
    evaluate_ms: float
    ratio: float

    def __str__(self) -> str:
        cores = f"{self.cores} core{'s' * (self.cores > 1)}"
        evaluate = f"evaluate {self.evaluate_ms:.2f} ms ({self.questions / self.scenes:.1f} questions)"
        return f"{cores}, a scene: parse {self.parse_ms:.2f} ms, {evaluate}: {self.ratio:.2f} x"


def bench_clevrer(scenes: int) -> list[Figure]:
    """Annotation files ► rows, beside only parsing the same files with msgspec; on one core and on two.

    Args:
        scenes: how many generated scenes.
    """
    with tempfile.TemporaryDirectory(prefix="substrate-bench-") as folder:
        made = min(scenes, 50)
        write_release(Path(folder), (encode_scene(scene_files(10000 + n, 1)) for n in range(made)))
        names = list(annotation_names(Path(folder) / "annotation.zip").items())
        data = [
            source
            for _, source in zip(
                names, annotation_sources(Path(folder) / "annotation.zip", [n for _, n in names]), strict=True
            )
        ]
        asked = read_questions(Path(folder) / "questions.json")
    work = [(scene, source, asked[scene]) for (scene, _), source in zip(names, data, strict=True)]
    work = [work[i % made] for i in range(scenes)]
    questions = sum(len(record.questions) for _, _, record in work)
    figures = []
    for cores in (1, 2):
        shares = [work[i::cores] for i in range(cores)]
        with ProcessPoolExecutor(cores) as pool:
            times: dict[str, list[float]] = {"parse": [], "evaluate": []}
            for _ in range(_ROUNDS):
                for name, run in (("parse", _parse), ("evaluate", _evaluate)):
                    times[name].append(max(pool.map(partial(_timed, run), shares)) / scenes * 1000)
        parse, evaluate = median(times["parse"]), median(times["evaluate"])
        figures.append(Figure(cores, scenes, questions, parse, evaluate, evaluate / parse))
    return figures


Work = list[tuple[int, tuple[str, bytes], SceneQuestions]]


def _timed(run: Callable[[Work], None], work: Work) -> float:
    start = time.perf_counter()
    run(work)
    return time.perf_counter() - start


def _parse(work: Work) -> None:
    decoder = msgspec.json.Decoder(Annotation)
    for _, (_, data), _ in work:
        decoder.decode(data)


def _evaluate(work: Work) -> None:
    parameters = Parameters()
    for scene, source, asked in work:
        for row in answer_scene(
            annotation_log(decode_annotation(source)), scene, asked.questions, parameters, "bench"
        ):
            encode(row)


BENCHES: dict[str, Callable[[int], list[Figure]]] = {"clevrer": bench_clevrer}
"""Benchmarks by name."""
