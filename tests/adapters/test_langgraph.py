"""LangGraph on a log: threads that survive, replays and forks that ask no model again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from substrate import EventLog, ParameterError

pytest.importorskip("langgraph.graph")

from langgraph.graph import END, START, StateGraph  # pyright: ignore[reportMissingImports]
from langgraph.types import CachePolicy  # pyright: ignore[reportMissingImports]

from substrate.adapters.langgraph_saver import LG, LogCache, LogSaver

pytestmark = pytest.mark.filterwarnings("ignore")


def joined(old: list[str], new: list[str]) -> list[str]:
    return [*old, *new]


class Talk(TypedDict):
    lines: Annotated[list[str], joined]


class Model:
    """A model that counts how often it is asked; its words follow from what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, lines: list[str]) -> str:
        self.asked += 1
        return f"answer to {lines[-1]!r}"


def graph_on(log: EventLog, model: Model, cached: bool = True) -> Any:
    def plan(state: Talk) -> dict[str, list[str]]:
        return {"lines": [f"plan: {model(state['lines'])}"]}

    def act(state: Talk) -> dict[str, list[str]]:
        return {"lines": [f"act: {model(state['lines'])}"]}

    builder = StateGraph(Talk)
    for name, node in (("plan", plan), ("act", act)):
        builder.add_node(name, node, cache_policy=CachePolicy() if cached else None)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "act")
    builder.add_edge("act", END)
    return builder.compile(checkpointer=LogSaver(log), cache=LogCache(log) if cached else None)


THREAD: dict[str, Any] = {"configurable": {"thread_id": "ann"}}
FIRST = {"lines": ["hello"]}


def before(graph: Any, node: str) -> Any:
    """The checkpoint at which a node is next."""
    return next(found for found in graph.get_state_history(THREAD) if found.next == (node,))


def test_a_thread_goes_on_where_it_was_in_a_new_process(tmp_path: Path) -> None:
    with EventLog.open(tmp_path / "threads.rdfp") as log:
        graph = graph_on(log, Model())
        told = graph.invoke(FIRST, THREAD)
        history = [(found.next, found.values) for found in graph.get_state_history(THREAD)]
    with EventLog.open(tmp_path / "threads.rdfp") as log:
        model = Model()
        graph = graph_on(log, model)
        assert graph.get_state(THREAD).values == told
        assert [(found.next, found.values) for found in graph.get_state_history(THREAD)] == history
        more = graph.invoke({"lines": ["and now?"]}, THREAD)
        assert more["lines"][:4] == [*told["lines"], "and now?"]
        assert model.asked == 2
    assert EventLog.read(tmp_path / "threads.rdfp").state()


def test_a_replay_asks_no_model_again(tmp_path: Path) -> None:
    path = tmp_path / "threads.rdfp"
    with EventLog.open(path) as log:
        told = graph_on(log, Model()).invoke(FIRST, THREAD)
    with EventLog.open(path) as log:
        model = Model()
        graph = graph_on(log, model)
        for node in ("plan", "act"):
            assert graph.invoke(None, before(graph, node).config) == told
        assert model.asked == 0
    # What the cache is for: LangGraph's own replay runs the nodes again.
    log, model = EventLog(), Model()
    graph = graph_on(log, model, cached=False)
    graph.invoke(FIRST, THREAD)
    graph.invoke(None, before(graph, "plan").config)
    assert model.asked == 4


def test_a_fork_asks_only_what_the_change_reaches() -> None:
    log, model = EventLog(), Model()
    graph = graph_on(log, model)
    told = graph.invoke(FIRST, THREAD)
    assert model.asked == 2
    forked = graph.update_state(before(graph, "act").config, {"lines": ["wait"]}, as_node="plan")
    other = graph.invoke(None, forked)
    assert model.asked == 3, "act was asked anew, plan was not"
    assert other["lines"][:2] == told["lines"][:2]
    assert other["lines"][-1] == "act: answer to 'wait'"
    assert graph.invoke(None, before(graph, "plan").config) == told
    assert model.asked == 3


def test_a_branch_of_the_log_holds_what_was_there_and_no_more() -> None:
    log, model = EventLog(), Model()
    graph = graph_on(log, model)
    told = graph.invoke(FIRST, THREAD)
    at = log.last_tick + 1
    graph.invoke({"lines": ["and now?"]}, THREAD)
    digest = log.digest
    saver = LogSaver(log).branch(at)
    latest = saver.get_tuple(THREAD)
    assert latest.checkpoint["channel_values"]["lines"] == told["lines"]
    saver.delete_thread("ann")
    assert saver.get_tuple(THREAD) is None
    assert LogSaver(saver.log).get_tuple(THREAD) is None
    assert log.digest == digest
    assert LogSaver(log).get_tuple(THREAD) is not None


def test_threads_are_asked_for_in_sparql() -> None:
    log = EventLog()
    graph_on(log, Model()).invoke(FIRST, THREAD)
    rows = log.state().query(f"SELECT ?step {{ ?c a {LG.Checkpoint} ; {LG.step} ?step }} ORDER BY ?step")
    assert [row["step"].value for row in rows] == ["-1", "0", "1", "2"]  # pyright: ignore


def test_a_result_that_expires_is_refused() -> None:
    cache = LogCache(EventLog())
    with pytest.raises(ParameterError, match="ttl"):
        cache.set({(("node",), "key"): ("result", 60)})
    cache.set({(("node",), "key"): ("result", None)})
    assert cache.get([(("node",), "key"), (("node",), "other")]) == {(("node",), "key"): "result"}
    cache.clear()
    assert cache.get([(("node",), "key")]) == {}


def test_the_extra_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "substrate.adapters.langgraph_saver")
    monkeypatch.setitem(sys.modules, "langgraph.cache.base", None)
    with pytest.raises(ImportError, match=r"event-graph-substrate\[langgraph\]"):
        import substrate.adapters.langgraph_saver  # noqa: F401
