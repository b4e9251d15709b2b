"""HTTP with retries: which errors are retried, when, and how often.

A request is tried again after a lost connection, a timeout, a server error (5xx), and an answer that the
server is busy (408, 425, 429). The waits are not random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from time import sleep, time
from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
# The most seconds that a server may make us wait; for longer pauses the run ends, and can be resumed.
LONGEST_PAUSE = 600.0
_BUSY = frozenset({408, 425, 429})


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """Timeouts for a server in seconds, and the lowest ``rate`` of a download in bytes per second.

    ``attempts`` limits the consecutive tries that bring nothing; a try that brings new bytes resets the
    count to 0. After the ``n``-th such try the wait is ``backoff * 2**(n - 1)``, at most ``longest``.
    """

    connect: float = 20.0
    read: float = 60.0
    attempts: int = 5
    backoff: float = 1.0
    longest: float = 30.0
    rate: float = 1000.0

    def wait(self, failures: int) -> float:
        """The wait in seconds after this many consecutive failures.

        >>> [Patience().wait(n) for n in (1, 2, 3, 10)]
        [1.0, 2.0, 4.0, 30.0]
        """
        return min(self.backoff * 2 ** (failures - 1), self.longest)


class TryAgainError(Exception):
    """A try failed, but the next may succeed; the message is for the reader.

    Attributes:
        wait: the seconds that the server asked for.
        at_once: waiting would not help.
    """

    def __init__(self, what: str, wait: float = 0.0, *, at_once: bool = False) -> None:
        super().__init__(what)
        self.wait = wait
        self.at_once = at_once


class GivenUpError(Exception):
    """A server failed too often or asks for a long pause; the message continues after the server's name."""


def persist(once: Callable[[int], T], patience: Patience, brought: Callable[[], int] = lambda: 0) -> T:
    """Call a function until it succeeds.

    Args:
        once: makes a try, given the number of consecutive failures before it; raises :class:`TryAgainError`.
        patience: the number of tries and the waits between them.
        brought: returns the bytes received so far; a try that increased them is no failure.

    Raises:
        GivenUpError: too many consecutive tries failed, or the server asks for too long a pause.
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
                sleep(max(error.wait, patience.wait(failures)))


def limits(patience: Patience) -> httpx.Timeout:
    """The timeouts of a patience, as an HTTP client takes them."""
    import httpx

    return httpx.Timeout(patience.read, connect=patience.connect)


@contextmanager
def passing(patience: Patience, told: Callable[[Exception], str] = str) -> Iterator[None]:
    """Turn a timeout or a lost connection into an error that is retried.

    Args:
        patience: the time limits in force.
        told: describes a lost connection, whose own message may contain the address.

    Raises:
        TryAgainError: the block timed out or lost its connection.
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


def require_ready(response: httpx.Response) -> None:
    """Check that a server neither failed nor is busy.

    Raises:
        TryAgainError: it failed or is busy; has the wait of its ``Retry-After``.
    """
    status = response.status_code
    if status >= 500 or status in _BUSY:
        raise TryAgainError(f"HTTP {status}", _asked(response.headers.get("Retry-After", "")))


def _asked(value: str) -> float:
    """The seconds of a ``Retry-After``, which is a number or a date; 0 if it is unreadable."""
    try:
        if value.strip().isdecimal():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return 0.0
