"""Phrases: the words of a sentence, and its names and nouns.

A noun ends before a function word or a verb, so that "the kitchen with John" is never a place.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple, NoReturn

from substrate.base.errors import FormatError
from substrate.domains.babi._lexicon import Kinds, is_adverb, is_function_word, lexicon

_TOKEN = re.compile(r"[^\W\d_][\w'-]*|\S")
_WORD = re.compile(r"[^\W\d_][\w'-]*")


class Complement(NamedTuple):
    """The objects of a preposition: nouns or names, with the word that joins them."""

    nouns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    joined: str = "and"


@cache
def _parts(phrase: str) -> list[str]:
    return phrase.split()


class Phrases:
    """A sentence in reading: its words, and the number of words already read."""

    def __init__(self, text: str, kinds: Kinds) -> None:
        self.text, self.kinds = text, kinds
        self.words = _TOKEN.findall(text.strip().removesuffix("."))
        self._lower = [word.lower() for word in self.words]
        self.read_so_far = 0

    def next(self, ahead: int = 0) -> str:
        """The next word, or the word ``ahead`` places after it, in lower case; empty at the end."""
        place = self.read_so_far + ahead
        return self._lower[place] if place < len(self._lower) else ""

    def take(self, *phrases: str) -> str:
        """Read the first of some phrases that comes next, and return it; empty if none comes next."""
        start = self.read_so_far
        for phrase in phrases:
            parts = _parts(phrase)
            if self._lower[start : start + len(parts)] == parts:
                self.read_so_far += len(parts)
                return phrase
        return ""

    def word(self) -> str:
        """Read the next word, and return it as written."""
        self.read_so_far += 1
        return self.words[self.read_so_far - 1]

    def fail(self, what: str = "", start: int | None = None) -> NoReturn:
        """Refuse the sentence because of the next words, or of the words from ``start`` on."""
        rest = " ".join(self.words[self.read_so_far if start is None else start :])
        unread = f"{rest!r} cannot be read" if rest else "the sentence ends too early"
        raise FormatError(
            f"unknown sentence {self.text!r}: {what or unread}",
            hint="The grammar has no such sentence; correct it, or add to the grammar",
        )

    def expect(self, *phrases: str) -> str:
        """Read one of the phrases as :meth:`take`, or refuse the sentence."""
        return self.take(*phrases) or self.fail()

    def plain(self) -> str:
        """Read a single word that is neither a function word nor a verb."""
        if (
            not _WORD.fullmatch(self.next())
            or is_function_word(self.next())
            or self.next() in lexicon().verbs
        ):
            self.fail()
        return self.word()

    def name(self) -> str:
        """Read a person's name: a word that is not in lower case."""
        if self.next() and self.words[self.read_so_far][0].islower():
            self.fail()
        return self.plain()

    def names(self, *, subject: bool = False) -> tuple[str, ...]:
        """Read names joined by commas and "and"; names before a verb are the ``subject``."""
        names = [self.name()]
        while self.joins_a_name(subject):
            self.take(",")
            self.take("and")
            names.append(self.name())
        return tuple(names)

    def joins_a_name(self, subject: bool) -> bool:
        """Tell whether "and" or a comma comes next, then a name that is not the subject of another clause."""
        ahead = 2 if (self.next(), self.next(1)) == (",", "and") else 1
        following = self.read_so_far + ahead
        if self.next() not in (",", "and") or following >= len(self.words):
            return False
        word = self.words[following]
        if word[0].islower() or not word[0].isalpha() or is_function_word(word):
            return False
        return subject or self.next(ahead + 1) not in {*lexicon().verbs, "is", "are"}

    def noun(self) -> str:
        """Read "the" and a noun of one or several words."""
        self.expect("the")
        start = self.read_so_far
        words: list[str] = []
        while not words or (self.next() and not self.ends_a_noun()):
            if is_adverb(self.next()):
                self.fail()
            words.append(self.word() if words and self.next() == "of" else self.plain())
        if words[-1].lower() == "of":
            self.fail(start=self.read_so_far - 1)
        if any(not word[0].islower() for word in words):
            self.fail("a noun is not written with a capital", start)
        if len(words) > 1:
            self.check_compound(words, start)
        return " ".join(words)

    def ends_a_noun(self) -> bool:
        """Tell whether the next word is not part of the noun before it."""
        word = self.next()
        if word == "of":
            return False
        return (
            not _WORD.fullmatch(word) or is_function_word(word) or word in lexicon().verbs or word == "fits"
        )

    def check_compound(self, words: list[str], start: int) -> None:
        """Refuse words after a noun that cannot be part of it: "the kitchen singing", "the milk cold"."""
        *before, last = (word.lower() for word in words)
        participle = re.fullmatch(r".*[aeiouy].*ing", last) and not self.kinds(last)
        # The number of words, from the first, that are a known noun; 0 if there is none.
        known = next((n for n in range(len(words) - 1, 0, -1) if self.kinds(" ".join(words[:n]).lower())), 0)
        whole_is_known = bool(self.kinds(" ".join(words).lower()))
        if whole_is_known or (self.next() in ("is", "fits") and not participle) or "of" in before:
            return
        if participle or last in lexicon().adjectives:
            self.fail(start=start + len(before))
        if known:
            self.fail(start=start + known)

    def nouns(self) -> Complement:
        """Read nouns joined by "and", by commas, or by "or"."""
        nouns, joined = [self.noun()], ""
        while True:
            here = self.read_so_far
            comma = self.take(",")
            word = self.take("and", "or") or comma
            if not word or self.next() != "the" or not self.goes_on_as_list():
                self.read_so_far = here
                break
            if word != "," and joined not in ("", ",", word):
                self.fail("'and' and 'or' in one list", here)
            joined = word
            nouns.append(self.noun())
        return Complement(nouns=tuple(nouns), joined=joined or "and")

    def goes_on_as_list(self) -> bool:
        """Tell whether the next noun continues a list, and is not the subject of a new clause."""
        here = self.read_so_far
        try:
            self.noun()
        except FormatError:
            return True
        follows = self.next()
        self.read_so_far = here
        return follows not in lexicon().verbs and follows not in ("is", "fits")
