"""The scenes that a world generates, and the table of a source's cases."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import RLock

import pyarrow as pa

from orchestration.base.progress import advance
from orchestration.benchmarks.benchmark import Cases, Source, World
from orchestration.code import code_of
from orchestration.spark.parts import Parts, read_once
from orchestration.spark.workers import NUMBER
from orchestration.workspace.folders import Workspace
from orchestration.workspace.storage import BYTES, INT, TableRow
from orchestration.workspace.tables import ShardedTable, short_key, table_once, write_cases
from substrate.base.files import sha256

SCENES = pa.schema({NUMBER: INT, "scene": BYTES})
"""A row per generated scene."""


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

    def rows(place: int) -> Iterator[TableRow]:
        return ({NUMBER: number} for number in numbers[place * size : (place + 1) * size])

    def work(row: TableRow) -> Iterator[TableRow]:
        yield row | {"scene": world.make(row[NUMBER], seed, data)}

    parts = Parts(storage, f"{folder}/{key}", -(-len(numbers) // size), rows, work, SCENES, stage)
    world.write(out, read_once(settings.spark, parts, "scene"), seed)
    return len(numbers)


MAKING = RLock()
"""A lock for making a shared table: two threads would overwrite each other's files."""


def cases_of(workspace: Workspace, source: Source, stage: str) -> ShardedTable:
    """Return the table of a source's cases; if it is missing, write it from the source's files.

    A source without files has no cases, so its logs and answers are empty.
    """
    data, spark, storage = workspace.data / source.name, workspace.settings.spark, workspace.storage
    key = short_key(sha256(data), spark.shard, spark.partitions, code_of(source.cases))
    folders = [f"{shelf}/cases/{source.name}" for shelf in workspace.shelves]

    def write(folder: str) -> ShardedTable:
        files = source.files(data)
        cases = source.cases(files, None, True) if files else Cases(0, iter(()))
        # A table's bytes must not depend on the project's folder.
        here = f"{workspace.home}/"
        each = (case._replace(source=case.source.removeprefix(here)) for case in cases.each)
        return write_cases(storage, cases._replace(each=each), spark.cut, partial(advance, stage), folder)

    with MAKING:
        return table_once(storage, folders, key, write)
