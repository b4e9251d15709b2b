"""CLEVRER's questions in words: one table, from which questions are written and texts are read.

A rule of ``questions.toml`` lists the wordings of one kind of phrase, each beside its program; the wordings
are official, as far as public texts show them. ``{thing}`` is an object by a description that fits it alone,
``{group}`` the objects that a description fits, ``{event}`` and ``{clause}`` an event as a name and as a
clause, ``{moment}`` a time, and ``{span}`` a part of the video. ``grammar.py`` writes and reads such phrases;
``with_programs`` of ``format.py`` gives a question in words its program.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from substrate.domains.clevrer.grammar import Grammar, Template, read_rules

COLORS = ("gray", "red", "blue", "green", "brown", "yellow", "cyan", "purple")
MATERIALS = ("metal", "rubber")
SHAPES = ("cube", "sphere", "cylinder")


def _looks(attribute: str, values: Sequence[str], end: str = "") -> list[Template]:
    return [(f"{value}{end}", f"{value} filter_{attribute}") for value in values]


_WRITTEN, ALSO = read_rules(files("substrate.domains.clevrer") / "questions.toml")
RULES = {
    **_WRITTEN,
    "order": [(order, f"{order} filter_order") for order in ("first", "second", "last")],
    "attribute": [(name, f"query_{name}") for name in ("color", "material", "shape")],
    "color": [("", ""), *_looks("color", COLORS, " ")],
    "material": [("", ""), *_looks("material", MATERIALS, " ")],
    "shape": [("object", ""), *_looks("shape", SHAPES)],
}
GRAMMAR = Grammar(RULES, ALSO)
