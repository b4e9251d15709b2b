"""Episodes: steps in which people are told of, and questions about what is known then.

The kinds of questions are those that agents' memories were found weak on (MEME, arXiv 2605.12477): an update,
a cascade (what followed from something that is no longer so), an absence, a deletion; and a time in the past.
Nothing of that benchmark's data is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Literal

import msgspec
import pyoxigraph as ox

from substrate.base.vocabulary import RDF_TYPE
from substrate.rules.tbox import TBox

Kind = Literal["update", "cascade", "absence", "deletion", "temporal"]
KINDS: Sequence[Kind] = ("update", "cascade", "absence", "deletion", "temporal")
AUTHORS = ("the neighbour", "the postman")
_FOLLOWS = "PREFIX e: <urn:substrate:errands:> SELECT ?after ?before { ?after e:followsFrom ?before }"
_RANGE = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#range")
_PERSON = ox.NamedNode("urn:substrate:errands:Person")


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something told, ended or forgotten; terms are IRIs, and a step's tick is its number.

    Attributes:
        kind: what is done.
        because: the number of the step from which this follows.
        author: who says so; who takes back what was said, for ``forget``.
    """

    kind: Literal["tell", "end", "forget"]
    person: str
    relation: str
    value: str
    because: int | None = None
    author: str = ""


class Question(msgspec.Struct, frozen=True):
    """What is known of a person by a relation after a step?"""

    kind: Kind
    person: str
    relation: str
    at: int
    expected: str


class Episode(msgspec.Struct, frozen=True):
    """Steps, and questions with their gold."""

    name: str
    steps: list[Step]
    questions: list[Question]


class Town:
    """The words of the TBox `errands` that episodes are made of."""

    def __init__(self) -> None:
        self.tbox = TBox.load("errands")
        store = self.tbox.store
        things = defaultdict[str, list[str]](list)
        for quad in sorted(store.quads_for_pattern(None, RDF_TYPE, None), key=str):
            things[str(quad.object)].append(_iri(quad.subject))
        self.people = things[str(_PERSON)]
        self.values = {
            iri.value: things[str(quad.object)]
            for iri in sorted(self.tbox.functional, key=str)
            for quad in store.quads_for_pattern(iri, _RANGE, None)
        }
        self.before = defaultdict[str, list[str]](list)
        rows = store.query(_FOLLOWS)
        assert isinstance(rows, ox.QuerySolutions)
        for after, earlier in sorted((_iri(row["after"]), _iri(row["before"])) for row in rows):
            self.before[after].append(earlier)

    def label(self, iri: str) -> str:
        """The TBox's word."""
        return self.tbox.label(ox.NamedNode(iri))

    def sentence(self, number: int, step: Step) -> str:
        """A step in English."""
        fact = f"{self.label(step.person)} {self.label(step.relation)} {self.label(step.value)}"
        if step.kind == "end":
            return f"{number}. It is no longer so that {fact}."
        if step.kind == "forget":
            return f"{number}. {step.author or 'The keeper'} asks to forget that {fact}."
        because = f"Because of {step.because}, " if step.because is not None else ""
        return f"{number}. {because}{step.author} says that {fact}."

    def question(self, asked: Question) -> str:
        """A question in English."""
        fact = f"{self.label(asked.person)} {self.label(asked.relation)} …"
        return f"After statement {asked.at}, what was known: {fact}"


def episodes(count: int, seed: int, steps: int = 40) -> Iterator[Episode]:
    """Episodes with questions of each kind.

    Args:
        count: how many.
        seed: what they are drawn from.
        steps: of each.
    """
    from substrate.generators.remembering.oracle import Truth

    town = Town()
    for number in range(count):
        random = Random(f"{seed}/{number}")
        found = _steps(random, town, steps)
        truth = Truth(found)
        yield Episode(f"{seed}-{number}", found, _questions(random, town, found, truth.value))


def _steps(random: Random, town: Town, count: int) -> list[Step]:
    found: list[Step] = []
    said: dict[tuple[str, str], int] = {}
    while len(found) < count:
        person, relation = random.choice(town.people), random.choice(sorted(town.values))
        last = said.get((person, relation))
        draw = random.random()
        if last is not None and draw < 0.25:
            was = found[last]
            kind = "forget" if draw < 0.15 else "end"
            author = was.author if kind == "forget" and random.random() < 0.5 else ""
            found.append(Step(kind, person, relation, was.value, author=author))
            continue
        if last is not None and draw < 0.35:  # another says the same
            found.append(Step("tell", person, relation, found[last].value, author=random.choice(AUTHORS)))
            continue
        grounds = [said[person, one] for one in town.before[relation] if (person, one) in said]
        grounds = [one for one in grounds if _is_last(found, one)]
        if town.before[relation] and not grounds:
            continue
        because = random.choice(grounds) if grounds else None
        value = random.choice(town.values[relation])
        said[person, relation] = len(found)
        found.append(Step("tell", person, relation, value, because, random.choice(AUTHORS)))
    return found


def _is_last(found: Sequence[Step], number: int) -> bool:
    """Tell whether nothing was done about a statement's slot since."""
    slot = found[number].person, found[number].relation
    return all((later.person, later.relation) != slot for later in found[number + 1 :]) and (
        found[number].because is None or _is_last(found, found[number].because or 0)
    )


def _questions(
    random: Random, town: Town, steps: Sequence[Step], value: Callable[[str, str, int], str]
) -> list[Question]:
    last = len(steps) - 1
    open_: dict[Kind, list[tuple[str, str, int]]] = {kind: [] for kind in KINDS}
    for person in town.people:
        for relation in sorted(town.values):
            told = [n for n, s in enumerate(steps) if (s.person, s.relation) == (person, relation)]
            open_[_kind(steps, told, value(person, relation, last))].append((person, relation, last))
            if told and last - told[0] > 2:
                open_["temporal"].append((person, relation, random.randrange(told[0], last)))
    found: list[Question] = []
    for kind, asked in open_.items():
        for person, relation, at in random.sample(asked, min(2, len(asked))):
            found.append(Question(kind, person, relation, at, value(person, relation, at)))
    return found


def _kind(steps: Sequence[Step], told: Sequence[int], known: str) -> Kind:
    """The kind of a question about the end of an episode, by what was last done about its slot."""
    if not told:
        return "absence"
    done = steps[told[-1]]
    if done.kind == "forget":
        return "deletion"
    if done.kind == "end":
        return "absence"
    return "cascade" if done.because is not None or known == "unknown" else "update"


def by_kind(asked: Sequence[Question], given: Sequence[str]) -> Mapping[Kind, tuple[int, int]]:
    """Right answers and questions of each kind."""
    found: dict[Kind, tuple[int, int]] = {}
    for question, answer in zip(asked, given, strict=True):
        right, n = found.get(question.kind, (0, 0))
        found[question.kind] = right + (answer == question.expected), n + 1
    return found


def _iri(term: object) -> str:
    assert isinstance(term, ox.NamedNode)
    return term.value
