"""Event-graph substrates: state as an append-only log of typed RDF deltas.

A log is replayed, queried with SPARQL at any tick, forked at a tick and intervened on; its causal
ancestry answers why something happened and what would not have happened without something else.
"""

from substrate.ancestry import Ancestry, Event, ancestors, ancestors_as_printed, ancestors_global_frame
from substrate.errors import FormatError, InterventionError, LogError, ParameterError, ProgramError, SubstrateError, TBoxError
from substrate.fork import Emitter, fork
from substrate.interventions import Assert, AssertAwareness, Intervention, OverrideLocation, Retract, RetractAwareness
from substrate.log import Delta, EventLog, Op, Term, TornTailWarning, Triple
from substrate.replay import Replay, State
from substrate.tbox import TBox, Violation

__all__ = [
    "Ancestry",
    "Assert",
    "AssertAwareness",
    "Delta",
    "Emitter",
    "Event",
    "EventLog",
    "FormatError",
    "Intervention",
    "InterventionError",
    "LogError",
    "Op",
    "OverrideLocation",
    "ParameterError",
    "ProgramError",
    "Replay",
    "Retract",
    "RetractAwareness",
    "State",
    "SubstrateError",
    "TBox",
    "TBoxError",
    "Term",
    "TornTailWarning",
    "Triple",
    "Violation",
    "ancestors",
    "ancestors_as_printed",
    "ancestors_global_frame",
    "fork",
]
