"""A log as the tools of a LangChain or LangGraph agent: those of `substrate mcp`, without a server between.

    from substrate.adapters.langchain_tools import memory_tools
    agent = create_agent(model, memory_tools("memory.rdfp"))

Needs the extra ``langgraph``.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from substrate.adapters.mcp_server import READING, WRITING, Server
from substrate.base.arguments import path_of
from substrate.base.extras import needed
from substrate.rules.tbox import TBox
from substrate.sparql.guard import QueryLimits


def memory_tools(
    path: str | PathLike[str],
    *,
    write: bool = False,
    tbox: TBox | None = None,
    limits: QueryLimits | None = None,
) -> list[Any]:
    """The tools of a memory, each a ``StructuredTool``; an error of the project's is told to the model.

    Args:
        path: the log's file; read again where it has grown, held open where ``write`` is given.
        write: whether the memory may be written to: the tools ``observe``, ``believe`` and ``forget``.
        tbox: its words for knowing and its prefixes.
        limits: of one query.

    Raises:
        MissingExtraError: the extra ``langgraph`` is not installed.
        LogError: the file is no log, or another writer holds it.
    """
    tools = needed("langchain_core.tools")
    server = Server(path_of(path), write=write, tbox=tbox, limits=limits)
    server.memory()
    return [
        tools.StructuredTool.from_function(
            server.taking_turns(getattr(server, name), tools.ToolException),
            name=name,
            description=getattr(server, name).__doc__,
            handle_tool_error=True,
        )
        for name in (*READING, *(WRITING if write else ()))
    ]
