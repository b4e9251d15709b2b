"""The events of a long command: a single stream, in separate forms for a terminal, a log and a machine.

A terminal shows a line for each ended part and a bar for the work under way. Elsewhere, a line reports
progress after ten seconds without output. `SUBSTRATE_EVENTS=FILE` appends each event to a file as JSON.
"""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TextIO

import msgspec

from substrate.cli.notices import Voice, ours
from substrate.cli.printing import shown

FIELDS: Mapping[str, tuple[str, ...]] = {
    "begun": ("command",),
    "doing": ("text",),
    "planned": ("parts", "unit"),
    "progress": ("part", "number", "of", "done", "total", "unit", "pace", "left", "took"),
    "ended": ("part", "number", "of", "how", "rows", "took"),
    "said": ("level", "text"),
    "done": ("exit", "text", "result"),
}
"""The fields of each event, beside ``event`` and ``at``; docs/commands.md describes them."""
Event = Mapping[str, Any]
QUIET = 10.0
"""Seconds after which a line reports progress although no part has ended."""
FIRST = 3.0
"""Seconds after which a silent command reports its current step."""
_RECENT = 300.0
"""Seconds over which a pace is measured; during a pause it falls, and the time left grows."""


def line_of(event: Event) -> str | None:
    """Format an event as a line for people; ``None`` if the command's own lines say more.

    >>> ended = {"part": "twin/logs", "number": 17, "of": 60, "how": "computed", "rows": 1000, "took": 9.13}
    >>> line_of({"event": "ended", **ended})
    '[17/60] twin/logs  computed  1,000 rows  9.1 s'
    """
    match event:
        case {"event": "doing", "text": text}:
            return text
        case {"event": "planned"}:
            return f"{event['parts']} {event['unit']}"
        case {"event": "progress", "took": took}:
            return f"{_place(event)}  {_amount(event) or f'{took:,.0f} s so far'}"
        case {"event": "ended", "of": of, "rows": rows} if of > 1:
            counted = "" if rows is None else f"  {rows:,} rows"
            return f"{_place(event)}  {event['how']}{counted}  {event['took']:,.1f} s"
        case _:
            return None


def _place(event: Event) -> str:
    part = event["part"]
    return f"[{event['number']}/{event['of']}] {part}" if event["of"] > 1 else part


def _amount(event: Event) -> str:
    """Describe the finished amount of a part, its pace, and the time left; empty if nothing is counted."""
    done, total, unit, pace = (event[name] for name in ("done", "total", "unit", "pace"))
    if total <= 1 and not done:
        return ""
    figures = [f"{number:,}" for number in (done, total)]
    if unit.startswith("bytes"):  # only the first digits matter
        figures = [f"{number / 1e6:,.1f}" for number in (done, total)]
        unit, pace = f"MB{unit.removeprefix('bytes')}", pace and pace / 1e6
    phrases = [f"{' of '.join(figures[: 1 + bool(total)])} {unit}"]
    if pace is not None:
        phrases.append(f"{pace:,.1f} a second" if pace >= 1 else f"{60 * pace:,.1f} a minute")
    if event["left"] is not None:
        phrases.append(f"about {_span(event['left'])} left")
    return ", ".join(phrases)


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
        self._readers: list[Callable[[Event], object]] = []
        self._bars: Bars | None = None
        self._file: TextIO | None = None
        if not Voice.quiet:
            errors = ours("stderr")
            if errors.isatty():
                self._bars = Bars(errors)
                self._readers.append(self._bars.show)
            elif lines:
                self._readers.append(_writing(errors, line_of))
        if file := os.environ.get("SUBSTRATE_EVENTS"):
            self._file = open(file, "a", encoding="utf-8")  # noqa: SIM115 - closed by :meth:`close`
            self._readers.append(_writing(self._file, lambda event: msgspec.json.encode(event).decode()))
        self._closing: tuple[str, object] = "", None
        self._parts, self._ended, self._doing = 1, 0, command
        self._recent: dict[tuple[str, str], deque[tuple[float, int]]] = defaultdict(deque)
        # The part under way, its done and total amount, and their unit; ``None`` if nothing is counted
        self._counted: tuple[str, int, int, str] | None = None
        self._began = time.monotonic()
        self._begun = {command: self._began}
        self._emit("begun", command)
        self._patience = FIRST
        self._reporter = threading.Thread(target=self._report_regularly, daemon=True)
        self._reporter.start()

    def doing(self, text: str) -> None:
        """Report the beginning of a step without parts."""
        with self._lock:
            self._begin_step(text)
            self._emit("doing", text)

    def plan(self, parts: int, unit: str) -> None:
        """Report the number of parts."""
        with self._lock:
            self._parts, self._ended = parts, 0
            self._begin_step("starting")
            self._emit("planned", parts, unit)

    def advance(self, part: str, done: int, total: int | None, unit: str) -> None:
        """Record the progress of a part; it becomes an event after a long silence."""
        with self._lock:
            now = time.monotonic()
            self._begun.setdefault(part, now)
            recent = self._recent[part, unit]
            if recent and done < recent[-1][1]:  # it starts over
                recent.clear()
            if not recent or done > recent[-1][1]:
                recent.append((now, done))
            while len(recent) > 2 and now - recent[1][0] > _RECENT:
                recent.popleft()
            self._counted = part, done, total or 0, unit
            if self._bars:
                self._bars.show(self._event("progress", *self._progress()))
            self._report_after(QUIET)

    def end(self, part: str, how: str, rows: int | None = None) -> None:
        """Report that a part has ended, and how it was made."""
        with self._lock:
            now = time.monotonic()
            took = round(now - self._begun.pop(part, now), 1)
            self._ended += 1
            number, of = self._ended, max(self._parts, self._ended)
            self._begin_step(f"after {part}")
            self._emit("ended", part, number, of, how, rows, took)

    def say(self, text: str, level: str) -> None:
        """Send an event for a line that is not a result; the command prints the line itself."""
        self.clear()
        with self._lock:
            self._emit("said", level, text)

    def give(self, result: object, text: str) -> None:
        """Keep the result for the last event; the command prints it itself."""
        self._closing = text, result
        self.clear()

    def clear(self) -> None:
        """Remove the bars, so that a result can be printed."""
        with self._lock:
            if self._bars:
                self._bars.stop()

    def close(self, code: int) -> None:
        """Report the end of the command, with its exit code."""
        self._over.set()
        self._reporter.join()
        with self._lock, self._file or nullcontext():
            text, result = self._closing
            self._emit("done", code, text, result)
            self.clear()

    def _event(self, name: str, *values: Any) -> Event:
        at = round(time.monotonic() - self._began, 1)
        return {"event": name, "at": at, **dict(zip(FIELDS[name], values, strict=True))}

    def _begin_step(self, doing: str) -> None:
        """Enter a step in which nothing is counted."""
        self._counted, self._doing = None, doing
        self._begun[doing] = time.monotonic()

    def _emit(self, name: str, *values: Any) -> None:
        event = self._event(name, *values)
        # The time of the last event, and the seconds of silence after it that are allowed
        self._last, self._patience = time.monotonic(), QUIET
        for reader in list(self._readers):
            try:
                reader(event)
            except BrokenPipeError:  # the reader has gone, but the work continues
                self._readers.remove(reader)

    def _progress(self) -> tuple[Any, ...]:
        """The values of an event ``progress``, in the order of :data:`FIELDS`."""
        now, pace, left = time.monotonic(), None, None
        part, done, total, unit = self._counted or (self._doing, 0, 0, "parts")
        if len(recent := self._recent[part, unit]) > 1:
            (since, before), (_, done_then) = recent[0], recent[-1]
            speed = (done_then - before) / max(now - since, 1e-3)
            pace, left = round(speed, 3), round((total - done) / speed, 1) if total > done else None
        number, took = min(self._ended + 1, self._parts), round(now - self._begun[part], 1)
        return part, number, self._parts, done, total, unit, pace, left, took

    def _report_after(self, seconds: float) -> None:
        if time.monotonic() - self._last >= seconds:
            self._emit("progress", *self._progress())

    def _report_regularly(self) -> None:
        with suppress(OSError):  # the working code will meet the error too, and report it
            while not self._over.wait(0.5):
                with self._lock:
                    self._report_after(self._patience)


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
            TextColumn("{task.fields[amount]}", markup=False),
            console=Console(file=terminal),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._name = ""
        self._bar = self._drawn.add_task("", visible=False, amount="")

    def show(self, event: Event) -> None:
        """Draw an event."""
        match event:
            case {"event": "progress", "part": part, "done": done, "total": total}:
                self._draw(part, done, total or None, _amount(event))
                return
            case {"event": "doing", "text": text}:
                self._draw(text, 0, None, "")
                return
            case {"event": "planned" | "ended"}:
                self._name = ""
                self._drawn.update(self._bar, visible=False)
            case _:
                pass
        if line := line_of(event):
            self._drawn.console.print(shown(line), markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        """Remove the bar; the next event draws it again."""
        self._drawn.stop()

    def _draw(self, name: str, done: int, total: int | None, amount: str) -> None:
        self._drawn.start()
        if new := name != self._name:
            self._name = name
            self._drawn.reset(self._bar, description=name, visible=True)
        self._drawn.update(self._bar, completed=done, total=total, amount=amount, refresh=new)
