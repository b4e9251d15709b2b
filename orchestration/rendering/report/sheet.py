"""A sheet of boxes with text, and its SVG; the drawings of :mod:`.diagrams` fill it.

Heights follow from the text, whose lines break after a number of characters: no byte depends on local fonts.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from orchestration.rendering.figures import FAINT, INK, MUTED, page_coloured
from substrate.log.event_log import Op

WIDTH, _GAP, _PAD, _SIZE = 720, 24, 10, 11
# The width of a character, enough for common fonts and exact for monospaced ones.
_CHARACTER = 0.61 * _SIZE
_GROUND = '<rect width="100%" height="100%" style="fill:#ffffff"/>'


class Line(NamedTuple):
    """Text in a box, broken into lines if it is too long; ``indent`` precedes all lines but the first."""

    text: str
    style: str = ""
    colour: str = INK
    indent: str = ""


def head(text: str) -> Line:
    """Return a line in bold."""
    return Line(text, "font-weight:600")


def code(text: str, indent: str = "") -> Line:
    """Return a line of a program or log, with its spaces."""
    return Line(text, "font-family:monospace;white-space:pre", MUTED, indent)


def delta_line(tick: int, op: Op, fact: str) -> Line:
    """Return the line of a delta: its tick, whether it inserts or retracts, and its fact."""
    return code(f"{tick:>3} {'+' if op is Op.INSERT else '−'} {fact}", " " * 6)


class Sheet:
    """A sheet of rows of boxes from top to bottom, with arrows between the rows."""

    def __init__(self) -> None:
        self.marks: list[str] = []
        self.centres: list[float] = []
        self.bottom = 0.0

    def words(self, x: float, y: float, line: Line, anchor: str = "start") -> None:
        """Write a line without breaking it."""
        style = f"fill:{line.colour};{line.style}"
        text = escape(re.sub(r"[^ -\ud7ff\ue000-\U0010ffff]", "\ufffd", line.text))  # what XML may hold
        self.marks.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" style="{style}">{text}</text>')

    def path(self, path: str, colour: str, fill: str = "none") -> None:
        """Draw a path, and fill it if a colour is given."""
        self.marks.append(f'<path d="{path}" style="stroke:{colour};fill:{fill}"/>')

    def row(self, *boxes: Iterable[Line], edges: Sequence[str] = (FAINT,), arrows: bool = True) -> None:
        """Place boxes of equal height side by side, under arrows from the row above."""
        width = (WIDTH - 2 - _GAP * (len(boxes) - 1)) / len(boxes)
        broken = [[part for line in box for part in _broken(line, width - 2 * _PAD)] for box in boxes]
        height = 2 * _PAD + 1.4 * _SIZE * max(map(len, broken))
        centres = [1 + width / 2 + (width + _GAP) * place for place in range(len(boxes))]
        if arrows and self.centres:
            for centre in max(centres, self.centres, key=len):
                self.path(f"M{centre:g} {self.bottom + 3:g}V{self.bottom + _GAP - 3:g}m-4 -5l4 5l4 -5", MUTED)
        top = self.bottom + (_GAP if arrows and self.centres else _PAD)
        for place, (centre, lines) in enumerate(zip(centres, broken, strict=True)):
            left = centre - width / 2
            self.path(f"M{left:g} {top:g}h{width:g}v{height:g}h-{width:g}z", edges[place % len(edges)])
            for number, line in enumerate(lines, 1):
                self.words(left + _PAD, top + _PAD + 1.4 * _SIZE * number - 5, line)
        self.bottom, self.centres = top + height, centres

    def svg(self, about: str) -> str:
        """The drawing as a complete file, on white."""
        height = round(self.bottom + 2)
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="sheet" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(about)}" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="{_SIZE}">'
        )
        return "\n".join([opening, _GROUND, *self.marks, "</svg>\n"])


def in_page(svg: str) -> str:
    """A drawing's element for a page, whose background and font it uses."""
    bare = svg.replace(f"{_GROUND}\n", "").replace(' font-family="Helvetica, Arial, sans-serif"', "")
    return page_coloured(bare)


def _broken(line: Line, width: float) -> list[Line]:
    most = int(width / _CHARACTER)
    parts = textwrap.wrap(line.text, most, break_on_hyphens=False, subsequent_indent=line.indent)
    return [line._replace(text=part) for part in parts or [""]]
