"""Trivial methods: each answers as its name says, and none reads gold."""

from collections.abc import Sequence

from clevrer_scenes import filmed_log

from research.baselines.shortcuts import METHODS, trivial_rows
from substrate.domains.clevrer.format import Choice, Question, Subset
from substrate.domains.clevrer.scene import Scene

CUBE, BALL, CAN = range(3)
RED, BLUE, GREEN = "cube filter_shape", "blue filter_color", "cylinder filter_shape"


def answers_of(kind: Subset, program: str, choices: Sequence[str]) -> dict[str, str]:
    """The answers of each method about a chain of two collisions."""
    scene = Scene(filmed_log([(CUBE, BALL, 20), (BALL, CAN, 60)]))
    options = [Choice(place, "", words.split()) for place, words in enumerate(choices)]
    question = Question(0, "?", kind, program.split(), choices=options)
    return {row.subset.partition(": ")[2]: row.predicted for row in trivial_rows(scene, 1, [question], "")}


def pair(first: str, second: str, of: str = "all_events") -> str:
    sides = (f"objects {look} unique filter_collision" for look in (first, second))
    return f"{of} {' '.join(sides)} unique"


def test_sharing_a_participant_goes_one_step_back() -> None:
    target = pair(BLUE, GREEN, "events")
    program = f"events {target} filter_ancestor belong_to"
    answers = answers_of("explanatory", program, [pair(RED, BLUE, "events")])
    assert answers == {"every option": "correct", "no option": "wrong", "sharing a participant": "correct"}


def test_without_an_object_nothing_collides_or_all_filmed_collisions_recur() -> None:
    cube = "objects cube filter_shape unique"
    for removal in (f"all_events {cube} get_counterfact", f"{cube} counterfact_events"):
        answers = answers_of("counterfactual", f"{removal} belong_to", [pair(BLUE, GREEN), pair(RED, BLUE)])
        assert (answers["no collision"], answers["what was filmed"]) == ("wrong,wrong", "correct,wrong")


def test_the_nearest_pair_is_one_of_those_offered() -> None:
    answers = answers_of("predictive", "unseen_events belong_to", [pair(BLUE, GREEN), pair(RED, BLUE)])
    assert sorted(answers["the nearest pair"].split(",")) == ["correct", "wrong"]
    assert set(METHODS["predictive"]) == set(answers)
