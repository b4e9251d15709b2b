"""The interpreter's view of a target: CLEVRER's view, with mass, charge and direction."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, Protocol

from substrate.base.errors import ProgramError
from substrate.domains.clevrer import scene as clevrer
from substrate.domains.clevrer.program import World
from substrate.domains.comphy.deltas import NAMESPACE
from substrate.log.event_log import EventLog

if TYPE_CHECKING:
    from substrate.domains.comphy.parameters import Parameters

Pair = frozenset[int]

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
    simulator: Emitter | None = None
    """The emitter of ``emitter: motion``; the package ``research`` has one."""

    def __init__(self, log: EventLog, simulator: Emitter | None = None) -> None:
        super().__init__(log)
        self.simulator = simulator
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


class PropertyChange(NamedTuple):
    """A new mass or charge of an object, as :meth:`of` reads it from a program."""

    object: int
    mass: int
    charge: int

    @classmethod
    def of(cls, scene: TargetScene, number: int, word: str) -> PropertyChange:
        """The change of an object that a word such as ``counterfact_heavier`` names.

        An unknown mass counts as light, an unknown charge as none.
        """
        mass, charge = scene.masses.get(number, 1), scene.charges.get(number, 0)
        changed = {
            "lighter": (1, charge),
            "heavier": (5, charge),
            "uncharged": (mass, 0),
            "opposite": (mass, -charge),
        }
        return cls(number, *changed[word.removeprefix("counterfact_")])


class Emitter(Protocol):
    """The source of collisions that were not filmed."""

    def future(self, scene: TargetScene, parameters: Parameters) -> list[Pair]:
        """The pairs that collide after the video."""
        ...

    def changed(self, scene: TargetScene, change: PropertyChange) -> list[Pair]:
        """The pairs that collide in the video with an object changed."""
        ...


def opened(log: EventLog, parameters: Parameters, simulator: Emitter | None) -> World:
    """A target's log, opened with an emitter for ``emitter: motion``."""
    scene = TargetScene.of(log)
    scene.simulator = simulator
    return World(scene, parameters)
