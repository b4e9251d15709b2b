"""Tasks write scenes, their official files and their cases, with the bytes that one process gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestration.project import open_workspace
from orchestration.registry import INTERPRETED
from orchestration.spark.cases import cases_of
from orchestration.stages.benchmark_stages import make_dataset
from orchestration.workspace.tables import read_cases

WORLDS = {
    benchmark.source.name: benchmark.source for benchmark in INTERPRETED.values() if benchmark.source.world
}


@pytest.mark.parametrize("name", WORLDS)
def test_tasks_write_the_bytes_of_one_process(
    name: str, make_project: Callable[..., Path], tmp_path: Path
) -> None:
    root = make_project(scenes=3)
    # With 23 images, the order of their names as texts differs from the order of their numbers.
    source, profile = WORLDS[name], WORLDS[name].profiles[0] if WORLDS[name].profiles else "sample"
    workspace = open_workspace(profile, (f"profiles.{profile}.gqa.scenes=23",))
    out = workspace.data / name
    out.parent.mkdir(parents=True)
    make_dataset(source, workspace, out)

    (world,) = source.world
    data, seed = workspace.settings.data(name), workspace.settings.seed
    world.write(tmp_path / "one", (world.make(number, seed, data) for number in world.numbers(data)), seed)
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}

    table = cases_of(workspace, source, f"{name}/logs")
    assert {path.name for path in (root / "storage" / profile).iterdir()} == {"cases"}
    each = source.cases(source.files(out), None, True).each
    read = [case._replace(source=case.source.removeprefix(f"{root}/")) for case in each]
    assert [*read_cases(workspace.storage, table)] == read
