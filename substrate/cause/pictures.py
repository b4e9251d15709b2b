"""Pictures of an answer's evidence, as data: lanes with events at ticks, or boxes of an image.

A domain makes the picture of an :class:`~substrate.cause.explanation.Explanation`, because only the domain
knows which objects take part in an event. A renderer, such as the report, draws the picture, and knows no
domain. Places are in per cent of the picture's size, so that the renderer may choose the size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

STATES = {
    "focus": "singled out by the question or the answer",
    "ancestor": "a causal ancestor",
    "lost": "does not happen without the removed object",
    "predicted": "predicted after the last frame",
    "suspected": "suspected, and not believed",
    "": "observed",
}
"""The relation of a mark to the answer, in words."""


class Span(NamedTuple):
    """A stretch of a lane, in per cent of the picture's width."""

    start: float
    stop: float


class Lane(NamedTuple):
    """An object: its name, the times at which it is present, and whether the question removes it."""

    label: str
    spans: list[Span]
    removed: bool = False


class Mark(NamedTuple):
    """An event: its place in per cent of the width, the lanes that it joins, and its relation to the answer
    (a key of :data:`STATES`).
    """

    x: float
    tick: int | None
    kind: str
    lanes: tuple[int, ...]
    state: str
    title: str


class Timeline(NamedTuple):
    """Lanes from top to bottom, marks in time order, and ticks of the axis with their places."""

    lanes: list[Lane]
    marks: list[Mark]
    axis: list[tuple[float, int]]
    unit: str
    end: float
    """The end of the observed log, in per cent of the width."""

    @property
    def singled_out(self) -> int:
        """The number of events that the answer concerns or rests on."""
        return sum(bool(mark.state) for mark in self.marks)

    @property
    def states(self) -> list[str]:
        """The states that occur, for a legend."""
        return [state for state in STATES if any(mark.state == state for mark in self.marks)]


class Box(NamedTuple):
    """An object of an image, in per cent of the image's size."""

    label: str
    x: float
    y: float
    width: float
    height: float
    used: bool


class Boxes(NamedTuple):
    """An image's annotated objects, larger ones first, and the image's size in pixels."""

    boxes: list[Box]
    width: int
    height: int

    @property
    def singled_out(self) -> int:
        """The number of objects that the answer rests on."""
        return sum(box.used for box in self.boxes)


class Scale(NamedTuple):
    """Ticks to per cent; the margins leave room for the marks' size."""

    last: float

    def axis(self) -> list[tuple[float, int]]:
        """Some ticks with their places, including the last tick."""
        last = int(self.last)
        return [(self(tick), tick) for tick in (*range(0, last - last // 8, max(1, last // 5)), last)]

    def __call__(self, tick: float) -> float:
        """A tick's place."""
        return round(2 + 96 * tick / max(self.last, 1), 2)


class Told(NamedTuple):
    """A sentence of a story, and whether the answer rests on it."""

    tick: int
    sentence: str
    used: bool


Story = Sequence[Told]
_ENOUGH = 3
"""A picture with fewer marks than this shows no chain of reasons, so it is a poor example."""


class Pictured(NamedTuple):
    """A picture for an answer, the story if the case is a text, and whether the picture suits an example."""

    picture: Timeline | Boxes
    story: Story
    suits_example: bool


def pictured(picture: Timeline | Boxes, story: Story = ()) -> Pictured:
    """Wrap a picture; it suits an example if it singles out at least three things."""
    return Pictured(picture, story, picture.singled_out >= _ENOUGH)
