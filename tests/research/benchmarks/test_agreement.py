"""Three methods compared on a scene made by hand, each time without one of its objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from clevrer_scenes import event_record

from research.benchmarks.agreement import AGREEMENT, cases, logs, rows
from substrate.base.errors import ParameterError


def test_methods_differ_on_a_pair_that_only_a_rule_brings_together(tmp_path: Path) -> None:
    """Two balls hit the one in the middle, one after the other; without it they would not hit each other."""
    track = {
        "0": [[frame, -2.0 + 0.06 * min(frame, 20), 0.0] for frame in range(0, 128, 5)],
        "1": [[frame, -0.4, 0.0] for frame in range(0, 128, 5)],
        "2": [[frame, -0.4, -3.0 + 0.055 * min(frame, 40)] for frame in range(0, 128, 5)],
    }
    looks = ("red sphere", "blue sphere", "green sphere")
    truth = event_record(looks, [(0, 1, 20), (1, 2, 40)], scene_index=9)
    still = truth | {"scene_index": 19, "collisions": []}
    events, tracks = tmp_path / "events.jsonl", tmp_path / "tracks.jsonl"
    events.write_text(f"{json.dumps(truth)}\n{json.dumps(still)}\n", "utf-8")
    seen = [{"scene_index": n, "objects": truth["objects"], "trajectory": track} for n in (9, 10, 19)]
    tracks.write_text("".join(f"{json.dumps(scene)}\n" for scene in seen), "utf-8")
    (case,) = cases({"test": events, "tracks": tracks}).each
    # A row's prediction is the verdict of the first method of its subset's name, its expectation the second's
    by_subset = {row.subset: row for row in rows(case, [named.log for named in logs(case)], None, "test")}
    assert case.scene == 9, "of every ten the last is asked about, where anything collides"
    assert {name: row.predicted for name, row in by_subset.items()} == {
        "duality_partner.not_filmed": "wrong",
        "duality_simulated.dependent": "wrong",
        "duality_simulated.independent": "correct",
        "duality_simulated.not_filmed": "wrong",
        "partner_simulated.not_filmed": "correct",
    }, "without the red ball the blue one is not where the green one comes"
    row = by_subset["duality_partner.not_filmed"]
    assert (row.predicted, row.expected) == ("wrong", "correct"), "without the middle one the rule joins them"
    counts = {name: AGREEMENT.metrics[name].measure((row,)) for name in ("share", "confirmed", "foreseen")}
    assert counts == {"share": (0, 1), "confirmed": (0, 0), "foreseen": (0, 1)}
    with pytest.raises(ParameterError, match="Name a file of them as tracks"):
        cases({"test": events})
