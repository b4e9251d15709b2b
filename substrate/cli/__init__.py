"""The library's commands: `substrate log`, `mcp`, `generate`, and the commands of `research`."""
