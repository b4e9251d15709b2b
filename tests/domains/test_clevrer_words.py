"""Questions without programs: their words give the same programs, by the templates of CLEVRER and ComPhy."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from random import Random
from string import Formatter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrate.base.errors import FormatError
from substrate.domains.clevrer import format
from substrate.domains.clevrer import questions as clevrer
from substrate.domains.clevrer.grammar import Grammar
from substrate.domains.comphy import format as comphy_format
from substrate.domains.comphy import questions as comphy
from substrate.generators.clevrer import scene_files
from substrate.generators.comphy._target import target_files
from substrate.generators.layout import QUESTIONS

ASKED = ("descriptive", "explanatory", "predictive", "counterfactual")
RULES = [
    *((clevrer.GRAMMAR, rule) for rule in ASKED),
    *((clevrer.GRAMMAR, f"{rule}_choice") for rule in ASKED[1:]),
    *((comphy.GRAMMAR, rule) for rule in ("factual", "multiple", "multiple_choice")),
]


def derived(grammar: Grammar, rule: str, rng: Random) -> tuple[str, str]:
    """A text of a rule and its program, by random templates: also such as are read but never generated."""
    text, program = rng.choice([*grammar.rules.get(rule, ()), *grammar.also.get(rule, ())])
    slots = [slot for _, slot, _, _ in Formatter().parse(text) if slot]
    filled = {slot: derived(grammar, slot.rstrip("2"), rng) for slot in slots}
    words = {slot: part[0] for slot, part in filled.items()}
    return text.format(**words), program.format(**{slot: part[1] for slot, part in filled.items()})


@given(rule=st.sampled_from(RULES), rng=st.randoms(use_true_random=False))
def test_a_text_has_the_program_of_its_template_alone(rule: tuple[Grammar, str], rng: Any) -> None:
    text, program = derived(*rule, rng)
    for worded in (text, text.capitalize(), f"  {text.removesuffix('?')} "):
        assert rule[0].read(rule[1], worded) == program.split()


@given(
    rule=st.sampled_from(RULES),
    rng=st.randoms(use_true_random=False),
    junk=st.one_of(
        st.text(), st.lists(st.sampled_from(["the", "red cube", "not", "{a}", "'s"])).map(" ".join)
    ),
)
def test_any_text_is_read_or_refused(rule: tuple[Grammar, str], rng: Any, junk: str) -> None:
    text, _ = derived(*rule, rng)
    place = rng.randrange(len(text) + 1)
    for worded in (junk, text[:place] + junk + text[place:]):
        with contextlib.suppress(ValueError):
            assert all(token.strip() for token in rule[0].read(rule[1], worded))


def test_a_long_text_is_refused_at_once() -> None:
    began = time.process_time()
    for text in ("the red " * 200_000, "How many red objects " + "that are moving " * 100_000):
        with pytest.raises(ValueError, match="cannot read the words"):
            clevrer.GRAMMAR.read("descriptive", text)
    assert time.process_time() - began < 5


def without_programs(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_programs(part) for key, part in value.items() if key != "program"}
    return [without_programs(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("kind", "files", "case"),
    [
        *((format.SceneQuestions, scene_files, scene) for scene in (10_000, 10_002, 10_007)),
        *((comphy_format.TargetQuestions, target_files, target) for target in (1200, 1201)),
    ],
)
def test_generated_questions_lose_nothing_with_their_programs(kind: Any, files: Any, case: int) -> None:
    given_ = msgspec.to_builtins(files(case, 0)[QUESTIONS])
    worded = msgspec.json.encode(without_programs(given_))
    assert b"program" not in worded
    assert msgspec.json.decode(worded, type=kind) == msgspec.convert(given_, kind)


@pytest.mark.parametrize(
    ("question", "choice", "fault"),
    [
        ("Without the sphere, which event will occur?", "The cube collides with the sphere", "4: .*'occur'"),
        (
            "Without the sphere, what will happen?",
            "The cube kisses it",
            "4, choice 2: .* words 'kisses it' in",
        ),
        ("Without the sphere, what will", "The cube kisses it", "4: cannot read the end, where words are"),
    ],
)
def test_words_that_cannot_be_read_are_named_with_their_question(
    question: str, choice: str, fault: str, tmp_path: Path
) -> None:
    fields = {"question_id": 4, "question": question, "question_type": "counterfactual"}
    record = {"scene_index": 7, "questions": [{**fields, "choices": [{"choice_id": 2, "choice": choice}]}]}
    (tmp_path / "test.json").write_bytes(msgspec.json.encode([record]))
    with pytest.raises(FormatError, match=rf"test\.json: .*scene 7, question {fault}"):
        format.read_questions(tmp_path / "test.json")
