"""The commands of the library alone: `substrate log`, `mcp`, `generate`, and those of `research`."""
