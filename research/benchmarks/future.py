"""Collisions that a real video has yet to show, foretold from what came before: proposals, or tracks.

Nothing after a frame is read until what is foretold there stands in a log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import msgspec

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.scoring.counting import Metric, Rows
from research.benchmarks.perceived import PARAMETERS
from research.benchmarks.truths import EVERY, PROFILES, TABLE, sampled, true_events
from research.domains.foretelling.trajectories import decode_trajectories
from research.domains.foretold import (
    AT,
    CORRECT,
    LINE,
    UNSEEN,
    VOTE,
    compared,
    foretold,
    from_detections,
    from_tracks,
)
from research.domains.perception.calibrate import is_aside
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.parameters import Perception
from research.domains.perception.perceive import examined
from substrate.base.errors import ParameterError
from substrate.base.inputs import lines
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.format import decode_scene_events
from substrate.domains.rows import ChoiceRow, Row

NAME = "future"
DETECTIONS, TRACKS = "detections", "tracks"
TRACKED = 10
"""The last of so many tracked scenes is asked about: an odd one, to which no error of tracks was fitted."""
_WAYS = {VOTE: "", LINE: ".lines"}
"""What foretells, and what the names of its numbers end in."""
_SUBSETS = tuple(f"{medium}.{at}" for medium, at in product((DETECTIONS, TRACKS), AT))


class FutureData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Proposals or tracks of videos, or both, and the files of their true events."""

    train: str | None = None
    test: str | None = None
    proposals: str | None = None
    tracks: str | None = None


class _Given(msgspec.Struct, omit_defaults=True):
    """A case's record: the proposals of a video, its tracks, or both."""

    detections: msgspec.Raw = msgspec.Raw()
    tracks: msgspec.Raw = msgspec.Raw()


class _Numbered(msgspec.Struct):
    scene_index: int


_given = msgspec.json.Decoder(_Given)
_numbered = msgspec.json.Decoder(_Numbered)


def tracks_of(files: bm.Files) -> dict[int, bytes]:
    """The lines of the sampled tracked scenes, by number."""
    found = {_numbered.decode(line).scene_index: line for _, line in lines(files["tracks"])}
    return {scene: line for scene, line in sorted(found.items()) if scene % TRACKED == TRACKED - 1}


def cases(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """The sampled scenes that have proposals or tracks; their true events are what is asked.

    Raises:
        ParameterError: no true events are named, or neither proposals nor tracks.
    """
    truths = true_events(files, ("train", "test"))
    if not {"proposals", "tracks"} & files.keys():
        raise ParameterError("no motion is named", hint="Name a file of proposals, of tracks, or both")
    videos = proposal_names(files["proposals"]) if "proposals" in files else {}
    videos = {scene: name for scene, name in videos.items() if scene in truths and sampled(scene, seen=True)}
    tracked = {n: line for n, line in tracks_of(files).items() if n in truths} if "tracks" in files else {}
    scenes = bm.chosen(sorted(videos.keys() | tracked.keys()), only)

    def each() -> Iterator[bm.Case]:
        seen = (
            sources_in(files["proposals"], [videos[n] for n in scenes if n in videos]) if videos else iter(())
        )
        for scene in scenes:
            where, truth = truths[scene]
            source, proposed = next(seen) if scene in videos else (where, b"")
            record = _Given(msgspec.Raw(proposed), msgspec.Raw(tracked.get(scene, b"")))
            kept = {name: value for name, value in msgspec.structs.asdict(record).items() if bytes(value)}
            yield bm.Case(scene, source, msgspec.json.encode(kept), truth)

    return bm.Cases(len(scenes), each())


def logs(case: bm.Case, parameters: Perception) -> list[bm.NamedLog]:
    """A log of what is foretold for each way of seeing that a scene has, and each frame."""
    given, made = _given.decode(case.record), list[bm.NamedLog]()
    name = f"{case.scene:05d}"
    if bytes(given.detections):
        video = decode_proposals((case.source, bytes(given.detections)))
        for at in AT:
            seen = examined(video, case.source, until=at, camera=parameters.camera)
            made.append(bm.NamedLog(f"{name}/{DETECTIONS}.{at}", from_detections(seen)))
    if bytes(given.tracks):
        scene = decode_trajectories((case.source, bytes(given.tracks)))
        for at in AT:
            told = from_tracks(scene.scene_index, scene.objects, scene.trajectory, at)
            made.append(bm.NamedLog(f"{name}/{TRACKS}.{at}", told))
    return made


def rows(case: bm.Case, logs: bm.Logs, _: Any, split: str) -> Iterable[Row]:
    """A row for each log and each way to foretell: all pairs of the scene as options."""
    given, truth = _given.decode(case.record), decode_scene_events((case.source, case.questions))
    media = [medium for medium in (DETECTIONS, TRACKS) if bytes(getattr(given, medium))]
    found: list[Row] = []
    for (medium, at), log in zip(product(media, AT), logs, strict=True):
        told = foretold(log)
        for way, end in _WAYS.items():
            choices = compared(truth, at, told[way])
            said, came = ([getattr(one, key) for one in choices] for key in ("predicted", "expected"))
            subset = f"{medium}.{at}{end}"
            found.append(
                Row(
                    benchmark=NAME,
                    split=split,
                    subset=subset,
                    scene=case.scene,
                    question=subset,
                    predicted=",".join(said),
                    expected=",".join(came),
                    correct=all(one.predicted in (UNSEEN, one.expected) for one in choices),
                    choices=choices,
                    log=log.digest,
                )
            )
    yield from sorted(found, key=lambda row: str(row.question))


def _counts(choices: Iterable[ChoiceRow]) -> tuple[int, int, int]:
    """How many pairs were foretold and came, were foretold, and came."""
    said, came, both = 0, 0, 0
    for one in choices:
        said, came = said + (one.predicted == CORRECT), came + (one.expected == CORRECT)
        both += one.predicted == one.expected == CORRECT
    return both, said, came


def _seen(rows: Rows) -> Sequence[ChoiceRow]:
    return [one for one in rows[0].choices or () if one.predicted != UNSEEN]


def f1(rows: Rows) -> tuple[int, int]:
    """F1 as counts, of pairs that were seen: twice what was foretold and came, of both added up."""
    both, said, came = _counts(_seen(rows))
    return 2 * both, said + came


def f1_entrants(rows: Rows) -> tuple[int, int]:
    """The same, with the collisions of bodies that came into view later counted as missed."""
    both, said, came = _counts(rows[0].choices or ())
    return 2 * both, said + came


def f1_kept_out(rows: Rows) -> tuple[int, int]:
    """F1 in the videos that no weight of perception was fitted to."""
    return f1(rows) if is_aside(int(rows[0].scene)) else (0, 0)


def precision(rows: Rows) -> tuple[int, int]:
    """What came of what was foretold."""
    both, said, _ = _counts(_seen(rows))
    return both, said


def recall(rows: Rows) -> tuple[int, int]:
    """What was foretold of what came."""
    both, _, came = _counts(_seen(rows))
    return both, came


METRICS: dict[str, Callable[[Rows], tuple[int, int]]] = {
    "f1": f1,
    "f1_kept_out": f1_kept_out,
    "f1_entrants": f1_entrants,
    "precision": precision,
    "recall": recall,
}
SEEN_BEFORE = bm.Source(
    name=NAME,
    title="Collisions to come in real videos",
    about="Proposals and tracks of real videos, and their true events: the files a user has of them.",
    data=FutureData,
    inputs={
        "train": ("train.jsonl",),
        "test": ("test.jsonl",),
        "proposals": ("proposals.zip", "proposals"),
        "tracks": ("tracks.jsonl",),
    },
    cases=cases,
    official=bm.Release("train", "videos with true events"),
    note=f", every {EVERY}th video with proposals, each that is kept from every fit of perception, and every "
    f"{TRACKED}th tracked scene; nothing after frame {' or '.join(map(str, AT))} is read, who met before "
    "is inferred, and n of an F1 is what was foretold plus what came",
    profiles=PROFILES,
)
FUTURE = bm.Interpreted(
    name=NAME,
    title="Collisions to come in real videos",
    numbers=tuple(
        f"{NAME}/{subset}{end}/{metric}"
        for subset in _SUBSETS
        for end, metrics in (("", METRICS), (_WAYS[LINE], ("f1",)))
        for metric in metrics
        if metric != "f1_kept_out" or DETECTIONS in subset
    ),
    form=f"{NAME}/SCENE/WAY",
    table=(TABLE, 2),
    source=SEEN_BEFORE,
    logger=bm.Logger(
        name=NAME,
        about="A log for each frame and way of seeing: what collisions are foretold there, and how surely.",
        source=SEEN_BEFORE,
        logs=logs,
        parameters=PARAMETERS,
        depends_on=("perceived.camera",),
    ),
    rows=rows,
    metrics={name: Metric(measure) for name, measure in METRICS.items()},
    about={
        "answers": "A row for each frame and way to foretell: every pair of a scene, said to collide or not.",
        "scores": "F1, precision and recall of what is foretold, as counts.",
        MEASURED_ON: "pairs of real videos; no later frame is read; n of an F1 adds foretold and came",
    },
)
