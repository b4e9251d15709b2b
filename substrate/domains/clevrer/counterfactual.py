"""The events that occur in the world without an object, and the grounds for each.

This is Algorithm 2 of the paper with its polarity mended. Its two branches return opposite things: membership
in AncObj says that an event is prevented, the partner rule that one occurs. Here every method says whether
the event occurs; the method ``printed`` takes the return value of Algorithm 2 for its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, NamedTuple, get_args

import msgspec

from substrate.domains.clevrer.emitter import Engine, voters, without
from substrate.domains.clevrer.format import RECORDED_AFTER
from substrate.domains.clevrer.scene import Scene, SceneEvent

Ground = Literal["observed", "dual", "simulated", "heuristic"]
"""The ground of an answer: ``observed``, the video; ``dual``, the ancestors of an observed event (Proposition
1); ``simulated``, a simulation; ``heuristic``, a rule without proof.
"""
GROUNDS: tuple[Ground, ...] = get_args(Ground)
"""The grounds of an answer, from the surest to the least sure."""


class Fate(NamedTuple):
    """The verdict on an event in the world without an object: it occurs or not, on this ground."""

    occurs: bool
    ground: Ground


def _duality(scene: Scene, event: SceneEvent, removed: int, settings: Counterfactual, engine: Engine) -> Fate:
    """An observed event occurs unless it depends on the object; an event that was not observed counts as not
    occurring.
    """
    observed = _like(event, scene)
    if not observed:
        return Fate(False, "heuristic")
    ancestry = scene.ancestry("event")
    return Fate(any(not e.objects or removed not in ancestry[e.iri].objects for e in observed), "dual")


def _partner(scene: Scene, event: SceneEvent, removed: int, settings: Counterfactual, engine: Engine) -> Fate:
    """Judge as the duality does; besides, two objects that both collided with the removed one collide."""
    if event.kind != "Collision" or _like(event, scene):
        return _duality(scene, event, removed, settings, engine)
    return _emergent(scene, event, removed)


def _printed(scene: Scene, event: SceneEvent, removed: int, settings: Counterfactual, engine: Engine) -> Fate:
    """Take the return value of Algorithm 2, as it is printed, for the answer. An observed event then occurs
    if it depends on the object, which is the opposite of Proposition 1.
    """
    ancestry = scene.ancestry("printed")
    observed = _like(event, scene)
    if observed:
        return Fate(any(e.objects and removed in ancestry[e.iri].objects for e in observed), "heuristic")
    if event.kind != "Collision" or removed in event.objects:
        return Fate(False, "heuristic")
    return _emergent(scene, event, removed)


def _emergent(scene: Scene, event: SceneEvent, removed: int) -> Fate:
    """The partner rule: two objects that both collided with the removed one collide with each other."""
    return Fate(event.objects <= scene.partners.get(removed, frozenset()), "heuristic")


def _simulated(
    scene: Scene, event: SceneEvent, removed: int, settings: Counterfactual, engine: Engine
) -> Fate:
    """Judge a collision by the fork without the object, and an entry or exit by the duality, since a fork has
    no camera. The partner rule judges objects whose positions a tracker did not give.
    """
    if event.kind != "Collision":
        return _duality(scene, event, removed, settings, engine)
    if scene.tracked and not event.objects <= scene.posed:
        return _partner(scene, event, removed, settings, engine)
    verdicts = [_fork(voter, event, removed, settings, engine) for voter in voters(scene, engine)]
    occurring = sorted((verdict for verdict in verdicts if verdict.occurs), key=_surest)
    absent = sorted((verdict for verdict in verdicts if not verdict.occurs), key=_surest)
    # The least sure ground of the majority: a verdict of a few draws without simulation proves nothing.
    return (occurring if len(occurring) > len(absent) else absent)[-1]


def _surest(verdict: Fate) -> int:
    return GROUNDS.index(verdict.ground)


def _fork(scene: Scene, event: SceneEvent, removed: int, settings: Counterfactual, engine: Engine) -> Fate:
    """Judge by a simulated fork without the object, and name the ground.

    An event that occurs is ``dual`` if the fork kept it as it was observed, else ``simulated``. An event that
    does not occur is ``simulated`` if it was observed, or if one of its objects was simulated: then it could
    have occurred. Else it is ``observed``: nothing that bears on it has changed.
    """
    branch = without(scene, removed, engine, settings.horizon)
    observed = {e.iri for e in _like(event, scene)}
    occurring = [e.iri for e in _like(event, branch)]
    if occurring:
        return Fate(True, "dual" if occurring[0] in observed else "simulated")
    return Fate(False, "simulated" if observed or event.objects & branch.simulated else "observed")


def _filmed(scene: Scene, event: SceneEvent, removed: int, settings: Counterfactual, engine: Engine) -> Fate:
    """Judge without ancestry: a filmed event occurs again; :func:`judge` excludes the object's own events."""
    return Fate(bool(_like(event, scene)), "heuristic")


def _filmed_partner(
    scene: Scene, event: SceneEvent, removed: int, settings: Counterfactual, engine: Engine
) -> Fate:
    """Judge without ancestry; besides, two objects that both collided with the removed one collide."""
    if event.kind != "Collision" or _like(event, scene):
        return _filmed(scene, event, removed, settings, engine)
    return _emergent(scene, event, removed)


def _like(event: SceneEvent, scene: Scene) -> list[SceneEvent]:
    return scene.alike.get((event.kind, event.objects), [])


class Method(NamedTuple):
    """A way to tell which events occur without an object: its verdict on an event, and its description."""

    verdict: Callable[[Scene, SceneEvent, int, Counterfactual, Engine], Fate]
    words: str


METHODS: Mapping[str, Method] = {
    "duality": Method(
        _duality,
        "duality (Proposition 1): what was filmed occurs without an object that is no ancestor of it",
    ),
    "partner": Method(
        _partner,
        "the partner rule (section 3.3): without an object occurs what it is no ancestor of, and the "
        "collision of two objects that both collided with it",
    ),
    "printed": Method(_printed, "Algorithm 2 as printed"),
    "filmed": Method(
        _filmed, "without ancestry: what was filmed occurs again, unless the object took part in it"
    ),
    "filmed_partner": Method(
        _filmed_partner,
        "without ancestry: what was filmed occurs again, and the collision of two objects that both collided "
        "with the removed one",
    ),
    "simulated": Method(
        _simulated, "the simulated fork without the object, to {horizon} frames after the video"
    ),
}
"""Every method by the name that the parameters give it. A new method needs only an entry here: the
parameters, the launch form, the ablations and the explanations read this table.
"""
PAPER, TRACKED = "partner", "simulated"
"""The default methods: the paper's, and the one for a log whose motion comes from tracked positions."""
Name = Literal[tuple(METHODS)]  # pyright: ignore[reportInvalidTypeForm]


class Counterfactual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The method that says which events occur without an object."""

    method: Name | None = None  # pyright: ignore[reportInvalidTypeForm]
    """``duality``: Proposition 1, for observed events. ``partner``: besides, partners of the removed object
    collide (paper, section 3.3). ``printed``: Algorithm 2 word for word. ``filmed`` and ``filmed_partner``:
    the two rules without ancestry, for comparison. ``simulated``: a simulation decides the events that
    ancestry leaves open. ``None`` means ``partner``, as in the paper, but ``simulated`` if a tracker gave
    positions.
    """
    horizon: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = RECORDED_AFTER
    """The number of frames after the video that ``simulated`` simulates; 0 stops at the video's end. The
    official gold counts collisions of the two seconds for which its generator went on after the video. The
    other methods need no horizon.
    """

    @property
    def words(self) -> str:
        """The method in words, with its horizon where it takes one."""
        return METHODS[self.method or PAPER].words.format(horizon=self.horizon)


def judge(
    scene: Scene, event: SceneEvent, removed: int, settings: Counterfactual, engine: Engine = "calibrated"
) -> Fate:
    """Tell whether an event happens when ``removed`` is taken out of the scene.

    Args:
        event: observed, or a possible collision without a frame.
        settings: the method, by default the paper's, and its horizon.
        engine: the simulator, where the method needs one.
    """
    # The printed Algorithm 1 returns an event's participants too, so ``printed`` judges these events itself.
    if removed in event.objects and settings.method != "printed":
        return Fate(False, "dual")
    return METHODS[settings.method or PAPER].verdict(scene, event, removed, settings, engine)
