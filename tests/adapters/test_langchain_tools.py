"""A log as an agent's tools, called by LangGraph's own tool node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from substrate import EventLog, Namespace
from substrate.memory.memory import Memory

pytest.importorskip("langgraph.prebuilt")

from langchain_core.messages import AIMessage  # pyright: ignore[reportMissingImports]
from langgraph.graph import START, MessagesState, StateGraph  # pyright: ignore[reportMissingImports]
from langgraph.prebuilt import ToolNode  # pyright: ignore[reportMissingImports]

from substrate.adapters.langchain_tools import memory_tools

pytestmark = pytest.mark.filterwarnings("ignore")
V = Namespace("https://example.org/v#")
READING = {"about", "recall", "who_knew", "told_by", "why", "impact", "history", "sparql"}
READING |= {"what_if", "compare", "merge"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.rdfp"
    with EventLog.open(path) as log:
        memory = Memory(log)
        memory.believe(V.isabella, V.party, author=V.isabella)
        memory.believe(V.sam, V.party, told_by=V.isabella)
    return path


def called(tools: list[Any], name: str, **arguments: Any) -> Any:
    """The answer of a graph's tool node to a model that calls a tool."""
    graph: Any = StateGraph(MessagesState)
    call = {"name": name, "args": arguments, "id": "1"}
    graph.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=[call])]})
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    return graph.compile().invoke({"messages": []})["messages"][-1]


def test_an_agent_reads_a_memory_and_is_told_its_errors(path: Path) -> None:
    tools = memory_tools(path)
    assert {tool.name for tool in tools} == READING
    assert all(tool.description for tool in tools)
    assert set(next(tool for tool in tools if tool.name == "told_by").args) == {"agent", "fact", "tick"}
    assert json.loads(called(tools, "who_knew", fact="party").content)["who"] == ["isabella", "sam"]
    chain = json.loads(called(tools, "told_by", agent="sam", fact=V.party.value).content)["chain"]
    assert [link["who"] for link in chain] == ["sam", "isabella"]
    wrong = called(tools, "who_knew", fact="the party")
    assert (wrong.status, "nothing is called 'the party'" in wrong.content) == ("error", True)
    with EventLog.open(path) as log:
        Memory(log).believe(V.jane, V.party, told_by=V.sam)
    assert len(json.loads(called(tools, "who_knew", fact="party").content)["who"]) == 3


def test_an_agent_that_may_write_remembers_for_good(path: Path) -> None:
    tools = memory_tools(path, write=True)
    assert {tool.name for tool in tools} == READING | {"remember", "know", "correct", "end", "forget"}
    called(tools, "know", agent=V.jane.value, fact="party", told_by="sam")
    told = Memory(EventLog.read(path)).told_by(V.jane, V.party)
    assert [link.knower for link in told] == [V.jane, V.sam, V.isabella]
