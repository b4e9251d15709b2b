"""The one client of language models: any server with OpenAI's chat completions (vLLM, llama.cpp, Ollama).

The address and the key come from the environment and stay there: no file, log or error holds them.

A reply is held to its JSON Schema by ``response_format``. A server that refuses that with 400 or 422 is
asked the next best way, and so from then on: ``json_schema``, then ``json_object`` with the schema in
the instruction, then the instruction alone. Each reply is checked against its schema here in any case.
"""

from __future__ import annotations

import base64
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from orchestration.base.secrets_out import hide
from orchestration.fetch.transfer import Patience
from orchestration.models.transcript import Exchange, Journal, Records, Reply, address, canonical, make_record
from substrate.base.errors import SubstrateError
from substrate.baselines.model import Message, ReplyError, Request
from substrate.baselines.parameters import Baseline

if TYPE_CHECKING:
    import httpx

URL, KEY = "SUBSTRATE_MODEL_URL", "SUBSTRATE_MODEL_KEY"
LONGEST_PAUSE = 600.0
"""Seconds that a server may ask us to wait; for more, the run ends and can be resumed."""
MINUTE = 60.0
_TRY_AGAIN = frozenset({408, 425, 429})
_REFUSED_FORMAT = frozenset({400, 422})

# What they log of a request is its address.
for _chatty in ("httpx", "httpcore"):
    logging.getLogger(_chatty).setLevel(logging.WARNING)


class ModelError(SubstrateError):
    """A server does not answer, or refuses what it is asked; the message never names its address."""


class Endpoint:
    """A server's address and key, which show up nowhere."""

    def __init__(self, url: str, key: str = "") -> None:
        import httpx

        try:
            parsed = httpx.URL(f"{url.rstrip('/')}/chat/completions")
        except httpx.InvalidURL:
            parsed = None
        if not (key.isascii() and key.isprintable()):
            raise ModelError(f"{KEY} holds what no header can carry", hint="Set it again, without line ends")
        if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
            raise ModelError(
                f"{URL} is not an address",
                hint="Give the base of an OpenAI-compatible API, such as http://localhost:8000/v1",
            )
        self.completions = parsed
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        secrets = (url.rstrip("/"), parsed.netloc.decode(), parsed.password, key)
        user = f"{parsed.username}:{parsed.password}" if parsed.password else ""
        self._secrets = tuple(filter(None, (*secrets, user)))

    def hide(self, text: str) -> str:
        """A text of the server's without the address and the key."""
        return hide(text, self._secrets)


def endpoint(environment: Mapping[str, str] | None = None) -> Endpoint | None:
    """The server of the environment, if it names one."""
    environment = os.environ if environment is None else environment
    return Endpoint(environment[URL], environment.get(KEY, "")) if environment.get(URL) else None


class _TryAgainError(Exception):
    """This try failed in a way that another may not; ``wait`` is what the server asked for (s)."""

    def __init__(self, what: str, wait: float = 0.0) -> None:
        super().__init__(what)
        self.wait = wait


class _RefusedError(Exception):
    """The server takes no such request; perhaps it takes another format."""


class Clock(NamedTuple):
    """Time as the client sees it: monotonic seconds, seconds of the calendar, and waiting.

    Tests give their own.
    """

    now: Callable[[], float] = time.monotonic
    date: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


class Pace:
    """At most so many requests begin within any minute."""

    def __init__(self, per_minute: int | None, clock: Clock) -> None:
        self._begun: deque[float] = deque(maxlen=per_minute)
        self._clock = clock
        self._lock = threading.Lock()
        self._limited = per_minute is not None

    def wait(self) -> None:
        """Wait until one more may begin, behind all who wait already."""
        if not self._limited:
            return
        with self._lock:
            while (
                len(self._begun) == self._begun.maxlen
                and (left := self._begun[0] + MINUTE - self._clock.now()) > 0
            ):
                self._clock.sleep(left)
            self._begun.append(self._clock.now())


class _Said(msgspec.Struct, frozen=True):
    content: str


class _Choice(msgspec.Struct, frozen=True):
    message: _Said
    finish_reason: str | None = None


class _Completion(msgspec.Struct, frozen=True):
    choices: list[_Choice]


_completion = msgspec.json.Decoder(_Completion)


class Client:
    """A server, asked for one baseline. Threads may share it.

    Args:
        server: where to ask.
        baseline: model and seed.
        patience: time limits, number of tries, and the wait between them: no chance is in it.
        per_minute: how many requests may begin in any minute; ``None`` for any number.
        clock: time.
    """

    def __init__(
        self,
        server: Endpoint,
        baseline: Baseline,
        patience: Patience,
        per_minute: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        import httpx

        self._server = server
        self._baseline = baseline
        self._patience = patience
        self._clock = clock or Clock()
        self._pace = Pace(per_minute, self._clock)
        self._format = 0
        self._http = httpx.Client(
            timeout=httpx.Timeout(patience.read, connect=patience.connect),
            headers=server.headers,
            limits=httpx.Limits(max_connections=None),
        )

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def complete(self, request: Request) -> Reply:
        """The server's reply.

        One that is off the schema is asked for again; that of the last try is given as it is, for it is the
        model's answer.

        Raises:
            ModelError: the server refuses the request, or does not answer at all.
        """
        failures = 0
        while True:
            try:
                reply = self._in_some_format(request)
                failures += 1
                if failures >= self._patience.attempts or _fits(request, reply):
                    return reply
                continue
            except _TryAgainError as error:
                wait, what = max(error.wait, self._patience.wait(failures)), str(error)
            failures += 1
            if failures >= self._patience.attempts:
                raise ModelError(
                    f"the model's server fails: {what} ({failures} tries in a row)",
                    hint="Run again later: what was answered is kept",
                )
            self._clock.sleep(wait)

    def _in_some_format(self, request: Request) -> Reply:
        """Try once, in the best format that the server takes."""
        refusal = ""
        for number in range(self._format, len(FORMATS)):
            try:
                reply = self._try(request, FORMATS[number])
            except _RefusedError as error:
                refusal = str(error)
                continue
            self._format = max(self._format, number)
            return reply
        raise ModelError(
            refusal,
            hint=(
                "Look at the server's own log: the request may be longer than the model's context, or hold "
                "a picture that it cannot see"
            ),
        )

    def _try(self, request: Request, format: str) -> Reply:
        import httpx

        self._pace.wait()
        body = {
            "model": self._baseline.model,
            "seed": self._baseline.seed,
            "temperature": 0,
            "max_tokens": request.max_tokens,
            "stream": False,
            "messages": _messages(request, in_words=format != "json_schema"),
            **RESPONSE_FORMATS[format](request.schema),
        }
        try:
            response = self._http.post(self._server.completions, json=body)
        except httpx.TimeoutException:
            raise _TryAgainError(f"no answer within {self._patience.read:g} s") from None
        except httpx.RequestError as error:
            # Its own words may hold the address.
            raise _TryAgainError(f"the connection was lost or refused ({type(error).__name__})") from None
        self._check_status(response)
        try:
            choice = _completion.decode(response.content).choices[0]
        except (msgspec.DecodeError, UnicodeDecodeError, IndexError):
            raise _TryAgainError("the server's answer is not a chat completion") from None
        return Reply(self._server.hide(choice.message.content), choice.finish_reason, format)

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == 200:
            return
        if status >= 500 or status in _TRY_AGAIN:
            wait = self._retry_after(response.headers.get("Retry-After", ""))
            if wait > LONGEST_PAUSE:
                raise ModelError(
                    f"the model's server asks to wait {wait:.0f} s (HTTP {status})",
                    hint="Run again then: what was answered is kept",
                )
            raise _TryAgainError(f"HTTP {status}", wait)
        what = (
            f"the model's server refuses the request (HTTP {status}): "
            f"{self._server.hide(response.text)[:300]}"
        )
        if status in _REFUSED_FORMAT:
            raise _RefusedError(what)
        raise ModelError(what, hint=_HINTS.get(status, f"Check {URL}"))

    def _retry_after(self, value: str) -> float:
        """Seconds, given as such or as a date; 0 where the server says nothing that can be read."""
        try:
            return max(
                0.0,
                float(value)
                if value.strip().isdecimal()
                else parsedate_to_datetime(value).timestamp() - self._clock.date(),
            )
        except ValueError:
            return 0.0


_HINTS = {
    401: f"Set {KEY} to a key that the server takes",
    403: f"Set {KEY} to a key that the server takes",
    404: (
        f"Set {URL} to the base of the API, with its /v1, and name a model in params.yaml that the server has"
    ),
}

RESPONSE_FORMATS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "json_schema": lambda schema: {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": schema},
        }
    },
    # Older llama.cpp servers take the schema here.
    "json_object": lambda schema: {"response_format": {"type": "json_object", "schema": schema}},
    "text": lambda _: {},
}
"""The ways of telling a server the schema, best first."""
FORMATS = tuple(RESPONSE_FORMATS)


def _fits(request: Request, reply: Reply) -> bool:
    try:
        request.read(reply.content)
    except ReplyError:
        return False
    return True


def _messages(request: Request, *, in_words: bool) -> list[dict[str, Any]]:
    written = [{"role": message.role, "content": _content(message)} for message in request.messages]
    if in_words:
        written[0]["content"] = (
            f"{request.messages[0].text}\nThe JSON Schema of the reply: "
            f"{msgspec.json.encode(request.schema, order='sorted').decode()}"
        )
    return written


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    urls = [
        f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}" for image in message.images
    ]
    return [
        {"type": "text", "text": message.text},
        *({"type": "image_url", "image_url": {"url": url}} for url in urls),
    ]


class Recorder:
    """A model that asks a server for what is not yet known, and writes each reply down before it is used.

    The same request is asked once, by however many threads. Once the server has failed for good, it is asked
    nothing more.
    """

    def __init__(self, client: Client, known: Records, journal: Journal, baseline: Baseline) -> None:
        self._client = client
        self._known = known
        self._journal = journal
        self._baseline = baseline
        self._lock = threading.Lock()
        self._pending: dict[str, Future[Exchange]] = {}
        self._failure: SubstrateError | None = None
        self.asked = 0
        """The number of requests that went to the server."""

    @property
    def used(self) -> Records:
        """The replies that this run asked for, from the server or from what was known."""
        return {name: future.result() for name, future in self._pending.items()}

    def ask(self, request: Request) -> str:
        """The reply, known or new; errors as :meth:`Client.complete`."""
        written = canonical(request, self._baseline)
        name = address(written)
        with self._lock:
            future, first = self._pending.get(name), name not in self._pending
            if future is None:
                future = self._pending[name] = Future()
        if first:
            try:
                future.set_result(
                    self._known.get(name) or self._journal.records.get(name) or self._new(written, request)
                )
            except BaseException as error:
                future.set_exception(error)
                raise
        return future.result().reply.content

    def _new(self, written: dict[str, Any], request: Request) -> Exchange:
        if self._failure:
            raise self._failure
        try:
            record = make_record(written, self._client.complete(request))
            with self._lock:
                self._journal.append(record)
                self.asked += 1
        except SubstrateError as error:
            self._failure = error
            raise
        return record
