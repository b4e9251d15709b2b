"""The grammar's words: verbs with their effects, and nouns with their classes, from the TBox.

Names and nouns are open classes. Verbs and English function words are closed: a function word is never part
of a name or a noun, so that words outside every pattern are noticed and reported.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from substrate.rules.tbox import TBox

_PREFIXES = """PREFIX word: <urn:substrate:word:> PREFIX : <urn:substrate:babi:>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> """

Kinds = Callable[[str], frozenset[str]]
"""Gives the known classes of a noun, such as ``Place`` or ``Thing``."""

RELATIONS = {
    "north of": "northOf", "south of": "southOf", "east of": "eastOf", "west of": "westOf",
    "above": "above", "below": "below", "to the left of": "leftOf", "to the right of": "rightOf",
    "bigger than": "biggerThan", "smaller than": "fitsIn",
}  # fmt: skip
PERIODS = {
    "yesterday": "yesterday",
    "this morning": "morning",
    "this afternoon": "afternoon",
    "this evening": "evening",
}
OPENINGS = ("after that", "afterwards", "following that", "then", "next", "later", "finally")
PRONOUNS = ("he", "she", "they")

FUNCTION_WORDS = frozenset(
    (files("substrate.domains.babi") / "function_words.txt").read_text("utf-8").split()
)


class Verb(NamedTuple):
    """A verb in one of its uses.

    Attributes:
        base: its base form, for questions.
        past: its past form, for sentences.
        effect: its effect, a class of events of the TBox.
        object: the class of its object: ``Place``, ``Thing``, or empty.
        particles: words that it needs, such as ``up`` in "picked up".
    """

    base: str
    past: str
    effect: str
    object: str
    particles: tuple[str, ...]


class Lexicon(NamedTuple):
    """Verbs by their past forms, and the classes of known nouns."""

    verbs: dict[str, tuple[Verb, ...]]
    nouns: dict[str, frozenset[str]]
    adjectives: frozenset[str]

    def kinds(self, noun: str) -> frozenset[str]:
        """The classes that the TBox gives a noun; empty if it does not know the noun.

        >>> sorted(lexicon().kinds("kitchen")), sorted(lexicon().kinds("xylophone"))
        (['Place'], [])
        """
        return self.nouns.get(noun.lower(), frozenset())


@cache
def lexicon() -> Lexicon:
    """The TBox's words.

    >>> [(verb.effect, verb.object) for verb in lexicon().verbs["left"]]
    [('Departure', 'Place'), ('Drop', 'Thing')]
    """
    store = TBox.load("babi").store

    def rows(pattern: str) -> list[list[str]]:
        """The solutions of a SELECT as words; a class gives its name, an unbound variable an empty text."""
        solutions: Any = store.query(_PREFIXES + pattern)
        return [[value.value.rpartition(":")[2] if value else "" for value in row] for row in solutions]

    verbs: dict[str, tuple[Verb, ...]] = {}
    for base, past, effect, thing, particle in rows(
        """SELECT ?base ?past ?effect ?object ?particle {
            ?verb word:past ?past ; word:base ?base ; word:use ?use . ?use word:effect ?effect
            OPTIONAL { ?use word:object ?object } OPTIONAL { ?use word:particle ?particle }
        } ORDER BY ?past ?effect ?object ?particle"""
    ):
        use = Verb(base, past, effect, thing, tuple(particle.split()))
        verbs[past] = (*verbs.get(past, ()), use)
    nouns: dict[str, frozenset[str]] = {}
    for kind, noun in rows("SELECT ?kind ?noun { ?kind word:noun ?noun }"):
        nouns[noun] = nouns.get(noun, frozenset()) | {kind}
    adjectives = rows(
        "SELECT ?label { VALUES ?kind { :Color :Motive } ?quality a ?kind ; rdfs:label ?label }"
    )
    return Lexicon(verbs, nouns, frozenset(label for (label,) in adjectives))


def is_function_word(word: str) -> bool:
    """Tell whether a word cannot be part of a name or a noun.

    >>> [word for word in ["with", "kitchen", "Then", "Mary's", "Emily"] if is_function_word(word)]
    ['with', 'Then', "Mary's"]
    """
    lower = word.lower()
    return lower in FUNCTION_WORDS or lower.endswith(("'s", "s'", "n't"))


def is_adverb(word: str) -> bool:
    """Tell whether a word looks like an adverb, so that it cannot be part of a noun.

    >>> [word for word in ["quickly", "kitchen"] if is_adverb(word)]
    ['quickly']
    """
    return len(word) > 4 and word.endswith("ly") and not lexicon().kinds(word)
