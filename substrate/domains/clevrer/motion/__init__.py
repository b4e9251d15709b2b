"""The calibrated law of motion, and a deterministic simulator with that law.

- :func:`simulate`: moves bodies on the ground plane, frame by frame, with or without one of them;
- :data:`LAW`: the law, which a simulation may replace.

``docs/design/motion.md`` says how the law was found and how well it fits.

Begin with ``engine.py``. It stands on ``law.py`` (the constants) and ``contact.py`` (where two bodies touch).
On the engine stand ``course.py`` (a film in which some bodies leave their observed paths), ``observe.py``
(masses from filmed collisions) and ``draws.py`` (random states that a film allows). ``bullet.py`` can replace
the engine, for an ablation. Tuples and slots in ``engine.py`` and ``contact.py`` are for speed: mypyc may
compile these two files.
"""

from substrate.domains.clevrer.motion.engine import Body, Motion, simulate
from substrate.domains.clevrer.motion.law import LAW, Law

__all__ = ["LAW", "Body", "Law", "Motion", "simulate"]
