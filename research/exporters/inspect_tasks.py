"""Twin-EventLog as a task of Inspect: `inspect eval substrate/twin_eventlog --model MODEL [--limit N]`.

A sample is a specification. Its question is put once for each arm, each time in a conversation of its own: of
the village as planned (arm A), with the intervention (arm B), and with the second one where there is one (arm
C). The answers are judged by the code of `substrate score twin`. Needs the extra ``inspect``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from research.baselines.agent import Tool
from research.baselines.village_tools import MEMORIES
from research.exporters.inspect_memory import acted, count_offline, ours, remembering
from research.exporters.twin_sample import sampled
from substrate import __version__
from substrate.base.errors import FormatError, ParameterError, SubstrateError
from substrate.base.extras import missing_extra
from substrate.baselines.twin import FORM, request, said_in
from substrate.domains.smallville.format import Gold, Spec, read_gold, read_specs
from substrate.domains.smallville.judging import Judgement, judge, weights
from substrate.generators.smallville import CANARY

try:
    from inspect_ai import Task, task  # pyright: ignore[reportMissingImports]
    from inspect_ai.dataset import MemoryDataset, Sample  # pyright: ignore[reportMissingImports]
    from inspect_ai.hooks import Hooks, hooks  # pyright: ignore[reportMissingImports]
    from inspect_ai.model import (  # pyright: ignore[reportMissingImports]
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        ResponseSchema,
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
    from inspect_ai.tool import ToolDef, ToolError  # pyright: ignore[reportMissingImports]
    from inspect_ai.util import JSONSchema  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError as error:
    raise (missing_extra(error) or error) from error

REPLIES = "replies"
"""The metadata keys of a sample's replies, arm A's first."""


__all__ = ["remembering", "twin_eventlog", "twin_eventlog_agent"]


@ours(task)
def twin_eventlog(specs: str | None = None, count: int = 500, seed: int = 20, level: str = "village") -> Any:
    """Twin-EventLog: does a memory stay consistent under intervention?

    Args:
        specs: a file of specifications with gold; they are generated unless given.
        count: how many, a fair sample; Inspect reads them all before it applies its own limit, so that
            ``-T count=10`` is the quick way to a few.
        seed: what they are generated from; a new seed is a new test that nobody has seen.
        level: of what is generated: ``village``, ``belief``, ``town`` or ``three_arms``.
    """
    graded = _read(Path(specs)) if specs else _generated(count, seed, level)
    return Task(
        dataset=MemoryDataset([_sample(spec, gold) for spec, gold in graded], name="twin-eventlog"),
        solver=each_arm(),
        scorer=all_arms(),
        version=__version__,
        metadata={"canary": CANARY, "seed": None if specs else seed, "level": None if specs else level},
    )


@ours(task)
def twin_eventlog_agent(
    memory: str = "substrate", count: int = 500, seed: int = 20, level: str = "village"
) -> Any:
    """Twin-EventLog for an agent: what does a memory that it may ask do for a model?

    Args:
        memory: ``substrate``: states of the village's log and forks under the five interventions; ``bm25``: a
            search over its sentences, which the prompt then lacks; ``none``: the agent alone.
        count: how many specifications, the same for each memory.
        seed: what they are generated from.
        level: how hard they are, as in :func:`twin_eventlog`.
    """
    if memory not in MEMORIES:
        raise ParameterError(f"no memory is called {memory!r}", hint=f"Say one of {', '.join(MEMORIES)}")
    graded = list(_generated(count, seed, level))
    return Task(
        dataset=MemoryDataset([_sample(spec, gold) for spec, gold in graded], name="twin-eventlog"),
        solver=each_arm_by_agent(memory, {spec.spec: spec for spec, _ in graded}),
        scorer=all_arms(),
        version=__version__,
        metadata={"canary": CANARY, "seed": seed, "level": level, "memory": memory},
    )


def _generated(count: int, seed: int, level: str) -> Iterator[tuple[Spec, Gold]]:
    for graded in sampled(count, seed, level):
        yield graded, graded.gold


def _read(path: Path) -> Iterator[tuple[Spec, Gold]]:
    gold = read_gold(path)
    for spec in read_specs(path):
        expected = gold[spec.spec]
        if expected is None:
            raise FormatError(
                f"specification {spec.spec} has no gold",
                where=(path,),
                hint="Give the specifications with their gold",
            )
        yield spec, expected


def _sample(spec: Spec, gold: Gold) -> Any:
    requests = {arm: request(spec, arm) for arm in spec.arms}
    return Sample(
        id=spec.spec,
        # Inspect shows this of a sample; the solver asks each arm by itself, and the gold stays out of both.
        input=requests["b"].messages[-1].text,
        target=list(gold.answers),
        metadata={
            "linkage": spec.linkage,
            "query": spec.query.type,
            "arms": list(spec.arms),
            **{f"arm_{arm}": [message.text for message in requests[arm].messages] for arm in spec.arms},
        },
    )


@ours(solver)
def each_arm() -> Any:
    """Ask the model of each arm, in a conversation of its own."""

    async def solve(state: Any, generate: Any) -> Any:
        model, replies = get_model(), list[str]()
        count_offline(model)
        for arm in state.metadata["arms"]:
            system, user = state.metadata[f"arm_{arm}"]
            state.output = await model.generate(
                [ChatMessageSystem(content=system), ChatMessageUser(content=user)], config=_CONFIG
            )
            replies.append(state.output.completion)
        state.metadata[REPLIES] = replies
        return state

    return solve


TURNS = 40
"""The most messages of an agent's conversation about one arm."""


@ours(solver)
def each_arm_by_agent(memory: str, specs: Mapping[int, Spec]) -> Any:
    """Let an agent answer each arm, in a conversation and with a memory of its own."""

    async def solve(state: Any, generate: Any) -> Any:
        count_offline(get_model())
        replies: list[str] = []
        spec = specs[int(state.sample_id)]
        for arm in state.metadata["arms"]:
            system, user = state.metadata[f"arm_{arm}"]
            tools = [_tool(tool) for tool in MEMORIES[memory].tools(spec)]
            question = MEMORIES[memory].asked(user)
            output = await acted(f"{system}\n{_SUBMIT}", tools, question, TURNS)
            if output is not None:
                state.output = output
            replies.append("" if output is None else output.completion)
        state.metadata[REPLIES] = replies
        return state

    return solve


_SUBMIT = "Use the tools as often as you like, then submit the JSON as your answer."


def _tool(tool: Tool) -> Any:
    async def execute(*arguments: Any, **named: Any) -> str:
        try:
            return tool.call(*arguments, **named)
        except SubstrateError as error:
            raise ToolError(str(error)) from None

    execute.__signature__ = signature(tool.call)  # pyright: ignore[reportFunctionMemberAccess]
    execute.__annotations__ = dict(tool.types)
    return ToolDef(execute, name=tool.name, description=tool.about, parameters=tool.parameters).as_tool()


_CONFIG = GenerateConfig(
    response_schema=ResponseSchema(name="reply", json_schema=JSONSchema.model_validate(FORM.schema))
)
"""Hold a reply to its schema, where the model's provider can."""


UNREADABLE = "unreadable"
"""The share of a specification's replies that could not be read; they count as wrong."""


@ours(
    scorer,
    metrics={
        metric: [accuracy(), stderr(), grouped(accuracy(), "linkage", all=False)]
        for metric in Judgement._fields
    }
    | {UNREADABLE: [accuracy(), stderr()]},
)
def all_arms() -> Any:
    """Per-arm, joint and divergence accuracy of the replies to a specification's arms."""

    async def score(state: Any, target: Any) -> Any:
        answers = [said_in(reply) for reply in state.metadata[REPLIES]]
        judged, most = judge(answers, tuple(target)), weights(len(answers))
        parts = {name: getattr(judged, name) / getattr(most, name) for name in Judgement._fields}
        parts[UNREADABLE] = answers.count("error") / len(answers)
        return Score(value=parts, answer=" ".join(answers), explanation=f"gold: {' '.join(target)}")

    return score


@hooks("substrate_judged", "Ends `inspect eval` with an error where a task judged no sample.")
class Judged(Hooks):
    """Lets a script tell that `inspect eval` failed: by itself it exits with 0 when every sample failed."""

    def enabled(self) -> bool:
        """Tell whether this process is the command; a caller from Python has Inspect's logs."""
        return Path(sys.argv[0]).stem == "inspect"

    async def on_run_end(self, data: Any) -> None:
        """End the command where nothing was judged, once Inspect has written its logs."""
        if data.exception or data.eval_set_id:
            return
        for log in data.logs:
            failed = log.status != "success" or (log.samples and all(sample.error for sample in log.samples))
            if (log.eval.task_registry_name or "").startswith("substrate/") and failed:
                sys.exit(f"no sample of {log.eval.task} was judged: {_reason(log)}. Its log: {log.location}")


def _reason(log: Any) -> str:
    errors = (log.error, *(sample.error for sample in log.samples or ()))
    return next((" ".join(error.message.split()) for error in errors if error), log.status)
