"""The commands of the library alone: `substrate log`, `mcp`, `score`, `generate`, `predict`, `perceive`."""
