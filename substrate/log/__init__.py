"""The event log: its deltas, chain and file, and the states, histories and exports computed from it."""

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
