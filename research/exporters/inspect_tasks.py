"""Twin-EventLog as a task of Inspect: `inspect eval substrate/twin_eventlog --model MODEL [--limit N]`.

A sample is a specification. Its question is put once for each arm, each time in a conversation of its own: of
the village as planned (arm A), and with the intervention (arm B). The answers are judged by the code of
`substrate score twin`. Needs the extra ``inspect``.

:func:`twin_eventlog` makes the samples, :func:`each_arm` asks the model, :func:`all_arms` judges its replies,
and :class:`Judged` gives the command an exit code. Their types are ``Any`` because Inspect may be absent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from research.exporters.twin_sample import sampled
from substrate import __version__
from substrate.base.errors import FormatError
from substrate.base.extras import missing_extra
from substrate.baselines.twin import FORM, answer_in, request
from substrate.domains.smallville.format import Gold, Spec, read_gold, read_specs
from substrate.domains.smallville.joint import MOST, Judgement, judge
from substrate.generators.smallville import CANARY

try:
    from inspect_ai import Task, task  # pyright: ignore[reportMissingImports]
    from inspect_ai.dataset import MemoryDataset, Sample  # pyright: ignore[reportMissingImports]
    from inspect_ai.hooks import Hooks, hooks  # pyright: ignore[reportMissingImports]
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, ResponseSchema, get_model  # pyright: ignore[reportMissingImports]
    from inspect_ai.scorer import Score, accuracy, grouped, scorer, stderr  # pyright: ignore[reportMissingImports]
    from inspect_ai.solver import solver  # pyright: ignore[reportMissingImports]
    from inspect_ai.util import JSONSchema  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError as error:
    raise (missing_extra(error) or error) from error

REPLIES = "replies"
"""The metadata keys of a sample's replies, arm A's first."""


def registered(register: Callable[..., Any], **more: Any) -> Callable[[Callable[..., Any]], Any]:
    """Register a function as `substrate/NAME`, wherever its module lies and however that is installed.

    Inspect adds the name of a function's package to the name, if it finds one. It finds none for a function
    that claims to be one of Python's built-ins.
    """

    def named(function: Callable[..., Any]) -> Any:
        function.__module__ = "builtins"
        return register(name=f"substrate/{function.__name__}", **more)(function)

    return named


@registered(task)
def twin_eventlog(specs: str | None = None, count: int = 500, seed: int = 20) -> Any:
    """Twin-EventLog: does a memory stay consistent under intervention?

    Args:
        specs: a file of specifications with gold; without one they are generated.
        count: the number of generated specifications, a fair sample. Inspect makes them all before it applies
            its own limit, so ``-T count=10`` is the quick way to a few.
        seed: the seed of generated specifications; a new seed gives a test that nobody has seen.
    """
    graded = _read(Path(specs)) if specs else _generated(count, seed)
    return Task(
        dataset=MemoryDataset([_sample(spec, gold) for spec, gold in graded], name="twin-eventlog"),
        solver=each_arm(),
        scorer=all_arms(),
        version=__version__,
        metadata={"canary": CANARY, "seed": None if specs else seed},
    )


def _generated(count: int, seed: int) -> Iterator[tuple[Spec, Gold]]:
    for graded in sampled(count, seed):
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
        # Only shown by Inspect: the solver sends the messages of each arm. Neither contains the gold.
        input=requests["b"].messages[-1].text,
        target=list(gold.answers),
        metadata={
            "linkage": spec.linkage,
            "query": spec.query.type,
            "arms": list(spec.arms),
            **{f"arm_{arm}": [message.text for message in requests[arm].messages] for arm in spec.arms},
        },
    )


@registered(solver)
def each_arm() -> Any:
    """Ask the model about each arm, in a separate conversation."""

    async def solve(state: Any, generate: Any) -> Any:
        model, replies = get_model(), list[str]()
        _count_offline(model)
        for arm in state.metadata["arms"]:
            system, user = state.metadata[f"arm_{arm}"]
            state.output = await model.generate(
                [ChatMessageSystem(content=system), ChatMessageUser(content=user)], config=_CONFIG
            )
            replies.append(state.output.completion)
        state.metadata[REPLIES] = replies
        return state

    return solve


def _count_offline(model: Any) -> None:
    """Let Inspect's mock of a model count words: else it counts with a vocabulary from the network."""

    async def words(text: str) -> int:
        return len(text.split())

    if type(model.api).__module__.endswith("mockllm"):
        model.api.count_text_tokens = words


_CONFIG = GenerateConfig(
    response_schema=ResponseSchema(name="reply", json_schema=JSONSchema.model_validate(FORM.schema))
)
"""Hold a reply to its schema, where the model's provider can."""


UNREADABLE = "unreadable"
"""The share of a specification's replies that could not be read; they count as wrong."""


@registered(
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
        answers = [answer_in(reply) for reply in state.metadata[REPLIES]]
        judged = judge(answers, tuple(target))
        parts = {name: getattr(judged, name) / getattr(MOST, name) for name in Judgement._fields}
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
        """End the command with an error if a task judged no sample, after Inspect has written its logs."""
        if data.exception or data.eval_set_id:
            return
        for log in data.logs:
            failed = log.status != "success" or (log.samples and all(sample.error for sample in log.samples))
            if (log.eval.task_registry_name or "").startswith("substrate/") and failed:
                sys.exit(f"no sample of {log.eval.task} was judged: {_reason(log)}. Its log: {log.location}")


def _reason(log: Any) -> str:
    errors = (log.error, *(sample.error for sample in log.samples or ()))
    return next((" ".join(error.message.split()) for error in errors if error), log.status)
