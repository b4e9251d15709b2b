"""README's program prints the text below it, and the map of the project has every package, called a room."""

from __future__ import annotations

import re

from commands import ROOT, python

TEXT = (ROOT / "README.md").read_text("utf-8")


def test_the_first_program_prints_the_text_below_it() -> None:
    program, output = (re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)[0] for kind in ("python", "text"))
    assert python("-c", program).stdout == output


def test_each_room_of_the_map_is_there_and_each_room_is_on_it() -> None:
    page = (ROOT / "docs/design/house.md").read_text("utf-8")
    drawn = page.partition("## Where things are")[2].partition("\n## ")[0]
    for top in ("substrate", "orchestration", "research"):
        part = drawn.partition(f"    {top}/")[2]
        lines = re.match(r"[^\n]*\n((?: {6}.*\n)+)", part)
        assert lines
        named = set(re.findall(r"^ {6}(\w+)/", lines[1], re.MULTILINE))
        rooms = {path.parent.name for path in (ROOT / top).glob("*/__init__.py")}
        assert named == rooms, f"{top}: {named ^ rooms}"
