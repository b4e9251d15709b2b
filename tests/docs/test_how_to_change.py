"""A counterfactual method is one entry of a table: made in a copy, the example of the page runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from commands import ROOT, python

PAGE = ROOT / "docs" / "how-to-change.md"
USE_THE_METHOD = """
import msgspec
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.registry import BENCHMARKS
from substrate.domains.clevrer.counterfactual import judge
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.format import CompactCollision, CompactObject, SceneEvents
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene, SceneEvent

parameters = msgspec.convert({"counterfactual": {"method": "never"}}, Parameters).counterfactual
looks = ("red", "blue", "green")
things = [CompactObject(color, "metal", "cube", number) for number, color in enumerate(looks)]
scene = Scene(events_log(SceneEvents(7, 128, things, [], [CompactCollision((0, 1), 30)])))
print(judge(scene, SceneEvent("Collision", 30, frozenset((0, 1))), 2, parameters))
print(parameters.words)
print("ablations/counterfactual.never/per_question" in BENCHMARKS["ablations"].numbers)
"""


def test_a_counterfactual_method_is_one_entry(tmp_path: Path) -> None:
    for package in ("substrate", "orchestration", "tboxes"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    function, entry = re.findall(r"```py\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    path = tmp_path / "substrate/domains/clevrer/counterfactual.py"
    text = path.read_text("utf-8")
    text = text.replace("class Method(", f"{function}\n\nclass Method(", 1)
    path.write_text(
        text.replace("METHODS: Mapping[str, Method] = {\n", f"METHODS: Mapping[str, Method] = {{\n{entry}")
    )
    done = python("-c", USE_THE_METHOD, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.stdout.splitlines() == [
        "Fate(occurs=False, ground='heuristic')",
        "the constant: nothing happens without the object",
        "True",
    ], done.stderr
