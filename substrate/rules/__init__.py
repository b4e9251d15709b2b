"""TBoxes, and the application of their rules until nothing changes.

Begin with ``tbox.py``: a TBox is one Turtle file with classes, properties, shapes and rules. Then read
``fixpoint.py``, which says how rules run, and has the emitter of forks.

Each file imports only files above it::

    _shacl.py        SHACL's words in a TBox: targets, deactivated parts
    limits.py        the most objects that a property may have
    rule.py          rules, read and checked
    _known_terms.py  refuses a TBox with an unknown term
    validation.py    a state against all shapes, by pyshacl
    tbox.py          a TBox: its words, and what the files above read from it
    queries.py       a rule's queries, run by Oxigraph
    shapes.py        the fast check of a change against the shapes
    _settling.py     the engine that runs rules in rounds
    fixpoint.py      rules for a state, a log and a fork
    lint.py          likely mistakes in a TBox
"""

from substrate.rules._settling import Firing
from substrate.rules.fixpoint import RuleEmitter, settle, unfold
from substrate.rules.lint import Finding, lint
from substrate.rules.rule import Rule
from substrate.rules.tbox import TBox, shipped_tboxes
from substrate.rules.validation import Violation

__all__ = [
    "Finding",
    "Firing",
    "Rule",
    "RuleEmitter",
    "TBox",
    "Violation",
    "lint",
    "settle",
    "shipped_tboxes",
    "unfold",
]
