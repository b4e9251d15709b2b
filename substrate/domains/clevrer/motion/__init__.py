"""The calibrated law of motion, and a deterministic simulator with that law.

- :func:`simulate`: moves bodies on the ground plane, frame by frame, with or without one of them;
- :func:`observed`, :func:`bodies`, :func:`masses`: give the bodies of an annotated video.

``docs/design/motion.md`` says how the law was found and how well it fits.
"""

from substrate.domains.clevrer.motion.engine import Body, Motion, simulate
from substrate.domains.clevrer.motion.law import LAW, Law
from substrate.domains.clevrer.motion.observe import bodies, masses, observed

__all__ = [
    "LAW",
    "Body",
    "Law",
    "Motion",
    "bodies",
    "masses",
    "observed",
    "simulate",
]
