"""Questions about any log whose TBox ties its terms to the core's; no code here knows a domain.

questions    begin here: question templates, and a survey that asks all of them
tellings     chains of who told whom, which some templates use
functions    the same events as functions for a user's SPARQL query; uses :func:`.occurrences`
"""

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
