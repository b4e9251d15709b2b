"""Questions for any domain, and chains of who told whom."""

from substrate.ask.functions import solutions
from substrate.ask.questions import Answer, Occurrence, ask, occurrences, survey
from substrate.ask.tellings import Learning, chains, in_words

__all__ = [
    "Answer",
    "Learning",
    "Occurrence",
    "ask",
    "chains",
    "in_words",
    "occurrences",
    "solutions",
    "survey",
]
