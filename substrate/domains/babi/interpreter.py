"""Questions ► answers by SPARQL over a story's state, supporting facts from its log.

Each kind of question has one handler: it queries the state at the question's tick, returns the
answer and leaves with the reader the evidence it rests on: triples of the state, or events.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec
import pyoxigraph as ox

from substrate.domains.babi.deltas import AT, MAY_BE_AT, entity, story_log, term
from substrate.domains.babi.format import Question, Story
from substrate.domains.babi.grammar import (
    CountCarried,
    DoesRelate,
    IsIn,
    Query,
    RelatesToWhat,
    Route,
    Transfer,
    WhatCarries,
    WhatColor,
    WhatFears,
    WhatRelates,
    WhereIs,
    WhereWas,
    WhereWill,
    WhyMoved,
    WhyTook,
    parse_question,
)
from substrate.domains.babi.reading import Evidence, History, Reader
from substrate.errors import FormatError, ProgramError
from substrate.log import EventLog, Triple
from substrate.replay import Replay

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Answer(msgspec.Struct, frozen=True):
    """One question answered.

    ``correct`` is ``None`` where the file has no gold; ``supporting`` holds the ticks of the facts the
    answer rests on, ascending; ``error`` says why ``predicted`` is ``"error"``.
    """

    subset: str
    split: str
    scene: int
    question: int
    predicted: str
    expected: str | None
    correct: bool | None
    supporting: tuple[int, ...]
    expected_supporting: tuple[int, ...]
    log: str
    error: str | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether the supporting facts are those of the file; ``None`` where it names none."""
        return set(self.supporting) == set(self.expected_supporting) if self.expected_supporting else None


class Explanation(msgspec.Struct, frozen=True):
    """Why an answer is what it is: the query, the evidence with its ticks, and the sentences of those ticks."""

    question: str
    query: str
    predicted: str
    evidence: tuple[tuple[str, int], ...]
    sentences: tuple[tuple[int, str], ...]


_INVOLVES = "(:agent|:thing|:brought)"
_LATEST = "ORDER BY DESC(?rank) DESC(?tick) LIMIT 1"


def _label(node: str) -> str:
    return f"{node} rdfs:label ?label ."


def _unknown(what: str) -> ProgramError:
    return ProgramError(f"{what}: the story does not say", hint="Ask after the facts are told")


def _rest_on_place(reader: Reader, node: ox.NamedNode, place: Any) -> None:
    """The evidence for where something is now: who handled it last and how they came there, or its own move."""
    handled = reader.first(
        "SELECT ?event ?agent ?tick { ?event :thing ?node ; :agent ?agent ; :tick ?tick } ORDER BY DESC(?tick) LIMIT 1",
        node=node,
    )
    if not handled:
        reader.rest_on_presence(node, place)
        return
    event, agent, tick = handled
    reader.rest_on_event(event, tick)
    since = reader.history.since((node, AT, place), reader.tick)
    for (holder,) in list(
        reader.rows("SELECT ?holder { ?holder :carries ?node } ORDER BY ?holder", node=node)
    ) or [(agent,)]:
        reader.rest_on_presence(holder, place, at=since)


def _where_is(reader: Reader, query: WhereIs) -> str:
    node = entity(query.entity)
    found = reader.first(f"SELECT ?place ?label {{ ?node :at ?place . {_label('?place')} }}", node=node)
    if not found:
        raise _unknown(f"where {query.entity} is")
    place, label = found
    _rest_on_place(reader, node, place)
    return label.value


def _where_was(reader: Reader, query: WhereWas) -> str:
    node, before = entity(query.entity), entity(query.before)
    stay = f"?event {_INVOLVES} ?node ; a ?kind ; :agent ?agent ; :place ?place ; :tick ?tick ; :period/:rank ?rank ."
    later = reader.first(
        f"SELECT ?event ?kind ?agent ?tick ?rank {{ {stay} }} {_LATEST}", node=node, place=before
    )
    if not later:
        raise _unknown(f"that {query.entity} was in the {query.before}")
    *_, tick, rank = later
    earlier = reader.first(
        f"""SELECT ?event ?kind ?agent ?tick ?place ?label {{ {stay} {_label("?place")}
            FILTER(?place != {before} && (?rank < {rank.value} || ?rank = {rank.value} && ?tick < {tick.value})) }} {_LATEST}""",
        node=node,
    )
    if not earlier:
        raise _unknown(f"where {query.entity} was before the {query.before}")
    for (event, kind, agent, when, *_), place in ((later, before), (earlier, earlier[4])):
        if kind == term("Move"):
            reader.rest_on_event(event, when)
        else:
            reader.rest_on_presence(agent, place, at=int(when.value))
    handled = reader.first(
        "SELECT ?event ?tick { ?event :thing ?node ; :tick ?tick } ORDER BY DESC(?tick) LIMIT 1", node=node
    )
    if handled:
        reader.rest_on_event(*handled)
    return earlier[5].value


_KNOWN_PLACES = """SELECT ?known ?where { VALUES (?known ?order) { (:at 0) (:mayBeAt 1) (:notAt 2) } ?node ?known ?where } ORDER BY ?order ?where"""


def _is_in(reader: Reader, query: IsIn) -> str:
    """Yes or no where it is settled, maybe where the story leaves it open."""
    node, place = entity(query.entity), entity(query.place)
    known = list(reader.rows(_KNOWN_PLACES, node=node))
    if not known:
        raise _unknown(f"anything of where {query.entity} is")
    predicate = known[0][0]
    here = (predicate, place) in known
    if predicate == AT:
        _rest_on_place(reader, node, known[0][1])
        return "yes" if here else "no"
    for which, where in known:
        if which == MAY_BE_AT or where == place or not here:
            reader.rest_on(node, which, where)
    return "maybe" if here is (predicate == MAY_BE_AT) else "no"


# A list keeps the order in which its things first came into the agent's hands.
_CARRIED = """SELECT ?label { ?agent :carries ?node . ?node rdfs:label ?label .
    ?event :thing ?node ; (:agent|:receiver) ?agent ; :tick ?tick
} GROUP BY ?node ?label ORDER BY MIN(?tick) ?label"""


def _rest_on_hands(reader: Reader, agent: ox.NamedNode) -> None:
    """What an agent carries rests on everything that went through the agent's hands."""
    for found in list(
        reader.rows(
            "SELECT ?event ?tick { ?event :thing ?thing ; (:agent|:receiver) ?agent ; :tick ?tick } ORDER BY ?tick",
            agent=agent,
        )
    ):
        reader.rest_on_event(*found)


def _carried(reader: Reader, name: str) -> list[str]:
    _rest_on_hands(reader, entity(name))
    return [label.value for (label,) in reader.rows(_CARRIED, agent=entity(name))]


def _what_carries(reader: Reader, query: WhatCarries) -> str:
    return ",".join(_carried(reader, query.agent)) or "nothing"


def _count_carried(reader: Reader, query: CountCarried) -> str:
    _rest_on_hands(reader, entity(query.agent))
    found = reader.first(
        "SELECT (COUNT(DISTINCT ?thing) AS ?number) { ?agent :carries ?thing }", agent=entity(query.agent)
    )
    number = int(found[0].value) if found else 0
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def _transfer(reader: Reader, query: Transfer) -> str:
    told = {role: entity(name) for role in ("agent", "thing", "receiver") if (name := getattr(query, role))}
    found = reader.first(
        f"""SELECT ?event ?tick ?label {{ ?event a :Give ; :agent ?agent ; :thing ?thing ; :receiver ?receiver ; :tick ?tick .
            {_label("?" + query.asked)} }} ORDER BY DESC(?tick) LIMIT 1""",
        **told,
    )
    if not found:
        raise _unknown("such a gift")
    reader.rest_on_event(*found[:2])
    return found[2].value


def _one_relation(reader: Reader, relation: str, *, subject: str = "", object: str = "") -> str:
    """Who or what stands on the open side of a relation; the first by name where there are several."""
    given = {"relation": term(relation)} | (
        {"subject": entity(subject)} if subject else {"object": entity(object)}
    )
    asked = "object" if subject else "subject"
    found = reader.first(
        f"SELECT ?{asked} ?label {{ ?subject ?relation ?object . {_label('?' + asked)} }} ORDER BY ?label LIMIT 1",
        **given,
    )
    if not found:
        raise _unknown(f"what is {relation} {object}" if object else f"what {subject} is {relation}")
    given[asked] = found[0]
    reader.rest_on(given["subject"], given["relation"], given["object"])
    return found[1].value


def _what_relates(reader: Reader, query: WhatRelates) -> str:
    return _one_relation(reader, query.relation, object=query.object)


def _relates_to_what(reader: Reader, query: RelatesToWhat) -> str:
    return _one_relation(reader, query.relation, subject=query.subject)


class _Axis(NamedTuple):
    """An order and the relations that leave a place in it unchanged (above keeps left and right)."""

    forward: str
    backward: str
    level: str = ""

    @property
    def path(self) -> str:
        """The SPARQL property path of ``forward``: at least one step along the order, any number across it."""
        return f"(({self.level})*/:{self.forward})+/({self.level})*" if self.level else f":{self.forward}+"

    @property
    def steps(self) -> list[ox.NamedNode]:
        """Every relation a chain along this axis may use."""
        return [
            term(self.forward),
            term(self.backward),
            *(term(name.strip(":")) for name in self.level.split("|") if name),
        ]


_AXES = {
    forward: _Axis(forward, backward, level)
    for one, other, level in (
        ("northOf", "southOf", ":eastOf|:westOf"),
        ("eastOf", "westOf", ":northOf|:southOf"),
        ("above", "below", ":leftOf|:rightOf"),
        ("leftOf", "rightOf", ":above|:below"),
        ("biggerThan", "fitsIn", ""),
    )
    for forward, backward in ((one, other), (other, one))
}


def _does_relate(reader: Reader, query: DoesRelate) -> str:
    axis, subject, other = _AXES[query.relation], entity(query.subject), entity(query.object)
    holds = reader.ask(f"ASK {{ {subject} {axis.path} {other} }}")
    rigid = axis.steps if axis.level else [term(query.relation)]
    # An order without a level is walked one way only: a chain that turns around proves nothing about size.
    chain = _chain(reader, subject, other, rigid) or _chain(reader, other, subject, rigid)
    for triple in chain or ():
        reader.rest_on(*triple)
    return "yes" if holds else "no"


def _chain(
    reader: Reader, start: ox.NamedNode, goal: ox.NamedNode, relations: Iterable[ox.NamedNode]
) -> list[Triple] | None:
    """The shortest chain of relations from a node to a node, first by name among equals; ``None`` where there
    is none.
    """
    steps = f"SELECT ?relation ?next {{ VALUES ?relation {{ {' '.join(map(str, relations))} }} ?node ?relation ?next }} ORDER BY ?relation ?next"
    reached: dict[Any, Triple | None] = {start: None}
    queue = deque([start])
    while queue and goal not in reached:
        node = queue.popleft()
        for relation, following in list(reader.rows(steps, node=node)):
            if following not in reached:
                reached[following] = (node, relation, following)
                queue.append(following)
    if goal not in reached:
        return None
    chain: list[Triple] = []
    step = reached[goal]
    while step:
        chain.append(step)
        step = reached[step[0]]
    return chain[::-1]


def _route(reader: Reader, query: Route) -> str:
    letters = {
        row[0]: row[1].value
        for row in reader.rows(
            "SELECT ?relation ?letter { ?inverse :letter ?letter ; :inverse ?relation } ORDER BY ?letter"
        )
    }
    chain = _chain(reader, entity(query.start), entity(query.goal), sorted(letters, key=str))
    if chain is None:
        raise _unknown(f"a way from the {query.start} to the {query.goal}")
    for triple in chain:
        reader.rest_on(*triple)
    # Who is south of the next room goes north: a step is spelled by the inverse of its relation.
    return ",".join(letters[relation] for _, relation, _ in chain)


def _what_fears(reader: Reader, query: WhatFears) -> str:
    one = entity(query.individual)
    found = reader.first(
        f"SELECT ?kind ?feared ?label {{ ?one :isA ?kind . ?kind :fears ?feared . {_label('?feared')} }} ORDER BY ?label LIMIT 1",
        one=one,
    )
    if not found:
        raise _unknown(f"what {query.individual} is afraid of")
    kind, feared, label = found
    reader.rest_on(one, term("isA"), kind)
    reader.rest_on(kind, term("fears"), feared)
    return label.value


def _what_color(reader: Reader, query: WhatColor) -> str:
    one = entity(query.individual)
    own = reader.first(
        f"SELECT ?color ?label {{ ?one :quality ?color . ?color a :Color . {_label('?color')} }} ORDER BY ?label LIMIT 1",
        one=one,
    )
    if own:
        reader.rest_on(one, term("quality"), own[0])
        return own[1].value
    peer = reader.first(
        f"""SELECT ?kind ?peer ?color ?label {{ ?one :isA ?kind . ?peer :isA ?kind ; :quality ?color . ?color a :Color . {_label("?color")}
            ?event :described ?peer ; :as ?kind ; :tick ?tick }} ORDER BY DESC(?tick) ?label LIMIT 1""",
        one=one,
    )
    if not peer:
        raise _unknown(f"the colour of {query.individual} or of its kind")
    kind, other, color, label = peer
    for triple in ((one, term("isA"), kind), (other, term("isA"), kind), (other, term("quality"), color)):
        reader.rest_on(*triple)
    return label.value


_MOTIVE = "?event :described ?agent ; :as ?motive ; :tick ?tick . ?motive a :Motive"


def _where_will(reader: Reader, query: WhereWill) -> str:
    sparql = f"SELECT ?event ?tick ?label {{ {_MOTIVE} ; :leadsTo ?place . {_label('?place')} }} ORDER BY DESC(?tick) LIMIT 1"
    found = reader.first(sparql, agent=entity(query.agent))
    if not found:
        raise _unknown(f"what moves {query.agent}")
    reader.rest_on_event(*found[:2])
    return found[2].value


def _why(reader: Reader, agent: str, kind: str, role: str, filler: str) -> str:
    """The motive told last before the latest such act of the agent."""
    found = reader.first(
        f"""SELECT ?event ?tick ?label {{ ?act a :{kind} ; :agent ?agent ; :{role} ?filler ; :tick ?when .
            {_MOTIVE} ; rdfs:label ?label FILTER(?tick < ?when) }} ORDER BY DESC(?when) DESC(?tick) LIMIT 1""",
        agent=entity(agent),
        filler=entity(filler),
    )
    if not found:
        raise _unknown(f"why {agent} did so")
    reader.rest_on_event(*found[:2])
    return found[2].value


def _why_moved(reader: Reader, query: WhyMoved) -> str:
    return _why(reader, query.agent, "Move", "place", query.place)


def _why_took(reader: Reader, query: WhyTook) -> str:
    return _why(reader, query.agent, "Take", "thing", query.thing)


_ANSWERS: dict[type, Callable[..., str]] = {
    WhereIs: _where_is,
    WhereWas: _where_was,
    IsIn: _is_in,
    WhatCarries: _what_carries,
    CountCarried: _count_carried,
    Transfer: _transfer,
    WhatRelates: _what_relates,
    RelatesToWhat: _relates_to_what,
    DoesRelate: _does_relate,
    Route: _route,
    WhatFears: _what_fears,
    WhatColor: _what_color,
    WhereWill: _where_will,
    WhyMoved: _why_moved,
    WhyTook: _why_took,
}


def answer_story(story: Story, log: EventLog | None = None) -> list[Answer]:
    """Every question of a story, answered from the state at its tick, in order.

    Args:
        story: the story; its gold is compared with the answers and seen by nothing else.
        log: its event log, where it was made before.

    Raises:
        FormatError: a sentence or a question is none of the grammar's; names file, line and text.
    """
    queries = [(question, _parsed(story, question)) for question in story.questions]
    log = story_log(story) if log is None else log
    replay, history, digest = Replay(log), History(log), log.digest
    answers: list[Answer] = []
    for question, query in queries:
        reader = Reader(replay.seek(question.id), history, question.id)
        try:
            predicted, error = _ANSWERS[type(query)](reader, query), None
        except ProgramError as fault:
            predicted, error = "error", str(fault.within(*story.where(question)))
        answers.append(_answer(story, question, predicted, reader.evidence, digest, error))
    return answers


def explain_answer(story: Story, question: int, log: EventLog | None = None) -> Explanation:
    """Why a question's answer is what it is.

    Raises:
        FormatError: the story has no question of that number, or as :func:`answer_story`.
        ProgramError: the story does not say.
    """
    found = next((line for line in story.questions if line.id == question), None)
    if found is None:
        raise FormatError(
            f"no question {question}",
            where=(story.file, f"story {story.scene}"),
            hint=f"Name one of {[line.id for line in story.questions]}",
        )
    log = story_log(story) if log is None else log
    query = _parsed(story, found)
    reader = Reader(log.state(question), History(log), question)
    predicted = _ANSWERS[type(query)](reader, query)
    ticks = {evidence.tick for evidence in reader.evidence}
    return Explanation(
        question=found.text,
        query=repr(query),
        predicted=predicted,
        evidence=tuple((" ".join(map(str, evidence.triple)), evidence.tick) for evidence in reader.evidence),
        sentences=tuple((line.id, line.text) for line in story.statements if line.id in ticks),
    )


def _parsed(story: Story, question: Question) -> Query:
    try:
        return parse_question(question.text)
    except FormatError as error:
        raise error.within(*story.where(question)[:2]) from error


def _answer(
    story: Story, question: Question, predicted: str, evidence: list[Evidence], digest: str, error: str | None
) -> Answer:
    return Answer(
        subset=story.subset,
        split=story.split,
        scene=story.scene,
        question=question.id,
        predicted=predicted,
        expected=question.answer,
        correct=None if question.answer is None else predicted == question.answer,
        supporting=tuple(sorted({piece.tick for piece in evidence})),
        expected_supporting=question.supporting,
        log=digest,
        error=error,
    )
