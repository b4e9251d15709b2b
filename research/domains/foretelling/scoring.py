"""Predictions from tracked positions ► counts of right, wrong and missed pairs, by the true events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from research.domains.foretelling.predict import outlook, states
from research.domains.foretelling.sight import Sight
from research.domains.foretelling.weights import Outlook, Pair, VoteWeights, believe
from substrate.domains.clevrer.format import FRAMES, Sampled, SceneEvents
from substrate.domains.clevrer.motion.law import Law
from substrate.domains.clevrer.trajectories import TrajectoryScene


class Tracked(Struct, frozen=True):
    """A scene's tracked motion and its true events."""

    motion: TrajectoryScene
    events: SceneEvents

    def seen(self, at: int) -> dict[int, list[Sampled]]:
        """The points up to a frame, by object; objects without points are left out."""
        known = {
            name: [point for point in points if point[0] <= at]
            for name, points in sorted(self.motion.trajectory.items())
        }
        return {name: points for name, points in known.items() if points}

    def met(self, at: int) -> set[Pair]:
        """Pairs that collided by a frame."""
        return {_pair(c.object) for c in self.events.collisions if c.frame <= at}

    def truth(self, at: int, until: int = FRAMES - 1) -> set[Pair]:
        """Pairs that collide after a frame, both seen by then."""
        seen = self.seen(at)
        return {
            _pair(c.object)
            for c in self.events.collisions
            if at < c.frame <= until and set(c.object) <= set(seen)
        }

    def struck(self, name: int, after: int, until: int) -> bool:
        """Tell whether an object collides in (after, until]."""
        return any(name in c.object and after < c.frame <= until for c in self.events.collisions)


def _pair(objects: tuple[int, int]) -> Pair:
    return (min(objects), max(objects))


def paired(scenes: Mapping[int, TrajectoryScene], events: Mapping[int, SceneEvents]) -> list[Tracked]:
    """Pair the scenes that have both trajectories and events, by number."""
    return [Tracked(scene, events[number]) for number, scene in sorted(scenes.items()) if number in events]


def halves(tracked: Sequence[Tracked]) -> tuple[list[Tracked], list[Tracked]]:
    """Split the scenes into even ones, to fit on, and odd ones, held out."""
    even, odd = ([scene for scene in tracked if scene.motion.scene_index % 2 == rest] for rest in (0, 1))
    return even, odd


def outlooks_at(tracked: Sequence[Tracked], at: int, law: Law, sight: Sight) -> list[Outlook]:
    """The outlook of every scene at a frame."""
    outlooks: list[Outlook] = []
    for scene in tracked:
        known = {thing.id: thing for thing in scene.motion.objects}
        here = states(known, scene.seen(at), at, law=law, sight=sight)
        outlooks.append(outlook(here, FRAMES - 1 - at, law=law, sight=sight))
    return outlooks


class PairCounts(Struct, frozen=True):
    """Counts of right, wrong and missed pairs, and of scenes: ``whole`` have no wrong and no missed pair,
    ``busy`` have a true or predicted pair, ``busy_whole`` are both.
    """

    right: int
    wrong: int
    missed: int
    scenes: int = 0
    whole: int = 0
    busy: int = 0
    busy_whole: int = 0

    @property
    def precision(self) -> float:
        """Share of the predicted pairs that collide."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Share of the colliding pairs that were predicted."""
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        """Harmonic mean of the two.

        >>> round(PairCounts(right=8, wrong=2, missed=2).f1, 3)
        0.8
        """
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


def score(
    tracked: Sequence[Tracked],
    at: int,
    outlooks: Sequence[Outlook],
    weights: VoteWeights,
    past: Sequence[set[Pair]] | None = None,
) -> PairCounts:
    """Compare predictions with the truth; ``past`` has each scene's pairs that met, by default the true."""
    count = Counter(right=0, wrong=0, missed=0)
    for k, (scene, evidence) in enumerate(zip(tracked, outlooks, strict=True)):
        chances = believe(evidence, scene.met(at) if past is None else past[k], weights=weights)
        predicted = {pair for pair, chance in chances.items() if chance >= weights.cut}
        truth = scene.truth(at)
        count["right"] += len(predicted & truth)
        count["wrong"] += len(predicted - truth)
        count["missed"] += len(truth - predicted)
        count["whole"] += predicted == truth
        count["busy"] += bool(predicted | truth)
        count["busy_whole"] += predicted == truth and bool(predicted)
    return PairCounts(**count, scenes=len(tracked))
