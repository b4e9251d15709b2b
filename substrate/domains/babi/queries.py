"""Questions: the patterns that read them, each with the function that answers it.

As in a sentence, no gap of a pattern takes a function word: "Where is the milk with John?" does not ask for a
"milk with John".
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from substrate.base.errors import FormatError
from substrate.domains.babi._hands import count_carried, transfer, what_carries
from substrate.domains.babi._lexicon import RELATIONS, is_adverb, is_function_word, lexicon
from substrate.domains.babi._orders import does_relate, relates_to_what, route, what_relates
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


_GAPS = {"name": r"[^\W\d_][\w'-]*", "noun": r"[^\W\d_][\w' -]*?", "relation": "|".join(RELATIONS)}


def _bases(effect: str) -> str:
    """A pattern of the base forms of the verbs that have an effect, with their particles."""
    uses = [use for uses in lexicon().verbs.values() for use in uses if use.effect == effect]
    return "|".join(sorted({" ".join((use.base, *use.particles)) for use in uses}))


def _pattern(text: str) -> re.Pattern[str]:
    """A pattern whose gaps are written ``<role:class>``."""
    gaps = re.sub(r"<(\w+):(\w+)>", lambda gap: f"(?P<{gap[1]}>{_GAPS[gap[2]]})", text)
    return re.compile(gaps, re.IGNORECASE)


_PLACE = "(?:in|at|inside) the <place:noun>"
_GOES = f"(?:{_bases('Move')})(?: back)? to the <place:noun>"
_GETS = f"(?:{_bases('Take')}) the <thing:noun>"
_GIFT = dict.fromkeys(("agent", "thing", "receiver"))

_QUESTIONS: tuple[tuple[re.Pattern[str], Callable[..., str], Mapping[str, str | None]], ...] = tuple(
    (_pattern(pattern), answer, implied)
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
        if (match := pattern.fullmatch(wording)) and not _holds_function_word(match):
            roles = {**implied, **match.groupdict()}
            if relation := roles.get("relation"):
                roles["relation"] = RELATIONS[relation.lower()]
            return Query(answer, roles)
    raise FormatError(
        f"unknown question {text!r}", hint="The grammar has no such question; correct it, or add a pattern"
    )


def _holds_function_word(match: re.Match[str]) -> bool:
    """Tell whether a gap of a pattern has taken a word that cannot be part of a name or a noun."""
    for role, filler in match.groupdict().items():
        words = filler.split() if filler and role != "relation" else []
        if any(word != "of" and is_function_word(word) for word in words):
            return True
        if len(words) > 1 and any(map(is_adverb, words)):
            return True
    return False
