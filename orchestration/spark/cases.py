"""The table of a source's cases."""

from __future__ import annotations

from functools import partial
from threading import RLock

from orchestration.base.progress import advance
from orchestration.benchmarks.benchmark import Cases, Source
from orchestration.code import code_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import ShardedTable, short_key, table_once, write_cases
from substrate.base.files import sha256

# A lock for making a shared table: two threads would overwrite each other's files.
MAKING = RLock()


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
