"""The generator's contacts made other than they were fitted: worlds that nothing here was built for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from substrate.generators.clevrer import physics


@contextmanager
def altered(friction: float = 1.0, restitution: float = 1.0) -> Iterator[None]:
    """A context in which scenes and targets are generated with more or less friction and bounce.

    Args:
        friction: what the ground's friction on every shape is multiplied by.
        restitution: what the bounce of two bodies off each other is multiplied by. Bullet multiplies the
            restitutions of the two, so each body's own takes the square root.

    Not for threads that generate at the same time: it changes the constants of the module.

    >>> from substrate.generators.clevrer.physics import travel
    >>> with altered(friction=1.25):
    ...     shorter = travel("cube", 2.8, 60)
    >>> shorter < travel("cube", 2.8, 60)
    True
    """
    scaled = (
        (physics._FRICTION, friction),  # pyright: ignore[reportPrivateUsage]
        (physics._RESTITUTION, math.sqrt(restitution)),  # pyright: ignore[reportPrivateUsage]
    )
    before = [dict(constants) for constants, _ in scaled]
    try:
        for constants, factor in scaled:
            constants.update({shape: value * factor for shape, value in constants.items()})
        yield
    finally:
        for (constants, _), values in zip(scaled, before, strict=True):
            constants.update(values)
