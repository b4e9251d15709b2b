"""A world as `substrate generate` and a pipeline see it: its scenes, one as bytes, all of them as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class FromTruth(Protocol):
    """The questions of a file of true events: the scenes they are about, and what makes those of one."""

    numbers: Sequence[int]

    def make(self, scene: int) -> bytes:
        """The record of a scene's questions."""
        ...

    def describe(self, out: Path) -> None:
        """Write a datasheet of what was made."""
        ...


@dataclass(frozen=True, kw_only=True)
class World:
    """Generated data in an official format, with gold of the world's own.

    Attributes:
        numbers: the scenes that some data ask for; ``data`` has the count by the name that :attr:`counted`
            gives it, and ``first_scene`` where :attr:`first` does.
        make: a scene of a number and a seed, with its gold, as bytes; runs in workers.
        write: writes scenes, given in order, to a folder in the official layout.
        counted: what its scenes are called, and how many are made unless told.
        unit: what is counted, in words.
        about: what is generated.
        first: the number of the first scene, where scenes have numbers.
        needs: what it runs on, such as ``bullet``.
        from_truth: makes questions of a file of true events and a seed; ``None`` where it makes none.
    """

    numbers: Callable[[Any], Sequence[int]]
    make: Callable[[int, int, Any], bytes]
    write: Callable[[Path, Iterable[bytes], int], object]
    counted: tuple[str, int] = ("scenes", 100)
    unit: str = "scenes"
    about: str
    first: int | None = None
    needs: tuple[str, ...] = ()
    from_truth: Callable[[Path, int], FromTruth] | None = None
