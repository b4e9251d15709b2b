"""A small OpenAI-compatible server on a real socket, which also fails in every way that a server can."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from serving import Quiet, serving

# From a request's body to the content of the reply.
Answer = Callable[[dict[str, Any]], str]
KEY = "sk-a-key-that-nobody-may-see"


class ModelServer(ThreadingHTTPServer):
    """Answers with ``answer``, after one fault of ``faults`` for each of the first requests.

    Faults: ``"500"`` and any other status, ``"429:7"`` with a Retry-After, ``"broken"`` for a body that is
    cut off, ``"empty"`` for one without choices, ``"hang up"`` for a connection that closes mid-way,
    ``"slow"`` for an answer that comes too late, ``"off"`` for content that is not of the schema.

    ``says`` goes into each answer, ``lists`` are the answers to GET by path, and a request of more characters
    than ``context`` does not fit.
    """

    daemon_threads = True

    def __init__(
        self,
        answer: Answer,
        faults: tuple[str, ...] = (),
        *,
        formats: tuple[str, ...] = ("json_schema",),
        late: float = 0.5,
        says: dict[str, Any] | None = None,
        lists: dict[str, Any] | None = None,
        context: int | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.faults = list(faults)
        self.formats = formats
        self.late = late
        self.says = {"system_fingerprint": "b1", "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
        self.says |= says or {}
        self.lists = lists or {}
        self.context = context
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or was killed, is no error of the server's."""


class _Handler(Quiet, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes, and the second would wait 40 ms
    server: ModelServer  # pyright: ignore[reportIncompatibleVariableOverride]  # it is always one

    def do_GET(self) -> None:  # the base class names it
        listing = self.server.lists.get(self.path)
        self._send(404 if listing is None else 200, json.dumps(listing or {}).encode())

    def do_POST(self) -> None:  # the base class names it
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.keys.append(self.headers["Authorization"])
            fault = self.server.faults.pop(0) if self.server.faults else ""
        form = body.get("response_format", {}).get("type", "text")
        status, _, wait = fault.partition(":")
        if self.path != "/v1/chat/completions":
            self._send(404, b"{}")
        elif status.isdecimal():
            text = f"fault, told to {self.headers['Authorization']} at {self.server.url}"
            self._send(int(status), text.encode(), {"Retry-After": wait} if wait else {})
        elif self.server.context and len(text_of(body)) > self.server.context:
            error = {"type": "exceed_context_size_error", "message": "the request exceeds the context size"}
            self._send(400, json.dumps({"error": error}).encode())
        elif form not in self.server.formats and (form != "text" or "JSON" in text_of(body)):
            error = {"message": f"response_format {form} is not supported"}
            self._send(400, json.dumps({"error": error}).encode())
        else:
            self._answer(body, fault)

    def _answer(self, body: dict[str, Any], fault: str) -> None:
        off = fault == "off" and "response_format" in body
        content = '{"answer": 42}' if off else self.server.answer(body)
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        whole = json.dumps({"choices": [choice], "model": body["model"], **self.server.says}).encode()
        if fault == "slow":
            time.sleep(self.server.late)
        if fault == "hang up":
            self.send_response(200)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[: len(whole) // 2])
            self.close_connection = True
            return
        self._send(200, {"broken": whole[:-5], "empty": b'{"choices": []}'}.get(fault, whole))

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        own = {"Content-Length": str(len(body)), "Content-Type": "application/json"}
        for name, value in (own | (headers or {})).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def model_server(answer: Answer, *faults: str, **others: Any) -> Iterator[ModelServer]:
    """A server that runs inside the block."""
    with serving(ModelServer(answer, faults, **others)) as server:
        yield server


def text_of(body: dict[str, Any]) -> str:
    """All text of a request, as the model reads it."""
    contents = [message["content"] for message in body["messages"]]
    parts = [[{"text": content}] if isinstance(content, str) else content for content in contents]
    return "\n".join(part.get("text", "") for message in parts for part in message)


def some_answer(body: dict[str, Any]) -> str:
    """A valid reply that depends on nothing but the request: one of the options, by hash; free words; a graph
    of one red cup on a table; or an agent's turn, by hash a tool's or the answer.
    """
    if "response_format" not in body:
        return "They meet there, I should think."
    schema = body["response_format"]["json_schema"]["schema"]
    if "objects" in schema["properties"]:
        box = {"x": 600, "y": 0, "w": 100, "h": 100}
        cup = {"name": "cup", **box, "attributes": ["red"], "relations": [{"name": "on", "object": 1}]}
        return json.dumps({"objects": [cup, {"name": "table", **box, "attributes": [], "relations": []}]})
    drawn = hashlib.sha256(text_of(body).encode()).digest()[0]
    if "act" in schema["properties"]:
        acts = schema["properties"]["act"]["anyOf"]
        fields = acts[drawn % len(acts)]["properties"]
        filled = {"integer": 1, "string": "planned"}
        act = {name: filled.get(field.get("type")) or field["enum"][0] for name, field in fields.items()}
        return json.dumps({"thought": "so", "act": act})
    options = schema["properties"]["answer"].get("enum", ["Red."])
    return json.dumps({"answer": options[drawn % len(options)]})
