"""Commands of `substrate` in this process, where the platform is loaded already; and Python in another."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from typer.testing import CliRunner, Result

ROOT = Path(__file__).resolve().parents[2]


def invoke(*arguments: object, code: int | None = 0) -> Result:
    """Run a command; ``code`` is the exit code that it must have, or None where any will do."""
    from orchestration.cli.main import app

    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert code is None or result.exit_code == code, result.output
    return result


def printed(*arguments: object, code: int = 0) -> str:
    """The text that a command prints to standard output."""
    return invoke(*arguments, code=code).stdout


def output_of(*arguments: object, code: int = 0) -> str:
    """All that a command prints, errors included."""
    return invoke(*arguments, code=code).output


def python(
    *arguments: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with the checkout's packages in a process; ``environment`` is added to that of this one."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def started(
    *command: object, room: int | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """A command in a process group of its own; `room` is the longest file that it can write."""

    def limit() -> None:
        if room is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    # Python takes no notice of a compiled file that was cut short: the next process could not read it.
    limited = {} if room is None else {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        [*map(str, command)],
        env=os.environ | limited | {"PYTHONPATH": str(ROOT)} | dict(environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
        start_new_session=True,
    )


def require_failed(process: subprocess.Popen[str], *words: str) -> str:
    """Check that a command ends with an error that has the words; return its standard output."""
    printed, error = process.communicate()
    assert process.returncode == 1, error
    assert "Traceback" not in error
    assert [word for word in words if word not in error] == [], error
    return printed


HOLD = """import sys, time; from pathlib import Path
from orchestration.base.project_lock import project_lock
with project_lock(Path(sys.argv[1]), "a long run"):
    print("held", flush=True); time.sleep(float(sys.argv[2]))"""


def hold(root: Path, seconds: float) -> subprocess.Popen[str]:
    """Start a process that takes the lock of a project, and says so."""
    return started(sys.executable, "-c", HOLD, root, seconds)


@contextmanager
def lock_held(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process holds the lock of a project inside the block."""
    with hold(root, 600) as holder:
        try:
            assert holder.stdout
            assert holder.stdout.readline() == "held\n"
            yield holder
        finally:
            holder.kill()
