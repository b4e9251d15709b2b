"""Real videos without an object: how often three methods agree, where the truth is unknown.

A tracked scene's log has its true events, and poses from its tracks, so that forks of it can be simulated.

A row compares two methods. Its ``predicted`` are the verdicts of the first method, its ``expected`` those of
the second. So ``share`` counts equal verdicts; ``confirmed`` counts, of the collisions that the first method
names, those that the second names too; and ``foreseen`` counts the reverse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.scoring.counting import METRICS, Metric, Rows
from research.benchmarks import OFFICIAL, filmed
from research.domains.foretold import CORRECT, WRONG
from research.domains.positions import tracked_log
from substrate.domains.clevrer.counterfactual import Counterfactual, judge
from substrate.domains.clevrer.format import decode_scene_events
from substrate.domains.clevrer.scene import Scene, SceneEvent
from substrate.domains.clevrer.trajectories import with_trajectory
from substrate.domains.rows import Row

NAME, EVERY = "agreement", filmed.TRACKED_STEP
METHODS = {name: Counterfactual(name, horizon=0) for name in ("duality", "partner", "simulated")}
"""The methods by name; a simulation ends with the video."""
NOT_FILMED, DEPENDENT, INDEPENDENT = "not_filmed", "dependent", "independent"
"""Kinds of pairs: their collision is not filmed; or it is, and depends on the object by ancestry or not."""


class Comparison(NamedTuple):
    """Two methods, and the kinds of pairs that they are compared on."""

    first: str
    second: str
    kinds: tuple[str, ...]

    def subset(self, kind: str) -> str:
        """The subset of the rows about a kind of pairs."""
        return f"{self.first}_{self.second}.{kind}"


COMPARED = (
    Comparison("duality", "simulated", (NOT_FILMED, DEPENDENT, INDEPENDENT)),
    Comparison("partner", "simulated", (NOT_FILMED,)),
    Comparison("duality", "partner", (NOT_FILMED,)),
)
"""All comparisons.

On filmed collisions the partner rule gives the duality's answers. A dependent pair that the simulation
brings together although its ancestor is gone contradicts condition C4 (docs/ancestor-duality.md).
"""


def cases(
    files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False, every: int = EVERY
) -> bm.Cases:
    """The sampled tracked scenes with a collision; each scene's record provides its questions."""
    truths, tracked = filmed.true_events(files, ("test",)), filmed.tracks_of(files, every)
    colliding = [n for n in tracked if n in truths and filmed.has_collision(truths[n])]
    scenes = bm.chosen(colliding, only)
    each = (
        bm.Case(n, truths[n][0], b"\n".join((truths[n][1].strip(), tracked[n])), bm.WITHIN) for n in scenes
    )
    return bm.Cases(len(scenes), each)


def logs(case: bm.Case, _: Any = None) -> list[bm.NamedLog]:
    """The log of a scene's true events, with the poses from its tracks."""
    truth, track = case.record.split(b"\n")
    record = with_trajectory((case.source, truth), (case.source, track))
    return [bm.NamedLog(f"{case.scene:05d}", tracked_log(decode_scene_events((case.source, record))))]


class Imagined(NamedTuple):
    """A pair without an object: its kind, and each method's verdict."""

    removed: int
    pair: frozenset[int]
    kind: str
    verdicts: dict[str, str]


def imagined(scene: Scene) -> Iterator[Imagined]:
    """Every pair of a scene's objects, with each colliding object removed in turn, in order."""
    collided = {event.objects for event in scene.events if event.kind == "Collision"}
    for removed in sorted({number for pair in collided for number in pair}):
        for pair in map(frozenset, combinations([n for n in sorted(scene.objects) if n != removed], 2)):
            event = SceneEvent("Collision", None, pair)
            verdicts = {
                name: CORRECT if judge(scene, event, removed, method).occurs else WRONG
                for name, method in METHODS.items()
            }
            kind = INDEPENDENT if verdicts["duality"] == CORRECT else DEPENDENT
            yield Imagined(removed, pair, kind if pair in collided else NOT_FILMED, verdicts)


def rows(case: bm.Case, logs: bm.Logs, _: Any, split: str) -> Iterable[Row]:
    """Compare two methods on each kind of pairs, in one row each.

    An option is a removed object and a pair of the others. The first method's verdict is the prediction, the
    second's the expected value.
    """
    by_subset: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for option in imagined(Scene(logs[0])):
        for compared in COMPARED:
            if option.kind in compared.kinds:
                pair = option.verdicts[compared.first], option.verdicts[compared.second]
                by_subset[compared.subset(option.kind)].append(pair)
    for subset, verdicts in sorted(by_subset.items()):
        place = {"scene": case.scene, "question": subset, "log": logs[0].digest}
        yield Row(benchmark=NAME, split=split, subset=subset, **place, **filmed.compared_fields(verdicts))


def confirmed(field: str, rows: Rows) -> tuple[int, int]:
    """Of one method's collisions, the number that the other method gives too, and the number of all.

    Args:
        field: ``predicted`` for the collisions of the first method, ``expected`` for the second method's.
    """
    named = [choice for choice in rows[0].choices if getattr(choice, field) == CORRECT]
    return sum(choice.predicted == choice.expected for choice in named), len(named)


TRACKED_SCENES = bm.Source(
    name=NAME,
    title="Tracked real scenes without an object",
    about="Tracks of real scenes, and their true events: the files a user has of them.",
    data=filmed.FilmedData,
    inputs={name: filmed.INPUTS[name] for name in ("test", "tracks")},
    cases=cases,
    official=bm.Release("test", "tracked scenes"),
    note=", agreement of two methods and not accuracy: nobody knows what would have happened",
    profiles=OFFICIAL,
)
AGREEMENT = bm.Interpreted(
    name=NAME,
    title="Tracked real scenes without an object: agreement of two methods, not accuracy",
    numbers=(
        *(f"{NAME}/{compared.subset(kind)}/share" for compared in COMPARED for kind in compared.kinds),
        *(f"{NAME}/partner_simulated.{NOT_FILMED}/{metric}" for metric in ("confirmed", "foreseen")),
    ),
    form=f"{NAME}/SCENE/METHODS",
    table=(filmed.TABLE, 4),
    source=TRACKED_SCENES,
    logger=bm.Logger(
        name=NAME,
        about="One event log a tracked scene: its true events, and poses out of its tracks.",
        source=TRACKED_SCENES,
        logs=logs,
        shapes="clevrer",
    ),
    rows=rows,
    metrics={
        "share": METRICS["per_option"],
        "confirmed": Metric(partial(confirmed, "predicted")),
        "foreseen": Metric(partial(confirmed, "expected")),
    },
    about={
        "answers": "A row for two methods and a kind of pairs: their verdicts without each colliding object.",
        "scores": "The share of pairs on which two methods agree; of one method's collisions, the share that "
        "the other gives too. Agreement, not accuracy.",
        MEASURED_ON: "pairs without an object that collides, in scenes that nothing was fitted to: "
        "agreement, not accuracy",
    },
)
