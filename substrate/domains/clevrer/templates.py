"""CLEVRER's questions in words: one table, from which questions are written and texts are read.

A rule lists the wordings of one kind of phrase, each beside its program. The wordings are official, as far as
texts show them. ``{thing}`` is an object by a description that fits it alone, ``{group}`` the objects that a
description fits, ``{event}`` and ``{clause}`` an event as a name and as a clause, ``{moment}`` a time, and
``{span}`` a part of the video.
"""

from __future__ import annotations

from collections.abc import Sequence

from substrate.domains.clevrer.grammar import Grammar, Template

COLORS = ("gray", "red", "blue", "green", "brown", "yellow", "cyan", "purple")
MATERIALS = ("metal", "rubber")
SHAPES = ("cube", "sphere", "cylinder")


_EXPLAINED = "events {event} filter_ancestor belong_to {negated}"
_PARTNER = "{span} {thing} filter_collision unique {thing} get_col_partner"
_ORDERED_PARTNER = "{span} {thing} filter_collision {order} {thing} get_col_partner"
_MEET = "{thing} filter_collision {thing2} filter_collision"


def any_of(rules: str) -> list[Template]:
    """Templates that take a phrase of any of some rules, whose names are given in one text, as it is."""
    return [(f"{{{rule}}}", f"{{{rule}}}") for rule in rules.split()]


def _looks(attribute: str, values: Sequence[str], end: str = "") -> list[Template]:
    return [(f"{value}{end}", f"{value} filter_{attribute}") for value in values]


RULES: dict[str, Sequence[Template]] = {
    "descriptive": any_of("count_states count_crossings count_collisions exist_states exist_crossings query"),
    "explanatory": [("Which of the following is {negated}responsible for {event}?", _EXPLAINED)],
    "predictive": [
        ("What will happen next?", "unseen_events belong_to"),
        ("Which event will happen next?", "unseen_events belong_to"),
    ],
    "counterfactual": [
        (text.replace("{what}", what), "all_events {thing} get_counterfact belong_to {negated}")
        for what in ("which of the following", "which event", "what")
        for text in (
            "{what} will {negated}happen if {thing} is removed?",
            "If {thing} is removed, {what} will {negated}happen?",
            "{what} will {negated}happen without {thing}?",
            "Without {thing}, {what} will {negated}happen?",
        )
    ],
    "explanatory_choice": any_of("event presence"),
    "presence": [("the presence of {thing}", "{thing}")],
    "predictive_choice": [("{meeting}", "all_events {meeting}")],
    "counterfactual_choice": [("{meeting}", "all_events {meeting}")],
    "count_states": [
        ("How many {group}s are {state}{moment}?", "{group} {moment} {state} count"),
        ("How many {state} {group}s are there{moment}?", "{group} {moment} {state} count"),
    ],
    "count_crossings": [("How many {group}s {cross}{span}?", "{span} {group} {cross} count")],
    "count_collisions": [("How many collisions happen{span}?", "{span} objects filter_collision count")],
    "exist_states": [("Are there any {state} {group}s{moment}?", "{group} {moment} {state} exist")],
    "exist_crossings": [("Are there any {group}s that {cross}{span}?", "{span} {group} {cross} exist")],
    "query": [
        ("What {attribute} is {target}?", "{target} {attribute}"),
        ("What is the {attribute} of {target}?", "{target} {attribute}"),
    ],
    "target": any_of(
        "state_target crossing_target ordered_crossing_target partner_target ordered_partner_target"
    ),
    "state_target": [
        ("the {state} {group}{moment}", "{group} {moment} {state} unique"),
        ("the {group} that is {state}{moment}", "{group} {moment} {state} unique"),
    ],
    "crossing_target": [("the {group} that {crosses}{span}", "{span} {group} {crosses} unique get_object")],
    "ordered_crossing_target": [
        ("the {order} {group} that {crosses}{span}", "{span} {group} {crosses} {order} get_object")
    ],
    "partner_target": [("the object {colliding} {thing}{span}", _PARTNER)],
    "ordered_partner_target": [("the {order} object {colliding} {thing}{span}", _ORDERED_PARTNER)],
    "colliding": [("to collide with", ""), ("that collides with", "")],
    "moment": [
        (" when the video begins", "start get_frame"),
        (" when the video ends", "end get_frame"),
        ("", "null"),
        *any_of("during"),
    ],
    "during": [(" when {clause}", "{clause} get_frame")],
    "span": [("", "events"), *any_of("before after")],
    "before": [(" before {clause}", "events {clause} filter_before")],
    "after": [(" after {clause}", "events {clause} filter_after")],
    "clause": [
        ("{thing} {crosses}", "events {thing} {crosses} unique"),
        ("{meeting}", "events {meeting}"),
    ],
    "meeting": [
        ("{thing} and {thing2} collide", f"{_MEET} unique"),
        ("{thing} collides with {thing2}", f"{_MEET} unique"),
    ],
    "event": any_of("in out collision"),
    "in": [
        ("{thing}'s entrance", "events {thing} filter_in unique"),
        ("{thing}'s entering the scene", "events {thing} filter_in unique"),
    ],
    "out": [
        ("{thing}'s exit", "events {thing} filter_out unique"),
        ("{thing}'s exiting the scene", "events {thing} filter_out unique"),
    ],
    "collision": [
        ("the collision between {thing} and {thing2}", f"events {_MEET} unique"),
        ("{thing}'s colliding with {thing2}", f"events {_MEET} unique"),
    ],
    "cross": [("enter the scene", "filter_in"), ("exit the scene", "filter_out")],
    "crosses": [("enters the scene", "filter_in"), ("exits the scene", "filter_out")],
    "state": [("moving", "filter_moving"), ("stationary", "filter_stationary")],
    "order": [(order, f"{order} filter_order") for order in ("first", "second", "last")],
    "attribute": [(name, f"query_{name}") for name in ("color", "material", "shape")],
    "negated": [("", ""), ("not ", "negate")],
    "thing": [("the {group}", "{group} unique")],
    "group": [("{color}{material}{shape}", "objects {color} {material} {shape}")],
    "color": [("", ""), *_looks("color", COLORS, " ")],
    "material": [("", ""), *_looks("material", MATERIALS, " ")],
    "shape": [("object", ""), *_looks("shape", SHAPES)],
}

ALSO: dict[str, Sequence[Template]] = {
    "descriptive": [
        *any_of("exist_collisions"),
        ("How many {group}s are there?", "{group} count"),
        ("Are there any {group}s?", "{group} exist"),
        ("Does {thing} {cross}{span}?", "{span} {thing} {cross} exist"),
        ("Does {thing} collide with {thing2}{span}?", f"{{span}} {_MEET} exist"),
    ],
    "predictive": [("Which of the following will happen next?", "unseen_events belong_to")],
    "exist_states": [
        ("Is there {any} {state} {group}{moment}?", "{group} {moment} {state} exist"),
        ("Are there any {group}s that are {state}{moment}?", "{group} {moment} {state} exist"),
    ],
    "exist_crossings": [("Is there {any} {group} that {crosses}{span}?", "{span} {group} {crosses} exist")],
    "count_collisions": [("How many collisions are there{span}?", "{span} objects filter_collision count")],
    "crossing_target": [("the {group} to {cross}{span}", "{span} {group} {cross} unique get_object")],
    "ordered_crossing_target": [
        ("the {order} {group} to {cross}{span}", "{span} {group} {cross} {order} get_object")
    ],
    "exist_collisions": [
        ("Are there any collisions{span}?", "{span} objects filter_collision exist"),
        ("Is there {any} collision{span}?", "{span} objects filter_collision exist"),
        ("Do any collisions happen{span}?", "{span} objects filter_collision exist"),
    ],
    "any": [("any", ""), ("a", ""), ("an", "")],
    "moment": [(" when the video starts", "start get_frame")],
    "collision": [("the collision of {thing} and {thing2}", f"events {_MEET} unique")],
}
"""Wordings that no official question at hand has. They are read, and never written."""

GRAMMAR = Grammar(RULES, ALSO)
