"""A village as a memory that an agent may ask: by the substrate, or by a search over its sentences.

The two classes are the two memories. :data:`SUBSTRATE` and :data:`SEARCH`, at the end, describe their methods
to a model as tools. Everything is in the words of the prompt of Twin-EventLog, so that a model needs no
identifiers. The tools see the specification, and never its gold.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import cast

import msgspec
import pyoxigraph as ox

from research.baselines.agent import AgentMemory, Tool
from substrate.base.errors import ParameterError
from substrate.baselines.twin import names_of, village_text
from substrate.domains.smallville.format import INTERVENTIONS, ArmIntervention, InterventionType, Plan, Spec
from substrate.domains.smallville.twin import entity, parent_log, replay_twin, term
from substrate.log.event_log import EventLog
from substrate.log.history import Interval
from substrate.log.state import State

PLANNED = "planned"
"""The world in which all goes on as planned."""
_PLAN = re.compile(r"from tick (\d+) on at (.+?)(?:, if they know then: (.+))?")


class VillageMemory:
    """The event log of a specification's village, and forks of it.

    >>> from substrate.generators.smallville import generate
    >>> memory = VillageMemory(generate(0, 20))
    >>> memory.state(0).splitlines()[0]
    "Latoya Williams is at The Rose and Crown Pub. Knows: Isabella Rodriguez is giving ...
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._names = names_of(spec)
        self._worlds: dict[str, EventLog] = {}

    def state(self, tick: int, world: str = PLANNED) -> str:
        """The place of everybody at the end of a tick, and the facts that each knows, a line a villager.

        Args:
            tick: from 0 to the village's horizon.
            world: ``planned``, or a name that :meth:`imagine` gave.

        Raises:
            ParameterError: there is no such tick or world.
        """
        horizon = self._spec.village.horizon
        if not 0 <= tick <= horizon:
            raise ParameterError(f"there is no tick {tick}", hint=f"Ticks run from 0 to {horizon}")
        state = self._log(world).state(tick)
        lines: list[str] = []
        for agent in self._spec.village.agents:
            at, knows = (self._objects(state, agent.id, predicate) for predicate in ("at", "knows"))
            facts = "; ".join(knows) or "none of the facts"
            lines.append(f"{agent.name} is at {', '.join(at)}. Knows: {facts}.")
        return "\n".join(lines)

    def history(self, villager: str, world: str = PLANNED) -> str:
        """The place of a villager and the facts that they know, each with its ticks.

        Args:
            villager: by name.
            world: as in :meth:`state`.

        Raises:
            ParameterError: there is no such villager or world.
        """
        log, who, village = self._log(world), entity(self._id(villager)), self._spec.village
        lines: list[str] = []
        for how, predicate, things in (("At", "at", village.places), ("Knows:", "knows", village.facts)):
            for thing in things:
                intervals = log.history((who, term(predicate), entity(thing.id))).intervals
                if intervals:
                    lines.append(f"{how} {thing.name}: {', '.join(map(_ticks, intervals))}.")
        return "\n".join(lines)

    def imagine(self, tick: int, intervention: InterventionType, villager: str, what: str) -> str:
        """Fork the village before a tick, with one intervention, and replay it to the end.

        Args:
            tick: when the intervention happens.
            intervention: one of the five, ``assert``, ``retract``, ``override_location``,
                ``assert_awareness`` and ``retract_awareness``.
            villager: the name of the villager that it changes.
            what: a plan such as ``from tick 3 on at Hobbs Cafe, if they know then: FACT`` (assert, retract),
                a place (override_location), or a fact (assert_awareness, retract_awareness).

        Returns:
            The name of the imagined world.

        Raises:
            ParameterError: a name or a kind is unknown.
            InterventionError: it would change nothing.
        """
        if intervention not in INTERVENTIONS:
            raise ParameterError(
                f"no intervention is called {intervention!r}", hint=f"Say one of {', '.join(INTERVENTIONS)}"
            )
        act = self._act(intervention, self._id(villager), what)
        imagined = msgspec.structs.replace(self._spec, branch=tick, intervention=act)
        # Transcripts hold these names: the planned world counts from the first intervention on.
        world = f"imagined {len(self._worlds)}"
        self._log(PLANNED)
        self._worlds[world] = replay_twin(imagined)[1]
        return world

    def _log(self, world: str) -> EventLog:
        if world == PLANNED and PLANNED not in self._worlds:
            self._worlds[PLANNED] = parent_log(self._spec)
        if world not in self._worlds:
            raise ParameterError(f"no world is called {world!r}", hint="Name a world that was imagined")
        return self._worlds[world]

    def _objects(self, state: State, agent: str, predicate: str) -> list[str]:
        """The names of the things that a villager is at, or knows, in a state."""
        query = f"SELECT ?thing WHERE {{ {entity(agent)} {term(predicate)} ?thing }}"
        solutions = cast(ox.QuerySolutions, state.query(query))
        by_term = {entity(identifier or ""): name for identifier, name in self._names.items()}
        return sorted(by_term[value] for (value,) in solutions)

    def _id(self, name: str) -> str:
        wanted = name.strip().rstrip(".").casefold()
        for identifier, known in self._names.items():
            if known.casefold() == wanted:
                return str(identifier)
        raise ParameterError(f"nothing here is called {name!r}", hint="Use a name of the village's text")

    def _act(self, intervention: InterventionType, agent: str, what: str) -> ArmIntervention:
        """The intervention on a villager; its text names a place, a fact or a plan."""
        if intervention == "override_location":
            return ArmIntervention(intervention, agent, place=self._id(what))
        if intervention in ("assert_awareness", "retract_awareness"):
            return ArmIntervention(intervention, agent, fact=self._id(what))
        match = _PLAN.fullmatch(what.strip().rstrip("."))
        if not match:
            raise ParameterError(f"{what!r} is no plan", hint="Say: from tick 3 on at PLACE")
        known = match[3] and self._id(match[3])
        plan = Plan(start=int(match[1]), goal=self._id(match[2]), if_knows=known)
        return ArmIntervention(intervention, agent, plan=plan)


def _ticks(interval: Interval) -> str:
    last = "on" if interval.end is None else f"to {interval.end - 1}"
    return f"from tick {interval.start} {last}"


class SentenceMemory:
    """The sentences of a village's text behind a search: BM25 (Robertson and Zaragoza, 2009), k1 1.5, b 0.75.

    >>> SentenceMemory(["Ann is at the cafe.", "Bo is at the park."]).search("who is at the park", 1)
    'Bo is at the park.'
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self._sentences = list(sentences)
        self._words = [Counter(_words(sentence)) for sentence in self._sentences]
        self._mean = sum(map(Counter.total, self._words)) / max(1, len(self._words))

    @classmethod
    def of(cls, spec: Spec) -> SentenceMemory:
        """The lines of a specification's village."""
        return cls(village_text(spec).splitlines())

    def search(self, query: str, most: int = 5) -> str:
        """The sentences that fit a query best, a line each; ties in the text's order."""
        scores = [sum(self._weight(word, words) for word in set(_words(query))) for words in self._words]
        best = sorted(range(len(scores)), key=lambda index: (-scores[index], index))[:most]
        return "\n".join(self._sentences[index] for index in best if scores[index] > 0)

    def _weight(self, word: str, words: Counter[str]) -> float:
        has = sum(word in other for other in self._words)
        rarity = math.log(1 + (len(self._words) - has + 0.5) / (has + 0.5))
        norm = 1.5 * (0.25 + 0.75 * words.total() / self._mean)
        return rarity * words[word] * 2.5 / (words[word] + norm)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


_WORLD = f"`{PLANNED}`, or the name of a world that `imagine` gave."


def _substrate(spec: Spec) -> list[Tool]:
    village = VillageMemory(spec)
    return [
        Tool(
            village.state,
            "Where every villager is and what they know at the end of a tick, in a world.",
            {"tick": "The tick.", "world": _WORLD},
        ),
        Tool(
            village.history,
            "Where a villager is and what they know, each with its ticks, in a world.",
            {"villager": "Of whom, by name.", "world": _WORLD},
        ),
        Tool(
            village.imagine,
            "Fork the village before a tick with one intervention, and replay it; gives the world's name.",
            {
                "tick": "When the intervention happens.",
                "intervention": f"One of {', '.join(INTERVENTIONS)}.",
                "villager": "Whom it befalls, by name.",
                "what": "The plan (from tick 3 on at PLACE), the place, or the fact, in the village's words.",
            },
        ),
    ]


def _search(spec: Spec) -> list[Tool]:
    sentences = SentenceMemory.of(spec)

    def search(query: str) -> str:
        return sentences.search(query) or "nothing found"

    about = "The sentences about the village that fit best."
    return [Tool(search, about, {"query": "What to look for."})]


SUBSTRATE = AgentMemory(_substrate)
SEARCH = AgentMemory(_search, in_prompt=False)
