"""An agent's memory, stored in an event log."""

from substrate.memory.memory import Memory
from substrate.memory.records import Ground, Record

__all__ = ["Ground", "Memory", "Record"]
