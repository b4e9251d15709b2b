"""Predict the later collisions of a real video from its earlier frames: from proposals, or from tracks.

No later frame is read until the prediction is in a log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

import msgspec

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.scoring.counting import Metric, Rows
from research.benchmarks import OFFICIAL, filmed
from research.benchmarks.perceived import PARAMETERS
from research.domains import foretold as domain
from research.domains.perception.calibrate import is_kept_out
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.parameters import Perception
from research.domains.perception.perceive import examined
from substrate.base.errors import ParameterError
from substrate.domains.clevrer.format import decode_scene_events
from substrate.domains.clevrer.trajectories import decode_trajectories
from substrate.domains.rows import Row

NAME = "foretold"
DETECTIONS, TRACKS = "detections", "tracks"
FITTED_FROM = 15000
"""The first tracked scene; the vote was fitted to tracked scenes of even number."""
_SUFFIXES = {domain.VOTE: "", domain.LINE: ".lines"}
"""The two bases of a prediction, each with the suffix of its numbers' names."""
_SUBSETS = tuple(f"{medium}.{at}" for medium, at in product((DETECTIONS, TRACKS), domain.AT))


_record = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""Decodes a case's record: the proposals of a video, its tracks, or both, by medium."""


def cases(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """The sampled scenes that have proposals or tracks; each scene's true events are its questions.

    Raises:
        ParameterError: no true events are named, or neither proposals nor tracks are.
    """
    by_scene = filmed.true_events(files, ("train", "test"))
    if not {"proposals", "tracks"} & files.keys():
        raise ParameterError("no motion is named", hint="Name a file of proposals, of tracks, or both")
    videos = proposal_names(files["proposals"]) if "proposals" in files else {}
    sampled = partial(filmed.sampled, seen=True)
    videos = {scene: name for scene, name in videos.items() if scene in by_scene and sampled(scene)}
    tracks = filmed.tracks_of(files) if "tracks" in files else {}
    tracked = {scene: line for scene, line in tracks.items() if scene in by_scene}
    scenes = bm.chosen(sorted(videos.keys() | tracked.keys()), only)

    def each() -> Iterator[bm.Case]:
        proposals = filmed.proposals_of(files, [videos[scene] for scene in scenes if scene in videos])
        for scene in scenes:
            source, truth = by_scene[scene]
            record = {TRACKS: msgspec.Raw(tracked[scene])} if scene in tracked else {}
            if scene in videos:
                source, proposed = next(proposals)
                record[DETECTIONS] = msgspec.Raw(proposed)
            yield bm.Case(scene, source, msgspec.json.encode(record, order="sorted"), truth)

    return bm.Cases(len(scenes), each())


def logs(case: bm.Case, parameters: Perception) -> list[bm.NamedLog]:
    """The logs of predictions: one per frame, for each of proposals and tracks that a scene has."""
    record, made = _record.decode(case.record), list[bm.NamedLog]()
    for medium, at in product(record, domain.AT):
        source = (case.source, bytes(record[medium]))
        if medium == DETECTIONS:
            seen = examined(decode_proposals(source), case.source, until=at, camera=parameters.camera)
            log = domain.from_detections(seen)
        else:
            scene = decode_trajectories(source)
            log = domain.from_tracks(scene.scene_index, scene.objects, scene.trajectory, at)
        made.append(bm.NamedLog(f"{case.scene:05d}/{medium}.{at}", log))
    return made


def rows(case: bm.Case, logs: bm.Logs, _: Any, split: str) -> Iterable[Row]:
    """The rows for each log and each basis of prediction, with all pairs of the scene as options."""
    record, truth = _record.decode(case.record), decode_scene_events((case.source, case.questions))
    unsorted: list[Row] = []
    for (medium, at), log in zip(product(record, domain.AT), logs, strict=True):
        predicted = domain.foretold(log)
        for basis, suffix in _SUFFIXES.items():
            subset = f"{medium}.{at}{suffix}"
            place = {"scene": case.scene, "question": subset, "log": log.digest}
            pairs = filmed.compared_fields(domain.compared(truth, at, predicted[basis]))
            unsorted.append(Row(benchmark=NAME, split=split, subset=subset, **place, **pairs))
    yield from sorted(unsorted, key=lambda row: str(row.question))


def _counts(rows: Rows, *, entrants: bool = False) -> domain.Tally:
    """The counts of a row's pairs."""
    verdicts = ((choice.predicted, str(choice.expected)) for choice in rows[0].choices or ())
    return domain.tallied(verdicts, entrants=entrants)


def f1(rows: Rows, *, entrants: bool = False) -> tuple[int, int]:
    """F1 as counts, by default of visible pairs: twice the right predictions, over predicted plus actual."""
    right, predicted, actual = _counts(rows, entrants=entrants)
    return 2 * right, predicted + actual


def f1_kept_out(rows: Rows) -> tuple[int, int]:
    """F1 in the videos that neither a weight of perception nor the vote was fitted to."""
    scene = int(rows[0].scene)
    return f1(rows) if is_kept_out(scene) and not (scene >= FITTED_FROM and scene % 2 == 0) else (0, 0)


def precision(rows: Rows) -> tuple[int, int]:
    """The share of predicted collisions that happened."""
    return _counts(rows).right, _counts(rows).predicted


def recall(rows: Rows) -> tuple[int, int]:
    """The share of actual collisions that were predicted."""
    return _counts(rows).right, _counts(rows).collided


# ``f1_entrants`` counts all pairs, so collisions of objects that enter later count as missed.
METRICS: dict[str, Callable[[Rows], tuple[int, int]]] = {
    "f1": f1,
    "f1_kept_out": f1_kept_out,
    "f1_entrants": partial(f1, entrants=True),
    "precision": precision,
    "recall": recall,
}
VIDEOS = bm.Source(
    name=NAME,
    title="Collisions to come in real videos",
    about="Proposals and tracks of real videos, and their true events: the files a user has of them.",
    data=filmed.FilmedData,
    inputs=filmed.INPUTS,
    cases=cases,
    official=bm.Release("train", "videos with true events"),
    note=f", every {filmed.EVERY}th video with proposals, each that is kept from every fit of perception, "
    f"and every {filmed.TRACKED_STEP}th tracked scene; nothing after frame "
    f"{' or '.join(map(str, domain.AT))} is read, who met before is inferred, "
    "and n of an F1 is what was foretold plus what came",
    profiles=OFFICIAL,
)
FUTURE = bm.Interpreted(
    name=NAME,
    title="Collisions to come in real videos",
    numbers=tuple(
        f"{NAME}/{subset}{suffix}/{metric}"
        for subset in _SUBSETS
        for suffix, metrics in (("", METRICS), (_SUFFIXES[domain.LINE], ("f1",)))
        for metric in metrics
        if metric != "f1_kept_out" or DETECTIONS in subset
    ),
    form=f"{NAME}/SCENE/WAY",
    table=(filmed.TABLE, 2),
    source=VIDEOS,
    logger=bm.Logger(
        name=NAME,
        about="A log for each frame, from proposals and from tracks: predicted collisions and probabilities.",
        source=VIDEOS,
        logs=logs,
        parameters=PARAMETERS,
        depends_on=("perceived.camera",),
    ),
    rows=rows,
    metrics={name: Metric(measure) for name, measure in METRICS.items()},
    trivial={_SUFFIXES[domain.LINE]: "Algorithm 3 with τ = 0.4"},
    about={
        "answers": "A row for each frame and way to predict: every pair of a scene, predicted to collide or "
        "not.",
        "scores": "F1, precision and recall of predicted collisions, as counts.",
        MEASURED_ON: "pairs of real videos; no later frame is read; n of an F1 adds foretold and came; "
        "weights of perception were fitted to 51 of the 226 with proposals, the vote's to even tracks from "
        "15000 on",
    },
)
