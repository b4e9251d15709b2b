"""Faults of the system under a command, a full disk or a kill: old files stay, and the path is named.

The disk is full for a process that may write no file beyond some size (RLIMIT_FSIZE): the system refuses the
write in the middle of a file, as a full disk does.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clevrer_scenes import annotation
from commands import invoke, require_failed, started
from logs import log_of, unfolded

from substrate import EventLog
from substrate.base.files import clear_leftovers, sha256

# The beginning of programs that a signal reaches while they replace a folder. Their own handler of SIGTERM
# does nothing; `ends_when_told` must hear the signal all the same.
DEAF = """
import shutil, signal, sys, time
from contextlib import suppress
from pathlib import Path
from orchestration.base.stopping import ends_when_told
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing

out = Path(sys.argv[1])
with ends_when_told():
    signal.signal(signal.SIGTERM, lambda *_: None)  # a library's own, which lets the work go on
"""
WRITING = f"""{DEAF}
    remove = shutil.rmtree
    shutil.rmtree = lambda *given, **named: (remove(*given, **named), time.sleep(0.1))  # a slow disk
    while True:
        with suppress(OSError, SubstrateError), replacing(out) as fresh:
            print("writing", flush=True)
            while True:
                with replacing(fresh / "part") as part:
                    part.write_text("part")
"""
MOVING = f"""{DEAF}
    Path.replace = lambda *_: (print("moved aside", flush=True), time.sleep(600))
    with replacing(out) as fresh:
        fresh.mkdir()
"""
# Bytes that a process with a full disk can write to a file.
ROOM = 8 << 10
SUBSTRATE = [sys.executable, "-m", "orchestration.cli.main"]


def start(*arguments: object, room: int | None = None, code: str = "") -> subprocess.Popen[str]:
    """A command, or a little code, in a process of its own."""
    return started(*([sys.executable, "-c", code] if code else SUBSTRATE), *arguments, room=room)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs of every command: a log of 2,000 deltas, a scene of many questions."""
    folder = tmp_path_factory.mktemp("inputs")
    log_of((i, f"A <urn:s{i}> <urn:p> <urn:o> .") for i in range(2000)).save(folder / "log.rdfp")
    unfolded("village", until=13)[1].save(folder / "village.rdfp")
    (folder / "annotations").mkdir()
    (folder / "annotations" / "annotation_00007.json").write_text(
        json.dumps(annotation([(0, 1, 30)])), "utf-8"
    )
    question = {"question": "How many?", "question_type": "descriptive", "program": ["objects", "count"]}
    many = [question | {"question_id": number, "answer": "2"} for number in range(200)]
    record = [{"scene_index": 7, "video_filename": "video_00007.mp4", "questions": many}]
    (folder / "questions.json").write_text(json.dumps(record), "utf-8")
    return folder


COMMANDS = {
    "log import": ("log", "import", "IN/log.rdfp", "--out", "OUT"),
    "log import gz": ("log", "import", "IN/log.rdfp", "--out", "OUT.gz"),
    "log export": ("log", "export", "IN/log.rdfp", "--format", "nquads", "--out", "OUT"),
    "answer": (
        *("answer", "clevrer", "--annotations", "IN/annotations", "--questions", "IN/questions.json"),
        *("--out", "OUT"),
    ),
}


@pytest.mark.parametrize("name", ["log import gz", "log export", "answer"])
def test_a_full_disk_is_named_and_leaves_the_old_bytes(name: str, inputs: Path, tmp_path: Path) -> None:
    out = tmp_path / ("out.gz" if name.endswith("gz") else "out")
    arguments = [
        text.replace("IN", str(inputs)).replace("OUT.gz", str(out)).replace("OUT", str(out))
        for text in COMMANDS[name]
    ]
    out.write_bytes(b"what was there")
    require_failed(start(*arguments, room=ROOM), str(out), "the disk is full")
    assert out.read_bytes() == b"what was there"
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


STARVED = """
import resource, sys
import orchestration.cli.answer, orchestration.registry
from orchestration.cli.main import app
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (40 << 20),) * 2)  # the soft and the hard limit
app()
"""


def test_a_command_without_memory_says_so_and_leaves_the_old_bytes(inputs: Path, tmp_path: Path) -> None:
    questions, out = tmp_path / "questions.json", tmp_path / "out"
    # A file is read a record at a time, so one record has to be too large.
    questions.write_bytes(
        (inputs / "questions.json").read_bytes().replace(b"{", b"{" + b" " * (100 << 20), 1)
    )
    out.write_bytes(b"what was there")
    files = ("--annotations", inputs / "annotations", "--questions", questions, "--out", out)
    process = start("answer", "clevrer", *files, code=STARVED)
    output = process.communicate()[1]
    assert process.returncode == 1, output
    assert output.splitlines()[-1].startswith("error: there is not enough memory."), output
    assert out.read_bytes() == b"what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "questions.json"]


def test_generate_on_a_full_disk_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "world"
    out.mkdir()
    (out / "mine.txt").write_text("mine", "utf-8")
    for world in ("babi", "gqa"):
        require_failed(start("generate", world, "--out", out, room=ROOM), str(out), "the disk is full")
        assert [path.name for path in tmp_path.iterdir()] == ["world"]
        assert [path.name for path in out.iterdir()] == ["mine.txt"]
    invoke("generate", "babi", "--questions", "2", "--out", str(out))
    assert (out / "mine.txt").read_text("utf-8") == "mine"
    assert len(list(out.iterdir())) == 21, "a file for each of the 20 tasks, and mine.txt"
    tasks = sha256(out)
    for seed, code in ((20, 0), (21, 1)):
        result = invoke(
            "generate", "babi", "--questions", "2", "--seed", str(seed), "--out", str(out), code=code
        )
        assert ("is there with other bytes" in result.stderr) == bool(code)
        assert sha256(out) == tasks


SAVE = """
import sys
from substrate import EventLog
log = EventLog.read(sys.argv[1])
log.save(sys.argv[2])
"""


def test_save_on_a_full_disk(inputs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.rdfp"
    EventLog().save(out)
    before = out.read_bytes()
    process = start(inputs / "log.rdfp", out, room=ROOM, code=SAVE)
    output = process.communicate()[1]
    assert "LogError" in output
    assert f"{out}: cannot be written (the disk is full" in output
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("name", ["log import", "answer"])
def test_a_kill_leaves_the_old_file_or_the_new_one(name: str, inputs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [text.replace("IN", str(inputs)).replace("OUT", str(out)) for text in COMMANDS[name]]
    begun = time.monotonic()
    assert start(*arguments).wait() == 0
    duration = time.monotonic() - begun
    new, old = out.read_bytes(), b"what was there"
    for part in range(1, 4):
        out.write_bytes(old)
        process = start(*arguments)
        time.sleep(duration * part / 3)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert out.read_bytes() in (old, new)
    clear_leftovers(out)
    assert start(*arguments).wait() == 0
    assert out.read_bytes() == new


def generating(out: Path) -> subprocess.Popen[str]:
    """A command that has written some of a world's files and is writing more."""
    process = start("generate", "babi", "--questions", 1000, "--out", out)
    while not list(out.parent.glob(f".{out.name}.*/{out.name}/*")):
        assert process.poll() is None
        time.sleep(0.01)
    return process


def test_generate_that_is_killed_leaves_no_half_of_a_world(tmp_path: Path) -> None:
    out = tmp_path / "world"
    process = generating(out)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not out.exists()
    assert invoke("generate", "babi", "--questions", "2", "--out", str(out), code=None).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["world"]
    assert len(list(out.iterdir())) == 20


def test_generate_that_is_told_to_end_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    process = generating(tmp_path / "world")
    process.send_signal(signal.SIGTERM)
    output = process.communicate()[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert "interrupted by SIGTERM: " in output
    assert "Traceback" not in output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_moved_aside_for_a_new_one_comes_back(tmp_path: Path) -> None:
    # The state between the two renames of a replacement whose process was killed there.
    scratch = tmp_path / ".world.x.scratch"
    (scratch / "old").mkdir(parents=True)
    (scratch / "old" / "mine.txt").write_text("mine", "utf-8")
    clear_leftovers(tmp_path / "world")
    assert [path.name for path in tmp_path.iterdir()] == ["world"]
    assert (tmp_path / "world" / "mine.txt").read_text("utf-8") == "mine"


@pytest.mark.parametrize("code", [WRITING, MOVING])
def test_a_command_that_is_told_to_end_while_it_replaces_leaves_the_old_folder(
    code: str, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", "utf-8")
    process = start(tmp_path / "out", code=code)
    assert process.stdout
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert "Traceback" not in process.communicate()[1]
    assert process.returncode == 128 + signal.SIGTERM
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == [
        "out",
        "out/mine.txt",
    ]
