"""Studies: benchmarks under conditions, and the numbers that come of it."""
