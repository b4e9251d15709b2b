"""Questions: the patterns that read them, each with the function that answers it.

As in a sentence, no gap of a pattern takes a function word: "Where is the milk with John?" does not ask for a
"milk with John".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import NamedTuple

from substrate.base.errors import FormatError
from substrate.domains.babi._hands import count_carried, transfer, what_carries
from substrate.domains.babi._lexicon import RELATIONS, lexicon
from substrate.domains.babi._orders import does_relate, relates_to_what, route, what_relates
from substrate.domains.babi._patterns import Pattern
from substrate.domains.babi._reasons import what_color, what_fears, where_will, why_moved, why_took
from substrate.domains.babi._whereabouts import is_in, where_is, where_was


class Query(NamedTuple):
    """The meaning of a question: the function that answers it, and the fillers of its roles.

    The answer is computed from the state at the question's tick, by SPARQL; the reader gathers the evidence.
    """

    answer: Callable[..., str]
    roles: Mapping[str, str | None]

    def __repr__(self) -> str:
        kind = "".join(word.title() for word in self.answer.__name__.split("_"))
        _, *roles = inspect.signature(self.answer).parameters
        return f"{kind}({', '.join(f'{role}={self.roles[role]!r}' for role in roles)})"


def _bases(effect: str) -> str:
    """A pattern of the base forms of the verbs that have an effect, with their particles."""
    uses = [use for uses in lexicon().verbs.values() for use in uses if use.effect == effect]
    return "|".join(sorted({" ".join((use.base, *use.particles)) for use in uses}))


_PLACE = "(?:in|at|inside) the <place:noun>"
_GOES = f"(?:{_bases('Move')})(?: back)? to the <place:noun>"
_GETS = f"(?:{_bases('Take')}) the <thing:noun>"
_GIFT = dict.fromkeys(("agent", "thing", "receiver"))

_QUESTIONS: tuple[tuple[Pattern, Callable[..., str], Mapping[str, str | None]], ...] = tuple(
    (Pattern(pattern), answer, implied)
    for pattern, answer, implied in (
        ("where is <entity:name>(?: now)?", where_is, {}),
        ("where is the <entity:noun>(?: now)?", where_is, {}),
        ("where was <entity:name> before the <before:noun>", where_was, {}),
        ("where was the <entity:noun> before the <before:noun>", where_was, {}),
        (f"is <entity:name> {_PLACE}", is_in, {}),
        (f"is the <entity:noun> {_PLACE}", is_in, {}),
        ("what is <agent:name> (?:carrying|holding)", what_carries, {}),
        ("how many (?:objects|things) is <agent:name> (?:carrying|holding)", count_carried, {}),
        ("who gave the <thing:noun>(?: to <receiver:name>)?", transfer, _GIFT | {"asked": "agent"}),
        ("who received the <thing:noun>(?: from <agent:name>)?", transfer, _GIFT | {"asked": "receiver"}),
        ("what did <agent:name> give to <receiver:name>", transfer, _GIFT | {"asked": "thing"}),
        ("who did <agent:name> give the <thing:noun> to", transfer, _GIFT | {"asked": "receiver"}),
        ("what is <relation:relation> the <object:noun>", what_relates, {}),
        ("what is the <subject:noun> <relation:relation>", relates_to_what, {}),
        ("is the <subject:noun> <relation:relation> the <object:noun>", does_relate, {}),
        (
            "does the <subject:noun> fit (?:inside|in) the <object:noun>",
            does_relate,
            {"relation": "smaller than"},
        ),
        ("how do you go from the <start:noun> to the <goal:noun>", route, {}),
        ("what is <individual:name> afraid of", what_fears, {}),
        ("what colou?r is <individual:name>", what_color, {}),
        ("where will <agent:name> go", where_will, {}),
        (f"why did <agent:name> {_GOES}", why_moved, {}),
        (f"why did <agent:name> {_GETS}", why_took, {}),
    )
)
"""A pattern, the function that answers its questions, and the roles that the pattern implies."""


def parse_question(text: str) -> Query:
    """Parse a question into its query.

    >>> parse_question("Where was the apple before the garden?")
    WhereWas(entity='apple', before='garden')
    >>> parse_question("Is the box bigger than the box of chocolates?")
    DoesRelate(subject='box', relation='biggerThan', object='box of chocolates')

    Raises:
        FormatError: the grammar has no such question.
    """
    wording = text.strip().removesuffix("?").strip()
    for pattern, answer, implied in _QUESTIONS:
        if (fillers := pattern.read(wording)) is not None:
            roles = {**implied, **{role: told[0] if told else None for role, told in fillers.items()}}
            if relation := roles.get("relation"):
                roles["relation"] = RELATIONS[relation.lower()]
            return Query(answer, roles)
    raise FormatError(
        f"unknown question {text!r}",
        hint="The grammar has no such question; correct it, or add a pattern",
    )
