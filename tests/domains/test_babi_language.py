"""bAbI's grammar: all of a sentence is read or none of it, and what is not told is unknown."""

import pytest

from substrate.domains.babi.format import Story, parse_stories
from substrate.domains.babi.interpreter import answer_story


def tell(*lines: str) -> Story:
    numbered = "".join(f"{number} {line}\n" for number, line in enumerate(lines, start=1))
    (story,) = parse_stories(numbered, file="told.txt", subset="qa0")
    return story


def ask(*lines: str) -> str:
    return list(answer_story(tell(*lines)))[-1].predicted


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (["Mary is in the kitchen.", "Mary left the kitchen."], "Is Mary in the kitchen?", "no"),
        (["Mary is in the kitchen.", "Mary left the kitchen."], "Where is Mary?", "unknown"),
        (["Mary is in the park.", "Mary left the park for the school."], "Where is Mary?", "school"),
        (["Mary left the park.", "Mary went to the school."], "Where was Mary before the school?", "park"),
        (["Mary walked out of the office."], "Is Mary in the office?", "no"),
        (
            ["Mary took the milk.", "Mary is in the hall.", "Mary left the hall."],
            "Where is the milk?",
            "unknown",
        ),
        (["Mary took the bus to the office."], "Where is Mary?", "office"),
        (["Mary took the bus to the office."], "What is Mary carrying?", "nothing"),
        (["Mary took the milk to the office."], "Where is the milk?", "office"),
        (["Mary carried the cup and the key to the attic."], "What is Mary carrying?", "cup,key"),
        (["Mary went to the kitchen with John."], "Where is John?", "kitchen"),
        (["Mary went with John and Bill to the kitchen."], "Where is Bill?", "kitchen"),
        (["Mary went to the kitchen with the milk."], "Where is the milk?", "kitchen"),
        (["Mary is in the park with John.", "Then they went to the pub."], "Where is John?", "pub"),
        (["Mary picked up the apple and the milk."], "How many objects is Mary carrying?", "two"),
        (["Mary picked up the milk, the apple and the key."], "What is Mary carrying?", "milk,apple,key"),
        (["Mary picked the milk up.", "Mary put the milk down."], "What is Mary carrying?", "nothing"),
        (["Mary got the milk.", "Mary left the milk in the pub."], "Where is the milk?", "pub"),
        (["Mary got the milk.", "Mary put the milk in the pub."], "Where is Mary?", "pub"),
        (["Mary took the milk from the kitchen."], "Where is Mary?", "kitchen"),
        (["John got the milk.", "Mary took the milk from John."], "What is John carrying?", "nothing"),
        (["John gave Mary the milk."], "Who gave the milk to Mary?", "John"),
        (["Mary received the milk from John."], "What did John give to Mary?", "milk"),
        (["John gave the milk and the key to Mary."], "What did John give to Mary?", "milk,key"),
        (["Mary went to the park and picked up the milk."], "Where is the milk?", "park"),
        (["Mary took the milk and went to the park, and then to the pub."], "Where is the milk?", "pub"),
        (["Mary went to the park and then to the pub."], "Where was Mary before the pub?", "park"),
        (["Mary went from the park to the pub."], "Where was Mary before the pub?", "park"),
        (["Mary went to the park and John went to the pub."], "Where is John?", "pub"),
        (["Mary went to the park or the pub."], "Is Mary in the pub?", "maybe"),
        (["Mary entered the park."], "Where is Mary?", "park"),
        (["Mary returned to the park."], "Where is Mary now?", "park"),
        (["Fred gave the milk to Mary.", "Then she went to the pub."], "Where is the milk?", "pub"),
        (["Mary and John went to the park.", "Then she went to the pub."], "Where is John?", "park"),
        (["Mary is tired.", "Then she went to the bedroom."], "Where is Mary?", "bedroom"),
    ],
)
def test_what_lies_beside_the_tasks_sentences_is_read(told: list[str], question: str, answer: str) -> None:
    assert ask(*told, question) == answer


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *(
            (f"Mary went {rest}.", "no pattern")
            for rest in ("quickly to the kitchen", "home", "to the kitchen to John")
        ),
        *(
            (f"Mary went to the kitchen {rest}.", "")
            for rest in ("quickly", "singing", "because John did", "with joy")
        ),
        ("Mary went to the milk.", "the milk is no place"),
        ("Mary picked up the kitchen.", "the kitchen is no thing"),
        ("Mary left the gizmo.", "what the gizmo is"),
        *(
            (f"Mary {rest}.", "no pattern")
            for rest in ("left", "did not go to the kitchen", "put the milk on the table")
        ),
        *(
            (f"{who} went to the kitchen.", "")
            for who in ("Everybody", "Neither Mary nor John", "The dog", "mary")
        ),
        *(
            (f"Mary picked up {what}.", "no pattern")
            for what in ("a football", "it", "the milk or the apple")
        ),
        ("Mary and John picked up the milk.", "several people"),
        ("Mary went to the kitchen and the garden.", "no pattern"),
        ("Mary gave the milk to John and the apple to Bill.", "no pattern"),
        *((f"Mary is {rest}.", "no pattern") for rest in ("not tired", "very tired")),
        *((f"The box is {rest}.", "no pattern") for rest in ("not bigger than the chest", "in the kitchen")),
        ("Yesterday Mary took the milk.", "a time of day"),
        ("Mary went to the kitchen. John went to the park.", "no pattern"),
        ("Mary put the milk in the fridge.", "not known to be a place"),
    ],
)
def test_what_no_pattern_covers_is_named_and_not_half_read(text: str, why: str) -> None:
    (row,) = answer_story(tell(text, "Where is the milk?"))
    place, what = f"told.txt: line 1: unknown sentence {text!r}", str(row.error)
    assert what.startswith(place)
    assert why in what.removeprefix(place)


@pytest.mark.parametrize(
    ("told", "what"),
    [
        (["Fred gave the milk to Bill.", "Then he went to the pub."], "may be bill or fred"),
        (["John got the milk.", "Mary took the milk from Bill."], "'Bill' is said to hold the milk"),
        (["Rose went to the park.", "Mary picked up the rose."], "'rose' is both Agent and Thing"),
    ],
)
def test_what_can_mean_two_things_is_refused(told: list[str], what: str) -> None:
    (row,) = answer_story(tell(*told, "Where is the milk?"))
    assert row.predicted == "error"
    assert what in str(row.error)


@pytest.mark.parametrize(
    "question", ["Where is the milk with John?", "Where is Mary today?", "Is Mary in the kitchen again?"]
)
def test_a_question_is_read_as_a_whole(question: str) -> None:
    assert ask("Mary went to the kitchen.", question) == "error"


@pytest.mark.parametrize(
    ("told", "question"),
    [
        (["The cup fits inside the box.", "The cup fits inside the bag."], "Is the box bigger than the bag?"),
        (["The cup fits inside the box."], "Does the chest fit in the box?"),
        (["The disc is above the ring."], "Is the star above the ring?"),
        (
            ["The disc is to the left of the ring.", "The star is to the left of the ring."],
            "Is the disc to the left of the star?",
        ),
        (["Mary went to the park."], "What is John carrying?"),
        (["Mary went to the park."], "How many objects is John carrying?"),
        (["Mary went to the park."], "Where is John?"),
        (["Mary went to the park."], "Is John in the park?"),
        (["Mary went to the park."], "Who gave the milk?"),
        (["Mary went to the park."], "Why did mary go to the park?"),
        (["Ann is a wolf."], "What is ann afraid of?"),
        (["Ann is tired.", "Ann went to the bedroom."], "Where will ann go?"),
    ],
)
def test_what_is_not_told_is_unknown(told: list[str], question: str) -> None:
    (row,) = answer_story(tell(*told, question))
    assert (row.predicted, row.supporting) == ("unknown", ())


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (["Mary went to the park."], "What is Mary carrying?", "nothing"),
        (["Mary went to the park."], "How many objects is Mary carrying?", "none"),
        (["The disc is above the ring."], "Is the disc to the left of the ring?", "no"),
        (["The cup fits inside the box."], "Is the cup bigger than the box?", "no"),
    ],
)
def test_a_closed_world_answers_no_and_nothing(told: list[str], question: str, answer: str) -> None:
    """A person who is named and takes nothing carries nothing; positions are along one axis; sizes are an
    order.
    """
    assert ask(*told, question) == answer


def test_what_is_told_both_ways_is_an_error() -> None:
    told = ("The cup is bigger than the box.", "The box is bigger than the cup.")
    (row,) = answer_story(tell(*told, "Is the cup bigger than the box?"))
    assert row.predicted == "error"
    assert "the contrary" in str(row.error)
