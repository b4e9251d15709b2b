"""The probability of an answer about an imagined world: the share of possible worlds in which it holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from substrate.base.errors import ProgramError
from substrate.domains.clevrer.emitter import ensemble
from substrate.domains.clevrer.motion.draws import DRAWS
from substrate.domains.clevrer.program import IMAGINING, REMOVALS, ProgramStep, World, run
from substrate.domains.clevrer.scene import Scene

_MOVING = {*IMAGINING, "filter_moving", "filter_stationary", "filter_resting"}


def lacking_positions(tokens: Iterable[str], scene: Scene) -> str:
    """The objects whose positions a program needs and the scene lacks, in words; empty if there are none."""
    missing = sorted(scene.objects.keys() - scene.posed) if scene.tracked else []
    if not missing or _MOVING.isdisjoint(tokens):
        return ""
    who = ", ".join(f"{number} ({' '.join(scene.objects[number][:3])})" for number in missing)
    return f"no positions of object {who}: the event graph judges it"


class Chances:
    """Judges the answers of one scene by an ensemble of simulated forks, each made once.

    Args:
        world: the world that the answers were computed from.
        ground: gives the ground of the answer that some steps lead to in a world.
    """

    def __init__(self, world: World, ground: Callable[[list[ProgramStep], World], str]) -> None:
        self._world = world
        self._ground = ground

    def simulates(self, program: Collection[str]) -> bool:
        """Tell whether the calibrated law simulates something for a program."""
        parameters = self._world.parameters
        imagines = ("unseen_events" in program and parameters.predictive.kinematics is None) or (
            parameters.counterfactual.method == "simulated" and not set(REMOVALS).isdisjoint(program)
        )
        return imagines and parameters.engine == "calibrated"

    def of(self, program: Sequence[str], answer: str) -> float | None:
        """The probability of a program's answer; ``None`` if the law simulated nothing for it.

        It is 1 if no concerned object departs from its observed path in any draw: then the causal graph
        decides, not a simulation. Otherwise it is the share of draws with the same answer, with half a draw
        added to either side: an ensemble that agrees proves nothing.
        """
        if not self.simulates(program):
            return None
        same, proved = 0, True
        for world in self._draws():
            steps: list[ProgramStep] = []
            try:
                same += run(list(program), world, steps.append) == answer
            except ProgramError:
                proved = False  # a number of events that the program cannot take is a different answer
                continue
            proved = proved and self._ground(steps, world) != "simulated"
        if proved and same == DRAWS:
            return 1.0
        return round((same + 0.5) / (DRAWS + 1), 3)

    def _draws(self) -> list[World]:
        scene, parameters = self._world
        return [World(draw, parameters) for draw in ensemble(scene)]
