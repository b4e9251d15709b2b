"""Worlds written to a folder: a user's, or a dataset's share by share in Spark's workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from substrate.worlds import clevrer, comphy

Write = Callable[[Path, int, int], Any]
"""A world's function that writes the scene of a number and a seed under a folder, and gives its questions."""


@dataclass(frozen=True)
class Generate:
    """Scenes of a generated world: annotation and truth files; gives the scenes' questions."""

    write: Write
    out: Path
    seed: int

    def __call__(self, scenes: Sequence[int]) -> Iterator[str]:
        """The scenes' question records as JSON lines, in scene order."""
        for scene in scenes:
            yield msgspec.json.encode(self.write(self.out, scene, self.seed)).decode()


Advance = Callable[[], None]
"""Called after each scene."""


def generate_clevrer(out: Path, scenes: Sequence[int], seed: int, advance: Advance) -> int:
    """Write CLEVRER scenes and their questions to a folder; says how many questions there are."""
    return _generate(out, scenes, seed, advance, clevrer.write_scene, clevrer.write_questions)


def generate_comphy(out: Path, targets: Sequence[int], seed: int, advance: Advance) -> int:
    """Write ComPhy targets, their reference videos and questions to a folder; says how many questions there
    are.
    """
    return _generate(out, targets, seed, advance, comphy.write_target, comphy.write_questions)


def _generate(
    out: Path,
    numbers: Sequence[int],
    seed: int,
    advance: Advance,
    write: Write,
    write_questions: Callable[[Path, list[Any]], Path],
) -> int:
    records = []
    for number in numbers:
        records.append(write(out, number, seed))
        advance()
    write_questions(out, records)
    return sum(len(record.questions) for record in records)
