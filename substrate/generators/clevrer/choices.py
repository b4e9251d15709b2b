"""Multiple-choice questions: explanatory, predictive and counterfactual, with each choice's gold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Literal, TypeVar

from substrate.domains.clevrer.format import FRAMES, Choice, Collision
from substrate.generators.clevrer.events import Event, Film
from substrate.generators.clevrer.phrases import Names, Phrase

T = TypeVar("T")
Pair = tuple[int, int]

# Weights of the number of correct choices among four, from official explanatory questions.
_CORRECT = {0: 41, 1: 124, 2: 221, 3: 146, 4: 32}
_ROOTLESS = 0.2
"""Probability of treating an event without a collision among its causes like one that has some."""
_READILY = {
    "object": {True: 1.0, False: 0.3},
    "collision": {True: 2.0, False: 6.0},
    "in": {True: 3.0, False: 0.6},
}
"""Weights of an explanatory option by its kind, and by whether it is a cause (worlds.md)."""
_BOTH_RIGHT = 0.15
"""Probability that a predictive question offers two events that both happen, if two do."""
_SHUN_DULL = 0.85
"""Probability of moving a question back if its choices are few or all alike."""

_EXPLANATORY = "Which of the following is {}responsible for {}?"
_PREDICTIVE = (
    "What will happen next?",
    "Which event will happen next?",
    "Which of the following will happen next?",
)
_COUNTERFACTUAL = (
    "Which of the following will {1}happen if {0} is removed?",
    "Which event will {1}happen if {0} is removed?",
    "What will {1}happen if {0} is removed?",
    "If {0} is removed, what will {1}happen?",
    "If {0} is removed, which event will {1}happen?",
    "What will {1}happen without {0}?",
    "Which event will {1}happen without {0}?",
    "Without {0}, what will {1}happen?",
    "Without {0}, which event will {1}happen?",
)


@dataclass(frozen=True)
class MultipleChoice:
    """A question without its number; each choice says whether it is correct."""

    text: str
    program: str
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
    candidates: list[tuple[Event, bool]] = []
    for wanted in (True, False):
        some = [effect for effect, holds in zip(effects, chained, strict=True) if holds is wanted]
        both = [(effect, negated) for effect in some for negated in (False, True)]
        candidates += _telling_first(rng, both, lambda pair: [choice[:2] for choice in pools[pair[0]]])
    for effect, negated in candidates[:number]:
        phrase = names.event(effect, rng, clause=False)
        choices = _pick(
            rng,
            [(words, true != negated, weight) for words, true, weight in pools[effect]],
            4,
            rng.choices(list(_CORRECT), list(_CORRECT.values()))[0],
        )
        program = f"events {phrase.program} filter_ancestor belong_to{negate(negated)}"
        questions.append(MultipleChoice(_EXPLANATORY.format(_not(negated), phrase.text), program, choices))
    return questions


_Option = tuple[Phrase, bool, float]
"""A choice, whether it is correct, and its weight."""


def _explanations(film: Film, names: Names, rng: Random, effect: Event) -> list[_Option]:
    causes = film.causes[effect]
    involved = {number for cause in causes for number in cause.objects}
    objects = [
        (names.of(o.object_id, rng), o.object_id in involved)
        for o in names.properties
        if o.object_id not in effect.objects
    ]
    presences = [
        (Phrase(f"the presence of {phrase.text}", phrase.program), true, _READILY["object"][true])
        for phrase, true in objects
    ]
    entries = [event for event in film.of_type("in") if not {*event.objects} & {*effect.objects}]
    events = [event for event in (*entries, *film.of_type("collision")) if event != effect]
    return [
        *presences,
        *(
            (names.event(event, rng, clause=False), event in causes, _READILY[event.type][event in causes])
            for event in events
        ),
    ]


Wrong = Literal["any", "near", "met"]
"""The wrong choice of a predictive question: any pair that never collides, the pair that comes nearest
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
    if wrong == "met":
        never = seen
    elif wrong == "near" and never:
        never = [min(never, key=lambda pair: ((misses or {})[pair], pair))]
    questions = []
    for text in rng.sample(_PREDICTIVE, number if future and never else 0):
        right = (
            rng.sample(future, 2) if len(future) > 1 and rng.random() < _BOTH_RIGHT else [rng.choice(future)]
        )
        pairs = [*((pair, True) for pair in right), (rng.choice(never), False)][:2]
        choices = tuple((names.possible_collision(pair, rng), true) for pair, true in rng.sample(pairs, 2))
        questions.append(MultipleChoice(text, "unseen_events belong_to", choices))
    return questions


def imagine(
    contacts: Sequence[Collision],
    without: Mapping[int, Sequence[Collision]],
    names: Names,
    rng: Random,
    number: int,
) -> list[MultipleChoice]:
    """Make choices about what would (not) happen without an object: the pairs that would collide, hidden
    seconds included.

    The official key includes collisions after the video's last frame. In 1,398 videos, 34.6 % of the
    questions that remove an object which touched nothing have a choice that is right by the key and that no
    frame shows (CausalVis, github.com/bukhari-hamzamukhtar/CausalVis, ``paper_exp/RESULTS.md``).
    """
    outcomes = {
        removed: _outcomes(contacts, imagined, [pair for pair in _pairs(names) if removed not in pair], rng)
        for removed, imagined in without.items()
    }
    questions = []
    candidates = [(removed, negated) for removed in without for negated in (False, True)]
    for removed, negated in _telling_first(rng, candidates, lambda pair: outcomes[pair[0]])[:number]:
        phrase = names.of(removed, rng)
        program = f"all_events {phrase.program} get_counterfact belong_to{negate(negated)}"
        choices = tuple(
            (names.possible_collision(pair, rng), happens != negated) for pair, happens in outcomes[removed]
        )
        questions.append(
            MultipleChoice(rng.choice(_COUNTERFACTUAL).format(phrase.text, _not(negated)), program, choices)
        )
    return questions


def _telling_first(
    rng: Random, items: Sequence[T], choices: Callable[[T], Sequence[tuple[object, bool]]]
) -> list[T]:
    """Shuffle the items, but mostly put first those with at least four choices of both kinds."""
    telling, dull = [], []
    for item in rng.sample(items, len(items)):
        rich = len(choices(item)) >= 4 and len({true for _, true in choices(item)}) == 2
        (telling if rich or rng.random() > _SHUN_DULL else dull).append(item)
    return telling + dull


def _outcomes(
    contacts: Sequence[Collision], imagined: Sequence[Collision], pairs: Sequence[Pair], rng: Random
) -> list[tuple[Pair, bool]]:
    """Up to four pairs with whether they collide: those that collide in either world before those that never
    do.
    """
    first = {ordered(c.object_ids): c.frame_id for c in imagined}
    outcomes = [(pair, pair in first) for pair in pairs]
    observed = {ordered(c.object_ids) for c in contacts if c.frame_id < FRAMES}
    telling = [outcome for outcome in outcomes if outcome[1] or outcome[0] in observed]
    idle = [outcome for outcome in outcomes if outcome not in telling]
    chosen = drawn(rng, telling, 3)
    return drawn(rng, [*chosen, *drawn(rng, idle, 4 - len(chosen))], 4)


def _pick(rng: Random, pool: Sequence[_Option], size: int, correct: int) -> tuple[tuple[Phrase, bool], ...]:
    """Pick ``size`` choices, ``correct`` of them correct if the pool has as many."""
    # The least of these exponential draws is each choice's with a probability proportional to its weight.
    ordered = sorted(pool, key=lambda choice: rng.expovariate(choice[2]))
    right = [choice for choice in ordered if choice[1]][:correct]
    wrong = [choice for choice in ordered if not choice[1]][: size - len(right)]
    rest = [choice for choice in ordered if choice not in right and choice not in wrong]
    picked = [*right, *wrong, *rest[: size - len(right) - len(wrong)]]
    return tuple((words, true) for words, true, _ in rng.sample(picked, len(picked)))


def drawn(rng: Random, pool: Sequence[T], size: int) -> list[T]:
    """Draw ``size`` elements of a pool, or all if it has fewer."""
    return rng.sample(pool, min(max(size, 0), len(pool)))


def _pairs(names: Names) -> list[Pair]:
    return list(combinations(sorted(o.object_id for o in names.properties), 2))


def ordered(objects: Pair) -> Pair:
    """Order two objects, the lower number first."""
    first, second = objects
    return (first, second) if first < second else (second, first)


def negate(negated: bool) -> str:
    """The end of a program whose question is negated."""
    return " negate" if negated else ""


def _not(negated: bool) -> str:
    return "not " if negated else ""
