"""The earlier name of three rooms (`spark`, `stages`, `dagster`), for scripts that import from it."""
