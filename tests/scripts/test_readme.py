"""README's tables are those of the pins, and a wrong figure is found."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from script_modules import script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def readme() -> Any:
    return script("readme")


def test_readmes_tables_are_those_of_the_pins(readme: Any) -> None:
    for page in readme.PAGES:
        text = (ROOT / page).read_text("utf-8")
        assert readme.filled(text) == text
    text = (ROOT / "README.md").read_text("utf-8")
    for wrong in (("| 564 | 564 |", "| 564 | 563 |"), ("parts of the official", "the official")):
        assert text != text.replace(*wrong, 1)
        assert readme.filled(text.replace(*wrong, 1)) == text


def test_a_figure_that_no_pin_has_fails_the_check(
    readme: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = readme.filled((ROOT / "README.md").read_text("utf-8"))
    (tmp_path / "README.md").write_text(right.replace("| 564 | 564 |", "| 564 | 563 |", 1), "utf-8")
    shutil.copytree(ROOT / "pins", tmp_path / "pins")
    for name in ("data.dvc", "dvc.lock"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.setattr(readme, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["readme.py", "--check"])
    assert readme.main() == 1
    assert "its numbers are not those of the pins" in capsys.readouterr().err
    (tmp_path / "README.md").write_text(right.replace("<!-- official -->", ""), "utf-8")
    with pytest.raises(SystemExit, match="marks of the part 'official'"):
        readme.main()
    (tmp_path / "README.md").write_text(right, "utf-8")
    assert readme.main() == 0
    path = tmp_path / "pins/real/babi.answers.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SystemExit, match=r"pins/real/babi\.answers\.jsonl: is damaged"):
        readme.main()
