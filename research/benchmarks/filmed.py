"""The official files about real videos that several benchmarks read, and the rows that these write.

`truths`, `foretold`, `agreement` and `met` share the table; the first three share the files, the choice of
videos, and rows whose options each have a predicted and an expected value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from orchestration.benchmarks import benchmark as bm
from orchestration.scoring.counting import RIGHT, Rows
from research.domains.foretold import UNSEEN
from research.domains.perception.calibrate import is_kept_out
from substrate.base.errors import ParameterError
from substrate.base.inputs import lines
from substrate.base.numbered import sources_in
from substrate.domains.clevrer import format
from substrate.domains.clevrer.trajectories import decode_trajectories
from substrate.domains.rows import ChoiceRow

EVERY = 20
"""The step of the scenes asked about; scenes with proposals that are kept out of every fit are added."""
TRACKED_STEP = 10
"""The last of this many tracked scenes is asked about: an odd one, since track errors were fitted to even.
"""
TABLE = bm.Table(
    name="truths",
    title="Real videos, and questions made out of their true events",
    about="What the true events of real videos allow to measure, each number with its trivial rivals.",
    layout="by number",
)


class FilmedData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Files about real videos: true events of one or two parts of the official data, proposals, tracks."""

    train: str | None = None
    test: str | None = None
    proposals: str | None = None
    tracks: str | None = None


INPUTS = {
    "train": ("train.jsonl",),
    "test": ("test.jsonl",),
    "proposals": ("proposals.zip", "proposals"),
    "tracks": ("tracks.jsonl",),
}
"""The names of these files in a dataset."""


def true_events(files: bm.Files, names: Iterable[str]) -> dict[int, tuple[str, bytes]]:
    """Source and record of each scene in the named files of true events, by number.

    Raises:
        ParameterError: none of the files is named.
    """
    records: dict[int, tuple[str, bytes]] = {}
    for path in (files[name] for name in names if name in files):
        index = format.index_scene_events(path)
        records |= zip(index, format.event_sources(path, index, index), strict=True)
    if not records:
        raise ParameterError("no true events are named", hint=f"Name a file of them as {' or '.join(names)}")
    return dict(sorted(records.items()))


def has_collision(record: tuple[str, bytes]) -> bool:
    """Tell whether anything collides in a scene."""
    return bool(format.decode_scene_events(record).collisions)


def sampled(scene: int, seen: bool) -> bool:
    """Tell whether a scene is asked about, given whether it has proposals."""
    return scene % EVERY == 0 or (seen and is_kept_out(scene))


def proposals_of(files: bm.Files, names: list[str]) -> Iterator[tuple[str, bytes]]:
    """Source and record of some videos' proposals."""
    return sources_in(files["proposals"], names) if names else iter(())


def tracks_of(files: bm.Files, every: int = TRACKED_STEP) -> dict[int, bytes]:
    """The line of the last of every ``every`` tracked scenes, by number.

    Raises:
        ParameterError: no tracks are named.
    """
    if "tracks" not in files:
        raise ParameterError("no tracks are named", hint="Name a file of them as tracks")
    tracks = {decode_trajectories(source).scene_index: source[1] for source in lines(files["tracks"])}
    return {scene: line for scene, line in sorted(tracks.items()) if scene % every == every - 1}


def compared_fields(verdicts: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The fields of a row, from each option's predicted and expected value.

    The row is right if each option is unseen or as expected.
    """
    choices = [ChoiceRow(place, *both) for place, both in enumerate(verdicts)]
    return {
        "predicted": ",".join(choice.predicted for choice in choices),
        "expected": ",".join(str(choice.expected) for choice in choices),
        "correct": all(choice.predicted in (UNSEEN, choice.expected) for choice in choices),
        "choices": choices,
    }


def kept_out(rows: Rows) -> tuple[int, int]:
    """The score of a row, in the videos that no weight of perception was fitted to."""
    return RIGHT.measure(rows) if is_kept_out(int(rows[0].scene)) else (0, 0)
