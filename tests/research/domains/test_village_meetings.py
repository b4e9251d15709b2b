"""Meetings: a log and an independent reader of the file agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from research.benchmarks.met import MET, cases, rows
from research.benchmarks.met import logs as logs_of
from research.domains.village.log import movement_log
from research.domains.village.meetings import by_log, by_reader, personas
from research.domains.village.movements import parse_movements
from substrate.domains.rows import Row

CAFE, HOME = "the Ville:Hobbs Cafe:cafe:counter", "the Ville:Ann's house:kitchen:table"


def record(tile: tuple[int, int], address: str) -> dict[str, Any]:
    return {"movement": tile, "pronunciatio": "", "description": f"being @ {address}", "chat": None}


# Ann sets out for the cafe at 12 and is there at 20; she goes home, and comes again at 30.
STEPS = {
    10: {"Ann": record((1, 1), HOME), "Bo": record((9, 9), CAFE), "Cy": record((9, 8), CAFE)},
    12: {"Ann": record((2, 1), CAFE)},
    13: {"Ann": record((5, 5), CAFE)},
    20: {"Ann": record((9, 9), CAFE)},
    25: {"Ann": record((1, 1), HOME)},
    30: {"Ann": record((9, 8), CAFE)},
    31: {},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "movements.json"
    path.write_text(json.dumps(STEPS), "utf-8")
    return path


def test_the_log_and_a_reader_of_the_file_say_the_same(file: Path) -> None:
    (case,) = cases({"movements": file}).each
    (named,) = logs_of(case)
    ann = {("Ann", "Bo"): "first at 20, 2 times, 2 moments", ("Ann", "Cy"): "first at 20, 2 times, 2 moments"}
    together = {("Bo", "Cy"): "first at 10, 1 times, 3 moments"}
    assert by_log(named.log) == by_reader(case.record) == ann | together
    assert by_reader(case.record, by_address=True)["Ann", "Bo"] == "first at 12, 2 times, 2 moments"


def test_a_file_that_begins_at_step_0_is_checked_for_company_at_that_step_too() -> None:
    data = json.dumps({step - 10: records for step, records in STEPS.items()}).encode()
    assert by_log(movement_log(parse_movements(data))) == by_reader(data)


def test_a_row_names_nobody(file: Path) -> None:
    (case,) = cases({"movements": file}).each
    met: list[Row] = list(rows(case, [named.log for named in logs_of(case)], None, "n3"))
    assert [(row.question, row.subset, row.correct) for row in met] == [
        ("00-01", "log", True),
        ("00-01", "address", False),
        ("00-02", "log", True),
        ("00-02", "address", False),
        ("01-02", "log", True),
        ("01-02", "address", True),
    ]
    assert not any(name in str(row) for row in met for name in personas(case.record))
    assert MET.metrics["ever"].measure((met[1],)) == (1, 1)
