"""The histories of clients of one log, and the check that they are linearizable.

A history has the calls of all clients, each with the time at which it was begun and the time at which its
reply came (never, where its process was killed). It is linearizable if the calls can be put in one order in
which each reply is right and no call stands before one that had replied before it was begun.

For a log that only grows one order has to be looked at. An append is told its place, and a read tells how
much it saw, so an append stands where the log has it, and a read that saw n deltas behind the append that
ends there and before the next: any other order makes a reply wrong. Reads that saw the same stand in the
order in which they were begun: of two, the one that was begun later never replied before the other was begun
without the other also having been begun too late. So the check is exact: it puts the calls in that order,
holds each reply against the log, and asks of each call whether a later one had replied before it was begun.
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
        span: first delta and the one after the last of an append as it was told; 0 and n for a read.
        seen: a digest of what a read saw.
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
    """Say what is wrong with a history; nothing where it is linearizable.

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
