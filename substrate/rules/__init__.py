"""TBoxes, and the application of their rules until nothing changes."""

from substrate.rules.fixpoint import Firing, RuleEmitter, settle, unfold
from substrate.rules.lint import Finding, lint
from substrate.rules.rule import Rule
from substrate.rules.tbox import TBox, Violation, shipped_tboxes

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
