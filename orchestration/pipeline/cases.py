"""A benchmark's tables on Spark: scenes made, cases read, logs built, answers given, a shard at a time.

Each shard that is finished is kept under a key of what it was made from. A run that was killed goes on with
the shards that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from orchestration.benchmarks.benchmark import Interpreted, Logger, NamedLog, Source, World
from orchestration.code import code_of
from orchestration.pipeline.progress import advance, say
from orchestration.pipeline.spark import (
    NUMBER,
    map_rows,
    numbers_frame,
    shards_at_once,
    shards_frame,
    spark_session,
)
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import split_of
from orchestration.workspace.tables import (
    CASES,
    LOGS,
    LogEntry,
    Manifest,
    Storage,
    batched,
    case_of,
    index_key,
    shard_name,
    short_key,
    write_cases,
)
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing, sha256
from substrate.domains.rows import encode
from substrate.log.event_log import EventLog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MADE = pa.schema([(NUMBER, pa.int64()), ("scene", pa.binary())])
"""A row a generated scene."""
ANSWERS = pa.schema([(NUMBER, pa.int64()), ("lines", pa.list_(pa.string()))])
"""A row a case: its rows as lines of JSON."""


def _shards(
    workspace: Workspace,
    folder: str,
    key: str,
    count: int,
    compute: Callable[[int], pa.Table],
    stage: str,
    columns: Sequence[str] | None = None,
) -> Iterator[Iterator[dict[str, Any]]]:
    """The rows of each shard of a table in order, or some of their columns, a row group at a time in memory.

    A shard is computed where none is kept from a run before: the first alone, while a cluster's workers come
    up, then as many at once as fill their cores. Where there are several, the run's log says of each whether
    it was kept, done or failed. A shard that fails ends the stage when those under way are done, and kept.
    """
    storage, names = workspace.storage, [shard_name(number) for number in range(count)]
    kept = {number for number, name in enumerate(names) if storage.exists(folder, key, name)}

    def make(number: int) -> None:
        if number in kept:
            return
        try:
            storage.write(compute(number), folder, key, names[number])
        except Exception:
            say(f"{stage}: shard {number + 1} of {count} failed")
            raise

    def made() -> Iterator[None]:
        if not count:
            return
        yield make(0)
        several = count - len(kept | {0}) > 1
        with ThreadPoolExecutor(shards_at_once(workspace.settings.spark) if several else 1) as pool:
            contexts = (copy_context() for _ in range(1, count))
            yield from pool.map(lambda context, number: context.run(make, number), contexts, range(1, count))

    for number, _ in enumerate(made()):
        if count > 1:
            how = "was kept" if number in kept else "is done"
            say(f"{stage}: shard {number + 1} of {count} {how}")
        yield storage.rows(folder, key, names[number], columns=columns)
        advance(stage, number + 1, count)


def _made(make: Callable[[int, int, Any], bytes], seed: int, data: Any, row: dict[str, Any]) -> Iterator[Any]:
    yield {NUMBER: row[NUMBER], "scene": make(row[NUMBER], seed, data)}


def make_scenes(workspace: Workspace, source: Source, world: World, stage: str, out: Path) -> int:
    """Generate a profile's scenes of a world, and write them in the official layout.

    Returns:
        How many scenes there are.
    """
    settings = workspace.settings
    data, spark = settings.data(source.name), settings.spark
    numbers = list(world.numbers(data))
    cuts = list(batched(numbers, spark.shard))
    storage, folder = workspace.storage, f"{workspace.shelves[0]}/made/{source.name}"
    key = short_key(settings.seed, data, spark.shard, code_of(world.make))
    work = partial(_made, world.make, settings.seed, data)

    def compute(number: int) -> pa.Table:
        asked = cuts[number]
        # Simulating takes long and varies: more tasks than cores keep all of them busy to the end.
        tasks = max(spark.partitions, len(asked) // 20)
        frame = numbers_frame(spark_session(spark), asked, tasks)
        progress = stage if len(cuts) == 1 else ""
        return map_rows(frame, work, MADE, asked, stage=progress, names=[f"number {n}" for n in asked])

    shards = _shards(workspace, folder, key, len(cuts), compute, stage)
    scenes = (row["scene"] for rows in shards for row in rows)
    world.write(out, scenes, settings.seed)
    storage.keep_only(folder, [])
    return len(numbers)


_MAKING = RLock()
"""Held while a table is made that several stages read: two at a time would write one another's files."""


def cases_of(workspace: Workspace, source: Source, stage: str) -> Manifest:
    """The table of a source's cases, written where it is not there."""
    data = workspace.data / source.name
    files = source.files(data)
    key = short_key(sha256(data), workspace.settings.spark.shard, code_of(source.cases))
    root = f"{workspace.home}/"

    def read() -> Any:
        cases = source.cases(files, None, True)
        # What a table says must not depend on where the project lies.
        each = (case._replace(source=case.source.removeprefix(root)) for case in cases.each)
        return cases._replace(each=each)

    folders = [f"{shelf}/cases/{source.name}" for shelf in workspace.shelves]
    shard = workspace.settings.spark.shard
    with _MAKING:
        return write_cases(workspace.storage, folders, key, read, shard, partial(advance, stage))


def _log_rows(
    logs: Callable[[Any, Any], list[NamedLog]], parameters: Any, row: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for place, named in enumerate(logs(case_of(row), parameters)):
        yield {
            NUMBER: row[NUMBER],
            "place": place,
            "name": named.name,
            "digest": named.log.digest,
            "deltas": len(named.log),
            "source": named.source or row["source"],
            "patch": named.log.to_patch(),
        }


def build_logs(workspace: Workspace, logger: Logger, stage: str, index: Path) -> int:
    """Build the logs of every case, and write their index.

    Returns:
        How many logs there are.
    """
    cases = cases_of(workspace, logger.source, stage)
    storage, session = workspace.storage, spark_session(workspace.settings.spark)
    parameters = logger.parameters.of(workspace.settings)
    folder = f"{workspace.shelves[0]}/logs/{logger.name}"
    key = short_key(cases.folder, parameters, code_of(logger.logs))
    work = partial(_log_rows, logger.logs, parameters)
    with index.open("wb") as file:

        def compute(number: int) -> pa.Table:
            progress = stage if len(cases.shards) == 1 else ""
            return _mapped(session, storage, cases, number, work, LOGS, progress)

        columns = ("name", "digest", "deltas", "source")
        for rows in _shards(workspace, folder, key, len(cases.shards), compute, stage, columns):
            for row in rows:
                file.write(msgspec.json.encode(LogEntry(*row.values())) + b"\n")
    manifest, pointer = storage.manifest_of(f"{folder}/{key}", len(cases.shards)), index_key(index)
    storage.write_record(manifest, folder, pointer)
    storage.keep_only(folder, [key, pointer])
    return manifest.rows


def _mapped(
    session: SparkSession,
    storage: Storage,
    cases: Manifest,
    number: int,
    work: Any,
    schema: pa.Schema,
    stage: str,
    join: Callable[[DataFrame], DataFrame] = lambda frame: frame,
    first: int | None = None,
) -> pa.Table:
    """A function over one shard of cases, or over the first of them."""
    from pyspark.sql import functions as sql

    asked = storage.read(cases.folder, shard_name(number), columns=[NUMBER, "source"])
    frame = join(shards_frame(session, storage, cases.folder, [shard_name(number)], CASES))
    if first is not None:
        asked, frame = asked.slice(0, first), frame.where(sql.col(NUMBER) < first)
    numbers, names = asked[NUMBER].to_pylist(), asked["source"].to_pylist()
    return map_rows(frame, work, schema, numbers, stage=stage, names=names)


def ensure_logs(workspace: Workspace, logger: Logger, stage: str) -> Manifest:
    """The table of a logger's logs, built again where only its index is there.

    Raises:
        SubstrateError: what is built is not what the index says.
    """
    logs = workspace.logs(logger.name)
    with _MAKING:
        if (found := logs.manifest) is None:
            with replacing(logs.index.with_name("index.again.jsonl")) as again:
                build_logs(workspace, logger, stage, again)
                if again.read_bytes() != logs.index.read_bytes():
                    raise SubstrateError(
                        "the logs that the data give are not those of the index",
                        where=(logs.index,),
                        hint=f"`substrate materialize {logger.name}/logs` builds them anew",
                    )
            logs.index.with_name("index.again.jsonl").unlink()
            found = logs.manifest
    assert found
    return found


def _with_logs(logs: DataFrame, cases: DataFrame) -> DataFrame:
    """Cases with their logs, as a list in order; cases without one have none."""
    from pyspark.sql import functions as sql

    one = sql.struct("place", "name", "patch")
    of_case = logs.groupBy(NUMBER).agg(sql.sort_array(sql.collect_list(one)).alias("logs"))
    return cases.join(sql.broadcast(of_case), NUMBER)


def _answer_lines(rows: Any, parameters: Any, split: str, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    lines: Iterable[str] = ()
    if row["questions"]:
        logs = [EventLog.from_patch(log["patch"], log["name"]) for log in row["logs"]]
        lines = [encode(answer).decode() for answer in rows(case_of(row), logs, parameters, split)]
    yield {NUMBER: row[NUMBER], "lines": list(lines)}


def answer_cases(
    workspace: Workspace,
    benchmark: Interpreted,
    stage: str,
    out: Path,
    *,
    rows: Any = None,
    split: str = "",
    partitions: int | None = None,
    first: int | None = None,
) -> int:
    """Answer the questions of every case from its logs, and write the rows in order.

    Args:
        rows: what gives the rows of a case; the benchmark's own unless given.
        split: what the rows name as their split; that of the profile's data unless given.
        partitions: how many tasks a shard is cut into; the settings' unless given.
        first: how many cases of the first shard to answer; all of all shards unless given.

    Returns:
        How many cases were answered.
    """
    rows = rows or benchmark.rows
    cases = cases_of(workspace, benchmark.source, stage)
    logs = ensure_logs(workspace, benchmark.logger, stage)
    storage, session = workspace.storage, spark_session(workspace.settings.spark)
    parameters = benchmark.parameters.of(workspace.settings)
    split = split or split_of(workspace, benchmark.source)
    work = partial(_answer_lines, rows, parameters, split)
    folder = f"{workspace.shelves[0]}/answers/{stage.replace('/', '.')}"
    key = short_key(cases.folder, logs.folder, parameters, split, partitions, first, code_of(rows))

    def compute(number: int) -> pa.Table:
        of_shard = shards_frame(session, storage, logs.folder, [shard_name(number)], LOGS)

        def join(frame: DataFrame) -> DataFrame:
            joined = _with_logs(of_shard, frame)
            return joined.repartition(partitions) if partitions else joined

        progress = stage if len(cases.shards) == 1 else ""
        return _mapped(session, storage, cases, number, work, ANSWERS, progress, join, first)

    with out.open("wb") as file:
        shards = len(cases.shards) if first is None else 1
        for answered in _shards(workspace, folder, key, shards, compute, stage):
            for row in answered:
                file.writelines(line.encode() + b"\n" for line in row["lines"])
    storage.keep_only(folder, [])
    return cases.rows if first is None else first
