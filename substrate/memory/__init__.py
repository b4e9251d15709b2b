"""An agent's memory, stored in an event log.

Open ``memory.py`` first: the calls that write, and branches. Its base, ``recall.py``, has the questions, and
``records.py`` the vocabulary and the types of calls and answers. Each of the other files knows only the files
above it:

- ``records.py``: what a record says; whether a state holds it for lost or doubted
- ``_format.py``: a record's deltas, written and read back
- ``_clocks.py``: ticks and times; ``_schedule.py``: the facts that begin or end later
- ``_contradictions.py``: the constraints of a TBox that an observation can contradict
- ``_grounds.py``: which records fall when a ground is gone, and the words of memory by an example (ground,
  support, resting, falling, awaits, doubted); ``_falling.py``: the changes by which records fall
- ``_consequences.py``: which later records a what-if keeps
- ``_writing.py``: a call is checked and dated, due facts change, a record is appended
- ``_index.py``: questions about one thing in the past, without a full state

A call such as ``observe`` passes ``memory.py``, ``_writing.py`` and ``_format.py``, and then the log.
`docs/design/memory.md` follows three calls to their deltas.
"""

from substrate.memory.memory import Memory
from substrate.memory.records import Ground, Record

__all__ = ["Ground", "Memory", "Record"]
