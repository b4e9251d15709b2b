"""A language model that reasons: its prompts."""

from __future__ import annotations

from research.baselines.reading import reasoned
from substrate.baselines.model import Request
from substrate.baselines.twin import request
from substrate.generators.smallville import generate

SPEC = generate(7, 20)


def test_a_model_reasons_first_and_then_answers_with_its_reasoning_in_view() -> None:
    requests: list[Request] = []

    class Thinker:
        def ask(self, request: Request) -> str:
            requests.append(request)
            return '{"answer": "no"}' if request.reply else "They share the cafe at tick 4, so yes."

    assert reasoned(Thinker(), SPEC, "b") == "no"
    aloud, answer = requests
    assert (aloud.max_tokens, aloud.schema) == (1024, None)
    assert not any("JSON" in message.text for message in aloud.messages)
    assert [message.role for message in answer.messages] == ["system", "user", "assistant", "user"]
    assert answer.messages[:2] == request(SPEC, "b").messages
    assert "so yes" in answer.messages[2].text
