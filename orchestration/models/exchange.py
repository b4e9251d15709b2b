"""A request to a language model with its reply, and the address by which a transcript knows the request.

The address is the SHA-256 of the request in canonical JSON, so that no answer is used for another question.
The digest of an exchange covers request and reply: an edited line of a transcript no longer matches it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from substrate.baselines.model import Image, ReplyError, Request
from substrate.baselines.parameters import Baseline


class Answerer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The model that answered, as the server describes it; a field is empty if the server leaves it out.

    ``weights`` is ``sha256:`` and the digest of the weights.
    """

    model: str = ""
    fingerprint: str = ""
    server: str = ""
    quantisation: str = ""
    weights: str = ""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply of a server.

    Attributes:
        content: the text.
        finish_reason: why it ended.
        format: how the schema was asked for: ``json_schema`` or ``text``.
        by: the model that replied.
        prompt_tokens: tokens of the request.
        completion_tokens: tokens of the reply.
        error: why there is no reply: the request does not fit into the model's context.
    """

    content: str
    finish_reason: str | None
    format: str
    by: Answerer = Answerer()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str = ""

    def text(self) -> str:
        """Return the content.

        Raises:
            ReplyError: there is none; gives the reason.
        """
        if self.error:
            raise ReplyError(self.error)
        return self.content


class Exchange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a transcript, or of the journal in which the exchanges of an unfinished run grow.

    Only a line of a journal has ``seconds``, the time of the request, which the digest does not cover.
    """

    address: str
    digest: str
    request: dict[str, Any]
    reply: Reply
    seconds: float = 0.0

    def untimed(self) -> Exchange:
        """The exchange as a transcript has it."""
        # msgspec leaves a field out of the line only if it has the default itself, not another ``0.0``.
        return Exchange(self.address, self.digest, self.request, self.reply)


def make_record(request: dict[str, Any], reply: Reply, seconds: float = 0.0) -> Exchange:
    """Make the record of a canonical request and its reply."""
    digest = address({"request": request, "reply": msgspec.to_builtins(reply)})
    return Exchange(address(request), digest, request, reply, seconds)


# The records of a transcript by address.
Records = dict[str, Exchange]


def canonical(request: Request, baseline: Baseline) -> dict[str, Any]:
    """Everything that a reply depends on, as JSON; of a picture its name, type and hash.

    Its :func:`address` names the request in a transcript.
    """
    messages = [
        {"role": message.role, "text": message.text, "images": [*map(_without_data, message.images)]}
        for message in request.messages
    ]
    return {
        "model": baseline.model,
        "revision": baseline.revision,
        "seed": baseline.seed,
        "temperature": 0,
        "max_tokens": request.max_tokens,
        "messages": messages,
        "schema": request.schema,
    }


def _without_data(image: Image) -> dict[str, str]:
    return {"name": image.name, "media_type": image.media_type, "sha256": image.sha256}


def address(content: dict[str, Any]) -> str:
    """The SHA-256 of a JSON record, independent of the order of its keys.

    >>> address({"b": 1, "a": 2}) == address({"a": 2, "b": 1})
    True
    """
    return f"sha256:{hashlib.sha256(msgspec.json.encode(content, order='sorted')).hexdigest()}"


def asked_again(request: dict[str, Any]) -> dict[str, Any]:
    """The second asking of a canonical request, which tests whether the reply repeats."""
    return {**request, "again": 1}


def is_asked_twice(request_address: str) -> bool:
    """Tell, by its address, whether a request is in the twentieth of requests that are asked twice."""
    return int(request_address[-8:], 16) % 20 == 0
