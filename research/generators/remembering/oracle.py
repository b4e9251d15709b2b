"""The truth of an episode, by a plain sweep over all that was said. It shares no code with the memory."""

from __future__ import annotations

from collections.abc import Sequence

from research.generators.remembering.format import UNKNOWN, Step


class Truth:
    """The statements that stand after each step of an episode.

    A statement stands until it is forgotten or ended, until another value takes its place, or until nothing
    says any more what it followed from; then it never stands again. An author who forgets a fact that they
    told takes back their own statements of it, fallen ones too; anyone else takes back all.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._standing: list[frozenset[int]] = []
        standing, taken_back = set[int](), set[int]()
        for number, step in enumerate(steps):
            if step.kind == "tell":
                same = {i for i in standing if self._slot(i) == self._slot(number)}
                standing -= {i for i in same if steps[i].value != step.value}
                standing.add(number)
            else:
                tells = (i for i in range(number) if steps[i].kind == "tell")
                tellings = {i for i in tells if self._fact(i) == self._fact(number)}
                own = {i for i in tellings - taken_back if step.author and steps[i].author == step.author}
                gone = own if step.kind == "forget" and own else tellings
                standing -= gone
                taken_back |= gone if step.kind == "forget" else set()
            self._fall(standing)
            self._standing.append(frozenset(standing))

    def _fall(self, standing: set[int]) -> None:
        while fallen := {i for i in standing if self._groundless(i, standing)}:
            standing -= fallen

    def _groundless(self, number: int, standing: set[int]) -> bool:
        cause = self._steps[number].because
        return cause is not None and not any(self._fact(i) == self._fact(cause) for i in standing)

    def _slot(self, number: int) -> tuple[str, str]:
        step = self._steps[number]
        return step.person, step.relation

    def _fact(self, number: int) -> tuple[str, str, str]:
        return *self._slot(number), self._steps[number].value

    def value(self, person: str, relation: str, at: int) -> str:
        """The value that is known after step ``at``; ``unknown`` where none is."""
        values = {self._steps[i].value for i in self._standing[at] if self._slot(i) == (person, relation)}
        return values.pop() if values else UNKNOWN

    def said(self, person: str, relation: str, at: int) -> int:
        """The number of statements about a person and a relation that stand after step ``at``."""
        return sum(self._slot(i) == (person, relation) for i in self._standing[at])
