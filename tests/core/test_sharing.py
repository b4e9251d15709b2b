"""A log that several threads and processes know: one order, one file, one writer."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyoxigraph as ox
import pytest
from commands import ROOT, python
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import log_of

from substrate import Assert, EventLog, LogError, fork

# Here a forked process is meant, which shares the log's file; `substrate.fork` makes a branch of a log.
needs_os_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")


def statement(name: object) -> str:
    return f'A <urn:s> <urn:p> "{name}" .'


def at_once(tasks: list[Callable[[], None]]) -> None:
    """Run tasks in threads that start together; the first error is raised here."""
    barrier, errors = threading.Barrier(len(tasks)), list[BaseException]()

    def run(task: Callable[[], None]) -> None:
        barrier.wait()
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def in_a_forked_process(work: Callable[[], str]) -> str:
    """The outcome of some work in a forked process: its result, or its error as text."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            result = work()
        except BaseException as error:
            result = f"{type(error).__name__}: {error}"
        os.write(write, result.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        result = pipe.read()
    os.waitpid(pid, 0)
    return result


@pytest.mark.parametrize("suffix", [".rdfp", ".rdfp.gz"])
def test_appends_of_threads_stand_in_one_order_in_file_and_memory(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    acknowledged: list[str] = []

    def writer(log: EventLog, name: int) -> Callable[[], None]:
        def write() -> None:
            for number in range(50):
                log.extend_lines([(0, statement(f"{name} {number} {part}")) for part in "ab"])
                acknowledged.append(f"{name} {number} a")
                assert log.head.query(f'ASK {{ ?s ?p "{name} {number} b" }}')

        return write

    with EventLog.open(path) as log:
        at_once([writer(log, name) for name in range(4)])
        in_memory = list(log)
    on_disk = EventLog.read(path)
    assert list(on_disk) == in_memory
    assert on_disk.digest == log.digest == EventLog(in_memory).digest
    values = [str(delta.triple[2].value) for delta in in_memory]  # pyright: ignore
    assert len(values) == 400
    assert set(acknowledged) == {value for value in values if value.endswith("a")}
    for name in range(4):
        own = [value for value in values if value.startswith(f"{name} ")]
        assert own == [f"{name} {number} {part}" for number in range(50) for part in "ab"]
    assert all(values[i][:-1] == values[i + 1][:-1] for i in range(0, 400, 2)), "one call is one step"


@settings(max_examples=10)
@given(st.integers(2, 4), st.integers(0, 10**6))
def test_readers_and_forks_beside_writers_see_whole_prefixes(writers: int, seed: int) -> None:
    log = log_of((0, statement(f"first {number}")) for number in range(50))
    first, chance = len(log), random.Random(seed)

    def write(name: int) -> None:
        for number in range(60):
            log.extend_lines([(0, statement(f"{name} {number}"))])

    def read() -> None:
        for _ in range(20):
            seen = len(log)
            assert len(log.state()) >= min(seen, first)
            branch = fork(log, 0)
            assert branch.digest == EventLog(list(branch)).digest
            some = log[chance.randrange(first)].triple
            assert log.history(some).holds(0)

    at_once([*(lambda n=n: write(n) for n in range(writers)), read, read])
    assert len(log) == first + 60 * writers
    assert log.digest == EventLog(list(log)).digest
    assert len(log.head) == len(log.state())


@needs_os_fork
def test_a_forked_process_reads_but_does_not_append(tmp_path: Path) -> None:
    path = tmp_path / "log.rdfp"
    with EventLog.open(path) as log:
        log.extend_lines([(0, statement("mine"))])
        before = path.read_bytes()
        result = in_a_forked_process(lambda: log.extend_lines([(1, statement("theirs"))]) or "appended")
        assert result.startswith("LogError")
        assert "forked from the process that opened the log" in result
        assert path.read_bytes() == before
        fact = log[0].triple
        assert in_a_forked_process(lambda: f"{len(log.state())} {log.digest}") == f"1 {log.digest}"
        other = (fact[0], fact[1], fact[0])
        assert in_a_forked_process(lambda: str(len(fork(log, 1, Assert(other))))) == "2"
        log.extend_lines([(1, statement("mine again"))])
    assert EventLog.read(path).digest == log.digest


@needs_os_fork
def test_a_forked_process_does_not_hold_the_log_when_its_opener_has_closed_it(tmp_path: Path) -> None:
    log = EventLog.open(tmp_path / "log.rdfp")
    log.extend_lines([(0, statement("mine"))])
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    try:
        log.close()
        EventLog.open(tmp_path / "log.rdfp").close()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_a_log_without_the_systems_locks_still_writes_and_reads(tmp_path: Path) -> None:
    """As on Windows, where there is no fcntl, no fork and no folder to sync."""
    code = f"""
import os, random, sys, tempfile, threading
sys.modules["fcntl"] = None
del os.register_at_fork, os.O_CLOEXEC
from pathlib import Path
from substrate import EventLog
from substrate.base.files import filling, replacing
with replacing(Path({str(tmp_path / "new" / "file")!r})) as fresh:
    fresh.write_text("whole")
with filling(Path({str(tmp_path / "folder")!r})) as fresh:
    (fresh / "file").write_text("whole")
with EventLog.open({str(tmp_path / "log.rdfp.gz")!r}) as log:
    log.extend_lines([(0, 'A <urn:s> <urn:p> "a" .')])
log.save({str(tmp_path / "copy.rdfp")!r})
print(EventLog.read({str(tmp_path / "log.rdfp.gz")!r}).digest == log.digest)
"""
    ran = python("-c", code)
    assert ran.stdout == "True\n", ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.rdfp", "folder", "log.rdfp.gz", "new"]
    assert (tmp_path / "new" / "file").read_text() == (tmp_path / "folder" / "file").read_text() == "whole"


ELSEWHERE = """
import fcntl, sys
fcntl.flock = lambda *_: None  # a shared folder that carries no locks
from substrate import EventLog
from substrate.base.errors import LogError
log = EventLog.open(sys.argv[1])
print(len(log), flush=True)
for line in sys.stdin:
    try:
        log.extend_lines([(len(log), f'A <urn:{sys.argv[2]}> <urn:at> <urn:{line.strip()}> .')])
        print("kept", flush=True)
    except LogError as error:
        print(f"{error.what}; {len(log)} deltas", flush=True)
"""


def test_a_writer_on_another_machine_that_no_lock_reaches_is_refused(tmp_path: Path) -> None:
    """Two processes whose locks do nothing stand for two machines; whoever appends second is refused."""
    path = tmp_path / "log.rdfp"
    machines = [
        subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE, str(path), name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("first", "second")
    ]

    def tell(machine: int, word: str) -> str:
        process = machines[machine]
        assert process.stdin
        assert process.stdout
        if word:
            process.stdin.write(f"{word}\n")
            process.stdin.flush()
        return process.stdout.readline().strip()

    refused = "another writer, which the lock did not stop, changed the file; 0 deltas"
    assert [tell(0, ""), tell(1, "")] == ["0", "0"]
    assert [tell(0, "a"), tell(1, "b"), tell(0, "c"), tell(0, "d")] == ["kept", refused, "kept", "kept"]
    assert tell(1, "e") == refused
    for process in machines:
        process.communicate()
    objects = [delta.triple[2] for delta in EventLog.read(path)]
    assert objects == [ox.NamedNode(f"urn:{name}") for name in "acd"]


def test_a_log_closed_by_another_thread_is_refused_or_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.rdfp"
    log = EventLog.open(path)

    def write() -> None:
        with suppress(LogError):
            for number in range(200):
                log.extend_lines([(0, statement(number))])

    at_once([write, log.close])
    values = [delta.triple[2] for delta in EventLog.read(path)]
    assert values == [delta.triple[2] for delta in log][: len(values)]
