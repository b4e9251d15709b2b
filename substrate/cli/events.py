"""The events of a long command: a single stream, in separate forms for a terminal, a log and a machine.

A terminal shows a line for each ended part and a bar for the work under way. Elsewhere, a line reports
progress after ten seconds without output. `SUBSTRATE_EVENTS=FILE` appends each event to a file as JSON.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TextIO

import msgspec

from substrate.cli.notices import Voice, ours
from substrate.cli.printing import shown


class _Event(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, tag_field="event"):
    """An event; docs/commands.md describes each field."""

    at: float


class Begun(_Event, tag="begun"):
    """The command began; the first event."""

    command: str


class Doing(_Event, tag="doing"):
    """A step without parts begins."""

    text: str


class Planned(_Event, tag="planned"):
    """The number of parts is known, and their name."""

    parts: int
    unit: str


class Progress(_Event, tag="progress"):
    """A part is under way."""

    part: str
    number: int
    of: int
    done: int
    total: int
    unit: str
    pace: float | None
    left: float | None
    took: float


class Ended(_Event, tag="ended"):
    """A part has ended."""

    part: str
    number: int
    of: int
    how: str
    rows: int | None
    took: float


class Said(_Event, tag="said"):
    """A line that is not a result."""

    level: str
    text: str


class Done(_Event, tag="done"):
    """The command ended; the last event."""

    exit: int
    text: str
    result: Any


Event = Begun | Doing | Planned | Progress | Ended | Said | Done
"""Any event, distinguished by the key `event`."""
QUIET = 10.0
"""Seconds after which a line reports progress although no part has ended."""
FIRST = 3.0
"""Seconds after which a silent command reports its current step."""
_RECENT = 300.0
"""Seconds over which a pace is measured."""


def line_of(event: Event) -> str | None:
    """Format an event as a line for people; ``None`` if the command's own lines say more.

    >>> line_of(Ended(at=9, part="twin/logs", number=17, of=60, how="computed", rows=1000, took=9.13))
    '[17/60] twin/logs  computed  1,000 rows  9.1 s'
    """
    match event:
        case Doing(text=text):
            return text
        case Planned(parts=parts, unit=unit):
            return f"{parts} {unit}"
        case Progress(total=total, done=done) if total > 1 or done:
            return f"{_place(event)}  {_counted(event)}"
        case Progress(took=took):
            return f"{_place(event)}  {took:,.0f} s so far"
        case Ended(how=how, rows=rows, took=took, of=of) if of > 1:
            counted = "" if rows is None else f"  {rows:,} rows"
            return f"{_place(event)}  {how}{counted}  {took:,.1f} s"
        case _:
            return None


def _place(event: Progress | Ended) -> str:
    return f"[{event.number}/{event.of}] {event.part}" if event.of > 1 else event.part


def _counted(event: Progress) -> str:
    """Describe the finished amount of a part, its pace, and the time left."""
    done, total, unit, pace = f"{event.done:,}", f"{event.total:,}", event.unit, event.pace
    if unit.startswith("bytes"):  # only the first digits matter
        done, total = f"{event.done / 1e6:,.1f}", f"{event.total / 1e6:,.1f}"
        unit, pace = f"MB{unit.removeprefix('bytes')}", pace and pace / 1e6
    told = [f"{done} of {total} {unit}" if event.total else f"{done} {unit}"]
    if pace is not None:
        told.append(f"{pace:,.1f} a second" if pace >= 1 else f"{60 * pace:,.1f} a minute")
    if event.left is not None:
        told.append(f"about {_span(event.left)} left")
    return ", ".join(told)


def _span(seconds: float) -> str:
    """Format a time in words.

    >>> _span(8760.0)
    '2 h 26 min'
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class Stream:
    """The event stream of a command, sent to all its readers; threads may share it.

    Args:
        command: the command's name.
        lines: write lines if there is no terminal.
    """

    def __init__(self, command: str, *, lines: bool = True) -> None:
        self._lock, self._over = threading.RLock(), threading.Event()
        self._faces: list[Callable[[Event], object]] = []
        self._bars: Bars | None = None
        self._file: TextIO | None = None
        if not Voice.quiet:
            errors = ours("stderr")
            if errors.isatty():
                self._bars = Bars(errors)
                self._faces.append(self._bars.show)
            elif lines:
                self._faces.append(_writing(errors, line_of))
        if file := os.environ.get("SUBSTRATE_EVENTS"):
            self._file = open(file, "a", encoding="utf-8")  # noqa: SIM115 - closed by :meth:`close`
            self._faces.append(_writing(self._file, lambda event: msgspec.json.encode(event).decode()))
        self._closing: tuple[str, object] = "", None
        self._parts, self._ended, self._doing = 1, 0, command
        self._recent: dict[tuple[str, str], Recent] = defaultdict(Recent)
        self._counted: tuple[str, int, int, str] | None = None
        self._began = time.monotonic()
        self._begun = {command: self._began}
        self._tell(Begun(at=0.0, command=command))
        self._quiet = FIRST
        self._beat = threading.Thread(target=self._keep_speaking, daemon=True)
        self._beat.start()

    def doing(self, text: str) -> None:
        """Report the begin of a step without parts."""
        with self._lock:
            self._at_rest(text)
            self._tell(Doing(at=self._now(), text=text))

    def plan(self, parts: int, unit: str) -> None:
        """Report the number of parts."""
        with self._lock:
            self._parts, self._ended = parts, 0
            self._at_rest("starting")
            self._tell(Planned(at=self._now(), parts=parts, unit=unit))

    def advance(self, part: str, done: int, total: int | None, unit: str) -> None:
        """Record the progress of a part; it becomes an event after a long silence."""
        with self._lock:
            self._begun.setdefault(part, time.monotonic())
            self._recent[part, unit].add(done)
            self._counted = part, done, total or 0, unit
            if self._bars:
                self._bars.show(self._progress())
            self._speak_after(QUIET)

    def end(self, part: str, how: str, rows: int | None = None) -> None:
        """Report that a part has ended, and how it was made."""
        with self._lock:
            now = time.monotonic()
            took = round(now - self._begun.pop(part, now), 1)
            self._ended += 1
            number, of = self._ended, max(self._parts, self._ended)
            self._at_rest(f"after {part}")
            self._tell(Ended(at=self._now(), part=part, number=number, of=of, how=how, rows=rows, took=took))

    def say(self, text: str, level: str) -> None:
        """Send an event for a line that is not a result; the command prints the line itself."""
        self.rest()
        with self._lock:
            self._tell(Said(at=self._now(), level=level, text=text))

    def give(self, result: object, text: str) -> None:
        """Keep the result for the last event; the command prints it itself."""
        self._closing = text, result
        self.rest()

    def rest(self) -> None:
        """Remove the bars, so that a result can be printed."""
        with self._lock:
            if self._bars:
                self._bars.stop()

    def close(self, code: int) -> None:
        """Report the end of the command, with its exit code."""
        self._over.set()
        self._beat.join()
        with self._lock, self._file or nullcontext():
            text, result = self._closing
            self._tell(Done(at=self._now(), exit=code, text=text, result=result))
            self.rest()

    def _now(self) -> float:
        return round(time.monotonic() - self._began, 1)

    def _at_rest(self, doing: str) -> None:
        """Enter a step in which nothing is counted."""
        self._counted, self._doing = None, doing
        self._begun[doing] = time.monotonic()

    def _tell(self, event: Event) -> None:
        self._spoke, self._quiet = time.monotonic(), QUIET
        for face in list(self._faces):
            try:
                face(event)
            except BrokenPipeError:  # the reader has gone, but the work continues
                self._faces.remove(face)

    def _progress(self) -> Progress:
        part, done, total, unit = self._counted or (self._doing, 0, 0, "parts")
        pace, left = self._recent[part, unit].figures(total) if self._counted else (None, None)
        return Progress(
            at=self._now(),
            part=part,
            number=min(self._ended + 1, self._parts),
            of=self._parts,
            done=done,
            total=total,
            unit=unit,
            pace=pace,
            left=left,
            took=round(time.monotonic() - self._begun[part], 1),
        )

    def _speak_after(self, seconds: float) -> None:
        if time.monotonic() - self._spoke >= seconds:
            self._tell(self._progress())

    def _keep_speaking(self) -> None:
        with suppress(OSError):  # the working code will meet the error too, and report it
            while not self._over.wait(0.5):
                with self._lock:
                    self._speak_after(self._quiet)


@contextmanager
def speaking(command: str, *, lines: bool = True) -> Iterator[Stream]:
    """Open the stream of a command, from first to last event; a nested command continues the outer stream."""
    if Voice.stream:
        yield Voice.stream
        return
    Voice.stream = stream = Stream(command, lines=lines)
    code = 1
    try:
        yield stream
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
        raise
    except Exception as error:
        code = getattr(error, "exit_code", 1)  # typer's own errors have it
        raise
    finally:
        Voice.stream = None
        stream.close(code)


def _writing(file: TextIO, words: Callable[[Event], str | None]) -> Callable[[Event], None]:
    def write(event: Event) -> None:
        if line := words(event):
            file.write(shown(line) + "\n")
            file.flush()

    return write


class Bars:
    """A terminal's display: a line for each event, and below the lines a bar for the work under way.

    Args:
        terminal: the stream to draw on.
    """

    def __init__(self, terminal: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Drawn

        # The output of others is already redirected, and results are printed after the bars are removed.
        self._drawn = Drawn(
            TextColumn("{task.description}", markup=False),
            BarColumn(24),
            TimeElapsedColumn(),
            TextColumn("{task.fields[told]}", markup=False),
            console=Console(file=terminal),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._name = ""
        self._bar = self._drawn.add_task("", visible=False, told="")

    def show(self, event: Event) -> None:
        """Draw an event."""
        match event:
            case Progress(part=part, done=done, total=total):
                self._draw(part, done, total or None, _counted(event) if total > 1 or done else "")
                return
            case Doing(text=text):
                self._draw(text, 0, None, "")
                return
            case Planned() | Ended():
                self._name = ""
                self._drawn.update(self._bar, visible=False)
            case _:
                pass
        if line := line_of(event):
            self._drawn.console.print(shown(line), markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        """Remove the bar; the next event draws it again."""
        self._drawn.stop()

    def _draw(self, name: str, done: int, total: int | None, told: str) -> None:
        self._drawn.start()
        if new := name != self._name:
            self._name = name
            self._drawn.reset(self._bar, description=name, visible=True)
        self._drawn.update(self._bar, completed=done, total=total, told=told, refresh=new)


class Recent:
    """The pace of some work over its last minutes; during a pause it falls, and the time left grows.

    >>> Recent().figures(1000)
    (None, None)
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def add(self, done: float) -> None:
        """Record the finished amount; work that starts over gets a new pace."""
        now, seen = time.monotonic(), self._seen
        if seen and done < seen[-1][1]:
            seen.clear()
        if not seen or done > seen[-1][1]:
            seen.append((now, done))
        while len(seen) > 2 and now - seen[1][0] > _RECENT:
            seen.popleft()

    def figures(self, total: float | None) -> tuple[float | None, float | None]:
        """Return the pace per second and the seconds left of a known total; ``None`` before any progress."""
        if len(self._seen) < 2:
            return None, None
        (since, before), (_, done) = self._seen[0], self._seen[-1]
        pace = (done - before) / max(time.monotonic() - since, 1e-3)
        left = (total - done) / pace if total and total > done else None
        return round(pace, 3), None if left is None else round(left, 1)
