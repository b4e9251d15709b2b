"""Event-graph substrates: state as an append-only log of typed RDF deltas.

You can replay a log, query it with SPARQL at any tick, fork it at a tick and intervene on the branch. The
causal ancestry of a log's events tells why an event happened, and which events depended on an object.

This module has the names that most programs need first. Each subpackage has more (``substrate.log``,
``substrate.branch``, ``substrate.rules``, ``substrate.cause``, ``substrate.ask``, ``substrate.memory``). A
subpackage is loaded on the first use of one of its names.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_ROOMS = {
    "base": "Delta FormatError InterventionError LogError Namespace Op ParameterError ProgramError "
    "SubstrateError TBoxError Term Triple",
    "log": "EventLog Replay Simulator State TornTailWarning",
    "rules": "RuleEmitter TBox settle unfold",
    "branch": "Assert AssertAwareness Emitter Intervention MergeError OverrideLocation Retract "
    "RetractAwareness Simulation conflicts fork merge worlds",
    "cause": "Event ancestors",
    "memory": "Memory",
}
"""The names that this module takes from each subpackage; ``__init__.pyi`` tells them to type checkers."""
_PLACES = {name: room for room, names in _ROOMS.items() for name in names.split()}

__all__ = [*_PLACES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'substrate' has no attribute {name!r}")
    value = getattr(import_module(f"substrate.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_PLACES]
