"""Adapters of logs to other frameworks; each needs its own extra.

    bridges         a log as an Arrow table
    mcp_server      a log as an agent's memory, over the Model Context Protocol
    memory_tools    the tools that it serves: begin here
    _tool           a function as a tool: JSON Schema, and the check of a call; knows no memory
    _memory_file    the open memory that the tools read and write
    _words          a model's words for the terms of the memory
    _handles        long terms, which a reply shows cut
    inspect_tasks   the entry point of Inspect

From `mcp_server` to `_handles`, a module imports only those below it.
"""
