"""The facts that a sentence may tell, and the changes of each: where people are, what they carry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from substrate.domains.babi._telling import Telling, Who
from substrate.domains.babi._terms import AT, CARRIES, MAY_BE_AT, NOT_AT, iri, term


class Moved(NamedTuple):
    """People go to a place, or are said to be there; ``period`` is any time of day told."""

    who: Who
    place: str
    period: str | None = None

    def tell(self, story: Telling) -> None:
        """Move everyone of whom no later time is told, with everything they carry."""
        agents, place, period = (
            story.people(self.who),
            story.mention(self.place, "Place"),
            self.period or "now",
        )
        movers = [agent for agent in agents if story.is_latest(agent, period)]
        brought = [thing for agent in movers for thing in story.objects(agent, CARRIES)]
        story.happens("Move", agent=agents, brought=brought, place=place, period=term(period))
        for node in (*movers, *brought):
            story.put(node, [place])


class Departed(NamedTuple):
    """People leave a place; the sentence does not tell where to."""

    who: Who
    place: str

    def tell(self, story: Telling) -> None:
        """Record that they are not there."""
        agents, place = story.people(self.who), story.mention(self.place, "Place")
        story.happens("Departure", agent=agents, place=place, period=term("now"))
        for agent in agents:
            story.leave(agent, place)


class Absent(NamedTuple):
    """People are not, or no longer, at a place."""

    who: Who
    place: str

    def tell(self, story: Telling) -> None:
        """Remove the place from where they may be; nothing changes if they are known to be elsewhere."""
        agents, place = story.people(self.who), story.mention(self.place, "Place")
        story.happens("Absence", agent=agents)
        for agent in agents:
            known, alternatives = story.objects(agent, AT), story.objects(agent, MAY_BE_AT)
            remaining = [other for other in alternatives if other != place]
            if remaining and remaining != alternatives:
                story.bring(agent, remaining, AT if len(remaining) == 1 else MAY_BE_AT)
            elif alternatives and not remaining:
                story.leave(agent, place)
            elif not alternatives and (place in known or not known):
                for node in (agent, *story.objects(agent, CARRIES)):
                    story.drop(node, AT, *known)
                story.drop(agent, NOT_AT, place)
                story.add(agent, NOT_AT, place)


class Either(NamedTuple):
    """People are at one of several places; if one place is named twice, they still only may be there."""

    who: Who
    places: tuple[str, ...]

    def tell(self, story: Telling) -> None:
        """Record that they may be at each."""
        agents, places = story.people(self.who), {story.mention(name, "Place") for name in self.places}
        story.happens("Alternative", agent=agents)
        for agent in agents:
            story.bring(agent, sorted(places), MAY_BE_AT)


class Took(NamedTuple):
    """Someone picks a thing up; ``place`` and ``source`` say where and from whom, if told."""

    who: Who
    thing: str
    place: str | None = None
    source: str | None = None

    def tell(self, story: Telling) -> None:
        """Let the agent carry it."""
        agent = story.people(self.who)[0]
        holders = story.holders(iri(self.thing))
        if self.source and holders and holders != [iri(self.source)]:
            what = f"{self.source!r} is said to hold the {self.thing}"
            story.fail(what, "Someone else was told to have taken it")
        if self.source:
            story.mention(self.source, "Agent")
        _handled(story, "Take", agent, self.thing, agent, self.place)


class Dropped(NamedTuple):
    """Someone puts a thing down; ``place`` says where, if told."""

    who: Who
    thing: str
    place: str | None = None

    def tell(self, story: Telling) -> None:
        """Let nobody carry it; if someone else holds it, record only a claim."""
        agent = story.people(self.who)[0]
        if agent in (story.holders(iri(self.thing)) or [agent]):
            _handled(story, "Drop", agent, self.thing, None, self.place)
        else:
            _claimed(story, agent, self.thing, self.place)


class Gave(NamedTuple):
    """Someone hands a thing to someone."""

    who: Who
    thing: str
    receiver: str

    def tell(self, story: Telling) -> None:
        """Let the receiver carry it; if someone else than the agent holds it, record only a claim."""
        agent, receiver = story.people(self.who)[0], story.mention(self.receiver, "Agent")
        if agent in (story.holders(iri(self.thing)) or [agent]):
            _handled(story, "Give", agent, self.thing, receiver, receiver=receiver)
        else:
            _claimed(story, agent, self.thing, None, receiver=receiver)


def _claimed(story: Telling, agent: str, thing: str, told_place: str | None, **roles: str) -> None:
    """Record a claim to let go of a thing that someone else holds: the thing stays with its holder.

    If the sentence names the place, the agent is there, with everything that the agent carries.
    """
    places: Iterable[str] = story.objects(agent, AT)
    if told_place and places != [iri(told_place)]:
        story.bring(agent, [story.mention(told_place, "Place")])
    story.happens("Claim", agent=agent, claimed=iri(thing), place=places, **roles)


def _handled(
    story: Telling,
    kind: str,
    agent: str,
    name: str,
    holder: str | None,
    told_place: str | None = None,
    **roles: str,
) -> None:
    """Let a thing change hands: its holder, if any, carries it, and it is where its holder or the agent is.

    If the sentence names the place, the agent is there too, with everything that the agent carries.
    """
    thing = iri(name)
    places = (story.objects(holder, AT) if holder else []) or story.objects(agent, AT)
    if told_place and places != [(place := story.mention(told_place, "Place"))]:
        places = [place]
        story.bring(agent, places, but=thing)
    story.mention(name, "Thing")
    story.happens(kind, agent=agent, thing=thing, place=places, period=term("now"), **roles)
    for other in sorted(story.holders(thing)):
        story.drop(other, CARRIES, thing)
    if holder:
        story.add(holder, CARRIES, thing)
    story.put(thing, places)


class Related(NamedTuple):
    """``subject`` has a ``relation`` (a predicate of the TBox) to ``object``: direction, position or size."""

    subject: str
    relation: str
    object: str

    def tell(self, story: Telling) -> None:
        """Insert the relation, and its inverse in the other direction."""
        relation, kind = term(self.relation), "Place" if self.relation in _DIRECTIONS else "Thing"
        subject, other = (
            story.mention(name, "Place" if story.is_a(iri(name), "Place") else kind)
            for name in (self.subject, self.object)
        )
        story.add(subject, relation, other)
        (inverse,) = story.objects(relation, term("inverse"))
        story.add(other, inverse, subject)


_DIRECTIONS = ("northOf", "southOf", "eastOf", "westOf")


class Fears(NamedTuple):
    """A kind of animal is afraid of another kind; both in the singular."""

    kind: str
    feared: str

    def tell(self, story: Telling) -> None:
        """Record that one kind fears the other."""
        kind, feared = (story.mention(name, "Kind") for name in self)
        story.add(kind, term("fears"), feared)


class Belongs(NamedTuple):
    """An individual belongs to a kind."""

    individual: str
    kind: str

    def tell(self, story: Telling) -> None:
        """Record the individual's kind."""
        individual, kind = story.mention(self.individual, "Animal"), story.mention(self.kind, "Kind")
        story.happens("Description", described=individual, **{"as": kind})
        story.add(individual, term("isA"), kind)


class Quality(NamedTuple):
    """Someone has a quality: a colour, or a state of mind or body that is a motive."""

    individual: str
    quality: str

    def tell(self, story: Telling) -> None:
        """Replace the individual's quality of the same class; common knowledge must give that class."""
        quality = term(self.quality)
        kinds = [kind for kind in ("Color", "Motive") if story.is_a(quality, kind)]
        if not kinds:
            story.fail(f"unknown adjective {self.quality!r}", "Add it to the TBox as a Color or a Motive")
        individual = story.mention(self.individual, "Agent" if kinds == ["Motive"] else "")
        for old in story.objects(individual, term("quality")):
            if story.is_a(old, kinds[0]):
                story.drop(individual, term("quality"), old)
        story.happens("Description", described=individual, **{"as": quality})
        story.add(individual, term("quality"), quality)


Fact = Moved | Departed | Absent | Either | Took | Dropped | Gave | Related | Fears | Belongs | Quality
