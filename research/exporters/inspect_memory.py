"""A memory's weak points as a task of Inspect: `inspect eval substrate/remembering --model MODEL`.

A sample is a question about an episode (:mod:`research.generators.remembering`): an update, a cascade, an
absence, a deletion, or a time in the past. Needs the extra ``inspect``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from research.exporters.remembering import errands, told, town
from research.generators.remembering.episodes import episodes
from research.generators.remembering.format import UNKNOWN, Episode
from substrate import __version__
from substrate.adapters.memory_tools import Desk
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.extras import missing_extra
from substrate.baselines.model import ReplyError, ask, one_of
from substrate.log.event_log import EventLog

try:
    from inspect_ai import Task, task  # pyright: ignore[reportMissingImports]
    from inspect_ai.agent import react, run  # pyright: ignore[reportMissingImports]
    from inspect_ai.dataset import MemoryDataset, Sample  # pyright: ignore[reportMissingImports]
    from inspect_ai.model import (  # pyright: ignore[reportMissingImports]
        ChatMessageSystem,
        ChatMessageUser,
        get_model,
    )
    from inspect_ai.scorer import (  # pyright: ignore[reportMissingImports]
        Score,
        accuracy,
        grouped,
        scorer,
        stderr,
    )
    from inspect_ai.solver import solver  # pyright: ignore[reportMissingImports]
    from inspect_ai.tool import ToolDef, ToolError, ToolParams  # pyright: ignore[reportMissingImports]
    from inspect_ai.util import LimitExceededError, message_limit  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError as error:
    raise (missing_extra(error) or error) from error

TURNS = 20
"""The most messages of an agent's conversation about one question."""
_RULES = """People tell you things, one statement a line. A person has one value by each relation: a new one
ends the old one. What follows from a statement is no longer known when that statement is forgotten, ended or
replaced, unless somebody else has said the same. Who asks to forget takes back their own statement; the
keeper takes back all.
Answer {"answer": …} with what was known then, or unknown."""


def ours(register: Callable[..., Any], **more: Any) -> Callable[[Callable[..., Any]], Any]:
    """Register a function as `substrate/NAME`, wherever its module lies and however that is installed.

    Inspect puts a package's name before what it registers, where it can tell one; of a module of Python's own
    it tells none.
    """

    def named(function: Callable[..., Any]) -> Any:
        function.__module__ = "builtins"
        return register(name=f"substrate/{function.__name__}", **more)(function)

    return named


@ours(task)
def remembering(memory: str = "none", count: int = 50, seed: int = 11) -> Any:
    """Remembering: does a model know what is no longer so, and what fell with it?

    Args:
        memory: ``none``: all statements stand in the prompt; ``substrate``: they stand in a memory, which the
            model asks by the tools of `substrate mcp`.
        count: episodes, each with up to two questions of each of five kinds.
        seed: what they are generated from; a new seed is a new test that nobody has seen.
    """
    if memory not in ("none", "substrate"):
        raise ParameterError(f"no memory is called {memory!r}", hint="Say none or substrate")
    by_name = {episode.name: episode for episode in episodes(town(), count, seed)}
    samples = [sample for episode in by_name.values() for sample in _samples(episode)]
    return Task(
        dataset=MemoryDataset(samples, name="remembering"),
        solver=asking(memory, by_name),
        scorer=known(),
        version=__version__,
        metadata={"seed": seed, "memory": memory},
    )


def _samples(episode: Episode) -> list[Any]:
    lines = [town().sentence(number, step) for number, step in enumerate(episode.steps)]
    return [
        Sample(
            id=f"{episode.name}-{number}",
            input=town().question(question),
            target=question.expected if question.expected == UNKNOWN else town().label(question.expected),
            metadata={
                "kind": question.kind,
                "episode": episode.name,
                "told": "\n".join(lines),
                "options": [*map(town().label, town().values[question.relation]), UNKNOWN],
            },
        )
        for number, question in enumerate(episode.questions)
    ]


@ours(solver)
def asking(memory: str, known_episodes: dict[str, Episode]) -> Any:
    """Ask a model that has all statements in its prompt, or in a memory with tools."""

    async def solve(state: Any, generate: Any) -> Any:
        count_offline(get_model())
        system = f"{_RULES}\nThe options: {', '.join(state.metadata['options'])}."
        if memory == "none":
            user = f"{state.metadata['told']}\n\n{state.input_text}"
            state.messages = [ChatMessageSystem(content=system), ChatMessageUser(content=user)]
            return await generate(state)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "memory.rdfp")
            with EventLog.open(path) as log:
                told(known_episodes[state.metadata["episode"]], log)
            desk = Desk(path, tbox=errands())
            prompt = f"{system}\nAsk the memory; a statement's number is its tick."
            output = await acted(prompt, _tools(desk), state.input_text, TURNS)
            if output is not None:
                state.output = output
        return state

    return solve


async def acted(prompt: str, tools: list[Any], question: str, turns: int) -> Any | None:
    """The output of an agent's conversation; ``None`` where it did not end within so many messages."""
    try:
        done = await run(react(prompt=prompt, tools=tools), question, limits=[message_limit(turns)])
    except LimitExceededError:
        return None
    return (done[0] if isinstance(done, tuple) else done).output


def _tools(desk: Desk) -> list[Any]:
    def tool(name: str) -> Any:
        async def execute(**arguments: Any) -> str:
            try:
                given = {key: value for key, value in arguments.items() if value is not None}
                return json.dumps(desk.call(name, given), ensure_ascii=False)
            except SubstrateError as error:
                raise ToolError(str(error)) from None

        kind = desk.tools[name]
        parameters = ToolParams.model_validate(kind.schema())
        return ToolDef(execute, name=name, description=kind.about(), parameters=parameters).as_tool()

    return [tool(name) for name in desk.tools]


_METRICS = {
    "right": [accuracy(), stderr(), grouped(accuracy(), "kind", all=False)],
    "unreadable": [accuracy()],
}


@ours(scorer, metrics=_METRICS)
def known() -> Any:
    """The share of questions answered as the oracle does, by kind; what cannot be read is apart."""

    async def score(state: Any, target: Any) -> Any:
        query = ask("", "", one_of(*state.metadata["options"]))
        try:
            answer = query.read(state.output.completion).answer
        except ReplyError:
            answer = ""
        value = {"right": float(answer == target.text), "unreadable": float(not answer)}
        return Score(value=value, answer=answer, explanation=f"gold: {target.text}")

    return score


def count_offline(model: Any) -> None:
    """Let Inspect's mock of a model count words: else it counts with a vocabulary from the network."""

    async def words(text: str) -> int:
        return len(text.split())

    if type(model.api).__module__.endswith("mockllm"):
        model.api.count_text_tokens = words
