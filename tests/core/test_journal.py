"""A log on disk: torn tails, edited bytes, second writers, writes that fail."""

from __future__ import annotations

import errno
import gzip
import os
import re
import warnings
from pathlib import Path

import pytest
from commands import python

from substrate import EventLog, LogError, TornTailWarning, fork

SUFFIXES = [".rdfp", ".rdfp.gz"]


def line(tick: int, value: str) -> tuple[int, str]:
    return tick, f'A <urn:s{tick}> <urn:p> "{value}" .'


def written(path: Path, ticks: int = 4) -> EventLog:
    with EventLog.open(path) as log:
        for tick in range(ticks):
            log.extend_lines([line(tick * 3, "é\u2028\u0085"), line(tick * 3, "b")])
    return log


def test_a_gzip_log_is_read_by_any_gzip_reader_and_the_reverse(tmp_path: Path) -> None:
    log = written(tmp_path / "log.rdfp.gz")
    assert gzip.decompress((tmp_path / "log.rdfp.gz").read_bytes()).decode() == log.to_patch()
    (tmp_path / "foreign.rdfp.gz").write_bytes(gzip.compress(log.to_patch().encode()))
    assert EventLog.read(tmp_path / "foreign.rdfp.gz").digest == log.digest


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_cut_is_a_torn_tail_that_is_dropped_and_reported(tmp_path: Path, suffix: str) -> None:
    path, torn = tmp_path / f"log{suffix}", tmp_path / f"torn{suffix}"
    log, raw = written(path), path.read_bytes()
    whole_ends = {0, len(raw)}
    for cut in range(len(raw)):
        torn.write_bytes(raw[:cut])
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter("always")
            reread = EventLog.read(torn)
        if reread.torn is None:
            whole_ends.add(cut)
        else:
            assert [w.category for w in reported] == [TornTailWarning]
            assert "cut off" in str(reported[0].message)
            assert reread.torn.offset in whole_ends
            assert reread.torn.offset + reread.torn.dropped == cut
        assert list(reread) == list(log)[: len(reread)]
    assert len(whole_ends) == 5, "a file is whole after each append, and nowhere else"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_edited_byte_is_found_with_its_tick(tmp_path: Path, suffix: str) -> None:
    path, edited = tmp_path / f"log{suffix}", tmp_path / f"edited{suffix}"
    written(path)
    raw = path.read_bytes()
    ends = _ends(path)
    for position in range(len(raw)):
        edited.write_bytes(raw[:position] + bytes([raw[position] ^ 1]) + raw[position + 1 :])
        with pytest.raises(LogError) as caught:
            EventLog.read(edited)
        tick = next(tick for end, tick in ends if position < end)
        assert re.search(rf"\btick {tick}\b", str(caught.value)), (position, str(caught.value))
        assert "edited" in str(caught.value)


def _ends(path: Path) -> list[tuple[int, int]]:
    """The end of each append in a file of `written`, and its tick."""
    raw, ends = path.read_bytes(), []
    if path.suffix == ".gz":
        # An append is a member of gzip with an extra field and a checksum of its header: the flags 4 and 2.
        starts = [m.start() for m in re.finditer(rb"\x1f\x8b\x08\x06", raw)] + [len(raw)]
        return [(end, 3 * number) for number, end in enumerate(starts[1:])]
    for match in re.finditer(rb"TC \.\n", raw):
        ends.append((match.end(), 3 * len(ends)))
    return ends


def test_deleted_and_swapped_transactions_are_found(tmp_path: Path) -> None:
    path = tmp_path / "log.rdfp"
    written(path)
    parts = re.split(r"(?<=TC \.\n)", path.read_text("utf-8"))[:-1]
    # Written at the ticks 0, 3, 6 and 9: the fault is named with the tick of the first wrong transaction.
    for order, tick in [((0, 2, 3), 6), ((1, 0, 2, 3), 3), ((0, 1, 1, 2, 3), 3)]:
        path.write_text("".join(parts[i] for i in order), "utf-8")
        with pytest.raises(LogError, match=rf"tick {tick}\b"):
            EventLog.read(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_second_writer_in_another_process_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    with EventLog.open(path) as log:
        log.extend_lines([line(0, "mine")])
        code = f"from substrate import EventLog\nEventLog.open({str(path)!r})"
        other = python("-c", code)
        assert other.returncode != 0
        assert "another writer has this log open" in other.stderr
        with pytest.raises(LogError, match="another writer"):
            EventLog([]).save(path)
        assert len(EventLog.read(path)) == 1, "reading is open to all"
    EventLog.open(path).close()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_write_that_fails_half_way_leaves_the_file_as_it_was(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log{suffix}"
    written(path)
    before = path.read_bytes()
    # A file-size limit lets the first bytes of the append through, then refuses: a real partial write.
    code = f"""
import resource, signal, random, sys
sys.dont_write_bytecode = True
from substrate import EventLog, LogError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = EventLog.open({str(path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 20}, resource.RLIM_INFINITY))
noise = "".join(random.Random(1).choices("abcdefghijklmnop", k=5000))
try:
    log.extend_lines([(50, f'A <urn:s> <urn:p> "{{noise}}" .')])
except LogError as error:
    print(len(log), error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.extend_lines([(51, 'A <urn:s> <urn:p> "after" .')])
print(log.digest)
"""
    ran = python("-c", code)
    first, digest = ran.stdout.splitlines()
    assert first.startswith("8 ")
    assert "cannot append" in first
    after = path.read_bytes()
    assert after.startswith(before)
    assert EventLog.read(path).digest == digest


@pytest.mark.parametrize("refused", ["ftruncate", "fsync"])
def test_an_append_that_cannot_be_undone_ends_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    path = tmp_path / "log.rdfp"
    written(path)
    log = EventLog.open(path)
    known = len(log)
    write = os.write

    def half(handle: int, data: bytes) -> int:
        write(handle, bytes(data)[:150])
        raise OSError(errno.EIO, "the disk fails")

    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "the disk fails")

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", half)
        disk.setattr(os, refused, refuse)
        with pytest.raises(LogError, match="cannot append"):
            log.extend_lines([(60, 'A <urn:s> <urn:p> "half" .')])
    # The disk works again, but an append after half a transaction would be dropped with it.
    with pytest.raises(LogError, match="could not be undone"):
        log.extend_lines([(61, 'A <urn:s> <urn:p> "after" .')])
    assert len(log) == known
    log.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornTailWarning)
        again = EventLog.open(path)
    with again:
        again.extend_lines([(62, 'A <urn:s> <urn:p> "again" .')])
    assert len(EventLog.read(path)) == known + 1


def test_a_log_that_cannot_be_opened_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LogError, match="cannot be opened"):
        EventLog.open(tmp_path / "absent" / "log.rdfp")
    with pytest.raises(LogError, match="cannot be read"):
        EventLog.read(tmp_path / "absent.rdfp")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("substrate.base.files.fcntl.flock", refuse)
    with pytest.raises(LogError, match=r"cannot be locked \(No locks available\)"):
        EventLog.open(tmp_path / "log.rdfp")


def test_a_fork_keeps_its_descent_in_its_file(tmp_path: Path) -> None:
    log = written(tmp_path / "log.rdfp")
    branch = fork(log, at=3)
    branch.save(tmp_path / "branch.rdfp")
    read = EventLog.read(tmp_path / "branch.rdfp")
    assert (read.parent_digest, read.branch_tick) == (log.digest, 3)
    text = (tmp_path / "branch.rdfp").read_text("utf-8")
    (tmp_path / "branch.rdfp").write_text(text.replace('H branch "3"', 'H branch "4"'), "utf-8")
    with pytest.raises(LogError, match="tick 0"):
        EventLog.read(tmp_path / "branch.rdfp")
