"""Twin-EventLog specifications: a village's schedule, an intervention at a tick, a question about both arms.

One JSON object a line. Everything but ``gold`` is what an agent is shown; :class:`Spec` has no field
for the gold, so what answers a specification cannot see it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from substrate.errors import FormatError
from substrate.reading import decode, lines

Yes = Literal["yes", "no"]
LINKAGES = ("control", "direct", "propagation")
QUERIES = ("did_meet", "learned_fact", "visited_location")


class Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place, or a fact: its identifier and its words."""

    id: str
    name: str


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """To be at place ``goal`` from tick ``start`` on."""

    start: int
    goal: str


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A villager: where they are at tick 0, what they know then, and their plans in time order."""

    id: str
    name: str
    at: str
    knows: list[str]
    plans: list[Plan]


class Village(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is given from outside; ticks run from 0 to ``horizon`` inclusive.

    At each tick those whose plan starts then move; those who come to share a place meet; who meets
    or is together passes on every fact they know, within the same tick.
    """

    horizon: int
    places: list[Named]
    facts: list[Named]
    agents: list[Agent]


class Intervention(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of the five interventions at the branch tick; the fields that its type needs are set."""

    type: Literal["assert", "retract", "override_location", "assert_awareness", "retract_awareness"]
    agent: str
    place: str | None = None
    fact: str | None = None
    plan: Plan | None = None
    """The plan that ``assert`` adds or ``retract`` takes away."""


class Query(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A yes-or-no question about ticks from the branch to the horizon, with its English wording."""

    type: Literal["did_meet", "learned_fact", "visited_location"]
    text: str
    agent: str
    other: str | None = None
    fact: str | None = None
    place: str | None = None


class Spec(msgspec.Struct, frozen=True):
    """One specification, without its gold.

    Arm A goes on from tick ``branch`` as planned; arm B has the intervention there, and goes on.
    """

    spec: int
    linkage: Literal["control", "direct", "propagation"]
    village: Village
    branch: int
    intervention: Intervention
    query: Query


class Gold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The answer in each arm."""

    a: Yes
    b: Yes


class _Graded(msgspec.Struct, frozen=True):
    spec: int
    gold: Gold | None = None


_T = TypeVar("_T", Spec, _Graded)


def read_specs(path: Path) -> list[Spec]:
    """Specifications in file order; gzipped or plain.

    Raises:
        FormatError: a line is not a specification, or a number occurs twice; names file, line and path.
    """
    return list(_read(path, Spec).values())


def read_gold(path: Path) -> dict[int, Gold | None]:
    """The gold of a specification file by number, in file order; ``None`` where a specification has none."""
    return {number: graded.gold for number, graded in _read(path, _Graded).items()}


def _read(path: Path, type_: type[_T]) -> dict[int, _T]:
    decoder, found = msgspec.json.Decoder(type_), {}
    for where, line in lines(path):
        record = decode(decoder, line, where)
        if record.spec in found:
            raise FormatError(f"specification {record.spec} occurs twice", where=(where,), hint="Number each specification once")
        found[record.spec] = record
    return found
