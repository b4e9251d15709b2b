"""The interpreter's view of a target: CLEVRER's view, with mass, charge and direction."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

from substrate.base.errors import ProgramError
from substrate.domains.clevrer import scene as clevrer
from substrate.domains.comphy.deltas import NAMESPACE
from substrate.log.event_log import EventLog

_PREFIX = f"PREFIX : <{clevrer.NAMESPACE}>\nPREFIX c: <{NAMESPACE}>\n"
QUERIES = {
    **clevrer.QUERIES,
    "mass": _PREFIX
    + """SELECT ?number ?value ?probability WHERE {
           ?object :number ?number ; c:mass ?value ; c:massProbability ?probability }""",
    "charge": _PREFIX
    + """SELECT ?number ?value ?probability WHERE {
           ?object :number ?number ; c:charge ?value ; c:chargeProbability ?probability }""",
    "direction": _PREFIX
    + "SELECT ?number ?direction WHERE { ?object :number ?number ; c:direction ?direction }",
    "strength": _PREFIX + "SELECT ?value WHERE { ?scene a :Scene ; c:strength ?value }",
}
"""The SPARQL query behind each read; ``motion`` and ``direction`` run on the state at a given frame, the
others on the last.
"""


class TargetScene(clevrer.Scene):
    """A target's log, opened for questions.

    Args:
        log: a log of :mod:`substrate.domains.comphy.deltas`.
    """

    queries: ClassVar[Mapping[str, str]] = QUERIES

    def __init__(self, log: EventLog) -> None:
        super().__init__(log)
        self._directions: dict[int, dict[int, str]] = {}

    @cached_property
    def masses(self) -> dict[int, int]:
        """The likeliest mass of each object; empty if none was inferred."""
        return {number: value for number, (value, _) in self._inferred["mass"].items()}

    @cached_property
    def charges(self) -> dict[int, int]:
        """The likeliest charge of each object, up to a common sign; empty if none was inferred."""
        return {number: value for number, (value, _) in self._inferred["charge"].items()}

    @cached_property
    def _inferred(self) -> dict[str, dict[int, tuple[int, float]]]:
        return {
            name: {
                number: (int(clevrer.lexical(value)), float(clevrer.lexical(probability)))
                for number, (value, probability) in self.numbered(
                    f"{NAMESPACE}{name}", f"{NAMESPACE}{name}Probability"
                )
            }
            for name in ("mass", "charge")
        }

    def known(self, name: Literal["mass", "charge"], object_: int, least: float) -> int:
        """An object's mass or charge.

        Raises:
            ProgramError: none was inferred, or its probability is below ``least``.
        """
        if object_ not in self._inferred[name]:
            raise ProgramError(
                f"the {name} of object {object_} is not known", hint="Infer it from the reference videos"
            )
        value, probability = self._inferred[name][object_]
        if probability < least:
            raise ProgramError(
                f"the {name} of object {object_} is {value} with a probability of {probability} only",
                hint="Show more of it in the reference videos, or ask for less than "
                f"least_probability: {least}",
            )
        return value

    @cached_property
    def strength(self) -> float:
        """The strength of the force between two unit charges (units³/s²); 0 if unknown."""
        strengths = self.holding(f"{NAMESPACE}strength").values()
        return next((float(clevrer.lexical(value)) for values in strengths for value in values), 0.0)

    def direction(self, frame: int) -> dict[int, str]:
        """The direction of each visible object that moves in one of the four directions at a frame."""
        if frame not in self._directions:
            self._directions[frame] = {
                number: way[len(NAMESPACE) + 1 : -1]
                for number, (way,) in self.numbered(f"{NAMESPACE}direction", tick=frame)
            }
        return self._directions[frame]
