"""Patterns with gaps: the words of a sentence or question, and what fills them.

No gap takes a function word or a verb: "the kitchen with John" is never a place. A gap is written
``<role:class>``.
"""

from __future__ import annotations

import re

from substrate.domains.babi._lexicon import PRONOUNS, RELATIONS, is_adverb, is_function_word, lexicon

_WORD = r"[^\W\d_][\w'-]*"
_NAMES = rf"{_WORD}(?:(?:,? and |, ){_WORD})*"
_NOUN = r"[^\W\d_][\w' -]*?"
_GAPS = {
    "name": _WORD,
    "noun": _NOUN,
    "who": rf"(?:{'|'.join(PRONOUNS)}|{_NAMES})",
    "names": _NAMES,
    "nouns": rf"the {_NOUN}(?:(?:,? and |, )the {_NOUN})*",
    "choice": rf"the {_NOUN}(?: or (?:in |at )?the {_NOUN})+",
    "relation": "|".join(RELATIONS),
}
_JOINTS = {"who": ",? and |, ", "names": ",? and |, ", "nouns": ",? and |, ", "choice": " or (?:in |at )?"}
"""How the fillers of a gap are joined, by its class; all other gaps have one filler."""


class Pattern:
    """A pattern of a whole text; case does not matter."""

    def __init__(self, text: str) -> None:
        gaps = re.sub(r"<(\w+):(\w+)>", lambda gap: f"(?P<{gap[1]}>{_GAPS[gap[2]]})", text)
        self._pattern = re.compile(gaps, re.IGNORECASE)
        self._classes = dict(re.findall(r"<(\w+):(\w+)>", text))

    def read(self, text: str) -> dict[str, tuple[str, ...]] | None:
        """The fillers of the gaps; ``None`` if the text does not fit. A gap that is left out has none.

        >>> Pattern("<who:names> got <things:nouns>").read("Ann and Bo got the milk and the apple")
        {'who': ('Ann', 'Bo'), 'things': ('milk', 'apple')}
        >>> Pattern("where is the <thing:noun>").read("Where is the milk with John")
        """
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        fillers: dict[str, tuple[str, ...]] = {}
        for role, class_ in self._classes.items():
            text, joint = match[role] or "", _JOINTS.get(class_)
            listed = re.split(joint, text) if joint else [text]
            fillers[role] = tuple(filler.removeprefix("the ") for filler in listed if filler)
            pronoun = class_ == "who" and fillers[role][0].lower() in PRONOUNS
            if class_ != "relation" and not pronoun and not all(map(_is_plain, fillers[role])):
                return None
        return fillers


def _is_plain(filler: str) -> bool:
    """Tell whether words may be a name or a noun."""
    words = filler.split()
    return not any(
        (word != "of" and is_function_word(word))
        or word.lower() in lexicon().verbs
        or (len(words) > 1 and is_adverb(word))
        for word in words
    )
