"""Change the generator's fitted contact constants, to make worlds with physics that no code was fitted to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from substrate.generators.clevrer import physics


@contextmanager
def altered(friction: float = 1.0, restitution: float = 1.0) -> Iterator[None]:
    """Generate scenes and targets in this context with other friction and bounce.

    Args:
        friction: factor on the ground's friction, for every shape.
        restitution: factor on the bounce of two bodies. Bullet multiplies the restitutions of the two, so
            each body's own restitution takes the factor's square root.

    Do not use it while other threads generate: it changes the module's constants.

    >>> from substrate.generators.clevrer.physics import travel
    >>> with altered(friction=1.25):
    ...     shorter = travel("cube", 2.8, 60)
    >>> shorter < travel("cube", 2.8, 60)
    True
    """
    scaled = (
        (physics.FRICTION, friction),
        (physics.RESTITUTION, math.sqrt(restitution)),
    )
    before = [dict(constants) for constants, _ in scaled]
    try:
        for constants, factor in scaled:
            constants.update({shape: value * factor for shape, value in constants.items()})
        yield
    finally:
        for (constants, _), values in zip(scaled, before, strict=True):
            constants.update(values)
