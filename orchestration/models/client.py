"""The client of language models: for any server with OpenAI's chat completions (vLLM, llama.cpp, Ollama).

Address and key come from the environment and stay secret: no file, log or error contains them.

``response_format`` constrains a reply to its JSON Schema. If a server rejects that with 400 or 422, this and
all later requests carry the schema in the instruction. In both cases the client checks a reply against its
schema, but not that of the last try, nor one that was cut off at the limit of tokens: the caller reads those.
"""

from __future__ import annotations

import base64
import logging
import os
import re
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from orchestration.base import http
from orchestration.base.secrets_out import hide
from orchestration.models.exchange import Answerer, Reply
from substrate.base.errors import SubstrateError
from substrate.base.inputs import NOT_JSON
from substrate.baselines.model import Message, ReplyError, Request
from substrate.baselines.parameters import MODEL_URL, Baseline

if TYPE_CHECKING:
    import httpx

KEY = "SUBSTRATE_MODEL_KEY"
_REFUSED_FORMAT = frozenset({400, 422})

# These libraries log the address of each request.
for _chatty in ("httpx", "httpcore"):
    logging.getLogger(_chatty).setLevel(logging.WARNING)


class ModelError(SubstrateError):
    """A server does not answer or refuses a request; the message never contains its address."""


class Endpoint:
    """A server's address and key, both kept out of all output."""

    def __init__(self, url: str, key: str = "") -> None:
        import httpx

        try:
            parsed = httpx.URL(f"{url.rstrip('/')}/chat/completions")
        except httpx.InvalidURL:
            parsed = None
        if not (key.isascii() and key.isprintable()):
            hint = "Set it again, without line ends"
            raise ModelError(f"{KEY} has characters that no header allows", hint=hint)
        if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
            hint = "Give the base of an OpenAI-compatible API, such as http://localhost:8000/v1"
            raise ModelError(f"{MODEL_URL} is not an address", hint=hint)
        self.completions = parsed
        self.models = httpx.URL(f"{url.rstrip('/')}/models")
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        secrets = (url.rstrip("/"), parsed.netloc.decode(), parsed.password, key)
        user = f"{parsed.username}:{parsed.password}" if parsed.password else ""
        self._secrets = tuple(filter(None, (*secrets, user)))

    def hide(self, text: str) -> str:
        """Remove the address and the key from a server's text."""
        return hide(text, self._secrets)


def endpoint() -> Endpoint | None:
    """Return the server that the environment names, if any."""
    url = os.environ.get(MODEL_URL)
    return Endpoint(url, os.environ.get(KEY, "")) if url else None


class _RefusedError(ModelError):
    """The server refuses a request; it may accept another format."""


class _Text(msgspec.Struct, frozen=True):
    content: str


class _Choice(msgspec.Struct, frozen=True):
    message: _Text
    finish_reason: str | None = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(msgspec.Struct, frozen=True):
    choices: list[_Choice]
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Usage | None = None


class _Meta(msgspec.Struct, frozen=True):
    ftype: str = ""


class _Model(msgspec.Struct, frozen=True):
    id: str
    owned_by: str = ""
    tags: list[str] = []
    meta: _Meta | None = None


class _Models(msgspec.Struct, frozen=True):
    data: list[_Model]


_TOO_LONG = re.compile(r"exceed_context|context_length_exceeded|context (length|size|window)", re.IGNORECASE)
# The owner that llama.cpp's server reports for its models; this server accepts ``cache_prompt``.
_LLAMA_CPP = "llamacpp"


class Client:
    """A client of a server for one baseline, which threads may share.

    Args:
        server: the server's address and key.
        baseline: the model and the seed.
        patience: time limits, number of tries, and the wait between them, without random jitter.
    """

    def __init__(self, server: Endpoint, baseline: Baseline, patience: http.Patience) -> None:
        import httpx

        self._server, self._baseline, self._patience = server, baseline, patience
        self._takes_schema = True
        self._served: list[_Model] | None = None
        self._lock = threading.Lock()
        many = httpx.Limits(max_connections=None)
        self._http = httpx.Client(timeout=http.limits(patience), headers=server.headers, limits=many)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def complete(self, request: Request) -> Reply:
        """Return the server's reply to a request.

        A reply that violates the schema is requested again, unless it was cut off at the limit of tokens. The
        last try's reply is returned unchanged, since it is the model's answer. A request that does not fit
        into the model's context is not sent again: the reply's ``error`` says so.

        Raises:
            ModelError: the server refuses the request, or does not answer.
        """

        def once(failures: int) -> Reply:
            # A server may be slow, so the next try waits longer.
            patience = replace(self._patience, read=self._patience.read * (failures + 1))
            reply = self._in_some_format(request, patience)
            # A reply that ran out of tokens, or a request that is too long, would be so again.
            if failures + 1 < patience.attempts and reply.finish_reason != "length" and not reply.error:
                try:
                    request.read(reply.content)
                except ReplyError:
                    raise http.TryAgainError("the reply is off the schema", at_once=True) from None
            return reply

        try:
            return http.persist(once, self._patience)
        except http.GivenUpError as error:
            hint = f"Check {MODEL_URL}, or run again later: what was answered is kept"
            raise ModelError(f"the model's server {error}", hint=hint) from None

    def _in_some_format(self, request: Request, patience: http.Patience) -> Reply:
        """Try once, with the schema, if there is one, as ``response_format`` if the server accepts it."""
        if request.schema is None:
            return self._try(request, patience, "text")
        if self._takes_schema:
            with suppress(_RefusedError):
                return self._try(request, patience, "json_schema")
        reply = self._try(request, patience, "text")
        self._takes_schema = False
        return reply

    def _try(self, request: Request, patience: http.Patience, format: str) -> Reply:
        known, by_format = self._served_model(), format == "json_schema"
        body = {
            "model": self._baseline.model,
            "seed": self._baseline.seed,
            "temperature": 0,
            "max_tokens": request.max_tokens,
            "stream": False,
            "messages": _messages(request, in_words=bool(request.schema) and not by_format),
            # A reply must not depend on earlier requests to the server.
            **({"cache_prompt": False} if known.owned_by == _LLAMA_CPP else {}),
        }
        if by_format:
            schema = {"name": "reply", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        # The message of a lost connection may contain the address.
        with http.passing(patience, lambda error: type(error).__name__):
            response = self._http.post(self._server.completions, json=body, timeout=http.limits(patience))
        if response.status_code in _REFUSED_FORMAT | {413} and _TOO_LONG.search(response.text):
            text = self._server.hide(response.text)[:300]
            return Reply("", "too long", format, error=f"the request does not fit into the context: {text}")
        self._check_status(response)
        try:
            completion = msgspec.json.decode(response.content, type=_Completion)
            choice = completion.choices[0]
        except (*NOT_JSON, IndexError):
            raise http.TryAgainError("the server's answer is not a chat completion") from None
        text, usage = self._server.hide(choice.message.content), completion.usage or _Usage()
        tokens = usage.prompt_tokens, usage.completion_tokens
        return Reply(text, choice.finish_reason, format, self._answerer(completion, known), *tokens)

    def _served_model(self) -> _Model:
        """Return the model as the server lists it, empty if it does not; requested only once."""
        import httpx

        with self._lock:
            if self._served is None:
                try:
                    listed = self._http.get(self._server.models, timeout=self._patience.connect)
                    self._served = msgspec.json.decode(listed.content, type=_Models).data
                except (httpx.HTTPError, *NOT_JSON):
                    self._served = []
            names = (self._baseline.model, self._baseline.answers_as)
            return next((model for model in self._served if model.id in names), _Model(""))

    def _answerer(self, reply: _Completion, known: _Model) -> Answerer:
        """Return the model that answered.

        Raises:
            ModelError: another model answered.
        """
        wanted = self._baseline
        weights = next((tag for tag in known.tags if tag.startswith("sha256:")), "")
        servers = (tag.removeprefix("server:") for tag in known.tags if tag.startswith("server:"))
        if reply.model and reply.model not in (wanted.model, wanted.answers_as):
            told = f"the server says that {self._server.hide(reply.model)} answered"
            hint = f"Serve the model at {MODEL_URL}, or allow that name with `answers_as` in params.yaml"
            raise ModelError(f"{wanted.model} was asked, and {told}", hint=hint)
        if weights and wanted.revision.startswith("sha256:") and weights != wanted.revision:
            asked = f"{wanted.model} was asked with the weights {wanted.revision}"
            hint = f"Serve those weights at {MODEL_URL}, or name the revision in params.yaml"
            raise ModelError(f"{asked}, and the server has {weights}", hint=hint)
        quantisation, server = known.meta.ftype if known.meta else "", next(servers, known.owned_by)
        return Answerer(reply.model or "", reply.system_fingerprint or "", server, quantisation, weights)

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == 200:
            return
        http.require_ready(response)
        text = self._server.hide(response.text)[:300]
        what = f"the model's server refuses the request (HTTP {status}): {text}"
        kind = _RefusedError if status in _REFUSED_FORMAT else ModelError
        raise kind(what, hint=_HINTS.get(status, f"Check {MODEL_URL}"))


_HINTS = {
    **dict.fromkeys((401, 403), f"Set {KEY} to a key that the server takes"),
    404: f"Set {MODEL_URL} to the base of the API, with its /v1, and name one of its models in params.yaml",
    **dict.fromkeys(
        _REFUSED_FORMAT,
        f"Look at the log of the server at {MODEL_URL}: the request may be longer than the model's context, "
        "or hold a picture that it cannot see",
    ),
}


def _messages(request: Request, *, in_words: bool) -> list[dict[str, Any]]:
    written = [{"role": message.role, "content": _content(message)} for message in request.messages]
    if in_words:
        schema = msgspec.json.encode(request.schema, order="sorted").decode()
        written[0]["content"] = f"{request.messages[0].text}\nThe JSON Schema of the reply: {schema}"
    return written


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    parts: list[dict[str, Any]] = [{"type": "text", "text": message.text}]
    for image in message.images:
        url = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts
