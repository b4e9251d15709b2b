"""Clients of one memory, in threads of a process that is killed again and again, see one log in one order."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from itertools import groupby
from pathlib import Path

import pytest
from histories import Call, digest_of, faults

from substrate import EventLog

CLIENTS = 50
KILLS = 3
WORK = """
import json, os, sys, threading, time
sys.path.insert(0, os.environ["SUPPORT"])
from histories import digest_of
from substrate import Namespace
from substrate.adapters.memory_tools import Desk

V, path, out, round_, clients = Namespace("urn:v:"), sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
from pathlib import Path
desk = Desk(Path(path), write=True)
history = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

def say(**what):
    os.write(history, json.dumps(what).encode() + b"\\n")

def client(number):
    for turn in range(1000):
        name, value = f"{round_}-{number}-{turn}", f"value {round_} {number} {turn} ."
        reads = (number + turn) % 3 == 0
        say(name=name, value="" if reads else value, begun=time.monotonic_ns())
        if reads:
            seen = [str(delta) for delta in desk.memory().log]
            span, digest = (0, len(seen)), digest_of(seen)
        elif number % 2:
            places = desk.memory().observe(V[f"c{number}"], V.says, value).positions
            span, digest = (min(places), max(places) + 1), ""
        else:
            arguments = {"subject": f"<urn:v:c{number}>", "predicate": "<urn:v:says>", "object": value}
            desk.call("remember", arguments)
            span, digest = None, ""
        say(name=name, replied=time.monotonic_ns(), span=span, seen=digest)

for number in range(clients):
    threading.Thread(target=client, args=(number,), daemon=True).start()
time.sleep(600)
"""


def calls_of(path: Path) -> list[Call]:
    """The calls of a history; the last line of a killed process may be cut off."""
    calls: dict[str, dict[str, object]] = {}
    for line in path.read_bytes().split(b"\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        calls.setdefault(entry["name"], {}).update(entry)
    return [
        Call(
            int(str(entry["begun"])),
            float(str(entry.get("replied", math.inf))),
            str(entry["value"]),
            tuple(entry["span"]) if entry.get("span") else None,  # pyright: ignore
            str(entry.get("seen", "")),
        )
        for entry in calls.values()
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process")
def test_fifty_clients_and_kills_leave_one_order(tmp_path: Path) -> None:
    log, history = tmp_path / "memory.rdfp", tmp_path / "history"
    support = Path(__file__).parents[1] / "support"
    for round_ in range(KILLS):
        before = history.stat().st_size if history.exists() else 0
        server = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", WORK, str(log), str(history), str(round_), str(CLIENTS)],
            env=os.environ | {"SUPPORT": str(support)},
        )
        while server.poll() is None and (
            not history.exists() or history.read_bytes()[before:].count(b"replied") < 4 * CLIENTS
        ):
            time.sleep(0.05)
        server.send_signal(signal.SIGKILL)
        assert server.wait() == -signal.SIGKILL
    with EventLog.open(log) as left:
        deltas = [*left]
    spans: dict[str, tuple[int, int]] = {}
    for _, group in groupby(enumerate(deltas), key=lambda numbered: numbered[1].tick):
        together = list(group)
        for _, delta in together:
            value = getattr(delta.triple[2], "value", "")
            if value.startswith("value "):
                assert spans.get(value) in (None, (together[0][0], together[-1][0] + 1)), "it is there twice"
                spans[value] = together[0][0], together[-1][0] + 1
    calls = calls_of(history)
    assert sum(call.replied < math.inf for call in calls) >= KILLS * 4 * CLIENTS
    assert faults(calls, [str(delta) for delta in deltas], spans) == []


LINES = ["a", "b"]
SPANS = {"one": (0, 1), "two": (1, 2)}
GOOD = [
    Call(0, 2, "one", (0, 1)),
    Call(1, 4, "two", (1, 2)),
    Call(3, 5, "", (0, 1), digest_of(LINES[:1])),
    Call(6, 7, "", (0, 2), digest_of(LINES)),
    Call(6, math.inf, "three", None),
]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (Call(8, 9, "", (0, 1), digest_of(LINES[:1])), "had replied before"),  # an old state
        (Call(0, 0.5, "", (0, 2), digest_of(LINES)), "had replied before"),  # deltas not yet begun to write
        (Call(6, 7, "", (0, 1), digest_of(["x"])), "saw others"),
        (Call(6, 7, "four", (2, 3)), "was acknowledged"),
        (Call(2.5, 3, "one", (0, 2)), "was told"),
    ],
)
def test_a_history_that_is_not_linearizable_is_found(wrong: Call, why: str) -> None:
    assert faults(GOOD, LINES, SPANS) == []
    assert any(why in fault for fault in faults([*GOOD, wrong], LINES, SPANS))
    assert faults(GOOD[1:], LINES, SPANS) == ["nobody wrote ['one']"]
