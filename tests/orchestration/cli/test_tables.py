"""Tables of results on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.cli.tables import WIDTH, on_terminal
from orchestration.pins.pin_files import read_pins
from orchestration.rendering.tables import Table

ROOT = Path(__file__).resolve().parents[3]
PINNED = {name: cells for made in read_pins(ROOT, "sample").values() for name, cells in made.cells.items()}


@pytest.mark.parametrize("name", sorted(PINNED))
def test_a_table_of_the_sample_fits_and_says_where_the_rest_of_it_is(name: str) -> None:
    rows = PINNED[name]
    heads = ["label", *dict.fromkeys(head for cells in rows.values() for head in cells)]
    table = Table(
        f"Of {name}. " + 30 * "It says more. ",
        heads,
        [[label, *(cells.get(head, "") for head in heads[1:])] for label, cells in rows.items()],
    )
    text = on_terminal(table, "the file")
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.endswith(" more: the file")


def test_parts_of_a_mean_and_single_figures_are_shown_only_where_no_other_rows_are() -> None:
    parts = [f"babi/qa{task}/accuracy" for task in range(1, 21)]
    rows = [[label, "100 %", "[99, 100]"] for label in ("babi/mean/accuracy", *parts)]
    figures = [["twin/joint", "98 %", "[97, 99]"], ["twin: cost", "12 requests", ""]]
    heads = ("number", "measured", "95 % interval")
    all_ = on_terminal(Table("All.", heads, rows + figures), "the file")
    assert "babi/qa7/accuracy" not in all_
    assert "cost" not in all_
    assert all_.endswith("21 rows more: the file")
    of_one = on_terminal(Table("bAbI.", heads, rows), "the file")
    assert "babi/qa7/accuracy" in of_one
    assert "more" not in of_one


def test_a_column_of_details_gives_way_to_another() -> None:
    table = Table(
        "All.", ["number", "gap", "measured"], [["a/b", 60 * "1", 60 * "2"]], places=["", "detail", ""]
    )
    assert on_terminal(table, "the file").splitlines()[0].split() == ["number", "measured"]
