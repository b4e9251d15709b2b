"""Errors, terms, deltas, arguments, files and the core's few IRIs: every room may know them."""
