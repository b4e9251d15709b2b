"""A log as the tools of a LangChain or LangGraph agent: those of `substrate mcp`, without a server between.

    from substrate.adapters.langchain_tools import memory_tools
    agent = create_agent(model, memory_tools("memory.rdfp"))

Needs the extra ``langgraph``.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from substrate.adapters.memory_tools import Desk
from substrate.base.arguments import path_of
from substrate.base.errors import SubstrateError
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
        write: whether the memory may be written to: the tools ``remember``, ``know``,
            ``correct``, ``end`` and ``forget``.
        tbox: its words for knowing and its prefixes.
        limits: of one query.

    Raises:
        MissingExtraError: the extra ``langgraph`` is not installed.
        LogError: the file is no log.
    """
    tools = needed("langchain_core.tools")
    desk = Desk(path_of(path), write=write, tbox=tbox, limits=limits)

    def calling(name: str) -> Callable[..., dict[str, Any]]:
        def call(**arguments: Any) -> dict[str, Any]:
            try:
                return desk.call(name, arguments)
            except SubstrateError as error:
                raise tools.ToolException(str(error)) from None

        return call

    return [
        tools.StructuredTool(
            name=name,
            description=tool.about(),
            args_schema=tool.schema(),
            func=calling(name),
            handle_tool_error=True,
        )
        for name, tool in desk.tools.items()
    ]
