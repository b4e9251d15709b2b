"""The earlier name of three rooms (`spark`, `stages`, `dagster`), for scripts outside this repository."""
