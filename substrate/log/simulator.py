"""The protocol of a simulator that a log can record and a fork can drive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from substrate.base.delta import Op, Triple
from substrate.log.state import State


class Simulator(Protocol):
    """A deterministic simulator outside the substrate, driven tick by tick.

    The same start state and tick must give the same deltas; nothing else may affect them.

    >>> class Still:
    ...     def start(self, state: State, tick: int) -> None:
    ...         self.size = len(state)
    ...     def step(self, tick: int) -> list[tuple[Op, Triple]]:
    ...         return []
    >>> simulator: Simulator = Still()
    """

    def start(self, state: State, tick: int) -> None:
        """Start from the intervened state; ``tick`` is the first tick to step."""
        ...

    def step(self, tick: int) -> Iterable[tuple[Op, Triple]]:
        """The changes at a tick; the ticks of successive calls are consecutive."""
        ...
