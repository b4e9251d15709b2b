"""A benchmark's tables on Spark: scenes made, cases read, logs built, answers given, a task a shard.

Each shard that is finished is kept under a key of what it was made from. A run that was killed goes on with
the shards that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import (
    Cases,
    Explained,
    Files,
    Interpreted,
    Logger,
    ReadCases,
    Source,
    World,
)
from orchestration.code import code_of
from orchestration.pipeline.parts import LINES, Parts, parts_of, write_parts
from orchestration.pipeline.progress import advance
from orchestration.pipeline.spark import NUMBER, PLACE, telling
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, split_of
from orchestration.workspace.tables import (
    CASES,
    LOGS,
    LogEntry,
    Manifest,
    Storage,
    case_of,
    case_tables,
    index_key,
    sealed,
    shard_name,
    short_key,
    table_once,
    write_cases,
)
from substrate.base.errors import SubstrateError
from substrate.base.files import passing_folder, replacing, sha256
from substrate.domains.rows import encode
from substrate.log.event_log import EventLog


def make_scenes(workspace: Workspace, source: Source, world: World, stage: str, out: Path) -> int:
    """Generate a profile's scenes of a world, and write them in the official layout.

    A task makes some scenes, and writes a release of them into the storage. The driver joins these without
    looking at a record; they stay until :func:`cases_of` has made a table of them.

    Returns:
        How many scenes there are.
    """
    settings, storage, seed = workspace.settings, workspace.storage, workspace.settings.seed
    data = settings.data(source.name)
    numbers = world.numbers(data)
    # Simulating takes long and varies: a task has a twentieth of what it has elsewhere.
    size = min(settings.spark.cut(len(numbers)), max(1, settings.spark.shard // 20))
    key = short_key(seed, data, size, code_of(world.make), code_of(world.write))
    folder = f"{workspace.shelves[0]}/made/{source.name}"

    def write(place: int, name: str) -> None:
        def scenes() -> Iterator[bytes]:
            for number in numbers[place * size : (place + 1) * size]:
                with telling(f"number {number}"):
                    scene = world.make(number, seed, data)
                yield scene

        with passing_folder() as scratch:
            world.write(scratch, scenes(), seed)
            storage.pack(scratch, f"{folder}/{key}", name)

    # Without a scene too there is a release.
    parts = Parts(storage, f"{folder}/{key}", -(-len(numbers) // size) or 1, write, "tar")
    made = write_parts(settings.spark, parts, stage)
    world.join(out, _packed(storage, made.folder, range(parts.count)), seed)
    if not world.apart:
        storage.remove(folder)
        return len(numbers)
    shards = [len(numbers[place * size : (place + 1) * size]) for place in range(parts.count)]
    pointer = _pointer(sha256(out))
    storage.write_record(sealed(made.folder, shards, made.sums), folder, pointer)
    storage.keep_only(folder, [key, pointer])
    return len(numbers)


def _pointer(digest: str) -> str:
    """The file that says where the parts of a dataset lie."""
    return f"{short_key(digest)}.json"


def _packed(storage: Storage, folder: str, places: Iterable[int]) -> Iterator[Iterator[tuple[str, Any]]]:
    return (storage.packed(folder, shard_name(place, "tar")) for place in places)


_MAKING = RLock()
"""Held while a table is made that several stages read: two at a time would write one another's files."""


def cases_of(workspace: Workspace, source: Source, stage: str) -> Manifest:
    """The table of a source's cases, written where it is not there: by tasks from the parts that a world was
    made in, else by the driver from the files on its disk.
    """
    data, spark, storage = workspace.data / source.name, workspace.settings.spark, workspace.storage
    digest = sha256(data)
    key = short_key(digest, spark.shard, spark.partitions, code_of(source.cases))
    folders, made_in = (
        [f"{shelf}/{of}/{source.name}" for shelf in workspace.shelves] for of in ("cases", "made")
    )

    def write(folder: str) -> Manifest:
        made = [found for place in made_in if (found := storage.read_manifest(place, _pointer(digest)))]
        if not made:
            cases = _read_cases(source.cases, source.files(data), workspace.home)
            return write_cases(storage, cases, spark.cut, partial(advance, stage), folder)
        name = data.relative_to(workspace.home).as_posix()
        return write_parts(spark, _cases_of_parts(storage, made[0], folder, source, name, spark.cut), stage)

    with _MAKING:
        found = table_once(storage, folders, key, write)
        storage.remove(made_in[0])
        return found


def _read_cases(read: ReadCases, files: Files, root: Path, only: Collection[str] | None = None) -> Cases:
    """All cases of some files, or those of some scenes. What a table says must not depend on where the
    project lies.
    """
    cases = read(files, only, True)
    each = (case._replace(source=case.source.removeprefix(f"{root}/")) for case in cases.each)
    return cases._replace(each=each)


def _cases_of_parts(
    storage: Storage, parts: Manifest, folder: str, source: Source, data: str, cut: Callable[[int], int]
) -> Parts:
    """The files of a table of cases: each has those of as many scenes as some parts of a world have, out of
    the release of those parts in which the scenes are.
    """
    (world,), size = source.world, parts.shards[0]
    together = max(1, cut(parts.rows) // max(1, size))

    def write(place: int, name: str) -> None:
        first, end = place * together, min((place + 1) * together, len(parts.shards))
        begin, only, held = first * size, None, range(first, end)
        if world.apart == "text":
            chosen = [nth_text(at, parts.rows) for at in range(begin, min(end * size, parts.rows))]
            only, held = frozenset(map(str, chosen)), sorted({scene // size for scene in chosen} or held)
        with passing_folder() as scratch:
            release = scratch / data
            world.join(release, _packed(storage, parts.folder, held), 0)
            cases = _read_cases(source.cases, source.files(release), scratch, only)
            storage.write_tables(case_tables(enumerate(cases.each, begin)), CASES, folder, name)

    return Parts(storage, folder, -(-len(parts.shards) // together), write)


def nth_text(place: int, count: int) -> int:
    """The number at a place among the first so many, in the order of their texts.

    >>> [nth_text(place, 13) for place in range(13)]
    [0, 1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    number, left = min(place, 1), place - 1
    while left > 0:
        first, end, within = number, number + 1, 0
        while first < count:  # those whose texts begin with that of the number
            within += min(end, count) - first
            first, end = first * 10, end * 10
        number, left = (number + 1, left - within) if within <= left else (number * 10, left - 1)
    return number


def log_parts(workspace: Workspace, logger: Logger, stage: str) -> tuple[Manifest, Parts]:
    """The table of cases, and the files of the logs that are built from it, a file a shard."""
    cases, storage = cases_of(workspace, logger.source, stage), workspace.storage
    parameters = logger.parameters.of(workspace.settings)
    logs, given = logger.logs, cases.folder
    key = short_key(given, parameters, code_of(logs))
    folder = f"{workspace.shelves[0]}/logs/{logger.name}/{key}"

    def rows(shard: int) -> Iterator[dict[str, Any]]:
        return storage.rows(given, shard_name(shard))

    def work(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for place, named in enumerate(logs(case_of(row), parameters)):
            yield {
                NUMBER: row[NUMBER],
                PLACE: place,
                "name": named.name,
                "digest": named.log.digest,
                "deltas": len(named.log),
                "source": named.source or row["source"],
                "patch": named.log.to_patch(),
            }

    return cases, parts_of(storage, folder, len(cases.shards), rows, work, LOGS, stage)


def build_logs(workspace: Workspace, logger: Logger, stage: str, index: Path) -> int:
    """Build the logs of every case, and write their index.

    Returns:
        How many logs there are.
    """
    cases, parts = log_parts(workspace, logger, stage)
    storage, (folder, _, key) = workspace.storage, parts.folder.rpartition("/")
    made = write_parts(workspace.settings.spark, parts, stage)
    manifest = sealed(made.folder, made.shards, made.sums, cases.shards)
    columns = ("name", "digest", "deltas", "source")
    with index.open("wb") as file:
        for name in parts.names:
            for row in storage.rows(parts.folder, name, columns=columns):
                file.write(msgspec.json.encode(LogEntry(*row.values())) + b"\n")
    pointer = index_key(index)
    storage.write_record(manifest, folder, pointer)
    storage.keep_only(folder, [key, pointer])
    return manifest.rows


def ensure_logs(workspace: Workspace, logger: Logger, stage: str) -> Manifest:
    """The table of a logger's logs, built again where only its index is there, or where it does not say how
    many cases each shard is of.

    Raises:
        SubstrateError: what is built is not what the index says.
    """
    logs = workspace.logs(logger.name)
    with _MAKING:
        if (found := logs.manifest) is None or not found.cases:
            with replacing(logs.index.with_name("index.again.jsonl")) as again:
                build_logs(workspace, logger, stage, again)
                if sha256(again) != sha256(logs.index):
                    raise SubstrateError(
                        "the logs that the data give are not those of the index",
                        where=(logs.index,),
                        hint=f"`substrate materialize {logger.name}/logs` builds them anew",
                    )
            logs.index.with_name("index.again.jsonl").unlink()
            found = logs.manifest
    assert found
    return found


def _cuts(cases: Manifest, first: int | None, tasks: int | None) -> list[int]:
    """The bounds between the cases of tasks: those of shards, unless it is said how many tasks there are."""
    count = cases.rows if first is None else min(first, cases.rows)
    ends = (count * task // tasks for task in range(tasks)) if tasks else accumulate(cases.shards)
    return sorted({0, count, *(end for end in ends if end < count)})


def _logged_cases(
    storage: Storage, cases: Manifest, logs: Manifest, cuts: Sequence[int], place: int
) -> Iterator[dict[str, Any]]:
    """The cases of a task in order, each with its logs; both tables are read a row group at a time.

    The two may be cut differently: a table of logs stays when the number of partitions changes.
    """
    first, end = cuts[place : place + 2]
    of_cases = (
        islice(storage.rows(cases.folder, shard_name(shard)), start, stop)
        for shard, start, stop in _within(cases.shards, first, end)
    )
    of_logs = (storage.rows(logs.folder, shard_name(shard)) for shard, *_ in _within(logs.cases, first, end))
    yield from _joined(chain.from_iterable(of_cases), chain.from_iterable(of_logs))


def _within(shards: Iterable[int], first: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The shards that hold some cases, each with the bounds of these inside it.

    >>> list(_within([3, 3, 3], 2, 6))
    [(0, 2, 3), (1, 0, 3)]
    """
    begin = 0
    for shard, count in enumerate(shards):
        start, stop = (min(max(bound - begin, 0), count) for bound in (first, end))
        begin += count
        if start < stop:
            yield shard, start, stop


def _joined(cases: Iterable[dict[str, Any]], logs: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Cases, each with its logs as a list; both come in the order of numbers.

    >>> list(_joined([{"number": 1}], [{"number": 0, "name": "a"}, {"number": 1, "name": "b"}]))
    [{'number': 1, 'logs': [{'number': 1, 'name': 'b'}]}]
    """
    of_cases = groupby(logs, lambda row: row[NUMBER])
    number, found = next(of_cases, (None, iter(())))
    for case in cases:
        while number is not None and number < case[NUMBER]:
            number, found = next(of_cases, (None, iter(())))
        yield case | {"logs": list(found) if number == case[NUMBER] else []}


def answer_parts(
    workspace: Workspace,
    benchmark: Interpreted,
    stage: str,
    *,
    rows: Any = None,
    split: str = "",
    tasks: int | None = None,
    first: int | None = None,
    only: Collection[str] | None = None,
) -> tuple[int, Parts]:
    """The number of cases that are looked at, and the files of their rows.

    Args:
        rows: what gives the rows of a case; the benchmark's own unless given.
        split: what the rows name as their split; that of the profile's data unless given.
        tasks: how many tasks they are cut into; one a shard unless given.
        first: how many cases to answer; all unless given.
        only: the scenes to answer; all unless given. Shards of some scenes are not kept for the next run.
    """
    rows = rows or benchmark.rows
    cases = cases_of(workspace, benchmark.source, stage)
    logs = ensure_logs(workspace, benchmark.logger, stage)
    storage, parameters = workspace.storage, benchmark.parameters.of(workspace.settings)
    split = split or split_of(workspace, benchmark.source)
    folder = f"{workspace.shelves[0]}/answers/{stage.replace('/', '.')}"
    key = short_key(cases.folder, logs.folder, parameters, split, tasks, first, code_of(rows))
    cuts = _cuts(cases, first, tasks)
    if only is not None:
        storage.remove(folder)
    given = partial(_logged_cases, storage, cases, logs, cuts)

    def work(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
        lines, case = list[str](), case_of(row)
        if case.questions and (only is None or str(case.scene) in only):
            logs = [EventLog.from_patch(log["patch"], log["name"]) for log in row["logs"]]
            lines = [encode(answer).decode() for answer in rows(case, logs, parameters, split)]
        yield {NUMBER: row[NUMBER], LINES: lines}

    return cuts[-1], parts_of(storage, f"{folder}/{key}", len(cuts) - 1, given, work, None, stage)


def answer_cases(
    workspace: Workspace, benchmark: Interpreted, stage: str, out: Path, **condition: Any
) -> int:
    """Answer the questions of every case from its logs, and write the rows in order.

    Args:
        condition: as :func:`answer_parts` takes it.

    Returns:
        How many cases were looked at.
    """
    count, parts = answer_parts(workspace, benchmark, stage, **condition)
    write_parts(workspace.settings.spark, parts, stage)
    with out.open("wb") as file:
        for name in parts.names:
            workspace.storage.copy(file, parts.folder, name)
    workspace.storage.remove(parts.folder.rpartition("/")[0])
    return count


def each_case(
    workspace: Workspace, stage: str, benchmark: Explained, scenes: Collection[str], work: Any
) -> Iterator[Any]:
    """:data:`orchestration.lineage.explain.Each` on Spark, with the logs of the table."""
    if not (scenes and files_of(workspace, benchmark.source)):
        return
    with TemporaryDirectory(prefix="substrate-") as folder:
        out = Path(folder) / "made.jsonl"
        told = f"{stage}/{benchmark.name}"
        answer_cases(workspace, benchmark, told, out, rows=work, only=frozenset(scenes))
        with out.open("rb") as file:
            yield from map(msgspec.json.decode, file)
