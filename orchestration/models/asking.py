"""Asking a language model: parts that can be asked at the same time, recorded once and replayed for ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from orchestration.base.http import Clock, Patience
from orchestration.models import transcript
from orchestration.models.client import Client, Endpoint, Recorder
from substrate.baselines.model import Model
from substrate.baselines.parameters import Baseline, Parameters
from substrate.domains.rows import Row

Part = Callable[[Model], list[Row]]
"""Asks a model about one thing; gives its rows. What it asks depends on nothing that another part is told."""
Watch = Callable[[int, int], None]
"""Told how many parts are done, and how many there are."""

# Seconds after which it is told how far it is, though no part has ended.
LOOK = 1.0


def _unwatched(done: int, total: int) -> None:
    """Nobody asks how far it is."""


def ask_parts(
    parts: Sequence[Part], model: Model, *, concurrency: int = 1, watch: Watch = _unwatched
) -> list[Row]:
    """The rows of all parts, by scene and question, whatever the order in which they were answered.

    Args:
        parts: what to ask about.
        model: who is asked.
        concurrency: how many parts at once.
        watch: told how many parts are done, as they end and while none does.

    Raises:
        SubstrateError: what the first part that fails raises; parts that have not begun are left.
    """
    with ThreadPoolExecutor(concurrency) as pool:
        futures = [pool.submit(part, model) for part in parts]
        left = set(futures)
        try:
            while left:
                ended, left = wait(left, LOOK, FIRST_COMPLETED)
                for future in ended:
                    future.result()
                watch(len(parts) - len(left), len(parts))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    rows = [row for future in futures for row in future.result()]
    return sorted(rows, key=lambda row: (row.scene, row.question))


def view(parts: Sequence[Part], baseline: Baseline, records: transcript.Records) -> transcript.Records:
    """The records of a transcript that some parts use, second askings included.

    Raises:
        TranscriptError: something was never asked.
    """
    model = transcript.Replay(records, baseline)
    ask_parts(parts, model)
    used = set(model.asked)
    used |= {transcript.address(transcript.again(records[name].request)) for name in used}
    return {name: record for name, record in records.items() if name in used}


def record(
    parts: Sequence[Part],
    baseline: Baseline,
    settings: Parameters,
    server: Endpoint,
    path: Path,
    clock: Clock | None = None,
    watch: Watch = _unwatched,
) -> int:
    """Ask a server for what a transcript lacks, and add it; nothing is taken from the transcript.

    Args:
        settings: with what patience the server is asked.
        path: the transcript; beside it grows a journal, ``….partial.jsonl``, until all is asked.
        watch: told how many replies there are, and how many there will be as far as can be told, else 0.

    Returns:
        How many requests the server was sent.

    Raises:
        ModelError: the server gave up; what it answered is in the journal, and the next run goes on from
            there.
    """
    patience = Patience(read=settings.timeout, attempts=settings.attempts)
    client = Client(server, baseline, patience, clock)
    try:
        with transcript.journal(transcript.partial_of(path)) as written:
            recorder = Recorder(client, transcript.read_transcript(path), written, baseline)

            def replies(done: int, total: int) -> None:
                watch(recorder.replies, round(recorder.replies * total / done) if done else 0)

            ask_parts(parts, recorder, concurrency=settings.concurrency, watch=replies)
            recorder.finish()
        transcript.settle(path)
        return recorder.asked
    finally:
        client.close()
