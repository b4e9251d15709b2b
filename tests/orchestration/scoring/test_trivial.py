"""The best trivial method beside a number is counted on the questions of that number, by its metric."""

from __future__ import annotations

from functools import partial

from orchestration.scoring.counting import METRICS
from orchestration.scoring.trivial import best
from substrate.domains.rows import ChoiceRow, Row

row = partial(Row, benchmark="b", split="s", subset="x", scene=0, log="", predicted="", correct=True)


def chosen(number: int, *gold: str) -> Row:
    choices = [ChoiceRow(place, "wrong", expected) for place, expected in enumerate(gold)]
    return row(question=number, expected=",".join(gold), choices=choices)


def test_of_options_the_better_of_all_and_none_is_counted_as_the_metric_counts() -> None:
    given = (("correct", "wrong"), ("wrong", "wrong"), ("correct", "correct", "wrong"))
    rows = [chosen(number, *gold) for number, gold in enumerate(given)]
    assert best(rows, METRICS["per_question"], {}) == ("33.33 % no option", "2 : 0, p 0.5")
    assert best(rows, METRICS["per_option"], {}) == ("57.14 % no option", "")


def test_of_words_the_gold_that_is_most_often_counts_and_another_method_where_it_is_better() -> None:
    rows = [row(question=number, expected=gold) for number, gold in enumerate(("3", "no", "3"))]
    assert best(rows, METRICS["per_question"], {}) == ("66.67 % always the majority, “3”", "1 : 0, p 1")
    last_word = best(rows, METRICS["per_question"], {"the last word": rows})
    assert last_word == ("100.00 % the last word", "0 : 0, p 1")
    assert best([], METRICS["per_question"], {}) == ("", "")
