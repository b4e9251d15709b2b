"""The commands of the library alone: `substrate log`, `mcp`, `score` and `generate`."""
