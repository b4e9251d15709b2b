"""`substrate mcp LOG`: a log as an agent's memory, over the Model Context Protocol.

The server writes only if its start allows it (``write``). Its tools come from
:mod:`substrate.adapters.memory_tools`. A query is checked and runs within limits
(:mod:`substrate.sparql.guard`). https://modelcontextprotocol.io
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from substrate import __version__
from substrate.adapters.memory_tools import ABOUT, Desk
from substrate.base.errors import SubstrateError
from substrate.base.extras import import_extra
from substrate.rules.tbox import TBox
from substrate.sparql.guard import QueryLimits

_NO_MESSAGE = "not a JSON-RPC 2.0 message whose id is a text or a whole number"


def build(desk: Desk) -> Any:
    """Make the protocol's server with a desk's tools; needs the extra ``mcp``.

    The types of the extra are not known here, because the library does not install it.
    """
    protocol = import_extra("mcp.server.lowlevel")
    types, threads = import_extra("mcp_types"), import_extra("anyio.to_thread")

    async def list_tools(_: Any, __: Any) -> Any:
        tools: list[Any] = []
        for name, tool in desk.tools.items():
            hints = {"read_only_hint": not tool.writes, "destructive_hint": False, "open_world_hint": False}
            about = {"name": name, "description": tool.about(), "input_schema": tool.schema()}
            tools.append(types.Tool(**about, annotations=types.ToolAnnotations(**hints)))
        return types.ListToolsResult(tools=tools)

    async def call_tool(_: Any, request: Any) -> Any:
        try:
            reply = await threads.run_sync(desk.call, request.name, request.arguments or {})
        except SubstrateError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
        text = json.dumps(reply, ensure_ascii=False, allow_nan=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=reply)

    return protocol.Server(
        "substrate", version=__version__, instructions=ABOUT, on_list_tools=list_tools, on_call_tool=call_tool
    )


def serve(
    path: Path, *, write: bool = False, tbox: TBox | None = None, limits: QueryLimits | None = None
) -> None:
    """Serve a log over standard input and output until the client disconnects.

    Raises:
        MissingExtraError: the extra ``mcp`` is not installed.
        LogError: the file is not a log, or is absent and must only be read.
    """
    stdio, anyio = import_extra("mcp.server.stdio"), import_extra("anyio")
    desk = Desk(path, write=write, tbox=tbox, limits=limits)
    server = build(desk)

    async def run() -> None:
        text = TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
        messages = _Messages(anyio.wrap_file(text))
        async with stdio.stdio_server(stdin=messages) as (reads, messages.writes):
            await server.run(reads, messages, server.create_initialization_options())

    try:
        anyio.run(run)
    except* BrokenPipeError:
        pass  # the client has closed its end and expects no reply
    finally:
        desk.close()


class _Messages:
    """The messages of a client: the valid ones among its lines, and the replies to them.

    JSON-RPC requires an error reply to every invalid line. The protocol's library skips such lines, so this
    class replies. The library also cancels the calls under way at the end of the input
    (https://github.com/modelcontextprotocol/python-sdk/issues/2678), so the input ends here only after the
    last reply.
    """

    def __init__(self, lines: AsyncIterable[str]) -> None:
        self._lines = lines
        self._pending = Counter[str]()  # requests without a reply, by their id
        self._answered = import_extra("anyio").Condition()
        self.writes: Any  # the stream to the client, which exists only after the server has started

    async def __aiter__(self) -> AsyncIterator[str]:
        session = import_extra("mcp.shared.message").SessionMessage
        async for line in self._lines:
            fault = _fault(line)
            if fault is None:
                await self._count(json.loads(line))
                yield line
            else:
                await self.writes.send(session(fault))
        async with self._answered:
            while self._pending:
                await self._answered.wait()

    async def send(self, message: Any) -> None:
        """Write a reply to the client."""
        await self.writes.send(message)
        await self._settle(getattr(message.message, "id", None))

    async def __aenter__(self) -> _Messages:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the replies."""
        await self.writes.aclose()

    async def _count(self, message: dict[str, Any]) -> None:
        """Note a request, which gets a reply, or the end of a request, which then gets none."""
        if message.get("method") == "notifications/cancelled":
            await self._settle((message.get("params") or {}).get("requestId"))
        elif "method" in message and "id" in message:
            self._pending[str(message["id"])] += 1

    async def _settle(self, number: Any) -> None:
        async with self._answered:
            self._pending -= Counter([str(number)])
            self._answered.notify_all()


def _fault(line: str) -> Any | None:
    """The error reply to a line; ``None`` if the line is a valid message."""
    types = import_extra("mcp_types")
    code, what, number = types.PARSE_ERROR, "not JSON", None
    try:
        message = json.loads(line, parse_constant=_refuse)
        code, what = types.INVALID_REQUEST, _NO_MESSAGE
        if isinstance(message, dict) and type(message.get("id")) in (int, str):
            number = message["id"]
            str(number).encode()  # half a character in the id is a UnicodeEncodeError
        elif isinstance(message, dict) and {"id", "method"} <= message.keys():
            raise ValueError("a request's id is a text or a whole number")
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except UnicodeEncodeError:
        number = None
    except (ValueError, RecursionError):
        pass
    else:
        return None
    hint = 'Write {"jsonrpc": "2.0", "id": 1, "method": "…", "params": {…}} in one line'
    return types.JSONRPCError(
        jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=f"{what}. {hint}")
    )


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
