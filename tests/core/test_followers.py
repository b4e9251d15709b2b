"""A reader sees what a writer appends."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest
from commands import started
from logs import log_of

from substrate import Assert, EventLog, LogError, Namespace, fork
from substrate.log.event_log import TornTailWarning
from substrate.log.journal import TornTail

V = Namespace("urn:")


def line(tick: int, name: object) -> tuple[int, str]:
    return tick, f'A <urn:s> <urn:p> "{name} ü" .'


@pytest.mark.parametrize("suffix", [".rdfp", ".rdfp.gz"])
def test_a_reader_follows_a_writer_append_by_append(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    with EventLog.open(path) as writer:
        reader = EventLog.read(path)
        assert reader.refresh() == 0
        head = reader.head
        for tick in range(5):
            writer.extend_lines([line(tick, tick), line(tick, "again")])
            assert reader.refresh() == 2
            assert reader == writer
            assert reader.last_tick == tick
            assert reader.state().nquads() == head.nquads() == writer.head.nquads()
            assert bool(head.query(f'ASK {{ ?s ?p "{tick} ü" }}'))
            assert reader.history(reader[-1].triple) == writer.history(writer[-1].triple)
        writer.extend_lines([line(4, "within a tick")])
        assert reader.refresh() == 1
        assert EventLog.read(path) == reader


def test_a_reader_follows_a_fork_that_was_empty_when_it_was_read(tmp_path: Path) -> None:
    branch = fork(log_of([line(0, "a")]), 1, Assert((V.a, V.b, V.c)))
    (tmp_path / "log.rdfp").touch()
    reader = EventLog.read(tmp_path / "log.rdfp")
    branch.save(tmp_path / "log.rdfp")
    assert reader.refresh() == 2
    assert (reader, reader.descent) == (branch, branch.descent)


@pytest.mark.parametrize("suffix", [".rdfp", ".rdfp.gz"])
def test_half_an_append_is_left_for_the_next_time(tmp_path: Path, suffix: str) -> None:
    path, grown = tmp_path / f"log{suffix}", tmp_path / f"grown{suffix}"
    with EventLog.open(path) as writer:
        writer.extend_lines([line(0, "a")])
        before = path.read_bytes()
        writer.extend_lines([line(1, "b")])
        after = path.read_bytes()
    grown.write_bytes(before)
    reader = EventLog.read(grown)
    for size in range(len(before), len(after)):
        grown.write_bytes(after[:size])
        assert reader.refresh() == 0, size
    grown.write_bytes(after)
    assert reader.refresh() == 1
    assert reader == writer


@pytest.mark.parametrize("suffix", [".rdfp", ".rdfp.gz"])
def test_a_log_of_long_and_short_transactions_is_read_cut_off_anywhere(tmp_path: Path, suffix: str) -> None:
    path, cut = tmp_path / f"log{suffix}", tmp_path / f"cut{suffix}"
    sizes = [1, 20_000, 1, 1, 9, 3_000, 1]
    whole, ends = EventLog(), [0]
    for tick, size in enumerate(sizes):
        whole.extend_lines([line(tick, f"{tick}-{number}") for number in range(size)])
        whole.save(path)
        ends.append(path.stat().st_size)
    assert EventLog.read(path) == whole
    data = path.read_bytes()
    if suffix == ".rdfp":
        for tick, (start, end) in enumerate(pairwise(ends)):
            cut.write_bytes(data[: end - 3])
            with pytest.warns(TornTailWarning):
                reader = EventLog.read(cut)
            assert (len(reader), reader.torn) == (sum(sizes[:tick]), TornTail(start, end - 3 - start))
            cut.write_bytes(data)
            assert reader.refresh() == len(whole) - sum(sizes[:tick])
            assert reader == whole
    flipped = bytearray(data)
    flipped[-20] ^= 1
    cut.write_bytes(flipped)
    with pytest.raises(LogError, match=f"tick {len(sizes) - 1}" if suffix == ".rdfp" else "tick"):
        EventLog.read(cut)


def test_another_process_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "log.rdfp"
    EventLog.open(path).close()
    reader = EventLog.read(path)
    code = f"""
from substrate import EventLog
with EventLog.open({str(path)!r}) as log:
    for number in range(50):
        log.extend_lines([(number, f'A <urn:s> <urn:p> "{{number}}" .')])
"""
    with started(sys.executable, "-c", code) as writer:
        while writer.poll() is None:
            reader.refresh()
            assert [delta.tick for delta in reader] == list(range(len(reader)))
    reader.refresh()
    assert len(reader) == 50
    assert reader == EventLog.read(path)


def test_a_file_that_does_not_continue_the_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.rdfp"
    first, other = (log_of(map(line, range(len(names)), names)) for names in ("ab", "xbc"))
    first.save(path)
    reader = EventLog.read(path)
    other.save(path)
    with pytest.raises(LogError, match=r"tick 2: .*not what was appended"):
        reader.refresh()
    EventLog(first[:1]).save(path)
    with pytest.raises(LogError, match="has become shorter"):
        reader.refresh()
    assert reader == first
    reader.extend_lines([line(5, "mine")])
    first.save(path)
    with pytest.raises(LogError, match="appended to since it was read"):
        reader.refresh()
    for log in (EventLog(), fork(first, 1), EventLog.open(tmp_path / "open.rdfp")):
        with pytest.raises(LogError, match="not read from a file"):
            log.refresh()
