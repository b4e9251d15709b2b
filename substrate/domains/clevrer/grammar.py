"""Read and write a language by one table of templates: each pairs a text with a program."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources.abc import Traversable
from itertools import takewhile
from random import Random
from string import Formatter

_QUOTED = 60
"""The maximum number of unread characters that an error quotes."""


@dataclass(frozen=True)
class Phrase:
    """Words, and the program that leaves the value they name on the stack."""

    text: str
    program: str


Template = tuple[str, str]
"""A text and its program. A slot, such as ``{thing}`` or ``{thing2}``, names the rule that fills it."""


Rules = dict[str, list[Template]]


def read_rules(file: Traversable) -> tuple[Rules, Rules]:
    """Read the rules of a TOML file: those that are written, and those that are only read.

    A template is a pair of a text and its program; a single text is both.
    """
    tables = tomllib.loads(file.read_text("utf-8"))

    def of(table: str) -> Rules:
        rules = tables[table].items()
        return {
            rule: [(t, t) if isinstance(t, str) else (t[0], t[1]) for t in texts] for rule, texts in rules
        }

    return of("rules"), of("also")


class Grammar:
    """A language without recursion: no rule leads back to itself, so that every text is read in finite time.

    Args:
        rules: by name, the templates of a kind of phrase.
        also: further templates, which are read and never written.

    >>> words = Grammar({"ask": [("Is the {color} cube there?", "cube {color} exist")],
    ...                  "color": [("red", "red"), ("blue", "blue")]})
    >>> words.read("ask", "Is the blue cube there?")
    ['cube', 'blue', 'exist']
    >>> words.write("ask", Random(0), color=Phrase("red", "red"))
    Phrase(text='Is the red cube there?', program='cube red exist')
    """

    def __init__(
        self, rules: Mapping[str, Sequence[Template]], also: Mapping[str, Sequence[Template]] | None = None
    ) -> None:
        self.rules, self.also = rules, also or {}
        self._parts = {
            name: [
                (_parts(text), program) for text, program in (*rules.get(name, ()), *self.also.get(name, ()))
            ]
            for name in dict.fromkeys((*rules, *self.also))
        }
        self._written = {
            name: [(text, program, {slot for _, slot in _parts(text) if slot}) for text, program in templates]
            for name, templates in rules.items()
        }
        self._cached = lru_cache(maxsize=1 << 14)(self._read)

    def read(self, rule: str, text: str) -> list[str]:
        """The program of a text.

        Capital letters, the spaces between words, and a question mark or full stop at the end are free.

        Raises:
            ValueError: no template of the rule fits; the message names the words that cannot be read.
        """
        return list(self._cached(rule, text))

    def write(self, rule: str, rng: Random, /, **slots: Phrase) -> Phrase:
        """A phrase by a template of a rule, drawn at random among those whose slots are all given."""
        templates = [
            (text, program) for text, program, needed in self._written[rule] if needed <= slots.keys()
        ]
        text, program = rng.choice(templates) if len(templates) > 1 else templates[0]
        texts = {name: phrase.text for name, phrase in slots.items()}
        programs = {name: phrase.program for name, phrase in slots.items()}
        return Phrase(text.format(**texts), " ".join(program.format(**programs).split()))

    def word(self, rule: str, text: str) -> Phrase:
        """The phrase of a rule's template that has the given text and no slots."""
        return next(Phrase(*template) for template in self.rules[rule] if template[0] == text)

    def _read(self, rule: str, text: str) -> tuple[str, ...]:
        plain = " ".join(text.split()).rstrip("?. ").lower()
        reading = _Reading(self._parts, plain)
        ends = reading.ends(rule, 0)
        if len(plain) in ends:
            return tuple(ends[len(plain)].split())
        start = plain.rfind(" ", 0, reading.furthest + 1) + 1
        rest = plain[start : start + _QUOTED] if reading.furthest < len(plain) else ""
        fault = f"cannot read the words {rest!r}" if rest else "cannot read the end, where words are missing,"
        raise ValueError(f"{fault} in {text[: 3 * _QUOTED]!r}")


_Part = tuple[str, str]
"""A literal text, and the slot that follows it, if any."""


class _Reading:
    """The phrases that begin at each place of a text, each found once."""

    def __init__(self, parts: Mapping[str, Sequence[tuple[Sequence[_Part], str]]], text: str) -> None:
        self._parts, self._text = parts, text
        self._ends: dict[tuple[str, int], dict[int, str]] = {}
        self.furthest = 0
        """The furthest place up to which a template fits."""

    def ends(self, rule: str, start: int) -> dict[int, str]:
        """The ends of a rule's phrases that begin at a place, each with the program of its phrase."""
        if (rule, start) not in self._ends:
            ends = self._ends[rule, start] = dict[int, str]()
            for parts, program in self._parts[rule]:
                for end, slots in self._fillings(parts, start):
                    ends.setdefault(end, program.format(**slots))
        return self._ends[rule, start]

    def _fillings(self, parts: Sequence[_Part], start: int) -> list[tuple[int, dict[str, str]]]:
        """The ends of a template's phrases that begin at a place, each with the programs in its slots."""
        fillings: list[tuple[int, dict[str, str]]] = [(start, {})]
        for literal, slot in parts:
            before, fillings = fillings, []
            for place, slots in before:
                end = self._past(literal, place) if literal else place
                if slot and end >= 0:
                    inner = self.ends(slot.rstrip("2"), end).items()
                    fillings += [(after, {**slots, slot: program}) for after, program in inner]
                elif end >= 0:
                    fillings.append((end, slots))
            if not fillings:
                break
        return fillings

    def _past(self, literal: str, place: int) -> int:
        """The place after a literal text, or -1 if the text differs."""
        if self._text.startswith(literal, place):
            end = place + len(literal)
            self.furthest = max(self.furthest, end)
            return end
        # The characters that are alike count only if they reach beyond the furthest place so far, so the
        # part of the literal up to there is compared first
        needed = literal[: self.furthest + 1 - place]
        if self._text.startswith(needed, place):
            alike = takewhile(
                lambda pair: pair[0] == pair[1],
                zip(literal, self._text[place : place + len(literal)], strict=False),
            )
            self.furthest = place + sum(1 for _ in alike)
        return -1


def _parts(text: str) -> list[_Part]:
    return [(literal, slot or "") for literal, slot, _, _ in Formatter().parse(text.lower().rstrip("?"))]
