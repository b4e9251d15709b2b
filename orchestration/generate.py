"""Worlds written to a user's folder, without the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from substrate.worlds.clevrer import write_questions, write_scene


def generate_clevrer(out: Path, scenes: Sequence[int], seed: int, advance: Callable[[], None]) -> int:
    """Write scenes and their questions to a folder.

    Returns:
        How many questions there are.
    """
    records = []
    for scene in scenes:
        records.append(write_scene(out, scene, seed))
        advance()
    write_questions(out, records)
    return sum(len(record.questions) for record in records)
