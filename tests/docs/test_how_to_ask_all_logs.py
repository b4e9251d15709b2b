"""The page on all logs runs and prints its own results, which agree with the data and with each log."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, groupby
from pathlib import Path

import pytest
from runnable_pages import Page

from orchestration.project import open_workspace
from orchestration.workspace.log_table import read_index
from substrate.log.event_log import Op

CARRIES = "urn:substrate:babi:carries"


def collisions(project: Path) -> Counter[str]:
    """The collisions of the official-format annotations, by pair of materials."""
    counted = Counter[str]()
    with zipfile.ZipFile(project / "data/sample/clevrer/annotation.zip") as archive:
        for scene in map(json.loads, map(archive.read, archive.namelist())):
            material = {object_["object_id"]: object_["material"] for object_ in scene["object_property"]}
            for event in scene["collision"]:
                counted[" and ".join(sorted(material[number] for number in event["object_ids"]))] += 1
    return counted


def held_together() -> Iterator[tuple[str, int, str, str, str]]:
    """Yield story, tick, person and two things that the person carries then, from the deltas of each log."""
    logs = open_workspace().logs("babi")
    for entry in read_index(logs.index):
        log, hands = logs.read(entry.name), set[tuple[str, str]]()
        changes = groupby(log, lambda delta: delta.tick)
        tick, deltas = next(changes)
        for now in range(log[-1].tick + 1):
            if now == tick:
                for _, op, (who, verb, thing) in deltas:
                    if getattr(verb, "value", "") == CARRIES:
                        (hands.add if op is Op.INSERT else hands.discard)((str(who), str(thing)))
                tick, deltas = next(changes, (-1, iter(())))
            for (who, first), (other_hand, second) in combinations(sorted(hands), 2):
                if who == other_hand:
                    yield entry.name, now, who, first, second


@pytest.mark.long
def test_the_page_runs_and_prints_the_shown_output(reproduced: Path) -> None:
    printed: list[list[list[str]]] = []
    for block, output in Page("how-to-ask-all-logs.md").run():
        assert output == block.expected, block.text
        printed.append([line.split("\t") for line in output.splitlines()[1:]])
    each, pairs, at_tick, spans, led = printed
    when = {(row[1], row[2]) for row in each}
    assert all({(log, first), (log, second)} <= when for _, log, first, second in led)

    counted = collisions(reproduced)
    assert {materials: int(n) for materials, n, _ in pairs} == counted
    assert len(each) == counted.total()

    together = set(held_together())
    assert together
    at_18 = {(log, who, first, second) for log, tick, who, first, second in together if tick == 18}
    assert {tuple(row[1:]) for row in at_tick} == at_18
    logs = open_workspace().logs("babi")
    ends = {log: logs.read(log)[-1].tick + 1 for log, *_ in spans}
    tick_by_tick = {
        (log, tick, who, first, second)
        for log, who, first, second, since, until in spans
        for tick in range(int(since), int(until) if until else ends[log])
    }
    assert tick_by_tick == together
