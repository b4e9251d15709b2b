"""Episodes: steps in which people are told of, and questions about what is known then.

The kinds of questions are those that agents' memories were found weak on (MEME, arXiv 2605.12477): an update,
a cascade (what followed from something that is no longer so), an absence, a deletion; and a time in the past.
Nothing of that benchmark's data is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

import pyoxigraph as ox

from research.generators.remembering.format import KINDS, Episode, Kind, Question, Step
from research.generators.remembering.oracle import Truth

AUTHORS = ("the neighbour", "the postman")
_FOLLOWS = "urn:substrate:errands:followsFrom"
_PERSON = "urn:substrate:errands:Person"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_FUNCTIONAL = "http://www.w3.org/2002/07/owl#FunctionalProperty"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_RANGE = "http://www.w3.org/2000/01/rdf-schema#range"


class Town:
    """The words of a TBox that episodes are made of.

    Args:
        turtle: the TBox `errands`, or another whose functional properties have a class as range, with
            labelled things of these classes, and say what they follow from.
    """

    def __init__(self, turtle: str) -> None:
        self._store = ox.Store()
        self._store.load(turtle.encode(), ox.RdfFormat.TURTLE)
        things = defaultdict[str, list[str]](list)
        for thing, kind in self._pairs(_TYPE):
            things[kind].append(thing)
        self.people = things[_PERSON]
        self.values = {
            relation: things[kind]
            for relation, kind in self._pairs(_RANGE)
            if relation in things[_FUNCTIONAL]
        }
        self.before = defaultdict[str, list[str]](list)
        for after, earlier in self._pairs(_FOLLOWS):
            self.before[after].append(earlier)
        self._labels = dict(self._pairs(_LABEL))

    def _pairs(self, predicate: str) -> list[tuple[str, str]]:
        quads = self._store.quads_for_pattern(None, ox.NamedNode(predicate), None)
        return sorted((_text(quad.subject), _text(quad.object)) for quad in quads)

    def label(self, iri: str) -> str:
        """The TBox's word."""
        return self._labels[iri]

    def sentence(self, number: int, step: Step) -> str:
        """A step in English."""
        fact = f"{self.label(step.person)} {self.label(step.relation)} {self.label(step.value)}"
        if step.kind == "end":
            return f"{number}. It is no longer so that {fact}."
        if step.kind == "forget":
            return f"{number}. {step.author or 'The keeper'} asks to forget that {fact}."
        because = f"Because of {step.because}, " if step.because is not None else ""
        return f"{number}. {because}{step.author} says that {fact}."

    def question(self, question: Question) -> str:
        """A question in English."""
        fact = f"{self.label(question.person)} {self.label(question.relation)} …"
        return f"After statement {question.at}, what was known: {fact}"


def episodes(town: Town, count: int, seed: int, steps: int = 40) -> Iterator[Episode]:
    """Episodes with questions of each kind.

    Args:
        town: what they are about.
        count: how many.
        seed: what they are drawn from.
        steps: of each.
    """
    for number in range(count):
        random = Random(f"{seed}/{number}")
        history = _steps(random, town, steps)
        truth = Truth(history)
        yield Episode(f"{seed}-{number}", history, _questions(random, town, history, truth.value))


def _steps(random: Random, town: Town, count: int) -> list[Step]:
    steps: list[Step] = []
    told_at: dict[tuple[str, str], int] = {}
    while len(steps) < count:
        person, relation = random.choice(town.people), random.choice(sorted(town.values))
        last = told_at.get((person, relation))
        draw = random.random()
        if last is not None and draw < 0.25:
            was = steps[last]
            kind = "forget" if draw < 0.15 else "end"
            author = was.author if kind == "forget" and random.random() < 0.5 else ""
            steps.append(Step(kind, person, relation, was.value, author=author))
            continue
        if last is not None and draw < 0.35:  # another says the same
            steps.append(Step("tell", person, relation, steps[last].value, author=random.choice(AUTHORS)))
            continue
        grounds = [
            told_at[person, earlier] for earlier in town.before[relation] if (person, earlier) in told_at
        ]
        grounds = [ground for ground in grounds if _is_last(steps, ground)]
        if town.before[relation] and not grounds:
            continue
        because = random.choice(grounds) if grounds else None
        value = random.choice(town.values[relation])
        told_at[person, relation] = len(steps)
        steps.append(Step("tell", person, relation, value, because, random.choice(AUTHORS)))
    return steps


def _is_last(steps: Sequence[Step], number: int) -> bool:
    """Tell whether nothing was done about a statement's slot since."""
    slot = steps[number].person, steps[number].relation
    return all((later.person, later.relation) != slot for later in steps[number + 1 :]) and (
        steps[number].because is None or _is_last(steps, steps[number].because or 0)
    )


def _questions(
    random: Random, town: Town, steps: Sequence[Step], value: Callable[[str, str, int], str]
) -> list[Question]:
    last = len(steps) - 1
    open_: dict[Kind, list[tuple[str, str, int]]] = {kind: [] for kind in KINDS}
    for person in town.people:
        for relation in sorted(town.values):
            tellings = [n for n, s in enumerate(steps) if (s.person, s.relation) == (person, relation)]
            open_[_kind(steps, tellings, value(person, relation, last))].append((person, relation, last))
            if tellings and last - tellings[0] > 2:
                open_["temporal"].append((person, relation, random.randrange(tellings[0], last)))
    questions: list[Question] = []
    for kind, slots in open_.items():
        for person, relation, at in random.sample(slots, min(2, len(slots))):
            questions.append(Question(kind, person, relation, at, value(person, relation, at)))
    return questions


def _kind(steps: Sequence[Step], tellings: Sequence[int], known: str) -> Kind:
    """The kind of a question about the end of an episode, by what was last done about its slot."""
    if not tellings:
        return "absence"
    done = steps[tellings[-1]]
    if done.kind == "forget":
        return "deletion"
    if done.kind == "end":
        return "absence"
    return "cascade" if done.because is not None or known == "unknown" else "update"


def by_kind(questions: Sequence[Question], answers: Sequence[str]) -> Mapping[Kind, tuple[int, int]]:
    """Right answers and questions of each kind."""
    counts: dict[Kind, tuple[int, int]] = {}
    for question, answer in zip(questions, answers, strict=True):
        right, n = counts.get(question.kind, (0, 0))
        counts[question.kind] = right + (answer == question.expected), n + 1
    return counts


def _text(term: object) -> str:
    assert isinstance(term, ox.NamedNode | ox.Literal)
    return term.value
