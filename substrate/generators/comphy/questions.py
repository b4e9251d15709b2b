"""Questions about a target: visible and hidden properties, the future, and a changed mass or charge."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import NamedTuple

from substrate.domains.clevrer.format import FRAMES, Annotation, Collision
from substrate.domains.clevrer.grammar import Phrase
from substrate.domains.comphy.format import DIRECTIONS, Question, TargetQuestions
from substrate.domains.comphy.questions import GRAMMAR
from substrate.generators.clevrer.choices import MultipleChoice, Pair, drawn, negation, ordered, predict
from substrate.generators.clevrer.descriptive import Descriptive, Video, ask, yes
from substrate.generators.clevrer.events import Film
from substrate.generators.clevrer.phrases import ATTRIBUTES, Group, Names, sentence
from substrate.generators.clevrer.questions import share
from substrate.generators.comphy.sampling import Hidden

Change = tuple[int, str]
"""An object's number, and the word for its change."""

TARGETS = 600
FACTUAL = 5882
"""The paper's number of descriptive questions."""
_COUNTERFACTUAL = 2
_HIDDEN_SHARE = 0.5
"""Share of factual questions about hidden properties.

The release's share is not known, and the setting without inference depends on it directly.
"""

_CLEAR = 30.0
"""Questions ask about a direction only within this many degrees of one of the four directions."""
_BRISK = 0.3
"""Least speed (units/s) of an object whose direction is asked about."""
_WAYS = {"left": (0.0, -1.0), "right": (0.0, 1.0), "up": (-1.0, 0.0), "down": (1.0, 0.0)}

_KINDS: Mapping[str, Callable[[Hidden], bool]] = {
    "heavy": lambda traits: traits.mass > 1,
    "light": lambda traits: traits.mass == 1,
    "charged": lambda traits: traits.charge != 0,
    "uncharged": lambda traits: traits.charge == 0,
}
_COMPARISONS: Mapping[str, Callable[[Hidden, Hidden], bool]] = {
    "heavier": lambda a, b: a.mass > b.mass,
    "lighter": lambda a, b: a.mass < b.mass,
}
_RELATIONS = {"carry the same charge": 1, "carry opposite charges": -1}
_CHANGE_WORDS = {
    "counterfact_lighter": "lighter",
    "counterfact_heavier": "heavier",
    "counterfact_uncharged": "uncharged",
    "counterfact_opposite": "oppositely charged",
}


@dataclass(frozen=True)
class Target:
    """The input of a template: the target video, and the hidden properties of each object."""

    video: Video
    hidden: tuple[Hidden, ...]

    def thing(self, number: int) -> Phrase:
        """A description that fits only this object."""
        return self.video.names.of(number, self.video.rng)


def factual_quota(scene_index: int) -> int:
    """The number of a target's factual questions.

    >>> sum(factual_quota(target) for target in range(1200, 1800))
    5882
    """
    return share(FACTUAL, TARGETS, scene_index % TARGETS)


def asks_of_future(scene_index: int) -> bool:
    """Tell whether a target gets a predictive question: three in five."""
    return scene_index % 5 < 3


def changes(hidden: Sequence[Hidden]) -> Iterator[Change]:
    """The changes that may be imagined: the mass of each object, and the charge of each charged object."""
    for number, traits in enumerate(hidden):
        yield number, "counterfact_lighter" if traits.mass > 1 else "counterfact_heavier"
        if traits.charge:
            yield number, "counterfact_uncharged"
            yield number, "counterfact_opposite"


def write_down(
    annotation: Annotation,
    hidden: tuple[Hidden, ...],
    contacts: Sequence[Collision],
    changed: Mapping[Change, Sequence[Collision]],
    seed: int,
) -> TargetQuestions:
    """Write the target's questions, numbered from 0: factual, predictive, counterfactual.

    Args:
        annotation: the visible part of the target.
        hidden: the hidden properties, by object number.
        contacts: every first contact of the simulation, hidden seconds included.
        changed: for each change, every first contact of the simulation with it.
        seed: the world's seed.
    """
    scene = annotation.scene_index
    film, names = Film(annotation), Names(tuple(annotation.object_property))
    rng = {
        kind: Random(f"{seed}/{scene}/comphy/{kind}")
        for kind in ("seen", "hidden", "predictive", "counterfactual")
    }
    wanted = factual_quota(scene)
    unseen = round(wanted * _HIDDEN_SHARE)
    about_hidden = _balanced(Target(Video(film, names, rng["hidden"]), hidden), unseen)
    seen = ask(film, names, rng["seen"], wanted - len(about_hidden))
    questions = [
        Question(place, q.text, q.program.split(), "factual", q.subtype, q.answer)
        for place, q in enumerate([*seen, *about_hidden])
    ]
    chosen = {
        "predictive": predict(contacts, names, rng["predictive"], int(asks_of_future(scene))),
        "counterfactual": _imagine(contacts, changed, names, rng["counterfactual"]),
    }
    for kind, multiple in chosen.items():
        for question in multiple:
            number, program, choices = len(questions), question.phrase.program.split(), question.numbered
            questions.append(Question(number, question.phrase.text, program, kind, kind, choices=choices))
    return TargetQuestions(scene, questions, annotation.video_filename)


class Kin(NamedTuple):
    """The objects of a group that are of one kind, such as the heavy cubes."""

    kind: str
    group: Group
    numbers: list[int]

    @property
    def slots(self) -> dict[str, Phrase]:
        """The kind and the group as the slots of a wording."""
        return {"kind": GRAMMAR.word("kind", self.kind), "group": self.group.phrase}


def _kin(target: Target) -> Iterator[Kin]:
    """Each kind of hidden property and group, with the group's objects of the kind."""
    for kind, holds in _KINDS.items():
        for group in target.video.names.groups:
            members = sorted(group.members)
            yield Kin(kind, group, [number for number in members if holds(target.hidden[number])])


def _asked(target: Target, subtype: str, rule: str, answer: str, **slots: Phrase) -> Descriptive:
    phrase = GRAMMAR.write(rule, target.video.rng, **slots)
    return Descriptive(subtype, phrase.text, phrase.program, answer)


def _exist(target: Target) -> Iterator[Descriptive]:
    for kin in _kin(target):
        yield _asked(target, f"exist_{kin.kind}", "exist_kind", yes(kin.numbers), **kin.slots)


def _count(target: Target) -> Iterator[Descriptive]:
    for kin in _kin(target):
        yield _asked(target, f"count_{kin.kind}", "count_kind", str(len(kin.numbers)), **kin.slots)


def _query(target: Target) -> Iterator[Descriptive]:
    for kin in _kin(target):
        for name in ATTRIBUTES if len(kin.numbers) == 1 else ():
            if name not in dict(kin.group.looks):
                answer = getattr(target.video.names.properties[kin.numbers[0]], name)
                slots = {"attribute": GRAMMAR.word("attribute", name), **kin.slots}
                yield _asked(target, f"query_{kin.kind}", "query_kind", answer, **slots)


def _compare(target: Target) -> Iterator[Descriptive]:
    for pair in combinations(range(len(target.hidden)), 2):
        for first, second in (pair, pair[::-1]):
            for word, holds in _COMPARISONS.items():
                names, rng = target.video.names, target.video.rng
                slots = {"group": names.group_of(first, rng), "group2": names.group_of(second, rng)}
                answer = yes(holds(target.hidden[first], target.hidden[second]))
                yield _asked(
                    target, f"is_{word}", "compare", answer, compared=GRAMMAR.word("compared", word), **slots
                )


def _same_charge(target: Target) -> Iterator[Descriptive]:
    for pair in combinations(range(len(target.hidden)), 2):
        a, b = target.video.rng.sample(pair, 2)
        charge = target.hidden[a].charge
        answer = yes(bool(charge) and charge == target.hidden[b].charge)
        slots = {"thing": target.thing(a), "thing2": target.thing(b)}
        yield _asked(target, "equal_charge", "equal_charge", answer, **slots)


def _both(target: Target) -> Iterator[Descriptive]:
    charged = [number for number, traits in enumerate(target.hidden) if traits.charge]
    for words, product in _RELATIONS.items():
        alike = len(charged) == 2 and math.prod(target.hidden[number].charge for number in charged) == product
        related = GRAMMAR.word("related", words)
        subtype = f"exist_{related.program.rpartition('_')[2]}"
        yield _asked(target, subtype, "exist_both", yes(alike), related=related)
        for attribute in ATTRIBUTES if alike else ():
            values = (getattr(target.video.names.properties[number], attribute) for number in charged)
            both = GRAMMAR.word("both", f"{attribute}s")
            yield _asked(target, "query_both", "query_both", " and ".join(values), related=related, both=both)


def _heading(target: Target) -> Iterator[Descriptive]:
    trajectory = target.video.film.annotation.motion_trajectory
    for event in target.video.film.events:
        for state in trajectory[event.frame].objects:
            vx, vy, _ = state.velocity
            speed = math.hypot(vx, vy)
            if not state.inside_camera_view or speed < _BRISK or state.object_id in event.objects:
                continue
            way = max(DIRECTIONS, key=lambda word: _WAYS[word][0] * vx + _WAYS[word][1] * vy)
            if _WAYS[way][0] * vx + _WAYS[way][1] * vy > speed * math.cos(math.radians(_CLEAR)):
                slots = {"thing": target.thing(state.object_id), "clause": target.video.event(event)}
                yield _asked(target, "query_direction", "heading", way, **slots)


_TEMPLATES = (_exist, _count, _query, _compare, _same_charge, _both, _heading)


def _balanced(target: Target, number: int) -> list[Descriptive]:
    """Draw ``number`` different questions, or all that a target has: first a template, then an answer."""
    rng = target.video.rng
    # Template ► answer ► text ► question.
    pools: dict[str, dict[str, dict[str, Descriptive]]] = defaultdict(lambda: defaultdict(dict))
    for template in _TEMPLATES:
        for question in template(target):
            pools[template.__name__][question.answer].setdefault(question.text, question)
    questions: list[Descriptive] = []
    while pools and len(questions) < number:
        name = rng.choice(list(pools))
        answer = rng.choice(list(pools[name]))
        pool = pools[name][answer]
        questions.append(pool.pop(rng.choice(list(pool))))
        if not pool:
            del pools[name][answer]
        if not pools[name]:
            del pools[name]
    return sorted(questions, key=lambda question: question.subtype)


def _imagine(
    contacts: Sequence[Collision], changed: Mapping[Change, Sequence[Collision]], names: Names, rng: Random
) -> list[MultipleChoice]:
    """Ask about changes, first about those with an effect.

    A pair that first meets in the hidden seconds is no choice.
    """
    pairs = list(combinations(sorted(o.object_id for o in names.properties), 2))
    seen = {ordered(c.object_ids) for c in contacts if c.frame_id < FRAMES}
    outcomes: dict[Change, list[tuple[Pair, bool]]] = {}
    for change, imagined in changed.items():
        first = {ordered(c.object_ids): c.frame_id for c in imagined}
        outcomes[change] = [(pair, pair in first) for pair in pairs if first.get(pair, 0) < FRAMES]
    # False sorts first: changes with an effect.
    order = sorted(
        rng.sample(list(outcomes), len(outcomes)),
        key=lambda change: all((pair in seen) == happens for pair, happens in outcomes[change]),
    )
    questions = []
    for number, word in order[:_COUNTERFACTUAL]:
        possible = outcomes[number, word]
        chosen = drawn(rng, [outcome for outcome in possible if outcome[1] or outcome[0] in seen], 3)
        chosen += drawn(rng, [outcome for outcome in possible if outcome not in chosen], 4 - len(chosen))
        negated = rng.random() < 0.5
        slots = {"thing": names.of(number, rng), "changed": GRAMMAR.word("changed", _CHANGE_WORDS[word])}
        phrase = GRAMMAR.write("counterfactual", rng, negated=negation(negated), **slots)
        choices = tuple(
            (names.possible_collision(pair, rng), happens != negated)
            for pair, happens in rng.sample(chosen, len(chosen))
        )
        questions.append(MultipleChoice(sentence(phrase), choices))
    return questions
