"""Language models that read differently from the paper's: after reasoning, or a log without poses."""

from __future__ import annotations

from substrate.baselines.clevrer import log_text
from substrate.baselines.clevrer import request as about_log
from substrate.baselines.model import Message, Model, ReplyError, Request, answer_of
from substrate.baselines.twin import TASK, request
from substrate.domains.smallville.format import Arm, Spec
from substrate.log.event_log import EventLog

THOUGHT = 1024
"""The most tokens of a model's reasoning before its answer."""


def reasoned(model: Model, spec: Spec, arm: Arm) -> str | ReplyError:
    """Answer as :func:`substrate.baselines.twin.direct` after the model has reasoned in its own words."""
    prompt = request(spec, arm)
    system, user = prompt.messages
    aloud = (Message("system", f"{TASK}\nReason step by step."), user)
    try:
        thought = model.ask(Request(aloud, None, THOUGHT))
    except ReplyError as error:
        return error
    messages = (system, user, Message("assistant", thought), Message("user", "Now the answer, as JSON only."))
    return answer_of(model, Request(messages, prompt.reply))


def facts(model: Model, log: EventLog, question: str) -> str | ReplyError:
    """Answer as :func:`substrate.baselines.clevrer.controlled` from a log without its poses."""
    return answer_of(model, about_log(log_text(log, poses=False), question))
