"""The events that occur in the world without an object, and the grounds for each.

Algorithm 2 of the paper with its polarity mended: its two branches return opposite things, membership in
AncObj means that the event is prevented, the partner rule that one occurs. Here all say whether the event
occurs, but for the method ``printed``, which takes what Algorithm 2 returns for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from substrate.domains.clevrer.emitter import without
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Event, Scene

Ground = Literal["observed", "dual", "simulated", "heuristic"]
"""The ground of an answer: what was filmed; the ancestors of an observed event (Proposition 1); a simulation;
a rule without proof.
"""


class Verdict(NamedTuple):
    """The verdict on an event without an object: occurs or not, and on what ground."""

    occurs: bool
    ground: Ground


def judge(scene: Scene, event: Event, removed: int, parameters: Parameters) -> Verdict:
    """Tell whether an event happens when ``removed`` is taken out of the scene.

    Args:
        event: observed, or a possible collision without a frame.
    """
    method = parameters.counterfactual.method
    # Algorithm 2 asks about an observed event's participants too: they are in what Algorithm 1 returns.
    if removed in event.objects and method != "printed":
        return Verdict(False, "dual")
    return METHODS[method](scene, event, removed, parameters)


def _duality(scene: Scene, event: Event, removed: int, parameters: Parameters) -> Verdict:
    """An observed event happens unless the object is among those it depends on; one that was not observed is
    taken not to.
    """
    observed = _like(event, scene)
    if not observed:
        return Verdict(False, "heuristic")
    ancestry = scene.ancestry("event")
    return Verdict(any(not e.objects or removed not in ancestry[e.iri].objects for e in observed), "dual")


def _partner(scene: Scene, event: Event, removed: int, parameters: Parameters) -> Verdict:
    """As the duality; and two others that both collided with the object are taken to collide without it."""
    if event.kind != "Collision" or _like(event, scene):
        return _duality(scene, event, removed, parameters)
    return _emergent(scene, event, removed)


def _printed(scene: Scene, event: Event, removed: int, parameters: Parameters) -> Verdict:
    """Algorithm 2 as it is printed, with what it returns taken for whether the event occurs: so it says of an
    observed event that it occurs where the object is among those it depends on, which is where it does not.
    """
    ancestry = scene.ancestry("printed")
    observed = _like(event, scene)
    if observed:
        return Verdict(any(e.objects and removed in ancestry[e.iri].objects for e in observed), "heuristic")
    if event.kind != "Collision" or removed in event.objects:
        return Verdict(False, "heuristic")
    return _emergent(scene, event, removed)


def _emergent(scene: Scene, event: Event, removed: int) -> Verdict:
    """The partner rule: a collision of two that both collided with the object."""
    partners = {
        other for e in scene.events if e.kind == "Collision" and removed in e.objects for other in e.objects
    }
    return Verdict(event.objects <= partners, "heuristic")


def _simulated(scene: Scene, event: Event, removed: int, parameters: Parameters) -> Verdict:
    """Collisions as the fork without the object has them; entries and exits, which it has no camera for, by
    the duality.
    """
    if event.kind != "Collision":
        return _duality(scene, event, removed, parameters)
    branch = without(scene, removed, parameters.engine, parameters.counterfactual.horizon)
    observed = {e.iri for e in _like(event, scene)}
    occurring = [e.iri for e in _like(event, branch)]
    if occurring:
        return Verdict(True, "dual" if occurring[0] in observed else "simulated")
    return Verdict(False, "simulated" if observed or event.objects & branch.simulated else "observed")


def _like(event: Event, scene: Scene) -> list[Event]:
    return scene.alike.get((event.kind, event.objects), [])


METHODS: Mapping[str, Callable[[Scene, Event, int, Parameters], Verdict]] = {
    "duality": _duality,
    "partner": _partner,
    "printed": _printed,
    "simulated": _simulated,
}
"""By the name that the parameters give them."""
