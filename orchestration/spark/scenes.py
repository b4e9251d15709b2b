"""The scenes that a world generates, which a source's cases are then read from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from orchestration.benchmarks.benchmark import Source, World
from orchestration.code import code_of
from orchestration.spark.parts import Parts, read_once
from orchestration.spark.workers import NUMBER
from orchestration.workspace.folders import Workspace
from orchestration.workspace.storage import BYTES, INT, TableRow
from orchestration.workspace.tables import short_key

# A row per generated scene.
SCENES = pa.schema({NUMBER: INT, "scene": BYTES})


def make_scenes(workspace: Workspace, source: Source, world: World, stage: str, out: Path) -> int:
    """Generate a profile's scenes of a world, a few per task, and write them in the official layout.

    Returns:
        The number of scenes.
    """
    settings, storage, seed = workspace.settings, workspace.storage, workspace.settings.seed
    data = settings.data(source.name)
    numbers = world.numbers(data)
    # Simulation is slow and varies: a task gets a twentieth of the usual number of cases.
    size = min(settings.spark.cut(len(numbers)), max(1, settings.spark.shard // 20))
    key = short_key(seed, data, size, code_of(world.make))
    folder = workspace.passing_tables("made", source.name)

    def rows(shard: int) -> Iterator[TableRow]:
        return ({NUMBER: number} for number in numbers[shard * size : (shard + 1) * size])

    def work(row: TableRow) -> Iterator[TableRow]:
        yield row | {"scene": world.make(row[NUMBER], seed, data)}

    parts = Parts(storage, f"{folder}/{key}", -(-len(numbers) // size), rows, work, SCENES, stage)
    world.write(out, read_once(settings.spark, parts, "scene"), seed)
    return len(numbers)
