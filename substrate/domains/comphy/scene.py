"""What the interpreter sees of a target: CLEVRER's view of it, and mass, charge and direction."""

from __future__ import annotations

from functools import cached_property
from typing import cast

import pyoxigraph as ox

from substrate.domains.clevrer import scene as clevrer
from substrate.domains.comphy.deltas import NAMESPACE
from substrate.log import EventLog
from substrate.replay import Replay

_PREFIX = f"PREFIX : <{clevrer.NAMESPACE}>\nPREFIX c: <{NAMESPACE}>\n"
QUERIES = {
    **clevrer.QUERIES,
    "mass": _PREFIX + "SELECT ?number ?value WHERE { ?object :number ?number ; c:mass ?value }",
    "charge": _PREFIX + "SELECT ?number ?value WHERE { ?object :number ?number ; c:charge ?value }",
    "direction": _PREFIX
    + "SELECT ?number ?direction WHERE { ?object :number ?number ; c:direction ?direction }",
    "strength": _PREFIX + "SELECT ?value WHERE { ?scene a :Scene ; c:strength ?value }",
}
"""The SPARQL behind every answer; ``motion`` and ``direction`` run on the state of the frame asked for, the
others on the last.
"""


class TargetScene(clevrer.Scene):
    """One target's log, opened for questions.

    Args:
        log: a log of :mod:`substrate.domains.comphy.deltas`.
    """

    def __init__(self, log: EventLog) -> None:
        super().__init__(log)
        self._states = Replay(log)
        self._directions: dict[int, dict[int, str]] = {}

    def _ask(self, query: str, frame: int) -> ox.QuerySolutions:
        return cast("ox.QuerySolutions", self._states.seek(frame).query(QUERIES[query]))

    @cached_property
    def masses(self) -> dict[int, int]:
        """The mass of each object of which one is known."""
        return {int(number.value): int(value.value) for number, value in self._ask("mass", self.end)}

    @cached_property
    def charges(self) -> dict[int, int]:
        """The charge of each object of which one is known, up to the sign of all of them."""
        return {int(number.value): int(value.value) for number, value in self._ask("charge", self.end)}

    @cached_property
    def strength(self) -> float:
        """Of the force between two unit charges (units³/s²); 0 where none is known."""
        return next((float(value.value) for (value,) in self._ask("strength", self.end)), 0.0)

    def direction(self, frame: int) -> dict[int, str]:
        """Where each object that is in view at a frame moves, if it moves in one of the four directions."""
        if frame not in self._directions:
            self._directions[frame] = {
                int(number.value): way.value[len(NAMESPACE) :]
                for number, way in self._ask("direction", frame)
            }
        return self._directions[frame]
