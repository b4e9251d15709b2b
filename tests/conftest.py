"""Fixtures that more than one room uses."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path

import pytest
from hypothesis import settings
from projects import QUICK_JAVA, ROOT, enter, reproduced_once, write_project

# A process that a shell starts in the background ignores Ctrl-C, and under nohup SIGHUP; the processes that a
# test starts would inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# An example may take as long as it needs: no test judges time. Hypothesis warns about a checkout that it
# cannot write to, and a warning is an error here.
STORE = {} if os.access(ROOT, os.W_OK) else {"database": None}
settings.register_profile("house", settings(), deadline=None, **STORE)
settings.register_profile("quick", settings.get_profile("house"), max_examples=25)
settings.load_profile("house")

# The folders all of whose tests are long: they start Spark, injure a run, or read much data.
LONG_ROOMS = [ROOT / "tests" / room for room in ("benchmarks", "faults", "orchestration/spark", "real")]
# The fixtures of a project that is reproduced once for all workers.
SHARED = {"unchanged_project", "unchanged_beyond"}


class Turn(IntEnum):
    """The order of test files; see :func:`pytest_collection_modifyitems`."""

    MAKER, LONG, PIPELINE, SHARED_LONG, SHARED, OTHER = range(6)


# Scratch files of the commands that tests start lie in memory, where there is enough of it.
MEMORY, ENOUGH = Path("/dev/shm"), 4 << 30
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
    os.environ.setdefault("TMPDIR", str(MEMORY))
    # Pytest has made a file to capture output by now: the variable is read again.
    tempfile.tempdir = None

os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_JAVA)
# Tests start hundreds of processes: each would compile what the one before compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first, so that no worker ends alone with one: the long tests, then the tests that
    run the pipeline.

    For each of the two shared projects, a file that needs only this one comes before all, so that two workers
    make them; the other files that need one come late. A file comes as early as the first of its tests. A
    test that needs the second project, or is in one of `LONG_ROOMS`, is marked long.
    """
    turns, needs = dict[Path, Turn](), dict[Path, set[str]]()
    for item in items:
        fixtures = set[str](getattr(item, "fixturenames", ()))
        if any(map(item.path.is_relative_to, LONG_ROOMS)) or "unchanged_beyond" in fixtures:
            item.add_marker("long")
        long = item.get_closest_marker("long") is not None
        turns[item.path] = min(_turn(fixtures, long), turns.get(item.path, Turn.OTHER))
        needs.setdefault(item.path, set()).update(SHARED & fixtures)
    for shared in SHARED:
        if maker := next((path for path, names in needs.items() if names == {shared}), None):
            turns[maker] = Turn.MAKER
    items.sort(key=lambda item: turns[item.path])


def _turn(fixtures: set[str], long: bool) -> Turn:
    if SHARED & fixtures:
        return Turn.SHARED_LONG if long else Turn.SHARED
    return Turn.LONG if long else Turn.PIPELINE if "small_project" in fixtures else Turn.OTHER


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data beside the repository; skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data are not beside this checkout (../shared/data)")
    return folder


@pytest.fixture(scope="session")
def clevrer(real_data: Path) -> Path:
    """The folder of CLEVRER's real data."""
    return real_data / "clevrer"


@pytest.fixture(scope="session")
def small_project() -> Callable[..., Path]:
    """Writes a small project to a new folder: `small_project(root, scenes=3)`."""

    def make(root: Path, scenes: int = 3) -> Path:
        write_project(root, scenes)
        return root

    return make


@pytest.fixture
def make_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_project: Callable[..., Path]
) -> Callable[..., Path]:
    """Writes a small project for one test and makes it the working folder: `make_project(scenes=3)`."""

    def make(name: str = "project", scenes: int = 3) -> Path:
        root = small_project(tmp_path / name, scenes)
        enter(root, monkeypatch)
        return root

    return make


@pytest.fixture(scope="session")
def unchanged_project(request: pytest.FixtureRequest) -> Path:
    """The small project that was reproduced and pinned, for tests that only read it.

    It is made once for all workers, and kept while code and parameters are the same.
    """
    return reproduced_once(request.config.cache.mkdir("reproduced"), "sample")


@pytest.fixture(scope="session")
def unchanged_beyond(request: pytest.FixtureRequest) -> Path:
    """The same project, reproduced under the profile `beyond`."""
    return reproduced_once(request.config.cache.mkdir("reproduced-beyond"), "beyond")


@pytest.fixture
def reproduced(unchanged_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project that was reproduced and pinned, entered; DVC's cache is gone, as in a clone.

    Each test has a copy. It takes 0.1 s of processor time; hard links would save most of that, and let a test
    that writes into a file change the file of every other test.
    """
    return _copied(unchanged_project, tmp_path, monkeypatch)


@pytest.fixture
def without_dvc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pinning leaves DVC's files as they are, since to write them takes 3 s; DVC's own tests check that."""
    monkeypatch.setattr("orchestration.dvc.dvc_files.commit", lambda *_: None)


@pytest.fixture
def reproduced_beyond(unchanged_beyond: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the small project that was reproduced under the profile `beyond`, entered."""
    return _copied(unchanged_beyond, tmp_path, monkeypatch)


def _copied(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    shutil.copytree(project, root, symlinks=True)
    enter(root, monkeypatch)
    return root
