"""The client against a server on a real socket that fails in every way; no test waits, the clock is the
test's.
"""

from __future__ import annotations

import logging
import threading
from email.utils import formatdate

import pytest
from model_server import KEY, ModelServer, model_server, some_answer, text_of

from orchestration.base import http
from orchestration.base.http import Patience
from orchestration.models.client import Client, Endpoint, ModelError, endpoint
from substrate.baselines.gqa import extract_request
from substrate.baselines.model import Image, Request, one_of, request_of
from substrate.baselines.parameters import Baseline

LLAMA = Baseline("llama", 3, revision="abc", seed=11)


class FakeTime:
    """A clock that only waiting moves on."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0
        self.slept: list[float] = []
        self.lock = threading.Lock()

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.seconds += seconds
            self.slept.append(seconds)


@pytest.fixture(autouse=True)
def time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    time = FakeTime()
    monkeypatch.setattr(http, "sleep", time.sleep)
    monkeypatch.setattr(http, "time", lambda: time.seconds)
    return time


def client(server: ModelServer, *, read: float = 5.0, attempts: int = 5, key: str = KEY) -> Client:
    return Client(Endpoint(server.url, key), LLAMA, Patience(read=read, attempts=attempts))


def question(text: str = "Is it red?") -> Request:
    return request_of("Answer.", text, one_of("yes", "no"))


def test_a_request_carries_model_seed_temperature_schema_and_key() -> None:
    with model_server(some_answer) as server:
        reply = client(server).complete(question())
    assert reply.content in ('{"answer": "yes"}', '{"answer": "no"}')
    assert (reply.finish_reason, reply.format) == ("stop", "json_schema")
    (body,) = server.bodies
    assert (body["model"], body["seed"], body["temperature"], body["stream"]) == ("llama", 11, 0, False)
    assert body["response_format"]["json_schema"]["schema"] == question().schema
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["messages"] == [
        {"role": "system", "content": "Answer."},
        {"role": "user", "content": "Is it red?"},
    ]
    assert server.keys == [f"Bearer {KEY}"]


def test_a_picture_goes_as_a_data_url() -> None:
    with model_server(some_answer) as server:
        client(server).complete(extract_request(Image("7", "image/png", "aa", b"\x89PNG")))
    assert server.bodies[0]["messages"][1]["content"][1] == {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,iVBORw=="},
    }


# The faults of `model_server.ModelServer`, and the seconds of the waits. A reply off the schema is asked for
# again at once, but counts: after it the next wait is twice as long.
@pytest.mark.parametrize(
    ("faults", "slept"),
    [
        (["429:7"], [7.0]),
        (["429"], [1.0]),
        ([f"429:{formatdate(1_000_042, usegmt=True)}"], [42.0]),
        (["500", "502", "408", "425"], [1.0, 2.0, 4.0, 8.0]),
        (["broken", "empty"], [1.0, 2.0]),
        (["off", "off"], []),
        (["500", "off", "hang up"], [1.0, 4.0]),
    ],
)
def test_a_passing_fault_is_tried_again_after_a_wait_without_randomness(
    faults: list[str], slept: list[float], time: FakeTime
) -> None:
    with model_server(some_answer, *faults) as server:
        expected = some_answer(
            {
                "messages": [{"content": "Answer."}, {"content": "Is it red?"}],
                "response_format": {"json_schema": {"schema": question().schema}},
            }
        )
        assert client(server).complete(question()).content == expected
    assert time.slept == slept
    assert len(server.bodies) == len(faults) + 1
    assert server.bodies == [server.bodies[0]] * len(server.bodies)


def test_an_answer_that_comes_too_late_is_asked_for_again(time: FakeTime) -> None:
    with model_server(some_answer, "slow", late=1.0) as server:
        assert client(server, read=0.2).complete(question()).format == "json_schema"
    assert time.slept == [1.0]


@pytest.mark.parametrize("fault", ["500", "broken", "hang up", "slow"])
def test_tries_are_bounded_and_the_error_names_neither_address_nor_key(fault: str) -> None:
    with (
        model_server(some_answer, *[fault] * 5, late=1.5) as server,
        pytest.raises(ModelError, match="3 tries in a row") as caught,
    ):
        client(server, read=0.1 if fault == "slow" else 5.0, attempts=3).complete(question())
    assert len(server.bodies) == 3
    assert_hidden(server, str(caught.value))


def test_a_server_that_is_not_there_is_named_without_its_address() -> None:
    with model_server(some_answer) as server:
        pass
    with pytest.raises(ModelError, match="connection was lost or refused") as caught:
        client(server, attempts=2).complete(question())
    assert_hidden(server, str(caught.value))


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("401", "SUBSTRATE_MODEL_KEY"),
        ("404", "/v1"),
        ("400", "SUBSTRATE_MODEL_URL: the request may be longer"),
        ("413", "SUBSTRATE_MODEL_URL"),
    ],
)
def test_a_refusal_is_not_tried_again_and_what_the_server_echoes_is_hidden(
    status: str, hint: str, caplog: pytest.LogCaptureFixture, time: FakeTime
) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        model_server(some_answer, *[status] * 3) as server,
        pytest.raises(ModelError, match=f"HTTP {status}.*fault, told to Bearer .hidden.") as caught,
    ):
        client(server).complete(question())
    assert hint in str(caught.value)
    assert time.slept == []
    assert_hidden(server, str(caught.value) + caplog.text)


def assert_hidden(server: ModelServer, text: str) -> None:
    assert KEY not in text
    assert str(server.server_address[1]) not in text


def test_a_pause_of_an_hour_ends_the_run(time: FakeTime) -> None:
    with (
        model_server(some_answer, "429:3600") as server,
        pytest.raises(ModelError, match="asks to wait 3600 s"),
    ):
        client(server).complete(question())
    assert time.slept == []


def test_content_that_stays_off_the_schema_is_the_model_s_answer() -> None:
    with model_server(lambda _: "I would rather not say", formats=("json_schema",)) as server:
        assert client(server, attempts=3).complete(question()).content == "I would rather not say"
    assert len(server.bodies) == 3


def test_a_request_that_does_not_fit_the_context_is_sent_once() -> None:
    with model_server(some_answer, context=5) as server:
        assert "does not fit into the context" in client(server).complete(question()).error
    assert len(server.bodies) == 1


def test_a_refusal_of_a_request_without_a_schema_says_nothing_about_schemas() -> None:
    with model_server(some_answer, "400") as server:
        model = client(server)
        with pytest.raises(ModelError, match="HTTP 400"):
            model.complete(Request(question().messages, None))
        assert len(server.bodies) == 1
        assert model.complete(question()).format == "json_schema"


def test_a_server_that_refuses_a_schema_gets_it_in_words_from_then_on() -> None:
    with model_server(lambda _: 'Well: {"answer": "yes"}', formats=("text",)) as server:
        model = client(server)
        assert [model.complete(question(str(number))).format for number in range(3)] == ["text"] * 3
    assert len(server.bodies) == 1 + 3
    assert "JSON Schema of the reply: {" in text_of(server.bodies[-1])
    assert "JSON Schema of the reply: {" not in text_of(server.bodies[0])


@pytest.mark.parametrize(
    "environment",
    [
        {"SUBSTRATE_MODEL_URL": "secret:8000"},
        {"SUBSTRATE_MODEL_URL": "http://a:secret"},
        {"SUBSTRATE_MODEL_URL": "http://a", "SUBSTRATE_MODEL_KEY": "secret\n"},
    ],
)
def test_an_address_or_key_that_cannot_be_used_is_not_repeated(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ModelError) as caught:
        endpoint()
    assert "secret" not in str(caught.value)
