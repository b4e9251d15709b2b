"""Requests to a language model: made in parallel parts, recorded once, and replayed without the model."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path
from typing import Any

from orchestration.base.http import Patience
from orchestration.models import exchange, transcript
from orchestration.models.client import Client, Endpoint
from substrate.base.errors import SubstrateError
from substrate.baselines.model import Model, Request
from substrate.baselines.parameters import Baseline, Parameters
from substrate.domains.rows import Row

# Asks a model about one thing and returns its rows. No part depends on another part's replies.
Part = Callable[[Model], list[Row]]
# Called with the number of finished parts and the number of all parts.
Watch = Callable[[int, int], None]


def ask_parts(
    parts: Sequence[Part], model: Model, *, concurrency: int = 1, watch: Watch = lambda done, total: None
) -> list[Row]:
    """Ask all parts, and return their rows by scene and question, in whatever order the replies came.

    Args:
        parts: the parts to ask.
        model: the model.
        concurrency: the number of parts to ask at once.
        watch: called with the number of finished parts when a part ends.

    Raises:
        SubstrateError: the error of the first part that fails; later parts are not started.
    """
    with ThreadPoolExecutor(concurrency) as pool:
        futures = [pool.submit(part, model) for part in parts]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                watch(done, len(parts))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    rows = [row for future in futures for row in future.result()]
    return sorted(rows, key=lambda row: (row.scene, row.question))


def view(parts: Sequence[Part], baseline: Baseline, records: exchange.Records) -> exchange.Records:
    """The records of a transcript that some parts use, including the repeated requests.

    Raises:
        TranscriptError: a request is not in the transcript.
    """
    model = transcript.Replay(records, baseline)
    ask_parts(parts, model)
    repeats = (exchange.address(exchange.asked_again(records[name].request)) for name in model.asked)
    used = {*model.asked, *repeats}
    return {name: record for name, record in records.items() if name in used}


class Recorder:
    """A model that requests unknown replies from a server, and saves each reply before its use.

    Threads with the same request share one call. After a permanent failure the server gets no more requests.

    Attributes:
        asked: the number of requests that went to the server.
    """

    def __init__(
        self, client: Client, known: exchange.Records, journal: transcript.Journal, baseline: Baseline
    ) -> None:
        self._client, self._known, self._journal, self._baseline = client, known, journal, baseline
        self._lock = threading.Lock()
        self._asking: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._failure: SubstrateError | None = None
        self._requests: dict[str, tuple[dict[str, Any], Request]] = {}
        self.asked = 0

    @property
    def replies(self) -> int:
        """The number of replies, known and new."""
        return len(self._requests)

    def ask(self, request: Request) -> str:
        """Return the reply to a request, known or new; raises errors as :meth:`Client.complete`."""
        written = exchange.canonical(request, self._baseline)
        name = exchange.address(written)
        with self._lock:
            asking = self._asking[name]
        with asking:
            record = self._answered(name) or self._new(written, request)
            self._requests[name] = written, request
        return record.reply.text()

    def finish(self) -> None:
        """Repeat a twentieth of the requests at the end, to check that earlier requests do not matter."""
        for name, (written, request) in self._requests.items():
            second = exchange.asked_again(written)
            if exchange.is_asked_twice(name) and not self._answered(exchange.address(second)):
                self._new(second, request)

    def _answered(self, name: str) -> exchange.Exchange | None:
        """Return the known exchange, except a refusal for length, because the context may have grown."""
        known = self._known.get(name)
        return self._journal.records.get(name) or (None if known and known.reply.error else known)

    def _new(self, written: dict[str, Any], request: Request) -> exchange.Exchange:
        if self._failure:
            raise self._failure
        begun = time.monotonic()
        try:
            reply = self._client.complete(request)
            record = exchange.make_record(written, reply, round(time.monotonic() - begun, 2))
            with self._lock:
                self._journal.append(record)
                self.asked += 1
        except SubstrateError as error:
            self._failure = error
            raise
        return record


def record(
    parts: Sequence[Part],
    baseline: Baseline,
    settings: Parameters,
    server: Endpoint,
    path: Path,
    watch: Watch = lambda done, total: None,
) -> int:
    """Ask a server for the replies that a transcript lacks, and add them; the transcript only grows.

    Args:
        settings: with what patience the server is asked.
        path: the transcript; beside it grows a journal, ``….partial.jsonl``, until all is asked.
        watch: called with the number of replies and their expected total.

    Returns:
        The number of requests sent to the server.

    Raises:
        ModelError: the server failed; its replies so far are in the journal, and the next run continues from
            there.
    """
    patience = Patience(read=settings.timeout, attempts=settings.attempts)
    journal = transcript.journal(transcript.partial_of(path))
    with closing(Client(server, baseline, patience)) as client, journal as written:
        recorder = Recorder(client, transcript.read_transcript(path), written, baseline)

        def replies(done: int, total: int) -> None:
            watch(recorder.replies, round(recorder.replies * total / done))

        ask_parts(parts, recorder, concurrency=settings.concurrency, watch=replies)
        recorder.finish()
    transcript.settle(path)
    return recorder.asked
