"""bAbI's grammar: a sentence is read as a whole or not at all, and an answer that none gives is unknown."""

import pytest
from stories import ask, tell

from substrate.domains.babi.answers import answer_story


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (["Mary is in the kitchen.", "Mary left the kitchen."], "Is Mary in the kitchen?", "no"),
        (["Mary left the park.", "Mary went to the school."], "Where was Mary before the school?", "park"),
        (["Mary walked out of the office."], "Is Mary in the office?", "no"),
        (["Mary took the bus to the office."], "What is Mary carrying?", "nothing"),
        (["Mary took the milk to the office."], "Where is the milk?", "office"),
        (["Mary carried the cup and the key to the attic."], "What is Mary carrying?", "cup,key"),
        (["Mary went to the kitchen with John."], "Where is John?", "kitchen"),
        (["Mary is in the park with John.", "Then they went to the pub."], "Where is John?", "pub"),
        (["Mary picked up the milk, the apple and the key."], "What is Mary carrying?", "milk,apple,key"),
        (["Mary picked the milk up.", "Mary put the milk down."], "What is Mary carrying?", "nothing"),
        (["John got the milk.", "Mary took the milk from John."], "What is John carrying?", "nothing"),
        (["John gave Mary the milk."], "Who gave the milk to Mary?", "John"),
        (["Mary received the milk from John."], "What did John give to Mary?", "milk"),
        (["Mary went to the park and picked up the milk."], "Where is the milk?", "park"),
        (["Mary took the milk and went to the park, and then to the pub."], "Where is the milk?", "pub"),
        (["Mary went from the park to the pub."], "Where was Mary before the pub?", "park"),
        (["Mary went to the park and John went to the pub."], "Where is John?", "pub"),
        (["Mary went to the park or the pub."], "Is Mary in the pub?", "maybe"),
        (["Mary and John went to the park.", "Then she went to the pub."], "Where is John?", "park"),
    ],
)
def test_sentences_beyond_those_of_the_tasks_are_read(told: list[str], question: str, answer: str) -> None:
    assert ask(*told, question) == answer


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("Mary went quickly to the kitchen.", "quickly to the kitchen"),
        ("Mary went to the kitchen to John.", "to"),
        ("Mary put the milk on the table.", "on the table"),
        ("Mary put the milk in the fridge.", "the fridge is not known to be a place"),
        ("Mary went to the milk.", "the milk is a thing"),
        ("Mary did not go to the kitchen.", "did not go to the kitchen"),
        ("Mary picked up the milk or the apple.", "one of several"),
        ("Mary went to the kitchen and the garden.", "not one place"),
        ("Mary gave the milk to John and the apple to Bill.", "to Bill"),
        ("The milk is in the kitchen.", "in the kitchen"),
        ("Mary went to the kitchen. John went to the park.", ". John"),
    ],
)
def test_a_sentence_that_no_rule_covers_is_named_and_not_half_read(text: str, unread: str) -> None:
    (row,) = answer_story(tell(text, "Where is the milk?"))
    start, error = f"told.txt: line 1: unknown sentence {text!r}", str(row.error)
    assert error.startswith(start)
    assert unread in error.removeprefix(start)


@pytest.mark.parametrize(
    ("told", "what"),
    [
        (["Fred gave the milk to Bill.", "Then he went to the pub."], "may be bill or fred"),
        (["John got the milk.", "Mary took the milk from Bill."], "'Bill' is said to hold the milk"),
        (["Rose went to the park.", "Mary picked up the rose."], "'rose' is both Agent and Thing"),
    ],
)
def test_an_ambiguous_story_is_refused(told: list[str], what: str) -> None:
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
        (
            ["The disc is to the left of the ring.", "The star is to the left of the ring."],
            "Is the disc to the left of the star?",
        ),
        (["Mary went to the park."], "What is John carrying?"),
        (["Mary went to the park."], "Is John in the park?"),
        (["Mary went to the park."], "Why did mary go to the park?"),
        (["Ann is tired.", "Ann went to the bedroom."], "Where will ann go?"),
    ],
)
def test_an_answer_that_no_sentence_gives_is_unknown(told: list[str], question: str) -> None:
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


def test_a_contradiction_of_sentences_is_an_error() -> None:
    told = ("The cup is bigger than the box.", "The box is bigger than the cup.")
    (row,) = answer_story(tell(*told, "Is the cup bigger than the box?"))
    assert row.predicted == "error"
    assert "the contrary" in str(row.error)
