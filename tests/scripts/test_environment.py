"""`make setup` installs the packages of the lock that the pipeline needs, and uv uses the index of pip."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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


def test_uv_gets_the_settings_of_pip_unless_the_user_set_its_own(environment: Any) -> None:
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


def test_packages_go_into_this_environment_whatever_the_settings_of_pip(
    environment: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["[global]", "index-url = https://a/simple", "target = /mine", "[install]", "user = true"]
    (tmp_path / "pip.conf").write_text("\n".join(lines), "utf-8")
    others = {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), "PIP_PREFIX": "/mine", "UV_SYSTEM_PYTHON": "1"}
    for name, value in others.items():
        monkeypatch.setenv(name, value)
    ours = environment.for_this_environment(environment.pip_configuration(), os.environ)
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, env=ours, check=True, capture_output=True, text=True).stdout
    assert ".index-url='https://a/simple'" in listed
    assert not {"user", "target", "prefix"} & set(re.findall(r"\.([a-z-]+)=", listed))
    assert "UV_SYSTEM_PYTHON" not in ours
    (tmp_path / "uv.toml").write_text('index-url = "https://b"\n[pip]\ntarget = "/mine"\n', "utf-8")
    of_uv = environment.uv_configuration({"UV_CONFIG_FILE": str(tmp_path / "uv.toml")})
    assert of_uv == {"UV_NO_CONFIG": "1", "UV_DEFAULT_INDEX": "https://b"}


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
