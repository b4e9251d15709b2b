"""`make setup` takes of the lock what the pipeline needs, and uv looks where pip was told to look."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest
from script_modules import script

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment() -> Any:
    return script("environment")


def test_the_pipeline_needs_no_tool_of_the_developers_but_what_builds_the_checkout(environment: Any) -> None:
    locked = environment.blocks((ROOT / "requirements.lock").read_text("utf-8"))
    needed = environment.platform(locked)
    assert {"pyoxigraph", "dagster", "pyspark", "py4j", "dvc", "pybullet", "hatchling", "uv"} <= needed
    assert not {"pytest", "ruff", "pyright", "mkdocs-material", "playwright"} & needed
    assert all("--hash=sha256:" in block for block, _ in locked.values())
    whole = (ROOT / "requirements.lock").read_text("utf-8")
    assert sum(block.count("==") for block, _ in locked.values()) == whole.count("=="), "no version is lost"


def test_uv_is_told_what_pip_was_told_unless_the_user_told_uv(environment: Any) -> None:
    pip = {
        "index-url": "https://a/simple",
        "extra-index-url": "https://b/simple https://c",
        "find-links": "/w",
    }
    assert environment.like_pip(pip, {}) == {
        "UV_DEFAULT_INDEX": "https://a/simple",
        "UV_INDEX": "https://b/simple https://c",
        "UV_FIND_LINKS": "/w",
    }
    assert environment.like_pip(pip, {"UV_INDEX_URL": "https://mine"}) == {"UV_FIND_LINKS": "/w"}


def test_python_starts_in_the_locale_c_where_the_checkout_lies_in_a_folder_of_other_letters(
    environment: Any, tmp_path: Path
) -> None:
    checkout = tmp_path / "Ümlaut"
    checkout.mkdir()
    (checkout / "of_the_checkout.py").write_text("")
    made = tmp_path / "venv"
    venv.create(made)
    (packages,) = made.glob("lib/python*/site-packages")
    (packages / "_event_graph_substrate.pth").write_text(environment.in_any_locale(f"{checkout}\n"), "ascii")
    python = [made / "bin" / "python", "-c", "import of_the_checkout"]
    for locale in ("C", "C.UTF-8"):
        subprocess.run(python, check=True, env={"LC_ALL": locale, "PYTHONUTF8": "0"})
