"""Scores of predicted collisions, by the last frame that is read: `clevrer_perception.py --part future`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from research.benchmarks.filmed import sampled
from research.domains import foretold
from research.domains.calibration import brier
from research.domains.foretelling.weights import VOTE_WEIGHTS
from research.domains.objects import looks_of
from research.domains.perception.calibrate import is_kept_out
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.perceive import examined
from research.measurements.markdown import head, row, with_interval
from substrate.base.numbered import sources_in
from substrate.domains.clevrer import format

FRAMES_KNOWN = (40, 60, 80, 100)
"""The last frames that a prediction may read."""
TRACKED = range(15_000, 17_000)
"""The scenes that have released tracks; constants of motion were fitted to the even ones."""


def future(data: Path, real: Mapping[int, format.SceneEvents]) -> Iterator[str]:
    """The scores of predictions by the last frame that may be read, as tables."""
    where = data / "proposals.zip"
    names = {n: name for n, name in proposal_names(where).items() if sampled(n, seen=True)}
    given = [(decode_proposals(source), source[0]) for source in sources_in(where, names.values())]
    chances = {
        at: {
            video.video_index: foretold.chances(foretold.from_detections(examined(video, name, until=at)))
            for video, name in given
        }
        for at in FRAMES_KNOWN
    }
    parts = {
        "kept aside": is_kept_out,
        "kept aside, without those whose tracks the vote's weights were fitted to": is_unseen,
        "that `foretold` asks about": names.__contains__,
    }
    for title, part in parts.items():
        videos = [number for number in names if part(number)]
        yield f"\nThe {len(videos)} videos {title}; first of objects seen by then, then with entrants:\n"
        yield head("known up to frame", *2 * ("came", "vote: F1", "Brier", "lines: F1"))
        for at in FRAMES_KNOWN:
            ways = {n: chances[at][n] for n in videos}
            yield row(at, *(cell for late in (False, True) for cell in scores_at(at, real, ways, late=late)))


def is_unseen(number: int) -> bool:
    """Tell whether nothing was fitted to a video: no weight of perception, and no weight of the vote."""
    return is_kept_out(number) and not (number % 2 == 0 and number in TRACKED)


def scores_at(
    at: int,
    real: Mapping[int, format.SceneEvents],
    predictions: Mapping[int, dict[str, dict[Any, float]]],
    *,
    late: bool,
) -> list[str]:
    """Cells of a frame: number of later collisions, F1 and Brier score of the vote, F1 of straight lines.

    Args:
        late: whether pairs with an object that entered later count too; for these there is no prediction.

    Brier scores are of pairs that had not met by the frame.
    """
    counts, scored = Counter[tuple[str, str]](), list[tuple[float, bool]]()
    for number, ways in predictions.items():
        truth = real[number]
        looks = looks_of(truth.objects)
        past = {frozenset(looks[n] for n in hit.object) for hit in truth.collisions if hit.frame <= at}
        for way, of_pairs in ways.items():
            likely = {pair for pair, chance in of_pairs.items() if chance >= VOTE_WEIGHTS.cut}
            for pair, (verdict, true) in zip(
                foretold.pairs_of(truth, likely), foretold.compared(truth, at, likely), strict=True
            ):
                if verdict == foretold.UNSEEN and not late:
                    continue
                collides = true == foretold.CORRECT
                # F1 as a share: twice the right predictions, of predicted plus actual collisions
                counts[way, "n"] += (verdict == foretold.CORRECT) + collides
                counts[way, "right"] += 2 * (verdict == foretold.CORRECT and collides)
                counts[way, "collisions"] += collides
                if way == foretold.VOTE and pair not in past:
                    scored.append((of_pairs.get(pair, 0.0), collides))
    vote, lines = (
        with_interval(counts[way, "right"], counts[way, "n"]) for way in (foretold.VOTE, foretold.LINE)
    )
    return [str(counts[foretold.VOTE, "collisions"]), vote, f"{brier(scored):.4f}", lines]
