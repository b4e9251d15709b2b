"""ComPhy's questions in words: CLEVRER's templates, with mass, charge, directions and changed properties.

The wordings of the release are known only as far as its authors' page shows examples of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrate.domains.clevrer import templates as clevrer
from substrate.domains.clevrer.grammar import Grammar, Template
from substrate.domains.clevrer.templates import any_of

_COMPARED = "{group} filter_mass unique {group2} filter_mass unique {compared}"
_HEADING = "{thing} {clause} get_frame query_direction"
_IMAGINED = "all_events {thing} {changed} filter_counterfact belong_to {negated}"

RULES: dict[str, Sequence[Template]] = {
    **clevrer.RULES,
    "factual": any_of("descriptive exist_kind count_kind compare equal_charge exist_both query_both heading"),
    "multiple": any_of("predictive counterfactual"),
    "multiple_choice": any_of("predictive_choice"),
    "counterfactual": [
        ("If {thing} were {changed}, which event would {negated}happen?", _IMAGINED),
        ("If {thing} were {changed}, what would {negated}happen?", _IMAGINED),
        ("Which of the following would {negated}happen if {thing} were {changed}?", _IMAGINED),
    ],
    "exist_kind": [("Are there any {kind} {group}s?", "{group} {kind} exist")],
    "count_kind": [("How many {kind} {group}s are there?", "{group} {kind} count")],
    "query_kind": [("What is the {attribute} of the {kind} {group}?", "{group} {kind} unique {attribute}")],
    "compare": [("Is the {group} {compared} than the {group2}?", _COMPARED)],
    "equal_charge": [("Are {thing} and {thing2} charged alike?", "{thing} {thing2} equal_charge")],
    "exist_both": [("Are there objects that {related}?", "{related} exist")],
    "query_both": [("What are the {both} of the two objects that {related}?", "{related} {both}")],
    "heading": [("In which direction does {thing} move when {clause}?", _HEADING)],
    "kind": [(kind, f"filter_{kind}") for kind in ("heavy", "light", "charged", "uncharged")],
    "compared": [(word, f"is_{word}") for word in ("heavier", "lighter")],
    "related": [
        ("carry the same charge", "objects filter_same"),
        ("carry opposite charges", "objects filter_opposite"),
    ],
    "both": [(f"{name}s", f"query_both_{name}") for name in ("color", "material", "shape")],
    "changed": [
        ("lighter", "counterfact_lighter"),
        ("heavier", "counterfact_heavier"),
        ("uncharged", "counterfact_uncharged"),
        ("oppositely charged", "counterfact_opposite"),
    ],
}

ALSO: dict[str, Sequence[Template]] = {
    **clevrer.ALSO,
    "factual": [
        ("How many {state} {group}s are {kind}{moment}?", "{group} {moment} {state} {kind} count"),
        ("How many {group}s are {kind}?", "{group} {kind} count"),
        ("What is the direction of {thing}{moment}?", "{thing} {moment} query_direction"),
    ],
    "target": [("the {kind} {group}", "{group} {kind} unique")],
    "related": [
        ("are charged", "objects filter_charged"),
        ("have the same charge", "objects filter_same"),
        ("have opposite charges", "objects filter_opposite"),
    ],
    "counterfactual": [
        ("If {thing} were {changed}, which of the following would {negated}happen?", _IMAGINED),
        ("Which event would {negated}happen if {thing} were {changed}?", _IMAGINED),
        ("What would {negated}happen if {thing} were {changed}?", _IMAGINED),
    ],
}
"""Wordings of the authors' page that the generator does not write, and their like."""

GRAMMAR = Grammar(RULES, ALSO)
