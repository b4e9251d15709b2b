"""The paper's regression test (section 6): 20 ticks, replayed from two seeds."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from commands import python

# Prints the number of triples of a random village after each tick, from its replayed log.
PROGRAM = """
import json, random, sys
from villages import spec
from substrate.domains.smallville.format import Agent, Named, Plan, Village
from substrate.domains.smallville.twin import parent_log
from msgspec.structs import replace

draw = random.Random(int(sys.argv[1]))
people, places = [f"agent{n}" for n in range(6)], ["cafe", "park", "pub"]
facts = ["news", "party", "race"]
agents = [
    Agent(
        name, name, draw.choice(places), draw.sample(facts, 1),
        [Plan(start, draw.choice(places), draw.choice([None, *facts]))
         for start in sorted(draw.sample(range(1, 21), 8))],
    )
    for name in people
]
village = Village(20, [Named(name, name) for name in places], [Named(name, name) for name in facts], agents)
log = parent_log(replace(spec(), village=village))
counts = [len(list(log.state(tick))) for tick in range(21)]
print(json.dumps({"counts": counts, "last": log.last_tick, "digest": log.digest}))
"""


def run(seed: int, hash_seed: int) -> dict[str, Any]:
    path = os.pathsep.join(sys.path)
    return json.loads(python("-c", PROGRAM, seed, PYTHONHASHSEED=str(hash_seed), PYTHONPATH=path).stdout)


def test_two_seeded_runs_have_as_many_triples_after_20_ticks() -> None:
    firsts = [run(seed, hash_seed=1) for seed in (1, 2)]
    for seed, first in enumerate(firsts, start=1):
        second = run(seed, hash_seed=2)
        assert first["last"] == 20
        assert first["counts"][20] == second["counts"][20] > first["counts"][0]
        assert first == second, "neither another tick nor the log differs"
    assert firsts[0]["digest"] != firsts[1]["digest"], "a seed draws a village of its own"
