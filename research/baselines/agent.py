"""Put Twin-EventLog's questions to an agent: a language model that may use tools before it answers.

Each turn is a reply under a JSON Schema: a thought, and either a tool with its arguments or the answer. So
any server can be asked, and a conversation replays from its transcript like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import signature
from typing import Any, Literal, NamedTuple, Union, get_type_hints

import msgspec

from substrate.base.errors import SubstrateError
from substrate.baselines.model import Message, Model, ReplyError, Request, answer_of
from substrate.baselines.twin import FORM, TASK, question_text, village_text
from substrate.domains.smallville.format import Arm, Spec

USES = 8
"""The most turns of a conversation; after these the agent must answer."""
MISSES = 2
"""The most unreadable turns; after these the agent must answer."""
THOUGHT = 256
"""The most tokens of a turn."""


class Tool(NamedTuple):
    """A function that an agent may use, described for a model; its parameters are texts and whole numbers.

    The tool has the function's name, and its parameters have the function's types. If the function raises a
    :class:`~substrate.base.errors.SubstrateError`, the agent gets its text.
    """

    call: Callable[..., str]
    about: str
    parameters: dict[str, str]

    @property
    def name(self) -> str:
        """The function's name."""
        return self.call.__name__

    @property
    def types(self) -> tuple[tuple[str, Any], ...]:
        """The parameters with their types, in order."""
        hints = get_type_hints(self.call)
        return tuple((name, hints[name]) for name in signature(self.call).parameters)


class AgentMemory(NamedTuple):
    """A memory that an agent has in addition to its prompt.

    Attributes:
        tools: gives the functions that ask the memory of a specification.
        in_prompt: whether the prompt describes the village too.
    """

    tools: Callable[[Spec], Sequence[Tool]]
    in_prompt: bool = True


def acting(model: Model, spec: Spec, arm: Arm, *, memory: AgentMemory) -> str | ReplyError:
    """Ask an agent about an arm; return ``yes``, ``no``, or the reason why its reply cannot be read.

    The agent is told why a turn cannot be read; such a turn counts among :data:`USES`.
    """
    tools, question = {tool.name: tool for tool in memory.tools(spec)}, question_text(spec, arm)
    turn = _turn(tuple((name, tool.types) for name, tool in tools.items()))
    messages = [
        Message("system", "\n".join((TASK, *map(_text, tools.values()), _TURNS))),
        Message("user", f"{village_text(spec)}\n\n{question}" if memory.in_prompt else question),
    ]
    misses = uses = 0
    while uses < USES and misses < MISSES:
        prompt = Request(tuple(messages), turn, THOUGHT)
        uses += 1
        try:
            reply = model.ask(prompt)
        except ReplyError as error:
            # The model gave no reply, for the conversation is too long: a further turn would be longer
            return error
        try:
            act = prompt.read(reply).act
            if isinstance(act, _Answer):
                return act.answer
            result = tools[act.__struct_config__.tag].call(**msgspec.structs.asdict(act))
        except SubstrateError as error:
            # A reply that cannot be read is a miss; an error of a tool is not, and the agent may correct it
            misses += isinstance(error, ReplyError)
            result = str(error)
        messages += (Message("assistant", reply), Message("user", result))
    return answer_of(model, Request((*messages, Message("user", _LAST)), FORM.reply))


_TURNS = f"""Each reply is JSON only: what you think, and one tool with its arguments,
{{"thought": "...", "act": {{"use": "TOOL", ...}}}}, at most {USES} times, until you know the answer:
{{"thought": "...", "act": {{"use": "answer", "answer": "yes"}}}}, or "no"."""
_LAST = 'Now the answer, as JSON only, {"answer": "yes"} or {"answer": "no"}.'


def _text(tool: Tool) -> str:
    parameters = " ".join(f"`{name}`: {about}" for name, about in tool.parameters.items())
    return f"The tool `{tool.name}`: {tool.about} {parameters}"


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="use", tag="answer"):
    answer: Literal["yes", "no"]


@cache
def _turn(tools: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]) -> type[Any]:
    """The type of a turn's reply."""
    acts = [
        msgspec.defstruct(name, types, tag_field="use", tag=name, frozen=True, forbid_unknown_fields=True)
        for name, types in tools
    ]
    fields = [("thought", str), ("act", Union[*acts, _Answer])]
    return msgspec.defstruct("Turn", fields, frozen=True, forbid_unknown_fields=True)
