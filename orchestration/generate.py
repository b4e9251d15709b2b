"""Worlds written to a user's folder, without the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from substrate.worlds import clevrer, comphy

Advance = Callable[[], None]
"""Called after each scene."""


def generate_clevrer(out: Path, scenes: Sequence[int], seed: int, advance: Advance) -> int:
    """Write CLEVRER scenes and their questions to a folder; says how many questions there are."""
    return _generate(out, scenes, seed, advance, clevrer.write_scene, clevrer.write_questions)


def generate_comphy(out: Path, targets: Sequence[int], seed: int, advance: Advance) -> int:
    """Write ComPhy targets, their reference videos and questions to a folder; says how many questions there are."""
    return _generate(out, targets, seed, advance, comphy.write_target, comphy.write_questions)


def _generate(out: Path, numbers: Sequence[int], seed: int, advance: Advance, write: Callable[[Path, int, int], Any], write_questions: Callable[[Path, list[Any]], Path]) -> int:
    records = []
    for number in numbers:
        records.append(write(out, number, seed))
        advance()
    write_questions(out, records)
    return sum(len(record.questions) for record in records)
