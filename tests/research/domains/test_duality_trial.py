"""The trials of the duality: objects and collisions on which a key gives two verdicts."""

from typing import Literal

from clevrer_scenes import filmed_log

from research.domains.duality_trial import Trial, trials
from substrate.domains.clevrer.format import Choice, Question
from substrate.domains.clevrer.scene import Scene

CUBE, BALL, CAN = range(3)
_LOOKS = ("blue filter_color", "cylinder filter_shape")
_COLLIDE = " ".join(f"objects {look} unique filter_collision" for look in _LOOKS)


def question(kind: str, program: str, *choices: tuple[str, Literal["correct", "wrong"]]) -> Question:
    return Question(
        0,
        "?",
        kind,  # pyright: ignore[reportArgumentType]
        program.split(),
        choices=[Choice(place, "", words.split(), answer) for place, (words, answer) in enumerate(choices)],
    )


def trials_of(*questions: Question) -> list[Trial]:
    return trials(Scene(filmed_log([(CUBE, BALL, 20), (BALL, CAN, 60)])), questions)


CAUSE = f"events events {_COLLIDE} unique filter_ancestor belong_to"
WITHOUT = "all_events objects cube filter_shape unique get_counterfact belong_to"
POSSIBLE = f"all_events {_COLLIDE} unique"


def test_a_trial_holds_whether_an_object_is_responsible_and_whether_the_two_collide_without_it() -> None:
    why = question("explanatory", CAUSE, ("objects cube filter_shape unique", "correct"))
    still = question("counterfactual", WITHOUT, (POSSIBLE, "correct"))
    gone = question("counterfactual", f"{WITHOUT} negate", (POSSIBLE, "correct"))
    assert trials_of(why, still) == [Trial(CUBE, (BALL, CAN), responsible=True, collides=True)]
    assert trials_of(why, gone) == [Trial(CUBE, (BALL, CAN), responsible=True, collides=False)]


def test_a_pair_that_is_judged_once_or_with_its_participant_is_no_trial() -> None:
    why = question("explanatory", CAUSE, ("objects blue filter_color unique", "correct"))
    still = question("counterfactual", WITHOUT, (POSSIBLE, "correct"))
    assert trials_of(why, still) == []
    assert trials_of(still) == []
