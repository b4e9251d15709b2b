"""The stages, their graph, and which of them are up to date; values and functions, run by `dagster`."""
