"""A file that is no log is left alone; an end that is cut off is kept; a damaged log can be repaired."""

from __future__ import annotations

import gzip
import os
import stat
import warnings
from pathlib import Path

import pytest
from pyoxigraph import NamedNode
from typer.testing import CliRunner

from substrate import Delta, EventLog, LogError, Op, TornTailWarning
from substrate.cli.log import log_app
from substrate.log.repair import repair


def fact(n: int) -> Delta:
    return Delta(n, Op.INSERT, (NamedNode("urn:ann"), NamedNode("urn:at"), NamedNode(f"urn:place:{n}")))


def log_of_ten(path: Path) -> EventLog:
    with EventLog.open(path) as log:
        for n in range(10):
            log.append(fact(n))
    return log


@pytest.mark.parametrize(
    "content",
    [b'{"name": "a", "lines": 1}', b"x" * 100_000, b"\x00\x01\x02\xff" * 50, b"A cat sat", b"# notes\nmore"],
    ids=["json", "long", "binary", "prose", "lines"],
)
@pytest.mark.parametrize("suffix", [".rdfp", ".json", ".gz"])
def test_a_file_that_is_no_log_is_refused_and_not_changed(
    content: bytes, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    with pytest.raises(LogError, match="file"):
        EventLog.open(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_cut_off_gzip_file_of_another_program_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(os.urandom(5_000))[:-100])
    before = path.read_bytes()
    with pytest.raises(LogError, match="another program"):
        EventLog.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", [".rdfp", ".rdfp.gz"])
def test_a_torn_tail_is_kept_beside_the_log_and_named(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    log_of_ten(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.warns(TornTailWarning, match=r"moved to .*\.cut-"):
        log = EventLog.open(path)
    log.close()
    assert log.torn
    assert log.torn.kept
    assert path.read_bytes() + log.torn.kept.read_bytes() == whole[:-20]


def test_a_closed_log_and_one_whose_file_is_gone_refuse(tmp_path: Path) -> None:
    log = log_of_ten(tmp_path / "a.rdfp")
    with pytest.raises(LogError, match="closed"):
        log.append(fact(10))
    assert len(log) == 10
    with EventLog.open(tmp_path / "b.rdfp") as other:
        other.append(fact(0))
        (tmp_path / "b.rdfp").unlink()
        with pytest.raises(LogError, match="deleted"):
            other.append(fact(1))
        assert len(other) == 1


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o027, 0o640), (0o002, 0o664)])
def test_a_new_log_has_the_mode_of_new_files_and_an_old_one_keeps_its_own(
    umask: int, mode: int, tmp_path: Path
) -> None:
    before = os.umask(umask)
    try:
        log_of_ten(tmp_path / "a.rdfp").save(tmp_path / "b.rdfp.gz")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {mode}
    log = log_of_ten(tmp_path / "c.rdfp")
    private, link = tmp_path / "private.rdfp", tmp_path / "link.rdfp"
    private.touch(0o600)
    link.symlink_to(private)
    log.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert EventLog.read(private) == log


def test_a_pipe_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for opened in (EventLog.read, EventLog.open):
        with pytest.raises(LogError, match="not a file"):
            opened(tmp_path / "pipe")


@pytest.mark.parametrize("suffix", [".rdfp", ".rdfp.gz"])
def test_a_damaged_log_goes_on_from_what_its_chain_proves(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    log = log_of_ten(path)
    damaged = bytearray(path.read_bytes())
    at = len(damaged) * 7 // 10
    damaged[at : at + 30] = bytes(30)
    path.write_bytes(damaged)
    with pytest.raises(LogError):
        EventLog.read(path)

    foreseen = repair(path, dry_run=True)
    assert path.read_bytes() == bytes(damaged)
    made = repair(path)
    assert made == foreseen._replace(kept=made.kept)
    assert made.kept
    assert made.kept.read_bytes() == bytes(damaged)
    assert 4 <= made.deltas < 10
    assert made.why
    with EventLog.open(path) as again:
        assert again.digest == made.digest == log.digest_at(made.deltas - 1)
        again.append(fact(20))
    assert not repair(path).why


def test_a_whole_log_needs_no_repair_and_a_hopeless_one_stays(tmp_path: Path) -> None:
    log_of_ten(tmp_path / "a.rdfp")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = repair(tmp_path / "a.rdfp")
    assert (whole.deltas, whole.why, whole.gone, whole.kept) == (10, "", [], None)
    (tmp_path / "b.rdfp").write_bytes(b"no log")
    with pytest.raises(LogError, match="no transaction"):
        repair(tmp_path / "b.rdfp")
    assert (tmp_path / "b.rdfp").read_bytes() == b"no log"


def test_the_command_can_rehearse_and_names_the_lost_ticks(tmp_path: Path) -> None:
    path = tmp_path / "a.rdfp"
    log_of_ten(path)
    damaged = path.read_bytes().replace(b"urn:place:7", b"urn:place:X")
    path.write_bytes(damaged)
    rehearsal = CliRunner().invoke(log_app, ["repair", str(path), "--dry-run"])
    assert rehearsal.exit_code == 0, rehearsal.output
    assert "nothing was changed" in rehearsal.stdout
    assert path.read_bytes() == damaged
    made = CliRunner().invoke(log_app, ["repair", str(path)])
    assert "proven: 7 deltas to tick 6" in made.stdout
    assert "gone: 3 ticks that are named behind it, 7 to 9" in made.stdout
    assert len(EventLog.read(path)) == 7
    assert (tmp_path / "a.rdfp.damaged").read_bytes() == damaged
