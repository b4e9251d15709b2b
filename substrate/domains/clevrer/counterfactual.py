"""Algorithm 2 with its polarity mended: which events occur in the world without an object.

The paper's two branches return opposite things: membership in AncObj means that the event is
prevented, the partner rule that one occurs. Here both say whether the event occurs.
"""

from __future__ import annotations

from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Event, Scene


def occurs_without(scene: Scene, event: Event, removed: int, parameters: Parameters) -> bool:
    """Whether an event happens when ``removed`` is taken out of the scene.

    An observed event happens unless the object is among those it depends on (Proposition 1). A
    collision of two others that was not observed is taken to happen where both collided with the
    removed object, if that rule is on.

    Args:
        event: observed, or a possible collision without a frame.
    """
    if removed in event.objects:
        return False
    observed = [e for e in scene.events if e.kind == event.kind and e.objects == event.objects]
    if observed:
        ancestry = scene.ancestry("event")
        return any(removed not in ancestry[e.iri].objects for e in observed if e.objects) or not event.objects
    partners = {other for e in scene.events if e.kind == "Collision" and removed in e.objects for other in e.objects}
    return parameters.counterfactual.removed_partner and event.kind == "Collision" and event.objects <= partners
