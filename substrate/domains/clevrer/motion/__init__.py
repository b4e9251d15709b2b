"""The calibrated law of motion, and a deterministic simulator with that law.

- :func:`simulate`: moves bodies on the ground plane, frame by frame, with or without one of them;
- :data:`LAW`: the law, which a simulation may replace.

``docs/design/motion.md`` says how the law was found and how well it fits.
"""

from substrate.domains.clevrer.motion.engine import Body, Motion, simulate
from substrate.domains.clevrer.motion.law import LAW, Law

__all__ = ["LAW", "Body", "Law", "Motion", "simulate"]
