"""Predict a video's collisions at a frame, as an event log; compare a prediction with what happened.

The log has a :mod:`record <research.domains.event_records>` of a pair's later collision, and does not assert
it. The basis ``:vote`` means simulations that the motion allows; ``:line``, straight paths that come near.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from research.domains.event_records import class_record, event_records, participants, stated_probability
from research.domains.foretelling.estimate import Estimate
from research.domains.foretelling.predict import AT as AT
from research.domains.foretelling.predict import met_pairs, outlook, states
from research.domains.foretelling.sight import SIGHT, Sight
from research.domains.foretelling.weights import VOTE_WEIGHTS, Pair, believe
from research.domains.objects import Look, look_of, looks_of
from research.domains.perception.future import PERCEIVED, estimates, met
from research.domains.perception.perceive import ExaminedVideo, recorded
from research.domains.straight_lines import TOUCHING, approach
from substrate.domains.clevrer import format
from substrate.domains.clevrer.deltas import events_log, scene_iri
from substrate.domains.clevrer.scene import Scene
from substrate.log.event_log import EventLog

VOTE, LINE = "vote", "line"
CORRECT, WRONG, UNSEEN = "correct", "wrong", "unseen"
"""Verdicts on a pair: it collides, it does not, or it is not judged because one of the two entered later."""
_LEAST = 0.0001  # smallest probability of the vote that a log records


def from_detections(video: ExaminedVideo) -> EventLog:
    """Predict from a video examined up to a frame.

    A pair has met if a contact is believed, or if the paths came near enough to touch.
    """
    record = recorded(video)
    objects = {thing.id: thing for thing in record.objects}
    past = met(video) | met_pairs(objects, record.trajectory)
    return prediction(
        record.scene_index, video.seen.last, list(objects.values()), estimates(video), past, PERCEIVED
    )


def from_tracks(
    scene: int,
    objects: Iterable[format.CompactObject],
    trajectory: Mapping[int, list[format.Sampled]],
    at: int,
) -> EventLog:
    """Predict from a tracked scene at a frame; later places are not read."""
    seen = {number: [point for point in points if point[0] <= at] for number, points in trajectory.items()}
    seen = {number: points for number, points in sorted(seen.items()) if points}
    known = {thing.id: thing for thing in objects if thing.id in seen}
    return prediction(scene, at, list(known.values()), states(known, seen, at), met_pairs(known, seen), SIGHT)


def prediction(
    scene: int,
    at: int,
    objects: Sequence[format.CompactObject],
    estimated: list[Estimate],
    past: set[Pair],
    sight: Sight,
) -> EventLog:
    """The log of a frame: the objects seen by then, and the predictions for pairs that have not met."""
    log, iri = events_log(format.SceneEvents(scene, at + 1, list(objects), [], [])), scene_iri(scene)
    chances = believe(outlook(estimated, format.FRAMES - 1 - at, sight=sight), past)
    predicted = [(VOTE, pair, chance) for pair, chance in sorted(chances.items()) if chance >= _LEAST]
    predicted += [(LINE, pair, 1.0) for pair in sorted(_near(estimated, at) - past)]
    triples: list[str] = []
    for basis, pair, chance in predicted:
        event, record = (f"{iri}:{kind}:{basis}:{pair[0]}:{pair[1]}" for kind in ("foretold", "record"))
        triples += participants(event, iri, pair)
        triples += class_record(record, event, "Collision", basis)
        triples.append(stated_probability(record, chance))
    log.extend_lines((at, f"A {triple} .") for triple in triples)
    return log


def _near(estimated: Iterable[Estimate], at: int) -> set[Pair]:
    """The pairs that come near on straight lines between a frame and the video's end."""
    seconds, near = (format.FRAMES - 1 - at) * format.SECONDS_PER_FRAME, set[Pair]()
    for a, b in combinations([estimate.body for estimate in estimated], 2):
        time, distance = approach(a, b, seconds)
        if time > 0 and distance < TOUCHING:
            near.add((a.id, b.id))
    return near


def chances(log: EventLog) -> dict[str, dict[frozenset[Look], float]]:
    """The probabilities of collisions that a log records, by basis and the pair's looks."""
    looks = {number: look_of(thing) for number, thing in Scene(log).objects.items()}
    by_basis: dict[str, dict[frozenset[Look], float]] = {VOTE: {}, LINE: {}}
    for record in event_records(log).values():
        by_basis[record.basis][frozenset(looks[number] for number in record.objects)] = record.probability
    return by_basis


def foretold(log: EventLog) -> dict[str, set[frozenset[Look]]]:
    """By basis, the pairs that a log predicts to collide (at least the cut's probability), by their looks."""
    return {
        basis: {pair for pair, chance in by_pair.items() if chance >= VOTE_WEIGHTS.cut}
        for basis, by_pair in chances(log).items()
    }


def pairs_of(truth: format.SceneEvents, predicted: Iterable[frozenset[Look]]) -> list[frozenset[Look]]:
    """Each pair of true objects, then the predicted pairs with an object that the detector invented."""
    looks = looks_of(truth.objects)
    pairs = [frozenset((looks[a], looks[b])) for a, b in combinations(sorted(looks), 2)]
    return pairs + sorted(set(predicted) - set(pairs), key=sorted)


class Tally(NamedTuple):
    """Numbers of pairs: predicted and collided, predicted, and collided."""

    right: int
    predicted: int
    collided: int


def tallied(verdicts: Iterable[tuple[str, str]], *, entrants: bool = False) -> Tally:
    """Count the pairs of a prediction.

    Args:
        verdicts: prediction and truth of each pair, as :func:`compared` gives them.
        entrants: whether pairs with an object that entered later count too.
    """
    pairs = [pair for pair in verdicts if entrants or pair[0] != UNSEEN]
    predicted, collided = (sum(pair[place] == CORRECT for pair in pairs) for place in (0, 1))
    return Tally(pairs.count((CORRECT, CORRECT)), predicted, collided)


def compared(truth: format.SceneEvents, at: int, predicted: set[frozenset[Look]]) -> list[tuple[str, str]]:
    """Prediction at a frame and later truth for each of :func:`pairs_of`."""
    looks = looks_of(truth.objects)
    late = {
        looks[number]
        for move in truth.in_outs
        if move.type == "in" and move.frame > at
        for number in format.in_out_objects(move)
    }
    collided = {
        frozenset(looks[n] for n in hit.object) for hit in truth.collisions if at < hit.frame < format.FRAMES
    }
    verdicts: list[tuple[str, str]] = []
    for pair in pairs_of(truth, predicted):
        verdict = CORRECT if pair in predicted else UNSEEN if pair & late else WRONG
        verdicts.append((verdict, CORRECT if pair in collided else WRONG))
    return verdicts
