"""The probability of an answer about an imagined world: the share of possible worlds in which it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrate.base.errors import ProgramError
from substrate.domains.clevrer.emitter import ensemble
from substrate.domains.clevrer.motion.draws import DRAWS
from substrate.domains.clevrer.program import Step, World, run

REMOVALS = ("get_counterfact", "filter_counterfact", "counterfact_events")
"""The opcodes that imagine a world without an object."""


class Chances:
    """The answers of one scene, judged by an ensemble of simulated forks; each fork is made once.

    Args:
        world: what the answers were computed from.
        ground: what the answer that some steps lead to rests on, in a world.
    """

    def __init__(self, world: World, ground: Callable[[list[Step], World], str]) -> None:
        self._world = world
        self._ground = ground

    def of(self, program: Sequence[str], answer: str) -> float | None:
        """The probability of a program's answer; ``None`` where nothing of it was simulated by the law.

        It is 1 where in no draw anyone concerned departs from what was observed: that is the causal graph's
        word, and no simulation's. Else it is the share of draws with the same answer, half a draw added to
        either side, so that an ensemble that agrees is no proof.
        """
        parameters = self._world.parameters
        imagines = ("unseen_events" in program and parameters.predictive.kinematics is None) or (
            parameters.counterfactual.method == "simulated" and not set(REMOVALS).isdisjoint(program)
        )
        if not imagines or parameters.engine != "calibrated":
            return None
        same, proved = 0, True
        for world in self._draws():
            steps: list[Step] = []
            try:
                same += run(list(program), world, steps.append) == answer
            except ProgramError:
                proved = False  # another number of events than the program takes: another answer
                continue
            proved = proved and self._ground(steps, world) != "simulated"
        if proved and same == DRAWS:
            return 1.0
        return round((same + 0.5) / (DRAWS + 1), 3)

    def _draws(self) -> list[World]:
        scene, parameters = self._world
        return [World(draw, parameters) for draw in ensemble(scene)]
