"""HTTP as the platform speaks it: what is tried again, when, and how often.

A request is tried again after a lost connection, a timeout and an error of the server (5xx), and where a
server says that it is busy (408, 425, 429). No chance is in the waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
LONGEST_PAUSE = 600.0
"""Seconds that a server may ask us to wait; for more, the run ends and can be resumed."""
_BUSY = frozenset({408, 425, 429})


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """Timeouts for a server, in seconds, and the least ``rate`` of a download, in bytes a second.

    ``attempts`` counts tries in a row that brought nothing; one that brought new bytes starts the
    count at 0 again. After the ``n``-th such try the wait is ``backoff * 2**(n - 1)``, at most ``longest``.
    """

    connect: float = 20.0
    read: float = 60.0
    attempts: int = 5
    backoff: float = 1.0
    longest: float = 30.0
    rate: float = 1000.0

    def wait(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row.

        >>> [Patience().wait(n) for n in (1, 2, 3, 10)]
        [1.0, 2.0, 4.0, 30.0]
        """
        return min(self.backoff * 2 ** (failures - 1), self.longest)


class Clock(NamedTuple):
    """Time as a client sees it: seconds of the calendar, and waiting.

    Tests give their own.
    """

    date: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


class TryAgainError(Exception):
    """This try failed in a way that another may not; the message is for the reader.

    Attributes:
        wait: the seconds that the server asked for.
        at_once: nothing is gained by waiting.
    """

    def __init__(self, what: str, wait: float = 0.0, *, at_once: bool = False) -> None:
        super().__init__(what)
        self.wait = wait
        self.at_once = at_once


class GivenUpError(Exception):
    """A server failed too often, or asks for a long pause; the message says so after the server's name."""


def persist(
    once: Callable[[int], T],
    patience: Patience,
    clock: Clock | None = None,
    brought: Callable[[], int] = lambda: 0,
) -> T:
    """Try until it works.

    Args:
        once: a try, given how many failed in a row before it; raises :class:`TryAgainError`.
        patience: how often, and how long to wait between.
        clock: time.
        brought: the bytes at hand; a try that brought more does not count as failed.

    Raises:
        GivenUpError: too many tries failed in a row, or the server asks for too long a pause.
    """
    best, failures = brought(), 0
    while True:
        try:
            return once(failures)
        except TryAgainError as error:
            size = brought()
            best, failures = (size, 0) if size > best else (best, failures + 1)
            if error.wait > LONGEST_PAUSE:
                raise GivenUpError(f"asks to wait {error.wait:.0f} s ({error})") from None
            if failures >= patience.attempts:
                raise GivenUpError(f"fails: {error} ({failures} tries in a row)") from None
            if not error.at_once:
                (clock or Clock()).sleep(max(error.wait, patience.wait(failures)))


def limits(patience: Patience) -> httpx.Timeout:
    """The time limits of a patience, as a client takes them."""
    import httpx

    return httpx.Timeout(patience.read, connect=patience.connect)


def open_client(patience: Patience, **options: Any) -> httpx.Client:
    """A client with the time limits of a patience."""
    import httpx

    return httpx.Client(timeout=limits(patience), **options)


@contextmanager
def passing(patience: Patience, told: Callable[[Exception], str] = str) -> Iterator[None]:
    """Take a timeout or a lost connection for something that may pass.

    Args:
        patience: the time limits in force.
        told: puts a lost connection in words; its own may hold the address.

    Raises:
        TryAgainError: it came to that.
    """
    import httpx

    try:
        yield
    except (httpx.UnsupportedProtocol, httpx.TooManyRedirects):
        raise
    except httpx.TimeoutException as error:
        limit = patience.connect if isinstance(error, httpx.ConnectTimeout) else patience.read
        raise TryAgainError(f"timeout: no answer within {limit:g} s") from None
    except httpx.RequestError as error:
        raise TryAgainError(f"the connection was lost or refused ({told(error)})") from None


def require_ready(response: httpx.Response, clock: Clock | None = None) -> None:
    """Hold that a server is neither out of order nor busy.

    Raises:
        TryAgainError: it is, with the wait that its ``Retry-After`` asks for.
    """
    status = response.status_code
    if status >= 500 or status in _BUSY:
        raise TryAgainError(
            f"HTTP {status}", _asked(response.headers.get("Retry-After", ""), clock or Clock())
        )


def _asked(value: str, clock: Clock) -> float:
    """Seconds, given as such or as a date; 0 where the server says nothing that can be read."""
    try:
        if value.strip().isdecimal():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - clock.date())
    except ValueError:
        return 0.0
