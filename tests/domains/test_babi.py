"""bAbI: the format's refusals, the grammar, deltas that leave a valid state, answers from RDF, evidence from
the log.
"""

import gzip
from itertools import product
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import ask, tell

from substrate import Assert, FormatError, TBox, fork
from substrate.cause.explanation import Evidence
from substrate.domains.babi.answers import answer_story
from substrate.domains.babi.deltas import story_log
from substrate.domains.babi.explain import explain_answer
from substrate.domains.babi.facts import Related
from substrate.domains.babi.format import parse_stories, read_tasks
from substrate.domains.babi.sentences import parse_sentence

TWO = (
    "1 Mary moved to the bathroom.\n2 Where is Mary? \tbathroom\t1\n"
    "1 John went to the hallway.\n2 Where is John? \thallway\t1\n"
)

AT = ox.NamedNode("urn:substrate:babi:at")


def entity(name: str) -> ox.NamedNode:
    return ox.NamedNode(f"urn:babi:{name}")


# Format


MARY, ASKED = "1 Mary moved to the bathroom.\n", "2 Where is Mary? \tbathroom\t1\n"


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        ("", "empty", ""),
        ("Mary moved to the bathroom.\n", "does not begin with an ID", "line 1"),
        ("0 Mary moved to the bathroom.\n", "does not begin with an ID", "line 1"),
        (f"{MARY}2 John left.\n2 Mary left.\n", "ID 2 does not follow", "line 3"),
        ("1 Where is Mary? \tbathroom\t1\n", "before any fact", "line 1"),
        (f"{MARY}2 Where is Mary? \tbathroom\t2\n", "supporting ID", "line 2"),
        (f"{MARY}2 Where is Mary? \t\t1\n", "not a question, an answer", "line 2"),
        (f"{MARY}{ASKED}3 Where is Mary? \tbath\n", "as many fields", "line 3"),
    ],
)
def test_a_breach_of_the_format_is_named(text: str, fault: str, line: str) -> None:
    with pytest.raises(FormatError, match=fault) as caught:
        parse_stories(text, file="qa1_x.txt", subset="qa1")
    assert caught.value.where[0] == "qa1_x.txt"
    assert line in str(caught.value)


def test_a_folder_is_read_by_task_number_and_split(tmp_path: Path) -> None:
    for name in ("qa10_x_test.txt", "qa2_x_test.txt", "qa2_x_train.txt", "README.txt"):
        (tmp_path / name).write_text(TWO, encoding="utf-8")
    (tmp_path / "qa1_x_test.txt.gz").write_bytes(gzip.compress(TWO.replace("\n", "\r\n").encode()))
    stories = read_tasks(tmp_path)
    assert [(story.subset, story.split) for story in stories[::2]] == [
        ("qa1", "test"),
        ("qa2", "test"),
        ("qa2", "train"),
        ("qa10", "test"),
    ]
    assert [story.scene for story in stories] == [0, 1] * 4
    assert stories[0].lines == stories[2].lines


def test_a_folder_without_tasks_or_without_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="holds no task"):
        read_tasks(tmp_path)
    with pytest.raises(FormatError, match="No such file"):
        read_tasks(tmp_path / "qa3_gone.txt")


@pytest.mark.parametrize(
    "twin", ["qa2_y_test.txt", "qa2_x_test.txt.gz", "qa2_x_test (1).txt", "qa2_x_test copy 2.txt"]
)
def test_a_task_that_two_files_hold_is_refused_by_both_names(tmp_path: Path, twin: str) -> None:
    text = TWO.encode()
    (tmp_path / "qa2_x_test.txt").write_bytes(text)
    (tmp_path / twin).write_bytes(gzip.compress(text) if twin.endswith(".gz") else text)
    with pytest.raises(FormatError, match=r"qa2 is in .* as well") as refused:
        read_tasks(tmp_path)
    assert all(name in str(refused.value) for name in (twin, "qa2_x_test.txt"))


def test_files_without_gold_are_answered_and_not_graded() -> None:
    (answer,) = answer_story(tell("Mary moved to the park.", "Where is Mary?"))
    assert (answer.predicted, answer.expected, answer.correct) == ("park", None, None)
    assert (answer.supporting, answer.expected_supporting) == ((1,), ())


# Grammar


@pytest.mark.parametrize(
    "text", ["Mary is happy.", "Then they went to the park.", "Yesterday Mary got the milk."]
)
def test_a_sentence_that_makes_no_sense_here_is_refused(text: str) -> None:
    (row,) = answer_story(tell(text, "Where is Mary?"))
    assert row.predicted == "error"
    assert "told.txt: line 1" in str(row.error)
    assert TBox.load("babi").validate(story_log(tell(text)).head) == []


def test_an_unread_sentence_fails_the_later_questions_of_its_story_and_no_others() -> None:
    stories = parse_stories(
        "1 Mary went to the park.\n2 Where is Mary? \tpark\t1\n3 Mary sings loudly.\n"
        "4 Where is Mary? \tpark\t1\n5 Whither Mary? \tpark\t1\n" + TWO,
        file="told.txt",
        subset="qa1",
    )
    rows = [row for story in stories for row in answer_story(story)]
    assert [(row.predicted, row.correct) for row in rows] == [
        ("park", True),
        ("error", False),
        ("error", False),
        ("bathroom", True),
        ("hallway", True),
    ]
    assert all("told.txt: line 3: unknown sentence" in str(row.error) for row in rows[1:3])
    why = explain_answer(stories[0], 4)
    assert why.answer == "error"
    assert "line 3" in why.parts[0].steps[-1].gave


@pytest.mark.parametrize("lets_go", ["John dropped the apple.", "John gave the apple to Fred."])
def test_only_the_holder_of_a_thing_can_let_go_of_it(lets_go: str) -> None:
    told = ["Mary got the apple.", "Mary went to the park.", "John went to the office.", lets_go]
    questions = ("Where is the apple?", "What is Mary carrying?", "What is John carrying?", "Where is John?")
    rows = list(answer_story(tell(*told, *questions)))
    assert [row.predicted for row in rows] == ["park", "apple", "nothing", "office"]
    assert rows[0].supporting == (1, 2), "a drop by another supports nothing"
    assert TBox.load("babi").validate(story_log(tell(*told)).head) == []
    assert ask("John went to the office.", lets_go, "Where is the apple?") == "office"


def test_new_names_and_nouns_need_no_new_grammar() -> None:
    assert parse_sentence("The hat box is to the left of the grand piano.") == [
        Related("hat box", "leftOf", "grand piano")
    ]
    assert ask("José-María went to the wine cellar.", "Where is José-María?") == "wine cellar"


# Answers


def test_an_answer_that_the_story_lacks_is_unknown_and_explained_by_the_missing_fact() -> None:
    story = tell("Mary went to the park.", "Where is John? \tpark\t1")
    (answer,) = answer_story(story)
    assert (answer.predicted, answer.correct) == ("unknown", False)
    why = explain_answer(story, 2)
    (step,) = why.parts[0].steps
    assert (why.answer, step.missed) == ("unknown", ("where John is",))


def test_a_question_that_cannot_run_is_an_error_row_that_names_the_place() -> None:
    story = tell("The park is north of the pub.", "How do you go from the pub to the pub?")
    (answer,) = answer_story(story)
    assert answer.predicted == "error"
    assert "told.txt: line 2" in str(answer.error)
    why = explain_answer(story, 2)
    assert (why.answer, why.parts[0].answer) == ("error", f"error: {answer.error}")


def test_the_gold_is_not_seen() -> None:
    told = ("Mary went to the park.", "Mary took the milk.")
    (with_gold,) = answer_story(tell(*told, "Where is the milk? \tmoon\t1"))
    (without,) = answer_story(tell(*told, "Where is the milk?"))
    assert (with_gold.predicted, with_gold.supporting) == (without.predicted, without.supporting)
    assert with_gold.log == without.log
    assert with_gold.correct is False


# Deltas, state, evidence


def test_sentences_become_deltas_at_their_own_tick() -> None:
    log = story_log(
        tell(
            "Mary went to the park.", "Mary took the milk.", "Where is the milk?", "Mary went to the office."
        )
    )
    assert log.ticks == [0, 1, 2, 4]
    places = [[place for _, _, place in log.state(tick).match(entity("milk"), AT)] for tick in (1, 2, 3, 4)]
    assert places == [[], [entity("park")], [entity("park")], [entity("office")]]


def test_the_answer_comes_from_the_state_and_the_facts_from_the_log() -> None:
    story = tell("Mary went to the park.", "Mary took the milk.", "Where is the milk? \tpark\t1 2")
    log = fork(story_log(story), at=2, intervention=Assert((ox.NamedNode("urn:x"), AT, entity("moon"))))
    (forked,) = answer_story(story, log)
    assert forked.predicted == "park"
    other_log = story_log(tell("Mary went to the office.", "Mary took the milk."))
    (moved,) = answer_story(story, other_log)
    assert (moved.predicted, moved.supporting) == ("office", (1, 2))


def test_common_knowledge_is_evidence_and_no_supporting_fact() -> None:
    story = tell("Ann is tired.", "Where will ann go?")
    (answer,) = answer_story(story)
    assert answer.supporting == (1,)
    assert [step.name for step in explain_answer(story, 2).parts[0].steps][:2] == [
        "common knowledge",
        "Ann is tired.",
    ]


def test_an_explanation_names_the_sentences_behind_an_answer() -> None:
    story = tell(
        "Mary went to the park.",
        "John went to the park.",
        "Mary took the milk.",
        "Mary went to the office.",
        "Where is the milk? \toffice\t3 4",
    )
    why = explain_answer(story, 5)
    (part,) = why.parts
    *told, query = part.steps
    assert [(step.name, step.gave) for step in told] == [
        ("Mary took the milk.", "tick 3"),
        ("Mary went to the office.", "tick 4"),
    ]
    assert (why.answer, part.answer, query.gave) == ("office", "office", "office")
    assert query.query.startswith("SELECT ?place")
    for step in told:
        assert {f"tick {why.delta(piece).tick}" for piece in step.evidence} == {step.gave}
    assert any(why.delta(Evidence(position)).triple[1] == AT for position in why.evidence())
    with pytest.raises(FormatError, match="no question 4"):
        explain_answer(story, 4)


def test_the_tbox_names_every_predicate_and_class_of_a_log_and_shapes_find_faults() -> None:
    tbox = TBox.load("babi")
    story = tell(
        "Mary and John went to the park.", "Then they went to the office.", "Mary took the milk.",
        "Mary gave the milk to John.", "John left the milk there.",
        "Mary is either in the park or the office.", "John is no longer in the office.", "Mary is tired.",
        "The cup fits inside the box.", "Ann is a wolf.", "Ann is gray.", "Wolves are afraid of mice.",
        "The park is north of the office.", "This morning Bill went to the park.",
    )  # fmt: skip
    log = story_log(story)
    assert tbox.validate(log.state()) == []
    used = {
        str(t.value)
        for _, _, triple in log
        for t in triple[1:]
        if isinstance(t, ox.NamedNode) and t.value.startswith("urn:substrate:babi:")
    }
    assert used <= tbox.vocabulary
    for broken in (
        "<urn:babi:bill> <urn:substrate:babi:at> <urn:babi:office>",
        "<urn:babi:bill> <urn:substrate:babi:mayBeAt> <urn:babi:office>",
        "<urn:babi:cup> <urn:substrate:babi:biggerThan> <urn:babi:box>",
        "<urn:babi:ann> <urn:substrate:babi:quality> <urn:babi:happy>",
        "<urn:babi:bill> <urn:substrate:babi:carries> <urn:babi:park>",
        "<urn:babi:event:1> <urn:substrate:babi:place> <urn:babi:office>",
    ):
        faulty = story_log(story)
        faulty.extend_lines([(15, f"A {broken} .")])
        assert tbox.validate(faulty.state()), broken


NAMES, ROOMS, GOODS = (
    st.sampled_from(("Ann", "Bo", "Cy")),
    st.sampled_from(("attic", "barn", "cellar")),
    st.sampled_from(("hat", "key")),
)
SENTENCES = st.one_of(
    st.builds("{} went to the {}.".format, NAMES, ROOMS),
    st.builds("{} got the {}.".format, NAMES, GOODS),
    st.builds("{} dropped the {}.".format, NAMES, GOODS),
    st.builds("{} gave the {} to {}.".format, NAMES, GOODS, NAMES),
    st.builds("{} is no longer in the {}.".format, NAMES, ROOMS),
    st.builds("{} is either in the {} or the {}.".format, NAMES, ROOMS, ROOMS),
)


@given(st.lists(SENTENCES, min_size=1, max_size=12))
@settings(max_examples=150)
def test_in_any_story_each_thing_has_one_place_and_one_holder(sentences: list[str]) -> None:
    log = story_log(tell(*sentences))
    twice = (
        "?x :at ?a, ?b FILTER(?a != ?b)",
        "?a :carries ?x . ?b :carries ?x FILTER(?a != ?b)",
        "?x :at ?a ; :mayBeAt|:notAt ?b",
        "?a :carries ?x . ?a :at ?p . ?x :at ?q FILTER(?p != ?q)",
    )
    for tick, pattern in product(log.ticks, twice):
        assert not log.state(tick).query(f"ASK {{ {pattern} }}", prefixes={"": "urn:substrate:babi:"}), (
            pattern
        )


@given(st.lists(SENTENCES, min_size=1, max_size=12), st.lists(SENTENCES, max_size=6), NAMES)
@settings(max_examples=80)
def test_the_future_changes_no_answer(told: list[str], later: list[str], name: str) -> None:
    question = f"How many objects is {name} carrying?"
    (short,), (long,) = answer_story(tell(*told, question)), answer_story(tell(*told, question, *later))
    assert (short.predicted, short.supporting) == (long.predicted, long.supporting)
