"""The histories of clients of one log, and the check that they are linearizable.

A history has the calls of all clients, each with the time of its start and the time of its reply (infinite
where its process was killed). It is linearizable if the calls can be put in one order in which each reply is
right and no call comes before another that had replied before the first was begun.

For a log that only grows, one order is enough to check. The reply to an append names its place, and the reply
to a read the number of deltas that it saw. So an append has the place that the log gives it, and a read of n
deltas comes after the append that ends there and before the next: any other order makes a reply wrong. Reads
of the same number are ordered by their start, which no reply contradicts. So the check is exact: it puts the
calls in that order, compares each reply with the log, and fails if a call comes before another that had
replied before it was begun.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import NamedTuple


class Call(NamedTuple):
    """A client's call.

    Attributes:
        begun: when, in nanoseconds of a clock that all share.
        replied: when; infinite where no reply came.
        value: what an append wrote; empty for a read.
        span: of an append, its first position and the one after its last, as its reply has them; of a read
            that saw n deltas, 0 and n.
        seen: a digest of the deltas that a read saw.
    """

    begun: float
    replied: float
    value: str
    span: tuple[int, int] | None
    seen: str = ""


def digest_of(lines: Sequence[str]) -> str:
    """A digest of the deltas that a read saw."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def faults(calls: Sequence[Call], lines: Sequence[str], spans: dict[str, tuple[int, int]]) -> list[str]:
    """Name the faults of a history; none where it is linearizable.

    Args:
        calls: of all clients.
        lines: the deltas of the log, after the last call.
        spans: where the log has each value.
    """
    problems, placed = list[str](), list[tuple[tuple[float, ...], Call]]()
    for call in calls:
        if call.value and call.value not in spans:
            if call.replied < math.inf:
                problems.append(f"{call.value} was acknowledged and is not there")
            continue
        if call.value:
            if call.span not in (None, spans[call.value]):
                problems.append(f"{call.value} was told {call.span} and is at {spans[call.value]}")
            placed.append(((spans[call.value][1], 0, 0), call))
        elif call.span:
            if digest_of(lines[: call.span[1]]) != call.seen:
                problems.append(f"a read of {call.span[1]} deltas saw others")
            placed.append(((call.span[1], 1, call.begun), call))
    if unknown := spans.keys() - {call.value for call in calls}:
        problems.append(f"nobody wrote {sorted(unknown)}")
    soonest = math.inf
    for _, call in sorted(placed, reverse=True):
        if call.begun > soonest:
            problems.append(f"{call.value or call.span} stands before a call that had replied before it")
        soonest = min(soonest, call.replied)
    return problems
