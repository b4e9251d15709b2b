"""`substrate mcp LOG`: a log as an agent's memory, over the Model Context Protocol.

The server reads, and writes only where it was told so. Its tools are those of
:mod:`substrate.adapters.memory_tools`; `memory://schema` and `memory://thing/NAME` are its resources. A query
is checked and run within limits (:mod:`substrate.sparql.guard`). https://modelcontextprotocol.io
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from substrate import __version__
from substrate.adapters.memory_tools import ABOUT, Desk
from substrate.base.errors import SubstrateError
from substrate.base.extras import needed
from substrate.rules.tbox import TBox
from substrate.sparql.guard import QueryLimits

_SCHEMA, _THING, _JSON = "memory://schema", "memory://thing/", "application/json"


def build(desk: Desk) -> Any:
    """The protocol's server with a desk's tools; needs the extra ``mcp``."""
    protocol = needed("mcp.server.lowlevel")
    types, threads = needed("mcp_types"), needed("anyio.to_thread")
    refused = needed("mcp.shared.exceptions").MCPError

    def listed(reads: bool) -> Any:
        return types.ToolAnnotations(read_only_hint=reads, destructive_hint=False, open_world_hint=False)

    async def list_tools(_: Any, __: Any) -> Any:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=tool.about(),
                    input_schema=tool.schema(),
                    annotations=listed(not tool.writes),
                )
                for name, tool in desk.tools.items()
            ]
        )

    async def call_tool(_: Any, asked: Any) -> Any:
        try:
            found = await threads.run_sync(desk.call, asked.name, asked.arguments or {})
        except SubstrateError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
        text = json.dumps(found, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=found)

    async def list_resources(_: Any, __: Any) -> Any:
        about = "Its relations and kinds of things, with their counts."
        schema = types.Resource(uri=_SCHEMA, name="schema", description=about, mime_type=_JSON)
        return types.ListResourcesResult(resources=[schema])

    async def list_templates(_: Any, __: Any) -> Any:
        about = "The facts about a thing, each with who stored it."
        page = types.ResourceTemplate(
            uri_template=f"{_THING}{{name}}", name="thing", description=about, mime_type=_JSON
        )
        return types.ListResourceTemplatesResult(resource_templates=[page])

    async def read_resource(_: Any, asked: Any) -> Any:
        uri = str(asked.uri)
        try:
            if uri == _SCHEMA:
                found = await threads.run_sync(desk.outline)
            elif uri.startswith(_THING):
                found = await threads.run_sync(desk.call, "recall", {"subject": unquote(uri[len(_THING) :])})
            else:
                raise SubstrateError(f"no resource {uri[:80]}", hint=f"Read {_SCHEMA} or {_THING}NAME")
        except SubstrateError as error:
            raise refused(types.INVALID_PARAMS, str(error)) from None
        text = json.dumps(found, ensure_ascii=False)
        contents = [types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)]
        return types.ReadResourceResult(contents=contents)

    return protocol.Server(
        "substrate",
        version=__version__,
        instructions=ABOUT,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


def serve(
    path: Path, *, write: bool = False, tbox: TBox | None = None, limits: QueryLimits | None = None
) -> None:
    """Serve a log over standard input and output until the client goes.

    Raises:
        MissingExtraError: the extra ``mcp`` is not installed.
        LogError: the file is no log.
    """
    stdio, anyio = needed("mcp.server.stdio"), needed("anyio")
    desk = Desk(path, write=write, tbox=tbox, limits=limits)
    server = build(desk)

    async def run() -> None:
        async with stdio.stdio_server() as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())

    try:
        anyio.run(run)
    finally:
        desk.close()
