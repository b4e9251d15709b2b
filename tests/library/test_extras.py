"""The library installed alone: the packages that it needs, and its errors where an extra is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest

import substrate
import substrate.base.extras
from substrate.base.extras import EXTRAS, MissingExtraError, import_extra

# The checkout, where these tests run from one.
HERE = Path(__file__).resolve().parents[2]


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def command(*arguments: str, without: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The command where some packages are not installed."""
    hidden = "".join(f"sys.modules[{name!r}] = None; " for name in without)
    start = f"sys.argv = {['substrate', *arguments]!r}; from substrate.cli.launcher import main; main()"
    return run(f"import sys; {hidden}{start}")


def test_the_library_loads_nothing_beyond_pyoxigraph_and_msgspec() -> None:
    loads = "import sys; from substrate import Memory; "
    program = f"{loads}print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    loaded = set(run(program).stdout.split())
    assert {"substrate", "pyoxigraph", "msgspec"} <= loaded
    assert not loaded & {*EXTRAS, "orchestration"}


def test_the_version_is_the_same_everywhere() -> None:
    assert command("--version").stdout == f"substrate {substrate.__version__}\n"
    assert command("--version", without=("typer",)).stdout == f"substrate {substrate.__version__}\n"
    citation = HERE / "CITATION.cff"
    if citation.is_file():
        assert f"\nversion: {substrate.__version__}\n" in citation.read_text("utf-8")
        assert f"## {substrate.__version__}\n" in (HERE / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize(("asked", "extra"), [("log", "cli"), ("mcp", "mcp"), ("generate", "cli")])
def test_a_command_that_is_not_installed_names_its_extra(asked: str, extra: str) -> None:
    done = command(asked, "FILE", without=("typer",))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"substrate {asked}" in done.stderr
    assert f"pip install 'event-graph-substrate[{extra}]'" in done.stderr


def test_without_its_commands_the_command_lists_the_extras_to_install() -> None:
    done = command("--help", without=("typer",))
    assert done.returncode == 0
    assert set(re.findall(r"event-graph-substrate\[(\w+)\]", done.stdout)) == {"cli", "mcp", "worlds"}


def test_a_module_that_is_missing_is_asked_for_by_the_name_of_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyshacl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'event-graph-substrate\[shacl\]'") as raised:
        import_extra("pyshacl")
    assert isinstance(raised.value, ImportError)
    with pytest.raises(MissingExtraError, match="shacl"):
        substrate.TBox.load("village").validate(substrate.EventLog().state())
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        import_extra("no_such_module")


def test_every_extra_that_is_named_can_be_installed() -> None:
    try:
        known = metadata(substrate.base.extras.PROJECT).get_all("Provides-Extra") or []
    except ModuleNotFoundError:
        pytest.skip("the project is not installed")
    if not (HERE / "pyproject.toml").is_file() or "cli" in known:
        assert {*EXTRAS.values()} - {"research"} <= {*known}
        bare = [text for text in requires(substrate.base.extras.PROJECT) or [] if "extra ==" not in text]
        assert sorted(re.split(r"[<>=]", text)[0] for text in bare) == ["msgspec", "pyoxigraph"]
