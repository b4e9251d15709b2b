"""ComPhy's questions in words: CLEVRER's templates, and those in ``questions.toml``."""

from __future__ import annotations

from importlib.resources import files

from substrate.domains.clevrer import questions as clevrer
from substrate.domains.clevrer.grammar import Grammar, read_rules

_WRITTEN, _ALSO = read_rules(files("substrate.domains.comphy") / "questions.toml")
GRAMMAR = Grammar({**clevrer.RULES, **_WRITTEN}, {**clevrer.ALSO, **_ALSO})
