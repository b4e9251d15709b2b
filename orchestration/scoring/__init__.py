"""Counts, pairs, statistics and published numbers; it knows rows and benchmarks, never how they were computed."""
