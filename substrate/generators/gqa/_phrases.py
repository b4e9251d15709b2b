"""References to things: phrases, the equivalent program steps, and the things that they denote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from substrate.domains.gqa.format import Operation
from substrate.generators.gqa._things import GENDER, Room, Thing

Steps = tuple[Operation, ...]


def then(steps: Steps, operation: str, argument: str = "", *inputs: int) -> Steps:
    """Append a step that uses the steps at the given positions, by default the last.

    >>> then((Operation("select", "cup", []),), "exist", "?")[1].dependencies
    [0]
    """
    return (*steps, Operation(operation, argument, list(inputs) or [len(steps) - 1]))


@dataclass(frozen=True)
class Phrase:
    """Words, the steps of a program that ends in what they denote, and the intended thing.

    ``unique`` says whether they fit only this thing; if not, only an id identifies it.
    """

    words: str
    steps: Steps
    thing: Thing
    unique: bool = True

    @property
    def last(self) -> int:
        """Position of the step that gives the thing."""
        return len(self.steps) - 1

    def then(self, operation: str, argument: str) -> Steps:
        """The phrase's steps, and one more step that uses the thing."""
        return then(self.steps, operation, argument)


def joined(first: Phrase, second: Phrase) -> tuple[Steps, int, int]:
    """The steps of two phrases in one program, and the positions of their things."""
    start = len(first.steps)
    moved = (Operation(s.operation, s.argument, [d + start for d in s.dependencies]) for s in second.steps)
    return (*first.steps, *moved), first.last, start + second.last


@dataclass(frozen=True)
class Speaker:
    """Talks about one scene: knows the ids and draws wordings at random."""

    room: Room
    ids: dict[int, str]
    rng: Random

    def carried(self, things: Iterable[Thing]) -> str:
        """The ids of these things as a program carries them; ``-`` if there are none."""
        return ",".join(self.ids[thing.number] for thing in things) or "-"

    def called(self, name: str) -> list[Thing]:
        """All things in the scene with this name or kind."""
        return [thing for thing in self.room.things if name in thing.kinds]

    def select(self, name: str, things: Iterable[Thing]) -> Steps:
        """A program that finds things by a name, and by their ids."""
        return (Operation("select", f"{name} ({self.carried(things)})", []),)

    def bare(self, thing: Thing, name: str | None = None) -> Phrase:
        """The thing by only its name or one of its kinds."""
        name = name or thing.name
        return Phrase(f"the {name}", self.select(name, [thing]), thing, len(self.called(name)) == 1)

    def refer(self, thing: Thing) -> Phrase | None:
        """A phrase that fits only this thing, if one is found."""
        phrases = (self.bare(thing), *self._pronoun(thing), *self._filtered(thing))
        unique = [phrase for phrase in phrases if phrase.unique]
        return self.rng.choice(unique) if unique else None

    def _pronoun(self, thing: Thing) -> Iterator[Phrase]:
        gender = GENDER.get(thing.name)
        if gender and sum(GENDER.get(other.name) == gender for other in self.room.things) == 1:
            word = "she" if gender == "female" else "he"
            yield Phrase(word, self.select(word, [thing]), thing)

    def _filtered(self, thing: Thing) -> Iterator[Phrase]:
        base, peers = self.bare(thing), self.called(thing.name)
        for family, value in thing.attributes.items():
            unique = sum(other.attributes.get(family) == value for other in peers) == 1
            steps = base.then(f"filter {family}".strip(), value)
            yield Phrase(f"the {value} {thing.name}", steps, thing, unique)
        for family, value in thing.attributes.items():
            # "not red" is used only if everything else with this name is red.
            contrast = {other.attributes.get(family) for other in peers if other is not thing}
            shared = contrast.pop() if len(contrast) == 1 else None
            if family and shared and shared != value:
                steps = base.then(f"filter {family}", f"not({shared})")
                yield Phrase(f"the {thing.name} that is not {shared}", steps, thing)
        level = [other for other in peers if other.side == thing.side]
        steps = base.then("filter hposition", thing.side)
        yield Phrase(f"the {thing.name} on the {thing.side}", steps, thing, len(level) == 1)

    def article(self, word: str) -> str:
        """The word with its indefinite article."""
        return f"an {word}" if word[0] in "aeiou" else f"a {word}"
