"""Every bench runs, on a size that takes no time; what it measures is not judged here."""

from __future__ import annotations

import json

import pytest
from commands import invoke

from benchmarks.speed import measure
from benchmarks.speed.benches import BENCHES
from benchmarks.speed.clevrer import made, programs_of
from benchmarks.speed.executor import Executor
from benchmarks.worlds import rows
from substrate.base.errors import ProgramError
from substrate.domains.clevrer.deltas import film_log
from substrate.domains.clevrer.film import decode_film
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.program import World, run
from substrate.domains.clevrer.scene import Scene

# A single size shows that a bench runs; from two sizes, each bench computes an exponent in the same way.
SIZES = {"fork": ("40", "80"), "world": ("1",)}
SIZES |= dict.fromkeys(("clevrer-descriptive", "gqa", "twin"), ("2",))
SIZES |= dict.fromkeys(("clevrer", "program", "simulated", "perceived"), ("1",))


@pytest.mark.parametrize("name", [name for name, bench in BENCHES.items() if not bench.takes_minutes])
def test_a_bench_runs_beside_its_peer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "ROUNDS", 1)
    monkeypatch.setattr(measure, "_ENOUGH", 0.0)
    sizes = SIZES.get(name, ("40",))
    options = [part for size in sizes for part in ("--size", size)]
    done = invoke("bench", name, "--json", *options)
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert [figure["size"] for figure in figures] == [int(size) for size in sizes]
    for figure in figures:
        assert figure["bench"] == name
        assert min(figure["work_ms"], figure["peer_ms"], figure["ratio"]) > 0
        assert isinstance(figure["exponent"], float) is (len(sizes) > 1)


def test_the_executor_beside_which_clevrer_is_measured_gives_the_same_answers() -> None:
    for case in made(2):  # the cases of two generated scenes
        world, executor = (
            World(Scene(film_log(decode_film(case.source))), Parameters()),
            Executor(case.source[1]),
        )
        for program in [program for question in case.questions for program in programs_of(question)]:
            try:
                answer = run(program, world)
            except ProgramError:
                answer = "error"
            assert executor.run(program) == answer, program


def test_an_unknown_bench_is_refused() -> None:
    done = invoke("bench", "nothing", code=1)
    assert "no benchmark 'nothing'" in done.output


def test_branches_are_measured_one_by_one() -> None:
    measured = list(rows((200,), branches=(1, 120)))
    assert [(row.branches, row.triples, row.query) for row in measured[:4]] == [
        (1, 1, "ASK"),
        (1, 1, "path"),
        (1, 1, "count"),
        (1, 100, "ASK"),
    ]
    assert all(0 < row.median <= row.p99 for row in measured)
    # A few branches keep too little memory to measure it; 120 are asked three questions.
    assert [row.branches for row in measured if row.kib is not None] == [120] * 3
