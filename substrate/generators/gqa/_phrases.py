"""Referring to things: phrases with the program steps that say the same, and what they truly denote."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from substrate.domains.gqa.format import Step
from substrate.generators.gqa._things import GENDER, WIDTH, Room, Thing


@dataclass(frozen=True)
class Phrase:
    """Words, the steps of a program that ends in what they denote, and one thing they are meant for.

    ``unique`` says whether they fit nothing else; where they do, only an id tells which one is meant.
    """

    words: str
    steps: tuple[Step, ...]
    thing: Thing
    unique: bool

    @property
    def last(self) -> int:
        """Position of the step that holds the thing."""
        return len(self.steps) - 1

    def then(self, operation: str, argument: str) -> tuple[Step, ...]:
        """The phrase's steps and one more that uses the thing."""
        return (*self.steps, Step(operation, argument, [self.last]))


def joined(first: Phrase, second: Phrase) -> tuple[tuple[Step, ...], int, int]:
    """The steps of two phrases in one program, and the positions of their things."""
    shift = len(first.steps)
    moved = tuple(Step(s.operation, s.argument, [d + shift for d in s.dependencies]) for s in second.steps)
    return first.steps + moved, first.last, shift + second.last


@dataclass(frozen=True)
class Speaker:
    """Talks about one scene: knows the ids and draws wordings at random."""

    room: Room
    ids: dict[int, str]
    rng: Random

    def carried(self, things: Iterable[Thing]) -> str:
        """The ids a program carries for these things; ``-`` where there are none."""
        return ",".join(self.ids[thing.number] for thing in things) or "-"

    def called(self, name: str) -> list[Thing]:
        """Everything in the scene that may be called so."""
        return [thing for thing in self.room.things if name in thing.kinds]

    def bare(self, thing: Thing, name: str | None = None) -> Phrase:
        """The thing by its name, or by one of its kinds, alone."""
        name = name or thing.name
        steps = (Step("select", f"{name} ({self.carried([thing])})", []),)
        return Phrase(f"the {name}", steps, thing, len(self.called(name)) == 1)

    def refer(self, thing: Thing) -> Phrase | None:
        """A phrase that fits this thing alone; ``None`` where none was found."""
        found = [
            phrase
            for phrase in (self.bare(thing), self._pronoun(thing), *self._filtered(thing))
            if phrase and phrase.unique
        ]
        return self.rng.choice(found) if found else None

    def _pronoun(self, thing: Thing) -> Phrase | None:
        gender = GENDER.get(thing.name)
        if gender is None or sum(GENDER.get(other.name) == gender for other in self.room.things) > 1:
            return None
        word = "she" if gender == "female" else "he"
        return Phrase(word, (Step("select", f"{word} ({self.carried([thing])})", []),), thing, True)

    def _filtered(self, thing: Thing) -> list[Phrase]:
        base = self.bare(thing)
        peers = self.called(thing.name)
        found = []
        for family, value in thing.attributes.items():
            unique = sum(other.attributes.get(family) == value for other in peers) == 1
            found.append(
                Phrase(
                    f"the {value} {thing.name}", base.then(f"filter {family}".strip(), value), thing, unique
                )
            )
        for family, value in thing.attributes.items():
            # "not red" is only said where everything else of that name is red.
            contrast = {other.attributes.get(family) for other in peers if other is not thing}
            shared = contrast.pop() if len(contrast) == 1 else None
            if family and shared and shared != value:
                found.append(
                    Phrase(
                        f"the {thing.name} that is not {shared}",
                        base.then(f"filter {family}", f"not({shared})"),
                        thing,
                        True,
                    )
                )
        side = "left" if thing.centre[0] < WIDTH / 2 else "right"
        level = [other for other in peers if ("left" if other.centre[0] < WIDTH / 2 else "right") == side]
        found.append(
            Phrase(
                f"the {thing.name} on the {side}", base.then("filter hposition", side), thing, len(level) == 1
            )
        )
        return found

    def article(self, word: str) -> str:
        """The word with its indefinite article."""
        return f"an {word}" if word[0] in "aeiou" else f"a {word}"
