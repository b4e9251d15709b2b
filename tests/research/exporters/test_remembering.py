"""Episodes to remember: a memory against an oracle that shares no code with it, and the task for models."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from research.exporters.remembering import recalled, remembered, told, town
from research.generators.remembering.episodes import episodes
from research.generators.remembering.format import KINDS, UNKNOWN, Question
from research.generators.remembering.oracle import Truth


def test_a_memory_knows_what_the_oracle_knows_of_every_slot_after_every_step() -> None:
    count = 0
    for episode in episodes(town(), 12, seed=3, steps=60):
        memory, truth = told(episode), Truth(episode.steps)
        for at in range(0, 60, 7):
            for person in town().people:
                for relation in town().values:
                    question = Question("update", person, relation, at, truth.value(person, relation, at))
                    assert recalled(memory, question) == question.expected, (episode.name, question)
                    count += 1
    assert count == 12 * 9 * 36


def test_questions_of_each_kind_are_there_and_a_table_would_not_do() -> None:
    kinds, fallen = Counter[str](), 0
    for episode in episodes(town(), 30, seed=11):
        assert remembered(episode) == [question.expected for question in episode.questions]
        for question in episode.questions:
            kinds[question.kind] += 1
            told_last = [
                step.kind
                for step in episode.steps[: question.at + 1]
                if (step.person, step.relation) == (question.person, question.relation)
            ][-1:]
            fallen += question.kind == "cascade" and question.expected == UNKNOWN and told_last == ["tell"]
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) > 30
    assert fallen > 10, "what was told last is known no more, since what it followed from is not"


def test_a_model_is_asked_with_and_without_the_memory(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai import eval as evaluate  # pyright: ignore[reportMissingImports]
    from inspect_ai.model import ModelOutput, get_model  # pyright: ignore[reportMissingImports]

    from research.exporters.inspect_memory import remembering

    gold = {f"{e.name}-{n}": q for e in episodes(town(), 1, 11) for n, q in enumerate(e.questions)}

    def alone(messages: Any, *_: Any) -> Any:
        return ModelOutput.from_content("mockllm/model", '{"answer": "Unknown"}')

    def asking(messages: Any, *_: Any) -> Any:
        """Recall what the question is about, then submit it."""
        if messages[-1].role != "tool":
            words = messages[-1].text.partition(": ")[2].removesuffix(" …")
            at = messages[-1].text.split("statement ")[1].split(",")[0]
            person, relation = words.split(" ", 1)
            named = {"subject": person, "predicate": relation, "tick": int(at)}
            return ModelOutput.for_tool_call("mockllm/model", "recall", named)
        facts = json.loads(messages[-1].text)["facts"]
        iris = {iri.rpartition(":")[2]: iri for values in town().values.values() for iri in values}
        answer = town().label(iris[facts[0]["object"]]) if facts else UNKNOWN
        return ModelOutput.for_tool_call(
            "mockllm/model", "submit", {"answer": json.dumps({"answer": answer})}
        )

    for memory, model in (("none", alone), ("substrate", asking)):
        (log,) = evaluate(
            remembering(memory=memory, count=1),
            model=get_model("mockllm/model", custom_outputs=model),
            log_dir=str(tmp_path),
            display="none",
        )
        assert log.status == "success", log.error
        scores = {score.name: score.metrics["accuracy"].value for score in log.results.scores}
        unknown = sum(question.expected == UNKNOWN for question in gold.values()) / len(gold)
        assert scores["right"] == pytest.approx(1 if memory == "substrate" else unknown)
        assert scores["unreadable"] == 0
