"""Multiple-choice questions: explanatory, predictive and counterfactual, with each choice's gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Generic, Literal, NamedTuple, TypeVar

from substrate.domains.clevrer.format import FRAMES, Choice, Collision
from substrate.domains.clevrer.grammar import Phrase
from substrate.domains.clevrer.questions import GRAMMAR
from substrate.generators.clevrer.events import Film, WorldEvent
from substrate.generators.clevrer.phrases import Names, sentence

K = TypeVar("K")
T = TypeVar("T")
Pair = tuple[int, int]

_RESPONSIBLE = {0: 2_743, 1: 3_428, 2: 5_541, 3: 4_320, 4: 767}
"""Correct choices of all 16,799 official explanatory questions: the number of questions with each."""
_THREE = 0.36
"""Probability of three choices in an explanatory question, others have four.

All official questions have 141,211 choices; without those of the other subsets, 3.64 are left for each
explanatory question.
"""
_ROOTLESS = 0.2
"""Probability of treating an event without a collision among its causes like one that has some."""
_READILY = {
    "object": {True: 1.0, False: 0.3},
    "collision": {True: 2.0, False: 6.0},
    "in": {True: 3.0, False: 0.6},
}
"""Weights of an explanatory option by its kind, and by whether it is a cause (docs/design/worlds.md)."""
_FILMED = 0.24
"""Probability that the wrong choice of a predictive question was filmed: 17 of 71 official ones."""
_CHOICES, _MOST_RIGHT = 4, 3
"""Choices of a counterfactual question, and the most of them that are correct: no official one has more."""
_DEFERRED = 0.85
"""Probability of moving a question back if its choices are few or all alike."""


@dataclass(frozen=True)
class MultipleChoice:
    """A question without its number; each choice says whether it is correct."""

    phrase: Phrase
    choices: tuple[tuple[Phrase, bool], ...]

    @property
    def numbered(self) -> list[Choice]:
        """The choices in the format of the question file, numbered."""
        return [
            Choice(place, phrase.text, phrase.program.split(), "correct" if right else "wrong")
            for place, (phrase, right) in enumerate(self.choices)
        ]


def explain(film: Film, names: Names, rng: Random, number: int) -> list[MultipleChoice]:
    """Make choices about what is (not) responsible for a collision or an exit.

    An event is responsible if it is a cause; an object's presence is responsible if the object takes part in
    a cause. The explained event's own objects and their entries are no choices, as in the official questions.
    Most explained events have a collision among their causes.
    """
    effects = [*film.of_type("collision"), *film.of_type("out")]
    pools = {effect: _explanations(film, names, rng, effect) for effect in effects}
    questions = []
    chained = [
        any(cause.type == "collision" for cause in film.causes[effect]) or rng.random() < _ROOTLESS
        for effect in effects
    ]
    candidates: list[tuple[WorldEvent, bool]] = []  # an effect, and whether the question is negated
    for wanted in (True, False):
        alike = [effect for effect, has_chain in zip(effects, chained, strict=True) if has_chain is wanted]
        variants = [(effect, negated) for effect in alike for negated in (False, True)]
        candidates += _varied_first(rng, variants, lambda variant: pools[variant[0]])
    for _ in range(min(number, len(candidates))):
        size = 3 if rng.random() < _THREE else 4
        correct = rng.choices(list(_RESPONSIBLE), list(_RESPONSIBLE.values()))[0]
        offers = {
            (effect, negated): [option._replace(right=option.right != negated) for option in pools[effect]]
            for effect, negated in candidates
        }
        effect, negated = (_fitting(offers, size, correct) or candidates)[0]
        candidates.remove((effect, negated))
        choices = _pick(rng, offers[effect, negated], size, correct)
        event = names.event(effect, rng, clause=False)
        phrase = GRAMMAR.write("explanatory", rng, event=event, negated=negation(negated))
        questions.append(MultipleChoice(phrase, choices))
    return questions


class Option(NamedTuple, Generic[T]):
    """A possible choice: its content, whether it is correct, and its weight when choices are drawn."""

    content: T
    right: bool
    weight: float = 1.0


def _explanations(film: Film, names: Names, rng: Random, effect: WorldEvent) -> list[Option[Phrase]]:
    """The options of a question why an event happened: objects, entries and collisions."""
    causes = film.causes[effect]
    involved = {number for cause in causes for number in cause.objects}
    objects = [
        (names.of(o.object_id, rng), o.object_id in involved)
        for o in names.properties
        if o.object_id not in effect.objects
    ]
    options = [
        Option(GRAMMAR.write("presence", rng, thing=phrase), right, _READILY["object"][right])
        for phrase, right in objects
    ]
    entries = [event for event in film.of_type("in") if not {*event.objects} & {*effect.objects}]
    for event in (*entries, *film.of_type("collision")):
        if event != effect:
            right, phrase = event in causes, names.event(event, rng, clause=False)
            options.append(Option(phrase, right, _READILY[event.type][right]))
    return options


Wrong = Literal["any", "near", "met"]
"""The wrong choice of a predictive question: any pair as in official questions, the pair that comes nearest
without colliding, or a pair whose collision was filmed, so that only the time is wrong.
"""


def predict(
    contacts: Sequence[Collision],
    names: Names,
    rng: Random,
    number: int,
    *,
    wrong: Wrong = "any",
    misses: Mapping[Pair, float] | None = None,
) -> list[MultipleChoice]:
    """Make choices about the time after the video: a pair that first collides then, against one that does
    not.

    Args:
        contacts: every first contact of the simulation, hidden seconds included.
        names: the names of the objects.
        rng: the random numbers of the choices and their wording.
        number: the number of questions.
        wrong: the kind of the wrong choices.
        misses: how near each pair comes to a collision after the video (units), for ``near``.
    """
    seen = [ordered(c.object_ids) for c in contacts if c.frame_id < FRAMES]
    future = [ordered(c.object_ids) for c in contacts if c.frame_id >= FRAMES]
    never = [pair for pair in _pairs(names) if pair not in seen and pair not in future]
    if wrong == "near" and never:
        never = [min(never, key=lambda pair: ((misses or {})[pair], pair))]
    questions = []
    for text, program in rng.sample(GRAMMAR.rules["predictive"], number if future and (seen or never) else 0):
        filmed = wrong == "met" or not never or (wrong == "any" and rng.random() < _FILMED)
        pairs = [(rng.choice(future), True), (rng.choice(seen if filmed and seen else never), False)]
        choices = tuple((names.possible_collision(pair, rng), true) for pair, true in rng.sample(pairs, 2))
        questions.append(MultipleChoice(Phrase(text, program), choices))
    return questions


def imagine(
    without: Mapping[int, Sequence[Collision]], names: Names, rng: Random, number: int
) -> list[MultipleChoice]:
    """Make choices about what would (not) happen without an object: the pairs that would collide, hidden
    seconds included.

    The official gold includes collisions after the video's last frame. In 1,398 videos, 34.6 % of the
    questions that remove an object which touched nothing have a choice that is right by this gold and that
    no frame shows (CausalVis, github.com/bukhari-hamzamukhtar/CausalVis, ``paper_exp/RESULTS.md``).
    """
    offers = {
        (removed, negated): [
            Option(pair, (pair in {ordered(c.object_ids) for c in contacts}) != negated)
            for pair in _pairs(names)
            if removed not in pair
        ]
        for removed, contacts in without.items()
        for negated in (False, True)
        if len(without) > 2
    }
    questions: list[MultipleChoice] = []
    while len(questions) < number and offers:
        correct = rng.randint(1, _MOST_RIGHT)
        # Four objects leave three pairs: then there are fewer choices, of both kinds if possible.
        fitting = _fitting(offers, _CHOICES, correct) or _fitting(offers, 2, 1)
        removed, negated = rng.choice(fitting or list(offers))
        offer = offers.pop((removed, negated))
        right = drawn(rng, [option for option in offer if option.right], correct)
        wrong = drawn(rng, [option for option in offer if not option.right], _CHOICES - correct)
        choices = tuple(
            (names.possible_collision(option.content, rng), option.right)
            for option in rng.sample([*right, *wrong], len(right) + len(wrong))
        )
        phrase = GRAMMAR.write("counterfactual", rng, thing=names.of(removed, rng), negated=negation(negated))
        questions.append(MultipleChoice(sentence(phrase), choices))
    return questions


def _fitting(offers: Mapping[K, Sequence[Option[T]]], size: int, correct: int) -> list[K]:
    """The questions that can have ``size`` choices, exactly ``correct`` of them correct."""
    right = {question: sum(option.right for option in offer) for question, offer in offers.items()}
    return [
        question
        for question, offer in offers.items()
        if correct <= right[question] and size - correct <= len(offer) - right[question]
    ]


def _varied_first(rng: Random, items: Sequence[K], options: Callable[[K], Sequence[Option[T]]]) -> list[K]:
    """Shuffle the items, but mostly put items with at least four options of both kinds first."""
    varied, others = [], []
    for item in rng.sample(items, len(items)):
        rich = len(options(item)) >= 4 and len({option.right for option in options(item)}) == 2
        (varied if rich or rng.random() > _DEFERRED else others).append(item)
    return varied + others


def _pick(
    rng: Random, pool: Sequence[Option[Phrase]], size: int, correct: int
) -> tuple[tuple[Phrase, bool], ...]:
    """Pick ``size`` choices, ``correct`` of them correct if the pool has as many."""
    # Each option's exponential draw is the smallest with a probability proportional to its weight.
    by_draw = sorted(pool, key=lambda option: rng.expovariate(option.weight))
    right = [option for option in by_draw if option.right][:correct]
    wrong = [option for option in by_draw if not option.right][: size - len(right)]
    rest = [option for option in by_draw if option not in right and option not in wrong]
    picked = [*right, *wrong, *rest[: size - len(right) - len(wrong)]]
    return tuple((option.content, option.right) for option in rng.sample(picked, len(picked)))


def drawn(rng: Random, pool: Sequence[T], size: int) -> list[T]:
    """Draw ``size`` elements of a pool, or all if it has fewer."""
    return rng.sample(pool, min(max(size, 0), len(pool)))


def _pairs(names: Names) -> list[Pair]:
    return list(combinations(sorted(o.object_id for o in names.properties), 2))


def ordered(objects: Pair) -> Pair:
    """Order two objects, the lower number first."""
    first, second = objects
    return (first, second) if first < second else (second, first)


def negation(negated: bool) -> Phrase:
    """The phrase that a question is negated by, or the empty one."""
    return GRAMMAR.word("negated", "not " if negated else "")
