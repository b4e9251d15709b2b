"""LangGraph on a log: checkpoints that survive, and nodes replayed without running them again.

:class:`LogSaver` is a checkpointer and :class:`LogCache` a cache of nodes, both on one event log: every
checkpoint, write and node's result is a tick of it, in its chain and file. LangGraph itself runs the nodes
after a checkpoint again when a thread is replayed or forked, and so asks the model again. With the cache, a
node with a cache policy whose input is what it was is not run: only what the change reaches is.

Needs the extra ``langgraph``. LangGraph names its checkpoints by the clock and writes from several threads:
two runs give two logs.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from substrate.base.errors import ParameterError
from substrate.base.extras import missing_extra
from substrate.base.terms import Namespace, term, value
from substrate.base.vocabulary import RDF_TYPE
from substrate.branch.fork import fork
from substrate.log.event_log import Delta, EventLog, Op

try:
    from langgraph.cache.base import BaseCache  # pyright: ignore[reportMissingImports]
    from langgraph.checkpoint.memory import InMemorySaver  # pyright: ignore[reportMissingImports]
except ModuleNotFoundError as error:
    raise (missing_extra(error) or error) from error

LG = Namespace("urn:substrate:langgraph:")
"""Words for what LangGraph keeps: ``Checkpoint``, ``Channel`` (at a version), ``Write`` and ``Result``."""


_TURN = threading.RLock()
"""LangGraph writes from several threads, and a saver and a cache share a log."""


class _Shelf:
    """Entries of some kinds in a log: a node each, with a key that names it and its values."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.turn = _TURN

    def entries(self, kind: str) -> Iterator[dict[str, Any]]:
        """The log's last state, each entry as its words and values."""
        state = self.log.state()
        nodes = sorted((node for node, _, _ in state.match(None, RDF_TYPE, LG[kind])), key=str)
        for node in nodes:
            parts = ((word.value.rpartition(":")[2], value(found)) for _, word, found in state.match(node))
            yield {word: found for word, found in parts if word != RDF_TYPE.value}

    def put(self, *entries: tuple[str, Mapping[str, Any], Mapping[str, Any]]) -> None:
        """Write entries as one tick: kind, key, values; one that is there gets the new values."""
        with self.turn:
            state, tick = self.log.state(), self._tick()
            deltas: list[Delta] = []
            for kind, key, values in entries:
                name = hashlib.sha256(json.dumps([kind, key], sort_keys=True).encode()).hexdigest()[:32]
                said = {**key, **values}
                new = [(LG[name], LG[word], term(found)) for word, found in said.items() if found is not None]
                new.append((LG[name], RDF_TYPE, LG[kind]))
                old = sorted((part for part in state.match(LG[name]) if part not in new), key=str)
                deltas += [Delta(tick, Op.RETRACT, part) for part in old]
                deltas += [Delta(tick, Op.INSERT, part) for part in new if part not in state]
            self.log.extend(deltas)

    def drop(self, kinds: Sequence[str], word: str, found: Any) -> None:
        """Retract the entries of some kinds that have a value; earlier ticks still have them."""
        with self.turn:
            state, tick = self.log.state(), self._tick()
            wanted = {LG[kind] for kind in kinds}
            nodes = {node for node, _, _ in state.match(None, LG[word], term(found))}
            nodes = {n for n in nodes if any(kind in wanted for _, _, kind in state.match(n, RDF_TYPE))}
            gone = sorted((part for node in nodes for part in state.match(node)), key=str)
            self.log.extend([Delta(tick, Op.RETRACT, part) for part in gone])

    def _tick(self) -> int:
        return self.log.last_tick + 1 if len(self.log) else 0


def _packed(typed: tuple[str, bytes]) -> dict[str, str]:
    return {"type": typed[0], "value": base64.b64encode(typed[1]).decode()}


def _unpacked(entry: Mapping[str, Any], suffix: str = "") -> tuple[str, bytes]:
    return entry[f"type{suffix}"], base64.b64decode(entry[f"value{suffix}"])


class LogSaver(InMemorySaver):
    """A LangGraph checkpointer whose threads stand in an event log.

    Args:
        log: grows with each checkpoint and write; what it holds already is taken up.
        serde: LangGraph's serializer; its own unless given.
    """

    def __init__(self, log: EventLog, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self._shelf = _Shelf(log)
        for entry in self._shelf.entries("Checkpoint"):
            kept = (_unpacked(entry), _unpacked(entry, "OfMetadata"), entry.get("parent"))
            self.storage[entry["thread"]][entry["space"]][entry["checkpoint"]] = kept
        for entry in self._shelf.entries("Channel"):
            key = (entry["thread"], entry["space"], entry["channel"], entry["version"])
            self.blobs[key] = _unpacked(entry)
        for entry in self._shelf.entries("Write"):
            outer = (entry["thread"], entry["space"], entry["checkpoint"])
            kept = (entry["task"], entry["channel"], _unpacked(entry), entry["path"])
            self.writes[outer][entry["task"], entry["number"]] = kept

    @property
    def log(self) -> EventLog:
        """The log behind it."""
        return self._shelf.log

    def branch(self, at: int) -> LogSaver:
        """A checkpointer on a fork of the log with what was there before a tick; this one is unchanged."""
        return LogSaver(_before(self.log, at), serde=self.serde)

    def get_next_version(self, current: Any, channel: None) -> str:
        """A version that no other branch of a thread has; LangGraph's own draws it at random."""
        number = 0 if current is None else int(str(current).partition(".")[0])
        return f"{number + 1:032}.{len(self.log):016}"

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Keep a checkpoint, and the values of the channels that changed."""
        with self._shelf.turn:
            kept = super().put(config, checkpoint, metadata, new_versions)
            where = _where(kept)
            outer = self.storage[where["thread"]][where["space"]]
            packed, about, parent = outer[where["checkpoint"]]
            values = {f"{name}OfMetadata": part for name, part in _packed(about).items()}
            values |= {"parent": parent, "step": metadata.get("step"), "source": metadata.get("source")}
            entries = [("Checkpoint", where, {**_packed(packed), **values, "time": checkpoint.get("ts")})]
            for channel, version in new_versions.items():
                key = {
                    "thread": where["thread"],
                    "space": where["space"],
                    "channel": channel,
                    "version": version,
                }
                entries.append(("Channel", key, _packed(self.blobs[tuple(key.values())])))
            self._shelf.put(*entries)
            return kept

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        """Keep what a task has written."""
        with self._shelf.turn:
            super().put_writes(config, writes, task_id, task_path)
            where = _where(config)
            kept = self.writes[tuple(where.values())]
            entries = [
                (
                    "Write",
                    {**where, "task": task, "number": number},
                    {"channel": channel, "path": path, **_packed(typed)},
                )
                for (task, number), (_, channel, typed, path) in kept.items()
                if task == task_id
            ]
            self._shelf.put(*entries)

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread: it leaves the state; earlier ticks of the log still have it."""
        with self._shelf.turn:
            super().delete_thread(thread_id)
            self._shelf.drop(("Checkpoint", "Channel", "Write"), "thread", thread_id)


def _where(config: Any) -> dict[str, str]:
    place = config["configurable"]
    return {
        "thread": place["thread_id"],
        "space": place.get("checkpoint_ns", ""),
        "checkpoint": place["checkpoint_id"],
    }


def _before(log: EventLog, at: int) -> EventLog:
    class Nothing:
        def emit(self, branch: EventLog, parent: EventLog, at: int) -> list[Delta]:
            return []

    return fork(log, at, emitter=Nothing())


class LogCache(BaseCache):  # pyright: ignore[reportMissingTypeArgument, reportUntypedBaseClass]
    """A LangGraph cache whose results stand in an event log, so that a replay runs no node twice.

    Give the graph ``compile(checkpointer=LogSaver(log), cache=LogCache(log))``, and ``CachePolicy()`` to each
    node whose result depends on its input alone, or that shall answer the same input the same way.

    Args:
        log: grows with each result; what it holds already is taken up.
        serde: LangGraph's serializer; its own unless given.
    """

    def __init__(self, log: EventLog, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self._shelf = _Shelf(log)
        self._kept: dict[tuple[tuple[str, ...], str], tuple[str, bytes]] = {}
        for entry in self._shelf.entries("Result"):
            self._kept[tuple(json.loads(entry["space"])), entry["key"]] = _unpacked(entry)

    def get(self, keys: Any) -> dict[Any, Any]:
        """The results that are there."""
        wanted = ((tuple(space), key) for space, key in keys)
        return {full: self.serde.loads_typed(self._kept[full]) for full in wanted if full in self._kept}

    def set(self, pairs: Any) -> None:
        """Keep results for good.

        Raises:
            ParameterError: a result is to expire: a log does not forget by the clock.
        """
        with self._shelf.turn:
            entries: list[tuple[str, Mapping[str, Any], Mapping[str, Any]]] = []
            for (space, key), (result, ttl) in pairs.items():
                if ttl is not None:
                    raise ParameterError(
                        "a result is to expire", where=("ttl",), hint="Write CachePolicy() without ttl"
                    )
                typed = self._kept[tuple(space), key] = self.serde.dumps_typed(result)
                entries.append(("Result", {"space": json.dumps(list(space)), "key": key}, _packed(typed)))
            self._shelf.put(*entries)

    def clear(self, namespaces: Any = None) -> None:
        """Forget the results of some nodes, or of all; earlier ticks of the log still have them."""
        with self._shelf.turn:
            gone = {space for space, _ in self._kept} if namespaces is None else set(map(tuple, namespaces))
            self._kept = {full: typed for full, typed in self._kept.items() if full[0] not in gone}
            for space in sorted(gone):
                self._shelf.drop(("Result",), "space", json.dumps(list(space)))

    async def aget(self, keys: Any) -> dict[Any, Any]:
        """As :meth:`get`."""
        return self.get(keys)

    async def aset(self, pairs: Any) -> None:
        """As :meth:`set`."""
        self.set(pairs)

    async def aclear(self, namespaces: Any = None) -> None:
        """As :meth:`clear`."""
        self.clear(namespaces)
