"""Branches of a log: forks, their first interventions, and merges.

Begin with ``fork.py``: a branch is a prefix, an intervention and its consequences. ``interventions.py`` has
the paper's five interventions. ``merge.py`` joins two branches, and finds where they part (``merge_base``,
which ``fork.py`` uses to compare two arms). ``worlds.py`` forks a log once per intervention.
"""

from substrate.branch.fork import Emitter, Simulation, TwinTick, arms, fork, twin
from substrate.branch.interventions import (
    Assert,
    AssertAwareness,
    Intervention,
    OverrideLocation,
    Retract,
    RetractAwareness,
)
from substrate.branch.merge import Conflict, MergeError, conflicts, merge, merge_base
from substrate.branch.worlds import Worlds, worlds

__all__ = [
    "Assert",
    "AssertAwareness",
    "Conflict",
    "Emitter",
    "Intervention",
    "MergeError",
    "OverrideLocation",
    "Retract",
    "RetractAwareness",
    "Simulation",
    "TwinTick",
    "Worlds",
    "arms",
    "conflicts",
    "fork",
    "merge",
    "merge_base",
    "twin",
    "worlds",
]
