"""Event-graph substrates: state as an append-only log of typed RDF deltas.

A log is replayed, queried with SPARQL at any tick, forked at a tick and intervened on; its causal
ancestry answers why something happened and what would not have happened without something else.
"""

__version__ = "0.1.0"

from substrate.ask.questions import Answer, Occurrence, ask, occurrences, survey
from substrate.ask.tellings import Learning, chains, in_words
from substrate.base.delta import Delta, Op, Term, Triple
from substrate.base.errors import (
    FormatError,
    InterventionError,
    LogError,
    ParameterError,
    ProgramError,
    SubstrateError,
    TBoxError,
)
from substrate.base.terms import Namespace
from substrate.branch.fork import Emitter, Simulation, Simulator, TwinTick, arms, fork, twin
from substrate.branch.interventions import (
    Assert,
    AssertAwareness,
    Intervention,
    OverrideLocation,
    Retract,
    RetractAwareness,
)
from substrate.branch.merge import Conflict, MergeError, conflicts, merge, merge_base
from substrate.cause.ancestry import (
    Ancestry,
    Event,
    ancestors,
    ancestors_as_printed,
    ancestors_global_frame,
    causal_chain,
)
from substrate.cause.duality import Condition, Conditions, Verdict, conditions, verdicts
from substrate.cause.explanation import Evidence, ExplainedPart, ExplainedStep, Explanation
from substrate.log.display import show
from substrate.log.event_log import EventLog, TornTailWarning
from substrate.log.export import from_members, from_state, members, to_turtle
from substrate.log.history import Change, Difference, History, Interval, diff, difference, histories, history
from substrate.log.replay import Replay
from substrate.log.state import State
from substrate.rules.fixpoint import Firing, RuleEmitter, settle, unfold
from substrate.rules.rule import Rule
from substrate.rules.tbox import TBox, Violation

insert, retract, record = EventLog.insert, EventLog.retract, EventLog.record

__all__ = [
    "Ancestry",
    "Answer",
    "Assert",
    "AssertAwareness",
    "Change",
    "Condition",
    "Conditions",
    "Conflict",
    "Delta",
    "Difference",
    "Emitter",
    "Event",
    "EventLog",
    "Evidence",
    "ExplainedPart",
    "ExplainedStep",
    "Explanation",
    "Firing",
    "FormatError",
    "History",
    "Interval",
    "Intervention",
    "InterventionError",
    "Learning",
    "LogError",
    "MergeError",
    "Namespace",
    "Occurrence",
    "Op",
    "OverrideLocation",
    "ParameterError",
    "ProgramError",
    "Replay",
    "Retract",
    "RetractAwareness",
    "Rule",
    "RuleEmitter",
    "Simulation",
    "Simulator",
    "State",
    "SubstrateError",
    "TBox",
    "TBoxError",
    "Term",
    "TornTailWarning",
    "Triple",
    "TwinTick",
    "Verdict",
    "Violation",
    "ancestors",
    "ancestors_as_printed",
    "ancestors_global_frame",
    "arms",
    "ask",
    "causal_chain",
    "chains",
    "conditions",
    "conflicts",
    "diff",
    "difference",
    "fork",
    "from_members",
    "from_state",
    "histories",
    "history",
    "in_words",
    "insert",
    "members",
    "merge",
    "merge_base",
    "occurrences",
    "record",
    "retract",
    "settle",
    "survey",
    "to_turtle",
    "twin",
    "unfold",
    "verdicts",
]

show()
