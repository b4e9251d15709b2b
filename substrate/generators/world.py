"""The interface of a world for `substrate generate` and a pipeline: its scenes as bytes and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class FromTruth(Protocol):
    """The questions about a file of true events: its scenes, and a maker of each scene's questions."""

    numbers: Sequence[int]

    def make(self, scene: int) -> bytes:
        """The record of a scene's questions."""
        ...

    def describe(self, out: Path) -> None:
        """Write a datasheet of the generated questions."""
        ...


@dataclass(frozen=True, kw_only=True)
class World:
    """Generated data in an official format, with gold from the world itself.

    Attributes:
        numbers: gives the scene numbers that the settings of a benchmark's data ask for (its section in a
            profile of params.yaml). The settings have the count under the name in :attr:`counted`, and
            ``first_scene`` if :attr:`first` is set.
        make: generates a scene from its number, a seed and these settings, with its gold, as bytes; runs in
            workers.
        write: writes scenes, given in order, and their seed to a folder in the official layout.
        counted: the parameter name for the number of scenes, and its default.
        unit: the counted unit, in words.
        about: a description of the generated data.
        first: the number of the first scene, if scenes have numbers.
        needs: the engines that it runs on, such as ``bullet``, for the UI.
        from_truth: makes questions from a file of true events and a seed; ``None`` if it makes none.
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
