"""`substrate perceive clevrer` on real proposals: it reads no gold, and answers real questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyoxigraph as ox
import pytest
from typer.testing import CliRunner

from orchestration.cli.main import app
from substrate import EventLog
from substrate.rules.tbox import TBox

VIDEOS = (70, 81, 95, 97, 180, 216, 242, 296)


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def proposals(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proposals")
    with ZipFile(real_data / "clevrer/proposals.zip") as archive:
        for video in VIDEOS:
            name = f"sim_{video:05d}.json"
            (folder / name).write_bytes(archive.read(f"processed_proposals/{name}"))
    return folder


@pytest.fixture(scope="module")
def perceived(proposals: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("perceived")
    events, logs = folder / "events.jsonl", folder / "logs"
    run("perceive", "clevrer", "--proposals", proposals, "--out", events, "--logs", logs)
    return events, logs


def test_events_have_chances_intervals_and_places(perceived: tuple[Path, Path]) -> None:
    lines = [json.loads(line) for line in perceived[0].read_text("utf-8").splitlines()]
    assert [line["scene_index"] for line in lines] == sorted(VIDEOS)
    for line in lines:
        events: list[dict[str, Any]] = line["in_outs"] + line["collisions"]
        assert events
        assert all(0.5 <= event["probability"] <= 1 for event in events)
        assert all(event["probability"] < 0.5 for event in line["doubtful"])
        assert all(event["frames"][0] <= event["frame"] <= event["frames"][1] for event in events)
        for thing in line["objects"]:
            frames = [frame for frame, _, _ in line["trajectory"][str(thing["id"])]]
            assert frames == list(range(frames[0], frames[-1] + 1))


def test_sparql_tells_the_sure_events_from_the_suspected_ones(perceived: tuple[Path, Path]) -> None:
    tbox = TBox.load("clevrer")
    events = {line["scene_index"]: line for line in map(json.loads, perceived[0].read_text().splitlines())}
    for scene, line in events.items():
        log = EventLog.read(perceived[1] / f"{scene:05d}.rdfp")
        state = log.state(log.last_tick)
        assert not tbox.validate(state)
        rows = state.query(
            """PREFIX : <urn:substrate:clevrer:> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
            SELECT ?event ?p WHERE {
              ?record rdf:reifies <<( ?event a :Collision )>> ; :probability ?p ; :basis :inference }"""
        )
        assert isinstance(rows, ox.QuerySolutions)
        probabilities = [float(row["p"].value) for row in rows]
        sure = [event["probability"] for event in line["collisions"]]
        doubtful = [event["probability"] for event in line["doubtful"] if "type" not in event]
        assert sorted(probabilities) == pytest.approx(sorted(min(0.9999, p) for p in sure + doubtful))
