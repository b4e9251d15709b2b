"""A part of a report is made again only if its inputs changed or it is damaged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestration.rendering.figures import Curve, ablation_curve
from orchestration.rendering.report.part_cache import SHOWN, PartCache

Make = tuple[list[str], Callable[[str], Callable[[Path], object]]]


@pytest.fixture
def make() -> Make:
    """The texts that were written so far, and a function that gives the writer of a text."""
    made = list[str]()

    def writer_of(text: str) -> Callable[[Path], object]:
        def write(folder: Path) -> object:
            made.append(text)
            (folder / "answers").mkdir()
            (folder / "answers/page.html").write_text(text, "utf-8")
            return {"rows": len(text)}, (1, 2)

        return write

    return made, writer_of


def test_a_part_is_made_once_for_the_same_inputs(tmp_path: Path, make: Make) -> None:
    made, writer_of = make
    cache = PartCache(tmp_path, ablation_curve)
    for name in ("first", "second"):
        out = tmp_path / name
        (out / "answers").mkdir(parents=True)
        assert cache.part(["gqa", 30], writer_of("text"), out) == [{"rows": 4}, [1, 2]]
        assert (out / "answers/page.html").read_text("utf-8") == "text"
    assert made == ["text"]
    cache.part(["gqa", 29], writer_of("other"), tmp_path / "third")
    assert (tmp_path / "third/answers/page.html").read_text("utf-8") == "other"
    PartCache(tmp_path, Curve).part(["gqa", 30], writer_of("by other code"), tmp_path / "fourth")
    assert made == ["text", "other", "by other code"]


@pytest.mark.parametrize("damaged", ["pages/answers/page.html", "said.json"])
def test_a_damaged_part_is_made_anew(tmp_path: Path, make: Make, damaged: str) -> None:
    made, writer_of = make
    cache = PartCache(tmp_path, ablation_curve)
    cache.part("gqa", writer_of("text"), tmp_path / "first")
    (place,) = (tmp_path / SHOWN).iterdir()
    (place / damaged).unlink()
    (place / damaged).write_text("torn", "utf-8")
    cache.part("gqa", writer_of("text"), tmp_path / "second")
    cache.part("gqa", writer_of("text"), tmp_path / "third")
    assert (tmp_path / "third/answers/page.html").read_text("utf-8") == "text"
    assert made == ["text", "text"]
