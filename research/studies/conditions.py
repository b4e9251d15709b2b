"""The conditions of the robustness study: what is inexact in a case, and how the case is changed.

A change makes one observed record inexact: CLEVRER's film, GQA's scene graph, bAbI's story. A case may hold
several records, so :func:`film`, :func:`videos`, :func:`image` and :func:`stories` apply a change to each
record of a case of their benchmark. :func:`other_world` makes another case instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, NamedTuple, Protocol

import msgspec

from orchestration.benchmarks.benchmark import Case
from orchestration.code import Declared
from research.generators import inexact_films
from research.generators.altered import altered
from substrate.base.words import counted
from substrate.domains.babi.format import Story
from substrate.domains.clevrer.format import Annotation, decode_annotation
from substrate.domains.gqa.format import decode_scene_graph
from substrate.generators.comphy import generate_target

SHARES = (0.05, 0.1, 0.2)


class Change(Protocol):
    """A function from an observed record to an inexact one."""

    def __call__(self, record: Any, /, *, rng: Random) -> Any:
        """Change a record by random numbers."""
        ...


class Physics(NamedTuple):
    """Factors of a world's friction and restitution."""

    friction: float = 1.0
    restitution: float = 1.0


@dataclass(frozen=True)
class Condition(Declared):
    """A way to ask a benchmark again.

    Attributes:
        label: its name in rows and tables.
        change: the change of each observed record; ``None`` if the records stay.
        settings: the settings that are asked under it; empty for all.
        physics: if given, the case is replaced by one of another world with this physics. That needs
            generated data, and the other world's number of questions may differ.
    """

    label: str
    change: Change | None = None
    settings: tuple[str, ...] = ()
    physics: Physics | None = None


AS_IT_IS = Condition("as it is")
"""The condition that changes nothing, for comparison with the others."""


def missed(
    what: str, change: Any, settings: tuple[str, ...] = (), shares: Sequence[float] = SHARES
) -> Iterator[Condition]:
    """Conditions that miss shares of something; ``change`` takes the share."""
    for share in shares:
        yield Condition(f"{share:.0%} of {what} missed", partial(change, share=share), settings)


def misplaced(sigmas: Iterable[float], settings: tuple[str, ...] = ()) -> Iterator[Condition]:
    """Conditions with noise of places, in units."""
    for sigma in sigmas:
        noisy = partial(inexact_films.noisy, sigma=sigma)
        yield Condition(f"places off by {sigma:g} units", noisy, settings)


def mistimed(limits: Iterable[int], settings: tuple[str, ...] = ()) -> Iterator[Condition]:
    """Conditions with collisions off by up to some frames."""
    for frames in limits:
        blurred = partial(inexact_films.blurred, frames=frames)
        yield Condition(f"collisions off by up to {counted(frames, 'frame')}", blurred, settings)


def _recorded(case: Case, record: Any) -> Case:
    return case._replace(record=msgspec.json.encode(record))


def film(case: Case, change: Change, rng: Random) -> Case:
    """CLEVRER's case with its annotation changed; a list of events stays."""
    if case.kind:
        return case
    return _recorded(case, change(decode_annotation((case.source, case.record)), rng=rng))


def videos(case: Case, change: Change, rng: Random) -> Case:
    """ComPhy's case with each of its videos changed, the target's first."""
    films = msgspec.json.decode(case.record, type=dict[str, Annotation])
    return _recorded(case, {name: change(each, rng=rng) for name, each in films.items()})


def image(case: Case, change: Change, rng: Random) -> Case:
    """GQA's case with its scene graph changed."""
    graph = decode_scene_graph(case.source, str(case.scene), case.record)
    return _recorded(case, change(graph, rng=rng))


def stories(case: Case, change: Change, rng: Random) -> Case:
    """bAbI's case with each of its stories changed, by the same random numbers."""
    told = msgspec.json.decode(case.record, type=list[Story])
    return _recorded(case, [change(story, rng=copy(rng)) for story in told])


def other_world(case: Case, seed: int, physics: Physics) -> Case:
    """ComPhy's case of the same number and another seed, in a world with other physics."""
    with altered(*physics):
        target = generate_target(int(case.scene), seed)
    names = msgspec.json.decode(case.record, type=dict[str, msgspec.Raw])
    record = dict(zip(names, (target.annotation, *target.references), strict=True))
    return _recorded(case, record)._replace(questions=msgspec.json.encode(target.questions))
