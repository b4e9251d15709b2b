"""Rules settled by what changed: the door through which the rest of the room comes is :class:`Settler`."""

from substrate.rules._incremental.settling import RuleChanges, Settler

__all__ = ["RuleChanges", "Settler"]
