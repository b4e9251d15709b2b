"""A twin experiment event by event: a log's shared prefix, its fork, and each arm after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.vocabulary import RDF_TYPE
from substrate.branch.fork import arms
from substrate.branch.interventions import Intervention, new_intervention
from substrate.domains.smallville.format import Spec
from substrate.domains.smallville.picture import labels_in, occasions
from substrate.domains.smallville.twin import change, entity, parent_log, term, village_tbox
from substrate.log.event_log import EventLog
from substrate.log.history import Interval, histories
from substrate.rules.fixpoint import RuleEmitter, unfold
from substrate.rules.tbox import TBox

HORIZON = 13
"""The tick up to which a TBox's own small world is unfolded; its last event is one tick earlier."""
_FORGETTING = 6
"""The tick at which the person who could pass on the news forgets it: after hearing it, before telling it."""


class Happening(NamedTuple):
    """Equal events in words with their count, and whether the other arm has as many at the same tick."""

    words: str
    shared: bool


class Tick(NamedTuple):
    """The events of a tick, in the shared prefix or in the two arms."""

    tick: int
    prefix: list[Happening]
    a: list[Happening]
    b: list[Happening]


class Experiment(NamedTuple):
    """A twin experiment: prefix, branch, intervention and both arms."""

    branch: int
    intervention: str
    ticks: list[Tick]
    digests: tuple[str, str]
    differing: int
    """Events after the branch that only one arm has."""
    last: int
    """The last tick of either arm."""
    facts: list[tuple[str, list[Interval], list[Interval]]]
    """Each fact in words, with the spans in which it holds in arm A and in arm B."""
    source: str = "the village that the TBox itself holds"
    asked: str = ""
    answers: Mapping[str, str] = {}
    """The answer to the question in each arm."""


def twin_experiment(tbox: TBox, log: EventLog, at: int, intervention: Intervention, words: str) -> Experiment:
    """Fork a log at a tick under the TBox's rules, and compare both arms event by event.

    Args:
        tbox: the labels of events, and the rules that produce the arms.
        log: the observed log.
        at: the branch tick.
        intervention: arm B's intervention at the branch tick.
        words: the intervention in words.
    """
    pair = arms(log, at, intervention, RuleEmitter(tbox))
    by_tick = [_by_tick(tbox, arm) for arm in pair]
    last = max(arm.last_tick for arm in pair)
    ticks: list[Tick] = []
    differing = 0
    for tick in sorted(by_tick[0].keys() | by_tick[1].keys()):
        a, b = (events.get(tick, Counter()) for events in by_tick)
        differing += ((a - b) + (b - a)).total()
        in_a, in_b = _happenings(a, b), _happenings(b, a)
        columns = (in_a, [], []) if tick < at else ([], in_a, in_b)
        ticks.append(Tick(tick, *columns))
    digests, facts = (pair[0].digest, pair[1].digest), _facts(tbox, pair)
    return Experiment(at, words, ticks, digests, differing, last, facts)


def village_twin() -> Experiment:
    """The TBox's small village, where a person who could pass on the news of the party forgets it."""
    tbox, john, party = village_tbox(), entity("john"), entity("party")
    act = new_intervention("retract_awareness", (john, party), term("knows"))
    words = f"do({type(act).__name__}): {tbox.label(john)} no longer knows that {tbox.label(party)}"
    return twin_experiment(tbox, unfold(tbox, tbox.opening(), until=HORIZON), _FORGETTING, act, words)


def spec_twin(spec: Spec, answers: Mapping[str, str]) -> Experiment:
    """A specification of Twin-EventLog, with the answer to its question in each arm."""
    act, names = spec.intervention, spec.village.names
    planned = [f"from tick {act.plan.start} at {names[act.plan.goal]}"] if act.plan else []
    about = [names[name] for name in (act.agent, act.place, act.fact) if name]
    words = f"do({act.type}): {'; '.join(about + planned)}"
    twin = twin_experiment(village_tbox(), parent_log(spec), spec.branch, change(act), words)
    source = f"specification {spec.spec} of Twin-EventLog"
    return twin._replace(source=source, asked=spec.query.text, answers=answers)


def _by_tick(tbox: TBox, log: EventLog) -> dict[int, Counter[str]]:
    """The events of each tick in words, with their counts."""
    by_tick: dict[int, Counter[str]] = {}
    for event, who in occasions(tbox, log):
        by_tick.setdefault(event.tick, Counter())[f"{tbox.label(event.kind)}: {', '.join(who)}"] += 1
    return by_tick


def _facts(tbox: TBox, pair: Sequence[EventLog]) -> list[tuple[str, list[Interval], list[Interval]]]:
    """Every fact about a labelled individual, in words, with the spans in which it holds in each arm."""
    by_fact: dict[str, tuple[list[Interval], list[Interval]]] = {}
    for arm, log in enumerate(pair):
        names = labels_in(log)
        for history in histories(log):
            subject, predicate, value = history.triple
            if subject not in names or not isinstance(value, ox.NamedNode) or predicate == RDF_TYPE:
                continue
            sentence = f"{names[subject]} {tbox.label(predicate)} {names.get(value) or tbox.label(value)}"
            by_fact.setdefault(sentence, ([], []))[arm].extend(history.spans)
    return [(sentence, *spans) for sentence, spans in sorted(by_fact.items())]


def _happenings(own: Counter[str], other: Counter[str]) -> list[Happening]:
    return [
        Happening(f"{words} ×{times}" if times > 1 else words, other[words] == times)
        for words, times in sorted(own.items())
    ]
