"""The event log: its deltas, chain and file, and the states, histories and exports computed from it.

Open ``event_log.py`` first. Its class is built in four steps, each a base of the next:

1. ``_columns.py``: ``DeltaSequence``, the deltas as columns of numbers
2. ``replay.py``: ``Timeline``, the states along the deltas
3. ``growing.py``: ``GrowingLog``, appends, digests and branches
4. ``event_log.py``: ``EventLog``, the file

The other files:

- triples: ``_triples.py`` numbers them, ``_fitting.py`` finds them by pattern
- states: ``state.py``, with ``_stores.py`` for the stores that queries share; ``history.py``
- digests: ``_chain.py``
- files: ``patch.py`` spells and verifies transactions, ``_spelling.py`` their lines; ``journal.py`` appends
  durably, ``_members.py`` packs; ``foreign.py`` reads patches of other programs, ``repair.py`` a damaged file
- for other packages: ``grouping.py`` (a memory's records), ``simulator.py``, ``export.py``

``_locking.py`` has the one lock that protects the memory of all logs and states.
"""

from substrate.log.event_log import EventLog, TornTailWarning, insert, record, retract
from substrate.log.export import from_state, to_turtle
from substrate.log.history import Change, Difference, History, Interval, diff, difference, histories, history
from substrate.log.replay import Replay
from substrate.log.simulator import Simulator
from substrate.log.state import State

__all__ = [
    "Change",
    "Difference",
    "EventLog",
    "History",
    "Interval",
    "Replay",
    "Simulator",
    "State",
    "TornTailWarning",
    "diff",
    "difference",
    "from_state",
    "histories",
    "history",
    "insert",
    "record",
    "retract",
    "to_turtle",
]
